// Chart of ratios between runs: a dot with its interval per row, on a log scale around 1.

import { axisX, dot, gridX, plot, ruleX, ruleY, text } from '@observablehq/plot';

import { applyAria } from './a11y.ts';
import { truncateToWidth } from './bars.ts';

/** One row of the ratio chart. */
export interface RatioDot {
  key: string;
  name: string;
  run: number;
  ratio: number;
  low: number | null;
  high: number | null;
  label: string;
}

const ROW = 34;
const SHAPES = ['circle', 'square', 'triangle', 'diamond'] as const;
const SIGNS = ['●', '■', '▲', '◆'] as const;

/** The character that resembles the dot shape of a run, for the legend. */
export function signOf(run: number): string {
  return SIGNS[(run - 1) % SIGNS.length] ?? SIGNS[0];
}

export function dotsHeight(rows: number): number {
  return rows * ROW + 48;
}

/** The scale shared by all charts of a part: at least from a half to double. */
export function ratioDomain(dots: readonly RatioDot[]): [number, number] {
  const most = Math.max(2, ...dots.map((one) => Math.max(one.ratio, 1 / one.ratio)));
  return [1 / (most * 1.1), most * 1.1];
}

export function drawDots(dots: readonly RatioDot[], domain: readonly [number, number], width: number, describe: string): SVGElement {
  const inside = (value: number): number => Math.min(domain[1], Math.max(domain[0], value));
  const ranged = dots.filter((one) => one.low !== null && one.high !== null);
  const ticks = [0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 100].filter((tick) => tick >= domain[0] && tick <= domain[1]);
  const svg = plot({
    width, height: dotsHeight(dots.length), marginLeft: 8, marginRight: 12, marginTop: 8, marginBottom: 40,
    style: { fontSize: '12px', fontFamily: 'inherit', overflow: 'visible' },
    x: { type: 'log', domain: [...domain], label: null },
    y: { type: 'band', domain: dots.map((one) => one.key), padding: 0, axis: null },
    symbol: { type: 'identity' },
    marks: [
      gridX(ticks, { stroke: 'var(--line)', strokeOpacity: 1 }),
      axisX(ticks, { text: (tick: number) => `${tick} ×`, label: 'time ÷ time in the first run, log scale', labelAnchor: 'left', labelArrow: 'none', fill: 'var(--quiet)', stroke: 'var(--quiet)', tickSize: 3 }),
      ruleX([1], { stroke: 'var(--ink)' }),
      ruleY(ranged, { x1: (one: RatioDot) => inside(one.low ?? 1), x2: (one: RatioDot) => inside(one.high ?? 1), y: 'key', dy: 7, stroke: 'var(--quiet)', strokeWidth: 1.6 }),
      dot(dots, { x: (one: RatioDot) => inside(one.ratio), y: 'key', dy: 7, symbol: (one: RatioDot) => SHAPES[(one.run - 1) % SHAPES.length] ?? 'circle', fill: 'var(--accent)', r: 4.5 }),
      text(dots, { text: (one: RatioDot) => truncateToWidth(one.name, width - 30 - one.label.length * 6.6), y: 'key', frameAnchor: 'left', textAnchor: 'start', dy: -7, fill: 'var(--ink)', stroke: 'var(--paper)', strokeWidth: 3 }),
      text(dots, { text: 'label', y: 'key', frameAnchor: 'right', textAnchor: 'end', dy: -7, fontWeight: 600, fill: 'var(--ink)', stroke: 'var(--paper)', strokeWidth: 3 }),
    ],
  }) as SVGSVGElement;
  applyAria(svg, 'img', describe);
  return svg;
}
