// Text and symbols at places given in pixels, inside of charts whose scales are in other units.

import type { DotOptions, Markish, TextOptions } from '@observablehq/plot';
import { dot, text } from '@observablehq/plot';

/** Upper left corner of the area between the axes, in pixels. */
export interface Origin {
  left: number;
  top: number;
}

/** Draws words whose first line is centred on the height `y`, with a mark for each line. */
export function wordsAt(lines: readonly string[], x: number, y: number, { left, top }: Origin, distance: number, options: TextOptions): Markish[] {
  return lines.filter((words) => words !== '').map((words, place) =>
    text([words], { frameAnchor: 'top-left', lineAnchor: 'middle', textAnchor: 'start', dx: x - left, dy: y + place * distance - top, text: () => words, ...options }));
}

/** Draws one symbol centred on a place. */
export function symbolAt(x: number, y: number, { left, top }: Origin, options: DotOptions): Markish {
  return dot([0], { frameAnchor: 'top-left', dx: x - left, dy: y - top, ...options });
}
