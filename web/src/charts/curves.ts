// Line chart with two scales, one curve per configuration: throughput by clients, times by throughput,
// percentiles.

import { axisX, axisY, dot, gridX, gridY, line, link, plot, text } from '@observablehq/plot';

import { tick } from '../format.ts';
import { applyAria } from './a11y.ts';
import { truncateToWidth } from './bars.ts';

export interface DrawnPoint {
  x: number;
  y: number;
  low: number | null;
  high: number | null;
  /** Drawn hollow if not ranked. */
  ranked: boolean;
  title: string;
}

export interface DrawnCurve {
  name: string;
  colour: string;
  points: readonly DrawnPoint[];
  /** Dashed curves are published results from another machine. */
  dashed?: boolean;
}

export interface Axis {
  title: string;
  log: boolean;
  format: (value: number) => string;
  /** Tick positions; powers of ten if absent. */
  ticks?: readonly number[];
}

export const CURVES_HEIGHT = 320;

/** Powers of ten from `low` to `high`; also twos and fives if the range spans few decades. */
export function logTicks(low: number, high: number): number[] {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const steps = last - first > 3 ? [1] : [1, 2, 5];
  const all = Array.from({ length: last - first + 1 }, (_, index) => steps.map((step) => step * 10 ** (first + index))).flat();
  return all.filter((value) => value >= low * 0.999 && value <= high * 1.001);
}

function around(values: readonly number[]): [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return [low / 1.15, high * 1.15];
}

export function drawCurves(all: readonly DrawnCurve[], x: Axis, y: Axis, width: number, describe: string): SVGElement {
  const points = all.flatMap((curve) => curve.points.map((point) => ({ ...point, name: curve.name, colour: curve.colour, dashed: curve.dashed === true })))
    .filter((point) => (!x.log || point.x > 0) && point.y > 0);
  const [left, right] = points.length === 0 ? [1, 10] : x.log ? around(points.map((point) => point.x)) : [Math.min(...points.map((point) => point.x)), Math.max(...points.map((point) => point.x))];
  const [low, high] = points.length === 0 ? [1, 10] : around(points.flatMap((point) => [point.y, point.low ?? point.y, point.high ?? point.y]));
  const xTicks = x.ticks ?? logTicks(left, right);
  const yTicks = y.ticks ?? logTicks(low, high);
  const names = Math.min(220, width * 0.36);
  const ranged = points.filter((point) => point.low !== null && point.high !== null);
  // Names are placed at the ends of curves and pushed apart where they would overlap.
  const ends = all.flatMap((curve) => points.filter((point) => point.name === curve.name).slice(-1)).sort((a, b) => b.y - a.y);
  const inner = CURVES_HEIGHT - 12 - 42;
  const place = (value: number): number => 12 + inner * (1 - Math.log(value / low) / Math.log(high / low));
  let above = -Infinity;
  const shifts = ends.map((end) => {
    above = Math.max(place(end.y), above + 13);
    return above - place(end.y);
  });
  // Names of curves that end before the right edge are also placed at the edge, where nothing else is drawn.
  const svg = plot({
    width, height: CURVES_HEIGHT, marginLeft: 62, marginRight: names, marginTop: 12, marginBottom: 42,
    style: { fontSize: '12px', fontFamily: 'inherit', overflow: 'visible' },
    x: { type: x.log ? 'log' : 'linear', domain: [left, right], label: null },
    y: { type: 'log', domain: [low, high], label: null },
    color: { type: 'identity' },
    marks: [
      gridY(yTicks, { stroke: 'var(--line)', strokeOpacity: 1 }),
      gridX(xTicks, { stroke: 'var(--line)', strokeOpacity: 1 }),
      axisY(yTicks, { text: (value: number) => tick(y.format(value)), fill: 'var(--quiet)', stroke: 'var(--quiet)', tickSize: 3 }),
      axisX(xTicks, { text: (value: number) => tick(x.format(value)), label: x.title, labelAnchor: 'center', labelArrow: 'none', fill: 'var(--quiet)', stroke: 'var(--quiet)', tickSize: 3 }),
      link(ranged, { x1: 'x', x2: 'x', y1: (one: DrawnPoint) => one.low ?? one.y, y2: (one: DrawnPoint) => one.high ?? one.y, stroke: 'colour', strokeWidth: 2.4, strokeOpacity: 0.55 }),
      line(points.filter((one) => !one.dashed), { x: 'x', y: 'y', z: 'name', stroke: 'colour', strokeWidth: 1.6 }),
      line(points.filter((one) => one.dashed), { x: 'x', y: 'y', z: 'name', stroke: 'colour', strokeWidth: 1.4, strokeDasharray: '4 3' }),
      dot(points, { x: 'x', y: 'y', stroke: 'colour', fill: (one: DrawnPoint & { colour: string }) => (one.ranked ? one.colour : 'var(--paper)'), r: 3.2, title: 'title' }),
      ...ends.map((end, index) => text([end], {
        x: () => right, y: 'y', text: (one: { name: string }) => truncateToWidth(one.name, names - 12), dx: 8, dy: shifts[index] ?? 0, textAnchor: 'start', fill: 'colour', fontWeight: 600,
      })),
    ],
  }) as SVGSVGElement;
  applyAria(svg, 'img', describe);
  return svg;
}
