// A grid of words: the bottleneck of each configuration step by step, the outcome of its crash tests.

import { plot, rect } from '@observablehq/plot';

import { applyAria } from './a11y.ts';
import { overlayButton, rovingTabIndex } from './buttons.ts';
import { cut, fittedNames, LINE, STYLE } from './text.ts';
import { wordsAt } from './words.ts';

export interface Field {
  row: string;
  column: string;
  word: string;
  /** Word for narrow fields; the same if absent. */
  short?: string;
  colour: string;
  /** Colour of the word if it is to stand out. */
  ink?: string;
  open: () => void;
}

export interface MatrixRow {
  key: string;
  name: string;
}

const FIELD = 24;
const EDGE = 2;

/** Height of the matrix in pixels before it is drawn; longer names and titles make it higher. */
export function matrixHeight(rows: number): number {
  return LINE + 10 + rows * (FIELD + LINE + 6);
}

/** Width below which fields show short words. */
const NARROW = 64;

/** Row names have their own lines above the fields, so that they need no space next to them. */
export function drawMatrix(
  fields: readonly Field[], rows: readonly MatrixRow[], columns: readonly string[], width: number, describe: string,
): SVGElement {
  const each = (width - 2 * EDGE) / Math.max(1, columns.length);
  const titles = fittedNames(columns.map((name) => ({ name, remarks: '' })), () => [each - 4, each - 4, each - 4]);
  const top = Math.max(1, ...titles.map((lines) => lines.length)) * LINE + 6;
  const names = fittedNames(rows.map(({ name }) => ({ name, remarks: '' })), () => [width - 2, width - 2]);
  let y = top;
  const placed = rows.map((row, index) => {
    const lines = names[index] ?? [];
    const fieldTop = y + Math.max(1, lines.length) * LINE + 4;
    const one = { ...row, lines, nameY: y + LINE / 2 + 2, fieldTop };
    y = fieldTop + FIELD + 2;
    return one;
  });
  const height = y + 2;
  const origin = { left: EDGE, top };
  const placeOf = new Map(placed.map((row) => [row.key, row]));
  const known = fields.filter((one) => placeOf.has(one.row));
  const wordOf = ({ word, short }: Field): string => cut(each < NARROW ? short ?? word : word, each - 4);
  const middle = (column: string): number => EDGE + (columns.indexOf(column) + 0.5) * each;
  const leftOf = ({ column }: Field): number => EDGE + columns.indexOf(column) * each;
  const topOf = ({ row }: Field): number => placeOf.get(row)?.fieldTop ?? 0;
  const svg = plot({
    width, height, marginTop: top, marginBottom: 2, marginLeft: EDGE, marginRight: EDGE, style: STYLE,
    // Both scales are pixels, because rows differ in height.
    x: { type: 'linear', domain: [0, width], range: [0, width], axis: null },
    y: { type: 'linear', domain: [0, height], range: [0, height], axis: null },
    color: { type: 'identity' },
    marks: [
      ...columns.flatMap((column, index) => wordsAt(titles[index] ?? [], middle(column), LINE / 2 + 1, origin, LINE, { textAnchor: 'middle', fill: 'var(--quiet)' })),
      ...placed.flatMap(({ lines, nameY }) => wordsAt(lines, 1, nameY, origin, LINE, { fill: 'var(--ink)' })),
      rect(known, {
        x1: (one: Field) => leftOf(one) + 2, x2: (one: Field) => leftOf(one) + each - 2, y1: topOf, y2: (one: Field) => topOf(one) + FIELD,
        fill: 'var(--panel)', stroke: (one: Field) => one.colour, strokeWidth: 1.6,
      }),
      ...known.flatMap((one) => wordsAt([wordOf(one)], middle(one.column), topOf(one) + FIELD / 2, origin, LINE, {
        textAnchor: 'middle', fill: one.ink ?? 'var(--ink)', ...(one.ink === undefined ? {} : { fontWeight: 600 }),
      })),
    ],
  }) as SVGSVGElement;
  applyAria(svg, 'group', describe);
  for (const one of known) {
    const area = { x: leftOf(one), y: topOf(one) - 2, width: each, height: FIELD + 4 };
    overlayButton(svg, area, `${placeOf.get(one.row)?.name ?? ''}, ${one.column}: ${one.word}`, one.open);
  }
  rovingTabIndex(svg);
  return svg;
}
