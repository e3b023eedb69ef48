// Parts of the page for the documents workload.

import type { Entry } from '../../select.ts';
import type { WorkloadParts } from '../common/parts.ts';
import { DOCUMENTS, TESTS } from '../../documents.ts';
import { Crossovers } from './crossovers.tsx';
import { Disk } from './disk.tsx';
import { DocumentsFindings } from './findings.tsx';
import { BySize } from './sizes.tsx';
import { IndexUse } from './use.tsx';

function shows({ cell: { step } }: Entry): boolean {
  return step === 'disk' || step === 'use' || TESTS.some(([test]) => test === step);
}

export const DOCUMENTS_PARTS: WorkloadParts = {
  name: DOCUMENTS,
  findings: DocumentsFindings,
  parts: [
    { id: 'by-size', title: 'Times by size', of: BySize }, { id: 'crossovers', title: 'Who changes places', of: Crossovers }, { id: 'disk', title: 'Disk and sharing', of: Disk }, { id: 'index-use', title: 'Use of indexes', of: IndexUse },
  ],
  shows,
};
