// Parts of the page for the fidelity workload.

import type { WorkloadParts } from '../common/parts.ts';
import { FIDELITY } from '../../fidelity.ts';
import { FidelityFindings } from './findings.tsx';
import { Extracted, Outcomes, Whole } from './matrix.tsx';

export const FIDELITY_PARTS: WorkloadParts = {
  name: FIDELITY,
  findings: FidelityFindings,
  parts: [
    { id: 'outcomes', title: 'Documents', of: Outcomes }, { id: 'changes', title: 'Changes', of: Whole }, { id: 'extracted', title: 'Extracted values', of: Extracted },
  ],
  shows: ({ cell }) => cell.findings !== undefined,
};
