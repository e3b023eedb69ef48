// Parts of the page for the fidelity workload.

import { FIDELITY } from '../../vocabulary.ts';
import type { WorkloadSections } from '../common/sections.ts';
import { Cases } from './cases.tsx';
import { FidelityFindings } from './findings.tsx';
import { Extracted, Outcomes, Whole } from './matrix.tsx';

export const FIDELITY_PARTS: WorkloadSections = {
  name: FIDELITY,
  findings: FidelityFindings,
  parts: [
    { id: 'cases', title: 'By kind', component: Cases }, { id: 'outcomes', title: 'Documents', component: Outcomes }, { id: 'changes', title: 'Changes', component: Whole }, { id: 'extracted', title: 'Extracted values', component: Extracted },
  ],
  shows: ({ cell }) => cell.findings !== undefined,
};
