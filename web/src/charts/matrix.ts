// A grid of words: the bottleneck of each configuration, step by step.

import { axisX, cell, plot, text } from '@observablehq/plot';

import { applyAria } from './a11y.ts';
import { overlayButton, rovingTabIndex } from './buttons.ts';
import { truncateToWidth } from './bars.ts';

export interface Field {
  row: string;
  column: string;
  word: string;
  colour: string;
  open: () => void;
}

const ROW = 40;
const TOP = 26;

export function matrixHeight(rows: number): number {
  return TOP + rows * ROW + 4;
}

/** Shortens words for narrow fields. */
function shortened(word: string): string {
  return word.replace('one core', '1 core').replace('waiting', 'wait').replace(', part', '*');
}

/** Row names have their own line above the fields, so that they need no space next to them. */
export function drawMatrix(
  fields: readonly Field[], rows: readonly { key: string; name: string }[], columns: readonly string[], width: number, describe: string,
): SVGElement {
  const each = (width - 4) / Math.max(1, columns.length);
  const svg = plot({
    width, height: matrixHeight(rows.length), marginTop: TOP, marginBottom: 4, marginLeft: 2, marginRight: 2,
    style: { fontSize: '12px', fontFamily: 'inherit', overflow: 'visible' },
    x: { type: 'band', domain: [...columns], label: null, padding: 0.04 },
    y: { type: 'band', domain: rows.map((row) => row.key), padding: 0, axis: null },
    color: { type: 'identity' },
    marks: [
      axisX([...columns], { anchor: 'top', tickSize: 0, label: null, fill: 'var(--quiet)' }),
      cell(fields, { x: 'column', y: 'row', fill: 'var(--panel)', stroke: 'colour', strokeWidth: 1.6, insetTop: 18, insetBottom: 2 }),
      text(fields, {
        x: 'column', y: 'row', text: (one: Field) => truncateToWidth(each < 62 ? shortened(one.word) : one.word, each - 2), dy: 8, fill: 'var(--ink)', fontSize: 11.5,
      }),
      text(rows, {
        text: 'name', y: 'key', frameAnchor: 'left', textAnchor: 'start', dy: -11, fill: 'var(--ink)',
      }),
    ],
  }) as SVGSVGElement;
  applyAria(svg, 'group', describe);
  for (const one of fields) {
    const [x, y] = [columns.indexOf(one.column), rows.findIndex((row) => row.key === one.row)];
    const name = rows[y]?.name ?? '';
    overlayButton(svg, { x: 2 + x * each, y: TOP + y * ROW + 16, width: each, height: ROW - 16 }, `${name}, ${one.column}: ${one.word}`, one.open);
  }
  rovingTabIndex(svg);
  return svg;
}
