// Parts of the page for the documents workload.

import type { Entry } from '../../view.ts';
import type { WorkloadSections } from '../common/sections.ts';
import { TESTS } from '../../documents.ts';
import { DOCUMENTS } from '../../vocabulary.ts';
import { Crossovers } from './crossovers.tsx';
import { Disk } from './disk.tsx';
import { DocumentsFindings } from './findings.tsx';
import { IndexUsage } from './index-usage.tsx';
import { BySize, WithIndexes } from './sizes.tsx';

function shows({ cell: { step } }: Entry): boolean {
  return step === 'disk' || step === 'use' || TESTS.some(([test]) => test === step);
}

export const DOCUMENTS_PARTS: WorkloadSections = {
  name: DOCUMENTS,
  findings: DocumentsFindings,
  parts: [
    { id: 'by-size', title: 'Times by size', component: BySize }, { id: 'crossovers', title: 'Crossovers', component: Crossovers }, { id: 'disk', title: 'Disk and sharing', component: Disk },
    { id: 'with-indexes', title: 'With indexes', component: WithIndexes }, { id: 'index-use', title: 'Use of indexes', component: IndexUsage },
  ],
  shows,
};
