// Per-second chart of trials, one line per round; the warm-up is shaded and checkpoints are marked.

import { axisX, axisY, dot, gridY, line, plot, rect, ruleX } from '@observablehq/plot';

import { applyAria } from './a11y.ts';
import { tick } from '../format.ts';

export interface SecondsLine {
  round: number;
  values: readonly number[];
  ramp: number;
  checkpoints: readonly number[];
}

export interface SecondsSize {
  width: number;
  height: number;
  /** Minimum upper end of the scale, so that noise near zero is not magnified. */
  least: number;
}

export const SECONDS_HEIGHT = 170;
export const QUEUE_HEIGHT = 110;

export function drawSeconds(lines: readonly SecondsLine[], colour: string, format: (value: number) => string, size: SecondsSize, describe: string): SVGElement {
  const { width, height, least } = size;
  const points = lines.flatMap((one) => one.values.map((value, at) => ({ at: at + 0.5, value, round: one.round })));
  const length = Math.max(1, ...lines.map((one) => one.values.length));
  const top = Math.max(least, ...points.map((point) => point.value)) * 1.05;
  const ramp = Math.max(0, ...lines.map((one) => one.ramp));
  const marks = lines.flatMap((one) => one.checkpoints.map((at) => ({ at: at + 0.5, round: one.round })));
  const svg = plot({
    width, height, marginLeft: 62, marginRight: 12, marginTop: 8, marginBottom: 36,
    style: { fontSize: '12px', fontFamily: 'inherit', overflow: 'visible' },
    x: { domain: [0, length], label: null },
    y: { domain: [0, top], label: null },
    marks: [
      rect(ramp > 0 ? [ramp] : [], { x1: 0, x2: (end: number) => end, y1: 0, y2: top, fill: 'var(--edge)', fillOpacity: 0.18, title: () => 'warm-up, not measured' }),
      gridY({ ticks: 3, stroke: 'var(--line)', strokeOpacity: 1 }),
      axisY({ ticks: 3, tickFormat: (value: number) => (value === 0 ? '0' : tick(format(value))), label: null, fill: 'var(--quiet)', stroke: 'var(--quiet)', tickSize: 3 }),
      axisX({ ticks: Math.min(length, width < 500 ? 5 : 10), tickFormat: (value: number) => (Number.isInteger(value) ? String(value) : ''), label: 'seconds since the trial began', labelAnchor: 'center', labelArrow: 'none', fill: 'var(--quiet)', stroke: 'var(--quiet)', tickSize: 3 }),
      ruleX(marks, { x: 'at', stroke: 'var(--doubt)', strokeDasharray: '4 3', title: (one: { round: number }) => `checkpoint in round ${one.round}` }),
      line(points, { x: 'at', y: 'value', z: 'round', stroke: colour, strokeWidth: 1.2, strokeOpacity: 0.75 }),
      dot(length <= 40 ? points : [], { x: 'at', y: 'value', fill: colour, r: 2, title: (one: { round: number; value: number }) => `round ${one.round}: ${format(one.value)}` }),
    ],
  }) as SVGSVGElement;
  applyAria(svg, 'img', describe);
  return svg;
}
