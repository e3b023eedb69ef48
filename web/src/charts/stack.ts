// Stacked bars of shares, one row per configuration.

import { axisX, gridX, plot, rect, text } from '@observablehq/plot';

import type { PlacedRow } from './rows.ts';
import { applyAria } from './a11y.ts';
import { overlayButton, rovingTabIndex } from './buttons.ts';
import { placeRows, rowsHeight } from './rows.ts';
import { cut, GRID, HALO, LINE, QUIET, STYLE } from './text.ts';

export interface Part {
  name: string;
  share: number;
  /** Colour from the style sheet, as a CSS value. */
  colour: string;
}

export interface Stack {
  key: string;
  name: string;
  label: string;
  parts: readonly Part[];
  open: (() => void) | null;
}

const TOP = 4;
const SIDE = 22;
/** Height of tick marks, tick labels and the title of the axis. */
const BOTTOM = 24 + LINE;
/** Half the height of a bar. */
const HALF = 5;

/** Height of the chart in pixels before it is drawn; longer names make it higher. */
export function stacksHeight(rows: number): number {
  return TOP + rowsHeight(Array.from({ length: rows }, () => ({ group: '' }))) + BOTTOM;
}

type Placed = PlacedRow<Stack & { notes: readonly string[]; group: string }>;

function partsOf({ row, markY }: Placed): { start: number; end: number; colour: string; y: number }[] {
  let from = 0;
  return row.parts.map((part) => {
    const start = from;
    from += part.share;
    return { start, end: from, colour: part.colour, y: markY };
  }).filter(({ start, end }) => end > start);
}

export function drawStacks(stacks: readonly Stack[], width: number, describe: string): SVGElement {
  const layout = placeRows(stacks.map((stack) => ({ ...stack, notes: [], group: '' })), width - 2, TOP);
  const height = layout.end + BOTTOM;
  const ticks = [0, 0.2, 0.4, 0.6, 0.8, 1];
  const left = { frameAnchor: 'left', textAnchor: 'start', dx: 1 - SIDE, y: 'y', text: 'text' } as const;
  const svg = plot({
    width, height, marginTop: TOP, marginBottom: BOTTOM, marginLeft: SIDE, marginRight: SIDE, style: STYLE,
    x: { domain: [0, 1], label: null },
    y: { type: 'linear', domain: [0, height], range: [0, height], axis: null },
    color: { type: 'identity' },
    marks: [
      gridX(ticks, GRID),
      axisX(ticks, { text: (share: number) => `${Math.round(share * 100)} %`, label: null, ...QUIET }),
      text([{ text: 'share of documents', y: height - LINE / 2 - 2 }], { ...left, fill: 'var(--quiet)' }),
      rect(layout.rows.flatMap(partsOf), {
        x1: 'start', x2: 'end', y1: ({ y }: { y: number }) => y - HALF, y2: ({ y }: { y: number }) => y + HALF,
        fill: ({ colour }: { colour: string }) => colour, stroke: 'var(--paper)', strokeWidth: 1,
      }),
      text(layout.rows.flatMap((one) => one.lines), { ...left, fill: 'var(--ink)', ...HALO }),
      text(layout.rows, {
        frameAnchor: 'right', textAnchor: 'end', dx: SIDE - 1, y: 'labelY', text: ({ row }: Placed) => cut(row.label, width - 2, true),
        fontWeight: 600, fill: 'var(--ink)', ...HALO,
      }),
    ],
  }) as SVGSVGElement;
  applyAria(svg, 'group', describe);
  for (const { row, top, height: rowHeight } of layout.rows) {
    if (row.open !== null) overlayButton(svg, { x: 0, y: top, width, height: rowHeight }, `${row.name}: ${row.label}`, row.open);
  }
  rovingTabIndex(svg);
  return svg;
}
