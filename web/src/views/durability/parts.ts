// Parts of the page for the durability workload.

import type { WorkloadParts } from '../common/parts.ts';
import { DURABILITY } from '../../durability.ts';
import { DurabilityFindings } from './findings.tsx';
import { Broken } from './stops.tsx';

export const DURABILITY_PARTS: WorkloadParts = {
  name: DURABILITY,
  findings: DurabilityFindings,
  parts: [{ id: 'stops', title: 'Stops', of: Broken }],
  shows: ({ cell }) => cell.phase === 'steady' && cell.parameters.durability !== undefined,
};
