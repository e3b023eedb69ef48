// Chart of time by document count, both on log scales: how a configuration scales.

import { axisX, axisY, dot, gridX, gridY, line, plot, text } from '@observablehq/plot';

import { tick } from '../format.ts';
import { applyAria } from './a11y.ts';
import { truncateToWidth } from './bars.ts';

export interface Grown {
  name: string;
  colour: string;
  documents: number;
  value: number;
}

export const GROWTH_HEIGHT = 320;

export function drawScaling(
  all: readonly Grown[], format: (value: number) => string, count: (value: number) => string, width: number, describe: string,
): SVGElement {
  // A log scale cannot show zero.
  const points = all.filter((point) => point.value > 0 && point.documents > 0);
  const scales = [...new Set(points.map((point) => point.documents))].sort((a, b) => a - b);
  const values = points.map((point) => point.value);
  const low = 10 ** Math.floor(Math.log10(Math.min(...values)));
  const high = 10 ** Math.ceil(Math.log10(Math.max(...values) * 1.001));
  const steps = points.length === 0 ? 0 : Math.round(Math.log10(high / low)) + 1;
  const powers = Array.from({ length: steps }, (_, index) => low * 10 ** index);
  const last = scales[scales.length - 1] ?? 1;
  const names = Math.min(220, width * 0.42);
  // Names are placed at the ends of lines and pushed apart where they would overlap.
  const ends = points.filter((point) => point.documents === last).sort((a, b) => b.value - a.value);
  const inner = GROWTH_HEIGHT - 12 - 38;
  const place = (value: number): number => 12 + inner * (1 - Math.log(value / low) / Math.log(high / low));
  let above = -Infinity;
  const shifts = ends.map((end) => {
    above = Math.max(place(end.value), above + 13);
    return above - place(end.value);
  });
  const svg = plot({
    width, height: GROWTH_HEIGHT, marginLeft: 58, marginRight: names, marginTop: 12, marginBottom: 38,
    style: { fontSize: '12px', fontFamily: 'inherit', overflow: 'visible' },
    x: { type: 'log', domain: [scales[0] ?? 1, last], label: null },
    y: { type: 'log', domain: [low, high], label: null },
    color: { type: 'identity' },
    marks: [
      gridY(powers, { stroke: 'var(--line)', strokeOpacity: 1 }),
      gridX(scales, { stroke: 'var(--line)', strokeOpacity: 1 }),
      axisY(powers, { text: (value: number) => tick(format(value)), fill: 'var(--quiet)', stroke: 'var(--quiet)', tickSize: 3 }),
      axisX(scales, { text: (value: number) => tick(count(value)), label: 'documents, both log scales', labelAnchor: 'center', labelArrow: 'none', fill: 'var(--quiet)', stroke: 'var(--quiet)', tickSize: 3 }),
      line(points, { x: 'documents', y: 'value', z: 'name', stroke: 'colour', strokeWidth: 1.6 }),
      dot(points, { x: 'documents', y: 'value', fill: 'colour', r: 3, title: (point: Grown) => `${point.name}, ${count(point.documents)}: ${format(point.value)}` }),
      ...ends.map((end, index) => text([end], {
        x: 'documents', y: 'value', text: (point: Grown) => truncateToWidth(point.name, names - 10), dx: 8, dy: shifts[index] ?? 0, textAnchor: 'start', fill: 'var(--ink)',
      })),
    ],
  }) as SVGSVGElement;
  applyAria(svg, 'img', describe);
  return svg;
}
