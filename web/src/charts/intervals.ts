// Dots with their intervals on a log scale, one row per configuration: the chart of times, rates and ratios.

import { dot, ruleY } from '@observablehq/plot';

import type { Bar, PlacedRow } from './rows.ts';
import type { Reference } from './row-chart.ts';
import type { Scale } from './scale.ts';
import { hatches } from './hatch.ts';
import { drawRowChart } from './row-chart.ts';

/** Symbol of each look; hollow ones are not ranked. */
const SYMBOLS = { plain: 'circle', hatched: 'diamond', muted: 'circle', hollow: 'square' } as const;

/** Other marks than those of the look, such as one symbol per run. */
type SymbolOf = (row: Bar) => 'circle' | 'square' | 'triangle' | 'diamond';

/** Draws the rows as dots with intervals. Parts of intervals beyond the scale end in an arrowhead. */
export function drawIntervals(
  rows: readonly Bar[], references: readonly Reference[], scale: Scale, width: number, describe: string,
  symbolOf: SymbolOf = (row) => SYMBOLS[row.look],
): SVGElement {
  const hatch = hatches();
  const fill = ({ row }: PlacedRow<Bar>): string =>
    row.look === 'hollow' || row.look === 'muted' ? 'var(--paper)' : row.look === 'hatched' ? hatch.of(row.colour, 'hatched') : row.colour;
  const colour = ({ row }: PlacedRow<Bar>): string => row.colour;
  return drawRowChart(rows, references, scale, width, describe, {
    marks: (all, inside) => {
      // A log scale has no place for zero; the value beside the name says it.
      const there = all.filter(({ row }) => row.value !== null && (scale.kind === 'linear' || row.value > 0));
      const ranged = there.filter(({ row }) => row.low !== null && row.high !== null);
      const arrow = { y: 'markY', symbol: 'triangle', r: 3.5, fill: colour, stroke: 'none' } as const;
      return [
        ruleY(ranged, {
          x1: ({ row }: PlacedRow<Bar>) => inside(row.low ?? scale.low), x2: ({ row }: PlacedRow<Bar>) => inside(row.high ?? scale.high), y: 'markY',
          stroke: colour, strokeWidth: 2.2,
        }),
        dot(ranged.filter(({ row }) => (row.low ?? 0) < scale.low), { ...arrow, x: () => scale.low, rotate: -90 }),
        dot(ranged.filter(({ row }) => (row.high ?? 0) > scale.high), { ...arrow, x: () => scale.high, rotate: 90 }),
        dot(there, {
          x: ({ row }: PlacedRow<Bar>) => inside(row.value ?? scale.low), y: 'markY', symbol: ({ row }: PlacedRow<Bar>) => symbolOf(row),
          fill, stroke: colour, strokeWidth: 1.8, r: 4.5,
        }),
      ];
    },
    finish: (svg) => hatch.into(svg),
  });
}
