// Labels at the points of curves, placed where they cover neither each other nor points.

import { LINE, textWidth } from './text.ts';

/** A labelled point: middle of the point in pixels. */
export interface LabelledPoint {
  x: number;
  y: number;
  text: string;
}

/** An area of the chart in pixels. */
export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Half the size of a point with some space around it. */
const POINT = 5;

/** Directions from the point, best first. */
const DIRECTIONS = [[0, -1], [0, 1], [1, 0], [-1, 0], [1, -1], [-1, -1], [1, 1], [-1, 1]] as const;

function overlap(one: Box, other: Box): boolean {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}

/** Places labels inside `frame`; those without a free place are left out. `x` and `y` of the result are the middle of the text. */
export function placeLabels(points: readonly LabelledPoint[], frame: Box): LabelledPoint[] {
  const around = (x: number, y: number, halfWidth: number, halfHeight: number): Box =>
    ({ left: x - halfWidth, right: x + halfWidth, top: y - halfHeight, bottom: y + halfHeight });
  const taken = points.map(({ x, y }) => around(x, y, POINT - 1, POINT - 1));
  return points.flatMap(({ x, y, text }) => {
    const [halfWidth, halfHeight] = [textWidth(text) / 2 + 1, LINE / 2];
    for (const [right, down] of DIRECTIONS) {
      const middle = { x: x + right * (POINT + halfWidth), y: y + down * (POINT + halfHeight - 1), text };
      const box = around(middle.x, middle.y, halfWidth, halfHeight);
      const isInside = box.left >= frame.left && box.right <= frame.right && box.top >= frame.top && box.bottom <= frame.bottom;
      if (isInside && !taken.some((one) => overlap(box, one))) {
        taken.push(box);
        return [middle];
      }
    }
    return [];
  });
}
