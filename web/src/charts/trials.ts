// Strip chart of a cell's trials: time by round on a log scale, verdict by symbol.

import { axisX, axisY, dot, gridY, plot, ruleY } from '@observablehq/plot';

import type { Verdict } from '../vocabulary.ts';
import { applyAria } from './a11y.ts';
import { logScale, pixels, roomyTicks, ticksUp } from './scale.ts';
import { cut, GRID, LINE, QUIET, STYLE, textWidth } from './text.ts';
import { wordsAt } from './words.ts';

export interface Dot {
  round: number;
  seconds: number | null;
  verdict: Verdict;
  title: string;
}

/** Symbol of each verdict; trials without a time are drawn on the bottom line. */
export const SYMBOLS: Record<Verdict, 'circle' | 'diamond2' | 'triangle2' | 'times' | 'square2' | 'plus'> = {
  exact: 'circle', approximate: 'diamond2', unverified: 'triangle2', disputed: 'diamond2', partial: 'square2',
  not_applicable: 'plus', wrong: 'times', timeout: 'times', failed: 'times',
};

export const TRIALS_HEIGHT = 240;
const TOP = LINE + 8;
/** Height of the line for trials without a time, of tick marks, of tick labels, and of the title of the axis. */
const BOTTOM = 26 + LINE;

/** Trials of one round would overlap, so they are spread in the order of their repetitions. */
function spread(dots: readonly Dot[]): (Dot & { x: number })[] {
  const most = new Map<number, number>();
  for (const one of dots) most.set(one.round, (most.get(one.round) ?? 0) + 1);
  const seen = new Map<number, number>();
  return dots.map((one) => {
    const place = seen.get(one.round) ?? 0;
    seen.set(one.round, place + 1);
    const several = (most.get(one.round) ?? 1) - 1;
    return { ...one, x: one.round + (several === 0 ? 0 : (place / several - 0.5) * 0.6) };
  });
}

export function drawTrials(
  dots: readonly Dot[], median: number | null, width: number, format: (value: number) => string, describe: string,
): SVGElement {
  const times = [...dots.flatMap((one) => one.seconds ?? []), ...(median === null ? [] : [median])];
  const scale = logScale(times, format, 'time of a trial');
  const ticksY = ticksUp(scale, TRIALS_HEIGHT - TOP - BOTTOM);
  const marginLeft = Math.ceil(Math.max(24, ...ticksY.map(({ text }) => textWidth(text)))) + 12;
  const rounds = [...new Set(dots.map((one) => one.round))].sort((a, b) => a - b);
  const domain: [number, number] = [(rounds[0] ?? 1) - 0.5, (rounds[rounds.length - 1] ?? 1) + 0.5];
  const place = pixels({ kind: 'linear', low: domain[0], high: domain[1] }, marginLeft, width - 12);
  const ticksX = roomyTicks(rounds.map((value) => ({ value, text: String(value) })), place, [0, width]);
  const origin = { left: marginLeft, top: TOP };
  const svg = plot({
    width, height: TRIALS_HEIGHT, marginLeft, marginRight: 12, marginTop: TOP, marginBottom: BOTTOM, style: STYLE,
    x: { domain, label: null },
    y: { type: 'log', domain: [scale.low, scale.high], label: null },
    symbol: { type: 'identity' },
    color: { type: 'identity' },
    marks: [
      gridY(ticksY.map(({ value }) => value), GRID),
      axisY(ticksY.map(({ value }) => value), { text: (_: number, index: number) => ticksY[index]?.text ?? '', label: null, ...QUIET }),
      axisX(ticksX.map(({ value }) => value), { text: (_: number, index: number) => ticksX[index]?.text ?? '', label: null, tickPadding: 8, ...QUIET }),
      ...(median === null || median <= 0 ? [] : [ruleY([median], { stroke: 'var(--ink)', strokeDasharray: '4 3' })]),
      dot(spread(dots), {
        x: 'x', y: (one: Dot) => (one.seconds === null || one.seconds <= 0 ? scale.low : one.seconds), symbol: (one: Dot) => SYMBOLS[one.verdict], r: 4,
        stroke: (one: Dot) => (one.seconds === null ? 'var(--bad)' : 'var(--accent)'), strokeWidth: 1.8, fill: 'none', title: 'title',
      }),
      ...wordsAt([cut(scale.title, width - 2)], 1, LINE / 2, origin, LINE, { fill: 'var(--quiet)' }),
      ...wordsAt(['round'], 1, TRIALS_HEIGHT - LINE / 2 - 1, origin, LINE, { fill: 'var(--quiet)' }),
    ],
  }) as SVGSVGElement;
  applyAria(svg, 'img', describe);
  return svg;
}
