// Parts of the page for the durability workload.

import { DURABILITY } from '../../vocabulary.ts';
import type { WorkloadSections } from '../common/sections.ts';
import { Broken } from './crashes.tsx';
import { DurabilityFindings } from './findings.tsx';

export const DURABILITY_PARTS: WorkloadSections = {
  name: DURABILITY,
  findings: DurabilityFindings,
  parts: [{ id: 'stops', title: 'Crashes', component: Broken }],
  shows: ({ cell }) => cell.phase === 'steady' && cell.parameters.durability !== undefined,
};
