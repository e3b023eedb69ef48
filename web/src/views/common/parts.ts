// What the page is put together from: parts, and workloads that bring some of their own.

import type { ComponentType } from 'preact';

import type { Entry } from '../../select.ts';

export interface PagePart {
  id: string;
  /** Its name in the bar; what stands there only now and then has none. */
  title: string | null;
  of: ComponentType;
}

/** What the page knows of a workload. Of one that it does not know it shows every cell in a plain table. */
export interface WorkloadParts {
  /** As it is called in cells. */
  name: string;
  /** What came out, on the first screen. */
  findings: ComponentType;
  parts: readonly PagePart[];
  /** Whether one of the parts shows a cell of it. */
  shows: (entry: Entry) => boolean;
}
