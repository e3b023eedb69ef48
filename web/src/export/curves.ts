// Data of line charts for their CSV.

import type { DrawnCurve } from '../charts/curves.ts';
import type { FigureData } from './csv.ts';

/** One row per point; `x` and `y` name the quantities. */
export function curvesData(curves: readonly DrawnCurve[], x: string, y: string): FigureData {
  return {
    columns: ['configuration', x, y, 'low', 'high', 'ranked', 'label'],
    rows: curves.flatMap(({ name, points }) => points.map((point) => [name, point.x, point.y, point.low, point.high, point.ranked ? 'yes' : 'no', point.label ?? ''])),
  };
}
