// Parts of the page for the durability workload.

import { DURABILITY, Phase } from '../../vocabulary.ts';
import type { WorkloadSections } from '../common/sections.ts';
import { Broken, Survival } from './crashes.tsx';
import { DurabilityFindings } from './findings.tsx';

export const DURABILITY_PARTS: WorkloadSections = {
  name: DURABILITY,
  findings: DurabilityFindings,
  parts: [{ id: 'survival', title: 'Promises', component: Survival }, { id: 'crashes', title: 'Crashes', component: Broken }],
  shows: ({ cell }) => cell.phase === Phase.Steady && cell.parameters.durability !== undefined,
};
