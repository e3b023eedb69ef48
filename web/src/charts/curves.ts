// Line chart with two scales, one curve per configuration: throughput by clients, times by throughput,
// percentiles, times by document size.

import type { Markish } from '@observablehq/plot';
import { axisX, axisY, dot, gridX, gridY, line, plot, ruleX } from '@observablehq/plot';

import type { NamedKey } from './legend.ts';
import type { Box } from './point-labels.ts';
import type { Scale, Tick } from './scale.ts';
import type { Origin } from './words.ts';
import { applyAria } from './a11y.ts';
import { below, besideEnds, KEY } from './legend.ts';
import { placeLabels } from './point-labels.ts';
import { logScale, pixels, roomyTicks, ticksAlong, ticksAt, ticksUp } from './scale.ts';
import { cut, GRID, HALO, LINE, QUIET, STYLE, textWidth, titleLines } from './text.ts';
import { symbolAt, wordsAt } from './words.ts';

export interface DrawnPoint {
  x: number;
  y: number;
  low: number | null;
  high: number | null;
  /** Drawn hollow if not ranked. */
  ranked: boolean;
  title: string;
  /** Text beside the point, such as the number of clients; left out where there is no room. */
  label?: string;
}

export interface DrawnCurve {
  name: string;
  colour: string;
  points: readonly DrawnPoint[];
  /** Dashed curves are published results from another machine. */
  dashed?: boolean;
}

export interface Axis {
  /** Title of the axis; that its scale is logarithmic is added. */
  title: string;
  log: boolean;
  format: (value: number) => string;
  /** Tick positions; steps of 1, 2 and 5 if absent. */
  ticks?: readonly number[];
}

/** Height of the chart in pixels before it is drawn; a legend below makes it higher. */
export const CURVES_HEIGHT = 340;

/** Height of the area between the axes. */
const INNER = 270;
const TOP = LINE + 10;
/** Height of tick marks and tick labels below the area. */
const TICKS = 26;

/** Minimum width of a chart with names beside its curves, and the largest share of it that they take. */
const WIDE = 560;
const NAMES = 0.34;

/** Symbols of curves of one colour, and dashes that change when these are used up. */
const SYMBOLS = ['circle', 'square', 'triangle', 'diamond', 'cross', 'star', 'wye'] as const;
const DASHES = ['none', '9 3', '2 3'] as const;
const PUBLISHED = '4 3';

interface Style {
  colour: string;
  symbol: (typeof SYMBOLS)[number];
  dash: string;
}

/** Curves of one colour, such as one system's, have different symbols. */
function stylesOf(curves: readonly DrawnCurve[]): Style[] {
  const uses = new Map<string, number>();
  return curves.map(({ colour, dashed }) => {
    const place = uses.get(colour) ?? 0;
    uses.set(colour, place + 1);
    return {
      colour, symbol: SYMBOLS[place % SYMBOLS.length] ?? 'circle',
      dash: dashed === true ? PUBLISHED : DASHES[Math.floor(place / SYMBOLS.length) % DASHES.length] ?? 'none',
    };
  });
}

type Placed = DrawnPoint & Style & { curve: number };

function pointsOf(curves: readonly DrawnCurve[], styles: readonly Style[], x: Axis): Placed[] {
  return curves.flatMap((curve, index) => {
    const style = styles[index];
    return style === undefined ? [] : curve.points.filter((point) => (!x.log || point.x > 0) && point.y > 0).map((point) => ({ ...point, ...style, curve: index }));
  });
}

/** The horizontal scale: as wide as the points, with room at its sides. */
function across(points: readonly Placed[], { title, log, format }: Axis): Scale {
  const values = points.map((point) => point.x);
  if (log) return logScale(values, format, title);
  const [low, high] = [Math.min(0, ...values), Math.max(1, ...values)];
  return { kind: 'linear', low: low - (high - low) * 0.02, high: high + (high - low) * 0.02, format, title };
}

/** Marks of names with their keys: the symbol of the curve. */
function keyMarks(keys: readonly NamedKey[], styles: readonly Style[], origin: Origin): Markish[] {
  return keys.flatMap(({ index, lines, x, y }) => {
    const { colour, symbol } = styles[index] ?? { colour: 'var(--ink)', symbol: 'circle' as const };
    return [
      symbolAt(x + 5, y, origin, { symbol, r: 3.6, fill: colour, stroke: colour }),
      ...wordsAt(lines, x + KEY, y, origin, LINE, { fill: 'var(--ink)' }),
    ];
  });
}

/** The names of all curves: beside their ends in wide charts if there is room, else below `bottom`. */
function placeNames(curves: readonly DrawnCurve[], ends: readonly number[], width: number, bottom: number): { keys: NamedKey[]; right: number; end: number } {
  const names = curves.map((one) => one.name);
  if (width >= WIDE) {
    const room = Math.min(width * NAMES, Math.max(...names.map((name) => textWidth(name))) + KEY + 2);
    const keys = besideEnds(names.map((name, index) => ({ name, y: ends[index] ?? TOP })), width - room + 8, room - 10, TOP, TOP + INNER);
    if (keys !== null) return { keys, right: room, end: bottom };
  }
  const { keys, end } = below(names, width, bottom + 6);
  return { keys, right: 16, end };
}

/** Labels that stand beside their points. */
function labelMarks(points: readonly Placed[], place: { x: (value: number) => number; y: (value: number) => number }, frame: Box): Markish[] {
  const labelled = points.flatMap((point) => (point.label === undefined ? [] : [{ x: place.x(point.x), y: place.y(point.y), text: point.label }]));
  return placeLabels(labelled, frame).flatMap((label) =>
    wordsAt([label.text], label.x, label.y, frame, LINE, { textAnchor: 'middle', fill: 'var(--quiet)', ...HALO }));
}

function tickText(ticks: readonly Tick[]): (value: number, index: number) => string {
  return (_, index) => ticks[index]?.text ?? '';
}

export function drawCurves(all: readonly DrawnCurve[], x: Axis, y: Axis, width: number, describe: string): SVGElement {
  const curves = all.filter((curve) => curve.points.length > 0);
  const styles = stylesOf(curves);
  const points = pointsOf(curves, styles, x);
  const [scaleX, scaleY] = [
    across(points, x), logScale(points.map((point) => point.y), y.format, y.title, points.flatMap(({ low, high }) => [low, high].filter((limit) => limit !== null))),
  ];
  const bottom = TOP + INNER;
  const placeY = pixels(scaleY, bottom, TOP);
  const ticksY = ticksUp(scaleY, INNER);
  const marginLeft = Math.ceil(Math.max(24, ...ticksY.map(({ text: words }) => textWidth(words)))) + 12;
  const titleX = titleLines(scaleX.title, width);
  const ends = curves.map((_, index) => {
    const last = points.filter((point) => point.curve === index).pop();
    return last === undefined ? TOP : placeY(last.y);
  });
  const { keys, right, end } = placeNames(curves, ends, width, bottom + TICKS + titleX.length * LINE + 2);
  const height = end + 4;
  const marginRight = Math.ceil(right);
  const placeX = pixels(scaleX, marginLeft, width - marginRight);
  const room: [number, number] = [0, width];
  const ticksX = x.ticks === undefined ? ticksAlong(scaleX, placeX, room) : roomyTicks(ticksAt(x.ticks, x.format), placeX, room);
  const insideY = (value: number): number => Math.min(scaleY.high, Math.max(scaleY.low, value));
  const ranged = points.filter((point) => point.low !== null && point.high !== null);
  const origin = { left: marginLeft, top: TOP };
  const [valuesX, valuesY] = [ticksX.map(({ value }) => value), ticksY.map(({ value }) => value)];
  const svg = plot({
    width, height, marginLeft, marginRight, marginTop: TOP, marginBottom: height - bottom, style: STYLE,
    x: { type: scaleX.kind, domain: [scaleX.low, scaleX.high], label: null },
    y: { type: 'log', domain: [scaleY.low, scaleY.high], label: null },
    color: { type: 'identity' },
    symbol: { type: 'identity' },
    marks: [
      gridY(valuesY, GRID),
      gridX(valuesX, GRID),
      axisY(valuesY, { text: tickText(ticksY), label: null, ...QUIET }),
      axisX(valuesX, { text: tickText(ticksX), label: null, tickPadding: 7, ...QUIET }),
      ruleX(ranged, {
        x: 'x', y1: (one: Placed) => insideY(one.low ?? one.y), y2: (one: Placed) => insideY(one.high ?? one.y), stroke: (one: Placed) => one.colour,
        strokeWidth: 2.4, strokeOpacity: 0.55,
      }),
      ...[...DASHES, PUBLISHED].map((dash) => line(points.filter((one) => one.dash === dash), {
        x: 'x', y: 'y', z: 'curve', stroke: (one: Placed) => one.colour, strokeWidth: 1.6, ...(dash === 'none' ? {} : { strokeDasharray: dash }),
      })),
      dot(points, {
        x: 'x', y: 'y', symbol: (one: Placed) => one.symbol, r: 3.6, stroke: (one: Placed) => one.colour,
        fill: (one: Placed) => (one.ranked ? one.colour : 'var(--paper)'), title: 'title',
      }),
      ...wordsAt([cut(scaleY.title, width - 2)], 1, LINE / 2 + 1, origin, LINE, { fill: 'var(--quiet)' }),
      ...wordsAt(titleX, 1, bottom + TICKS + LINE / 2, origin, LINE, { fill: 'var(--quiet)' }),
      ...keyMarks(keys, styles, origin),
      ...labelMarks(points, { x: placeX, y: placeY }, { ...origin, right: width - marginRight, bottom }),
    ],
  }) as SVGSVGElement;
  applyAria(svg, 'img', describe);
  return svg;
}
