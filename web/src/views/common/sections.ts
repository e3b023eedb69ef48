// Building blocks of the page: parts, and workloads that add parts of their own.

import type { ComponentType } from 'preact';

import type { Entry } from '../../view.ts';

export interface PageSection {
  id: string;
  /** Title in the navigation bar; null for parts that are often empty. */
  title: string | null;
  component: ComponentType;
}

/** Parts that the page has for a workload. Cells of other workloads are shown in plain tables. */
export interface WorkloadSections {
  /** Workload name, as used in cells. */
  name: string;
  /** Remarks and tables below the answers. */
  findings: ComponentType;
  parts: readonly PageSection[];
  /** Returns `true` if one of the parts shows the cell. */
  shows: (entry: Entry) => boolean;
}
