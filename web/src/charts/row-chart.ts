// Frame of a chart with one row per configuration: axis, names, values, reference lines, and buttons that open the details.

import type { Markish } from '@observablehq/plot';
import { axisX, gridX, plot, ruleX, text } from '@observablehq/plot';

import type { Bar, PlacedRow } from './rows.ts';
import type { Scale } from './scale.ts';
import { applyAria } from './a11y.ts';
import { overlayButton, rovingTabIndex } from './buttons.ts';
import { ariaLabel, placeRows, rowsHeight } from './rows.ts';
import { pixels, ticksAlong } from './scale.ts';
import { cut, GRID, HALO, LINE, QUIET, STYLE, textWidth, titleLines } from './text.ts';

/** A value that the rows can be compared with; it does not widen the scale. */
export interface Reference {
  name: string;
  value: number;
  label: string;
}

/** Pixels on each side for the labels of the outermost ticks. */
const SIDE = 24;
const TOP = 6;
/** Height of tick marks and tick labels below the axis. */
const TICKS = 22;

/** Height of the chart in pixels before it is drawn; longer names make it higher. */
export function rowChartHeight(rows: readonly Pick<Bar, 'group'>[], references: number): number {
  return TOP + references * LINE + rowsHeight(rows) + TICKS + LINE + 6;
}

/** Draws the rule of one reference and its label, which has a line of its own above the rows. */
function referenceMarks(one: Reference, y: number, bottom: number, scale: Scale, place: (value: number) => number, width: number): Markish[] {
  const sign = one.value > scale.high ? ' ▸' : one.value < scale.low ? '◂ ' : '';
  const words = `${one.name} ${one.label}`;
  const label = cut(sign === ' ▸' ? `${words}${sign}` : `${sign}${words}`, width - 2);
  const at = place(one.value);
  const room = textWidth(label) + 5;
  // Beside the rule where there is room, else as near to it as the chart allows.
  const left = at + room <= width ? at + 5 : Math.max(0, at - room);
  const inside = Math.min(scale.high, Math.max(scale.low, one.value));
  return [
    ruleX([one], { x: () => inside, y1: () => y - LINE / 2, y2: () => bottom, stroke: 'var(--ink)', strokeDasharray: '4 3', strokeOpacity: 0.75 }),
    text([one], { frameAnchor: 'left', textAnchor: 'start', dx: left - SIDE, y: () => y, text: () => label, fill: 'var(--quiet)', ...HALO }),
  ];
}

/** What a row chart draws beside names and values. */
export interface RowMarks {
  /** Marks of the rows; `inside` keeps a value within the scale. */
  marks: (rows: readonly PlacedRow<Bar>[], inside: (value: number) => number) => Markish[];
  /** Adds what the marks refer to, such as hatched fills. */
  finish?: (svg: SVGElement) => void;
}

export function drawRowChart(
  rows: readonly Bar[], references: readonly Reference[], scale: Scale, width: number, describe: string, { marks, finish }: RowMarks,
): SVGElement {
  const top = TOP + references.length * LINE;
  const layout = placeRows(rows, width - 2, top);
  const title = titleLines(scale.title, width);
  const marginBottom = TICKS + title.length * LINE + 4;
  const bottom = layout.end + 2;
  const height = bottom + marginBottom;
  const place = pixels(scale, SIDE, width - SIDE);
  const ticks = ticksAlong(scale, place, [0, width]);
  const values = ticks.map((one) => one.value);
  const inside = (value: number): number => Math.min(scale.high, Math.max(scale.low, value));
  const lines = layout.rows.flatMap((one) => one.lines);
  const left = { frameAnchor: 'left', textAnchor: 'start', dx: 1 - SIDE, y: 'y', text: 'text' } as const;
  const svg = plot({
    width, height, marginTop: top, marginBottom, marginLeft: SIDE, marginRight: SIDE, style: STYLE,
    x: { type: scale.kind, domain: [scale.low, scale.high], label: null },
    y: { type: 'linear', domain: [0, height], range: [0, height], axis: null },
    color: { type: 'identity' },
    symbol: { type: 'identity' },
    marks: [
      gridX(values, GRID),
      ruleX(scale.rule === undefined || inside(scale.rule) !== scale.rule ? [] : [scale.rule], { stroke: 'var(--edge)', strokeWidth: 1.5 }),
      axisX(values, { text: (_: number, index: number) => ticks[index]?.text ?? '', label: null, ...QUIET }),
      text(title.map((words, index) => ({ text: words, y: bottom + TICKS + LINE / 2 + index * LINE })), { ...left, fill: 'var(--quiet)' }),
      ...references.flatMap((one, index) => referenceMarks(one, TOP + LINE / 2 + index * LINE, bottom, scale, place, width)),
      ...marks(layout.rows, inside),
      text(layout.headings, { ...left, fill: 'var(--quiet)', fontWeight: 600, ...HALO }),
      text(lines, { ...left, fill: 'var(--ink)', ...HALO }),
      text(layout.rows, {
        frameAnchor: 'right', textAnchor: 'end', dx: SIDE - 1, y: 'labelY', text: (one: PlacedRow<Bar>) => cut(one.row.label, width - 2, true),
        fontWeight: 600, fill: 'var(--ink)', fontVariant: 'tabular-nums', ...HALO,
      }),
    ],
  }) as SVGSVGElement;
  applyAria(svg, 'group', describe);
  finish?.(svg);
  for (const { row, top: y, height: rowHeight } of layout.rows) {
    if (row.open !== null) overlayButton(svg, { x: 0, y, width, height: rowHeight }, ariaLabel(row), row.open);
  }
  rovingTabIndex(svg);
  return svg;
}
