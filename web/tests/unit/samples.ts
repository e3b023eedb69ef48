// The sample runs of tests/data.mjs with the types of the model.

import type { Cell, Configuration, Evidence, PageData, PublishedResult, RunEvidence, Score } from '../../src/model.ts';

declare const DATA: string;

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
  several: () => Pack;
}

export const samples = (await import(DATA)) as Samples;
