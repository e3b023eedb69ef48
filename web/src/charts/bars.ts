// Bars from zero, one row per configuration: the chart of counts and bytes, whose lengths have a meaning.

import { rect, ruleX, ruleY } from '@observablehq/plot';

import type { Bar, PlacedRow } from './rows.ts';
import type { Reference } from './row-chart.ts';
import type { Scale } from './scale.ts';
import { hatches } from './hatch.ts';
import { drawRowChart } from './row-chart.ts';

/** Half the height of a bar in pixels. */
const HALF = 5;

/** Draws the rows as bars from the start of a linear scale. */
export function drawBars(
  rows: readonly Bar[], references: readonly Reference[], scale: Scale, width: number, describe: string,
): SVGElement {
  const hatch = hatches();
  const fill = ({ row }: PlacedRow<Bar>): string =>
    row.look === 'hollow' ? 'var(--paper)' : row.look === 'plain' ? row.colour : hatch.of(row.colour, row.look);
  const colour = ({ row }: PlacedRow<Bar>): string => row.colour;
  const [y1, y2] = [({ markY }: PlacedRow<Bar>): number => markY - HALF, ({ markY }: PlacedRow<Bar>): number => markY + HALF];
  return drawRowChart(rows, references, scale, width, describe, {
    marks: (all, inside) => {
      const there = all.filter(({ row }) => row.value !== null);
      const ranged = there.filter(({ row }) => row.low !== null && row.high !== null);
      const value = ({ row }: PlacedRow<Bar>): number => inside(row.value ?? scale.low);
      const [x1, x2] = [({ row }: PlacedRow<Bar>): number => inside(row.low ?? scale.low), ({ row }: PlacedRow<Bar>): number => inside(row.high ?? scale.low)];
      return [
        rect(there, { x1: () => scale.low, x2: value, y1, y2, fill, stroke: colour, strokeWidth: 1.2 }),
        // Marks the end of each bar, because a value of zero has a bar without a length.
        ruleX(there, { x: value, y1, y2, stroke: colour, strokeWidth: 3 }),
        ruleY(ranged, { x1, x2, y: 'markY', stroke: 'var(--paper)', strokeWidth: 4 }),
        ruleY(ranged, { x1, x2, y: 'markY', stroke: 'var(--ink)', strokeWidth: 1.8 }),
      ];
    },
    finish: (svg) => hatch.into(svg),
  });
}
