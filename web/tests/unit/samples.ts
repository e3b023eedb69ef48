// The sample runs of tests/data.mjs and tests/mixed.mjs with the types of the model.

import type { Cell, Configuration, Evidence, PageData, PublishedResult, RunEvidence, Score } from '../../src/model.ts';

declare const DATA: string;
declare const MIXED_DATA: string;

interface Pack {
  figures: PageData;
  evidence: Evidence;
}

interface Samples {
  published: () => PublishedResult[];
  publishedScores: (configurations: readonly Configuration[], cells: readonly Cell[], evidence: RunEvidence['cells']) => Score[];
  small: () => Pack;
  two: () => Pack;
  large: () => Pack;
  serving: () => Pack;
  documents: () => Pack;
  mixed: () => Pack;
  frontier: () => Pack;
  several: () => Pack;
}

export const samples: Samples = { ...(await import(DATA)), ...(await import(MIXED_DATA)) };
