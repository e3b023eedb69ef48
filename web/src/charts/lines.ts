// Line chart over time, with background bands that name the current activity.

import { areaY, axisX, axisY, gridY, lineY, plot, rect } from '@observablehq/plot';

import { applyAria } from './a11y.ts';
import { tick } from '../format.ts';

export interface Band {
  from: number;
  to: number;
  what: string;
  colour: string;
}

export interface Point {
  at: number;
  value: number | null;
}

export const LINES_HEIGHT = 150;

function clock(seconds: number): string {
  const [minutes, rest] = [Math.floor(seconds / 60), Math.round(seconds % 60)];
  return minutes >= 60 ? `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')} h` : `${minutes}:${String(rest).padStart(2, '0')}`;
}

export function drawLines(
  points: readonly Point[], bands: readonly Band[], format: (value: number) => string, width: number, describe: string,
): SVGElement {
  const high = Math.max(0, ...points.map((point) => point.value ?? 0));
  const [start, end] = [points[0]?.at ?? 0, points[points.length - 1]?.at ?? 1];
  const bars = width < 500 ? 4 : 8;
  const top = high > 0 ? high * 1.05 : 1;
  const svg = plot({
    width, height: LINES_HEIGHT, marginLeft: 74, marginRight: 12, marginTop: 8, marginBottom: 34,
    style: { fontSize: '12px', fontFamily: 'inherit', overflow: 'visible' },
    x: { domain: [start, Math.max(end, start + 1)], label: null },
    y: { domain: [0, top], label: null },
    color: { type: 'identity' },
    marks: [
      rect(bands, { x1: 'from', x2: 'to', y1: 0, y2: top, fill: 'colour', fillOpacity: 0.16, title: 'what' }),
      gridY({ ticks: 3, stroke: 'var(--line)', strokeOpacity: 1 }),
      axisY({ ticks: 3, tickFormat: (value: number) => tick(format(value)), label: null, fill: 'var(--quiet)', stroke: 'var(--quiet)', tickSize: 3 }),
      axisX({ ticks: bars, tickFormat: clock, label: 'since the run began, minutes:seconds', labelAnchor: 'center', labelArrow: 'none', fill: 'var(--quiet)', stroke: 'var(--quiet)', tickSize: 3 }),
      areaY(points, { x: 'at', y: 'value', fill: 'var(--accent)', fillOpacity: 0.18, pointerEvents: 'none' }),
      lineY(points, { x: 'at', y: 'value', stroke: 'var(--accent)', strokeWidth: 1.2, pointerEvents: 'none' }),
    ],
  }) as SVGSVGElement;
  applyAria(svg, 'img', describe);
  return svg;
}
