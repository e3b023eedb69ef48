// Per-second chart of trials, one line per round; the warm-up is shaded and checkpoints are marked.

import { dot, line, plot, rect, ruleX } from '@observablehq/plot';

import type { Scale } from './scale.ts';
import { applyAria } from './a11y.ts';
import { timeFrame } from './over-time.ts';
import { zeroScale } from './scale.ts';
import { STYLE } from './text.ts';

export interface SecondsLine {
  round: number;
  /** A second without a value is a gap in the line. */
  values: readonly (number | null)[];
  ramp: number;
  checkpoints: readonly number[];
}

export interface SecondsSize {
  width: number;
  height: number;
  /** Minimum upper end of the scale, so that noise near zero is not magnified. */
  least: number;
  /** Title of the values. */
  title: string;
}

export const SECONDS_HEIGHT = 185;
export const QUEUE_HEIGHT = 130;

export function drawSeconds(lines: readonly SecondsLine[], colour: string, format: (value: number) => string, size: SecondsSize, describe: string): SVGElement {
  const { width, height, least, title } = size;
  const points = lines.flatMap((one) => one.values.map((value, at) => ({ at: at + 0.5, value, round: one.round })));
  const length = Math.max(1, ...lines.map((one) => one.values.length));
  const ramp = Math.max(0, ...lines.map((one) => one.ramp));
  const checkpoints = lines.flatMap((one) => one.checkpoints.map((at) => ({ at: at + 0.5, round: one.round })));
  const x: Scale = { kind: 'linear', low: 0, high: length, format: String, title: 'seconds since the trial began' };
  const y = zeroScale([least, ...points.flatMap((point) => point.value ?? [])], format, title);
  const { margins, marks } = timeFrame(x, y, width, height);
  const svg = plot({
    width, height, ...margins, style: STYLE,
    x: { domain: [0, length], label: null },
    y: { domain: [0, y.high], label: null },
    marks: [
      rect(ramp > 0 ? [ramp] : [], { x1: 0, x2: (end: number) => end, y1: 0, y2: y.high, fill: 'var(--edge)', fillOpacity: 0.18, title: () => 'warm-up, not measured' }),
      ...marks,
      ruleX(checkpoints, { x: 'at', stroke: 'var(--doubt)', strokeDasharray: '4 3', title: (one: { round: number }) => `checkpoint in round ${one.round}` }),
      line(points, { x: 'at', y: 'value', z: 'round', stroke: colour, strokeWidth: 1.2, strokeOpacity: 0.75 }),
      dot(length <= 40 ? points.filter((point) => point.value !== null) : [], { x: 'at', y: 'value', fill: colour, r: 2, title: (one: { round: number; value: number }) => `round ${one.round}: ${format(one.value)}` }),
    ],
  }) as SVGSVGElement;
  applyAria(svg, 'img', describe);
  return svg;
}
