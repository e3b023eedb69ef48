// The made-up runs of tests/data.mjs, typed by the contract.

import type { Evidence, Figures, Published } from '../../src/model.ts';

declare const DATA: string;

interface Pack {
  figures: Figures;
  evidence: Evidence;
}

interface Samples {
  published: () => Published[];
  small: () => Pack;
  two: () => Pack;
  large: () => Pack;
}

export const samples = (await import(DATA)) as Samples;
