// Names of curves: beside their ends where there is room, else as a legend below the chart.

import { fittedNames, LINE, textWidth } from './text.ts';

/** A name in lines, with the place of its key: pixels from the upper left corner of the chart. */
export interface NamedKey {
  /** Index of the curve. */
  index: number;
  lines: readonly string[];
  x: number;
  /** Middle of the first line. */
  y: number;
}

/** Width of a key with the gap to its name. */
export const KEY = 14;

/** Blank space between two columns of a legend. */
const GAP = 16;

function fitted(names: readonly string[], room: number): string[][] {
  return fittedNames(names.map((name) => ({ name, remarks: '' })), () => [room, room]);
}

/** A name and the height at which it would stand best. */
export interface End {
  name: string;
  y: number;
}

/**
 * Places names at `x` as near to the ends of their curves as others allow, between `top` and `bottom`. Null
 * if there is no room for all of them.
 */
export function besideEnds(ends: readonly End[], x: number, room: number, top: number, bottom: number): NamedKey[] | null {
  const lines = fitted(ends.map(({ name }) => name), room - KEY);
  const blocks = ends.map((end, index) => ({ index, lines: lines[index] ?? [], y: end.y, height: (lines[index]?.length ?? 1) * LINE }))
    .sort((a, b) => a.y - b.y);
  if (blocks.reduce((sum, one) => sum + one.height, 0) > bottom - top) return null;
  let free = top;
  const upper = blocks.map((block) => {
    const at = Math.max(free, block.y - block.height / 2);
    free = at + block.height;
    return at;
  });
  let limit = bottom;
  for (let place = blocks.length - 1; place >= 0; place -= 1) {
    const height = blocks[place]?.height ?? 0;
    upper[place] = Math.min(upper[place] ?? top, limit - height);
    limit = upper[place] ?? top;
  }
  return blocks.map((block, place) => ({ index: block.index, lines: block.lines, x, y: (upper[place] ?? top) + LINE / 2 }));
}

/** Places names in columns below `top`; returns them with the lower edge of the last one. */
export function below(names: readonly string[], width: number, top: number): { keys: NamedKey[]; end: number } {
  const widest = Math.max(0, ...names.map((name) => textWidth(name))) + KEY + GAP;
  const columns = Math.max(1, Math.min(names.length, Math.floor((width + GAP) / widest)));
  const each = columns === 1 ? width : width / columns;
  const lines = fitted(names, each - KEY - (columns === 1 ? 2 : GAP));
  const keys: NamedKey[] = [];
  let y = top;
  for (let first = 0; first < names.length; first += columns) {
    const row = names.slice(first, first + columns).map((_, place) => first + place);
    for (const [place, index] of row.entries()) keys.push({ index, lines: lines[index] ?? [], x: place * each, y: y + LINE / 2 });
    y += Math.max(...row.map((index) => lines[index]?.length ?? 1)) * LINE + 2;
  }
  return { keys, end: y };
}
