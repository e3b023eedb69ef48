// Strip chart of a cell's trials: time by round, verdict by symbol.

import { axisX, axisY, dot, gridY, plot, ruleY } from '@observablehq/plot';

import { applyAria } from './a11y.ts';
import type { Verdict } from '../vocabulary.ts';
import { tick } from '../format.ts';

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

export function drawTrials(
  dots: readonly Dot[], median: number | null, width: number, format: (value: number) => string, describe: string,
): SVGElement {
  const times = dots.flatMap((one) => one.seconds ?? []);
  const high = Math.max(...times, median ?? 0, 1e-9) * 1.08;
  // Trials of one round would overlap, so they are spread in the order of their repetitions.
  const seen = new Map<number, number>();
  const most = new Map<number, number>();
  for (const one of dots) most.set(one.round, (most.get(one.round) ?? 0) + 1);
  const placed = dots.map((one) => {
    const place = seen.get(one.round) ?? 0;
    seen.set(one.round, place + 1);
    const several = (most.get(one.round) ?? 1) - 1;
    return { ...one, x: one.round + (several === 0 ? 0 : (place / several - 0.5) * 0.6), y: one.seconds ?? 0, none: one.seconds === null };
  });
  const rounds = [...most.keys()].sort((a, b) => a - b);
  const [first, last] = [rounds[0] ?? 1, rounds[rounds.length - 1] ?? 1];
  const svg = plot({
    width, height: 220, marginLeft: 64, marginRight: 12, marginTop: 12, marginBottom: 38,
    style: { fontSize: '12px', fontFamily: 'inherit', overflow: 'visible' },
    x: { domain: [first - 0.5, last + 0.5], label: null },
    y: { domain: [0, high], label: null },
    symbol: { type: 'identity' },
    marks: [
      gridY({ ticks: 4, stroke: 'var(--line)', strokeOpacity: 1 }),
      axisY({ ticks: 4, tickFormat: (value: number) => (value === 0 ? '0' : tick(format(value))), label: null, fill: 'var(--quiet)', stroke: 'var(--quiet)', tickSize: 3 }),
      axisX(rounds, { tickFormat: String, label: 'round', labelAnchor: 'center', labelArrow: 'none', fill: 'var(--quiet)', stroke: 'var(--quiet)', tickSize: 3 }),
      ...(median === null ? [] : [ruleY([median], { stroke: 'var(--ink)', strokeDasharray: '4 3' })]),
      dot(placed, {
        x: 'x', y: 'y', symbol: (one: Dot) => SYMBOLS[one.verdict], r: 4, stroke: (one: { none: boolean }) => (one.none ? 'var(--bad)' : 'var(--accent)'),
        strokeWidth: 1.8, fill: 'none', title: 'title',
      }),
    ],
    color: { type: 'identity' },
  }) as SVGSVGElement;
  applyAria(svg, 'img', describe);
  return svg;
}
