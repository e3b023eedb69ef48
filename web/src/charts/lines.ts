// Line chart over time, with background bands that name the current activity.

import { areaY, lineY, plot, rect } from '@observablehq/plot';

import type { Scale, Tick } from './scale.ts';
import { applyAria } from './a11y.ts';
import { timeFrame } from './over-time.ts';
import { zeroScale } from './scale.ts';
import { STYLE } from './text.ts';

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

export const LINES_HEIGHT = 170;

/** Distances between the ticks of a clock, in seconds. */
const CLOCK = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400];

function clock(seconds: number): string {
  const [minutes, rest] = [Math.floor(seconds / 60), Math.round(seconds % 60)];
  return minutes >= 60 ? `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')} h` : `${minutes}:${String(rest).padStart(2, '0')}`;
}

/** Ticks at whole seconds, minutes or hours, dense ones first. */
function clockTicks(start: number, end: number): Tick[][] {
  return CLOCK.filter((distance) => (end - start) / distance <= 12).map((distance) => {
    const first = Math.ceil(start / distance);
    const number = Math.floor(end / distance) - first + 1;
    return Array.from({ length: Math.max(0, number) }, (_, index) => (first + index) * distance).map((value) => ({ value, text: clock(value) }));
  });
}

/** What a line shows: the title of its values and how they are written. */
export interface LineValues {
  title: string;
  format: (value: number) => string;
}

export function drawLines(points: readonly Point[], bands: readonly Band[], { title, format }: LineValues, width: number, describe: string): SVGElement {
  const [start, last] = [points[0]?.at ?? 0, points[points.length - 1]?.at ?? 1];
  const end = Math.max(last, start + 1);
  const x: Scale = { kind: 'linear', low: start, high: end, format: clock, title: 'since the run began, minutes:seconds' };
  const y = zeroScale(points.flatMap((point) => point.value ?? []), format, title);
  const { margins, marks } = timeFrame(x, y, width, LINES_HEIGHT, clockTicks(start, end));
  const svg = plot({
    width, height: LINES_HEIGHT, ...margins, style: STYLE,
    x: { domain: [start, end], label: null },
    y: { domain: [0, y.high], label: null },
    color: { type: 'identity' },
    marks: [
      rect(bands, { x1: 'from', x2: 'to', y1: 0, y2: y.high, fill: 'colour', fillOpacity: 0.16, title: 'what' }),
      ...marks,
      areaY(points, { x: 'at', y: 'value', fill: 'var(--accent)', fillOpacity: 0.18, pointerEvents: 'none' }),
      lineY(points, { x: 'at', y: 'value', stroke: 'var(--accent)', strokeWidth: 1.2, pointerEvents: 'none' }),
    ],
  }) as SVGSVGElement;
  applyAria(svg, 'img', describe);
  return svg;
}
