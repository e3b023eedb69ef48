// Chart of one frontier: points with the rates of their writers, the hull, and the line between both peaks. Both axes begin at zero, so
// that areas have a meaning.

import { axisX, axisY, dot, gridX, gridY, line, plot } from '@observablehq/plot';

import type { Tick } from './scale.ts';
import { applyAria } from './a11y.ts';
import { placeLabels } from './point-labels.ts';
import { pixels, ticksAlong, ticksUp, zeroScale } from './scale.ts';
import { GRID, HALO, LINE, QUIET, STYLE, textWidth, titleLines } from './text.ts';
import { wordsAt } from './words.ts';

export interface FrontierDot {
  x: number;
  y: number;
  label: string;
  title: string;
  /** Drawn hollow if another point is better in both. */
  dominated: boolean;
}

/** Formats and titles of both axes. */
export interface FrontierAxes {
  x: { title: string; format: (value: number) => string };
  y: { title: string; format: (value: number) => string };
}

export const FRONTIER_HEIGHT = 320;

/** Height of the area between the axes. */
const INNER = 240;
/** Height of tick marks and tick labels below the area. */
const TICKS = 26;
const RIGHT = 16;

type Place = readonly [number, number];

/** Draws dots from the peak of `y` to that of `x`; the hull is given by its ends. */
export function drawFrontier(dots: readonly FrontierDot[], hull: readonly Place[], colour: string, axes: FrontierAxes, width: number, describe: string): SVGElement {
  const scaleX = zeroScale(dots.map(({ x }) => x), axes.x.format, axes.x.title);
  const scaleY = zeroScale(dots.map(({ y }) => y), axes.y.format, axes.y.title);
  const [titleX, titleY] = [titleLines(scaleX.title, width), titleLines(scaleY.title, width)];
  const top = titleY.length * LINE + 10;
  const bottom = top + INNER;
  const height = bottom + TICKS + titleX.length * LINE + 2;
  const ticksY = ticksUp(scaleY, INNER);
  const marginLeft = Math.ceil(Math.max(24, ...ticksY.map(({ text }) => textWidth(text)))) + 12;
  const [placeX, placeY] = [pixels(scaleX, marginLeft, width - RIGHT), pixels(scaleY, bottom, top)];
  const ticksX = ticksAlong(scaleX, placeX, [0, width]);
  const origin = { left: marginLeft, top };
  const textOf = (ticks: readonly Tick[]) => (_: number, index: number): string => ticks[index]?.text ?? '';
  const [valuesX, valuesY] = [ticksX.map(({ value }) => value), ticksY.map(({ value }) => value)];
  const ends = [dots[0], dots[dots.length - 1]].flatMap((one): Place[] => (one === undefined ? [] : [[one.x, one.y]]));
  const labels = placeLabels(dots.map(({ x, y, label }) => ({ x: placeX(x), y: placeY(y), text: label })), { left: marginLeft, right: width, top: top - LINE, bottom });
  const svg = plot({
    width, height, marginLeft, marginRight: RIGHT, marginTop: top, marginBottom: height - bottom, style: STYLE,
    x: { domain: [0, scaleX.high], label: null },
    y: { domain: [0, scaleY.high], label: null },
    marks: [
      gridY(valuesY, GRID),
      gridX(valuesX, GRID),
      axisY(valuesY, { text: textOf(ticksY), label: null, ...QUIET }),
      axisX(valuesX, { text: textOf(ticksX), label: null, tickPadding: 7, ...QUIET }),
      line(ends, { stroke: 'var(--quiet)', strokeWidth: 1.4, strokeDasharray: '4 4' }),
      line(hull, { stroke: colour, strokeWidth: 1.8 }),
      dot(dots, { x: 'x', y: 'y', r: 4, stroke: colour, strokeWidth: 1.6, fill: (one: FrontierDot) => (one.dominated ? 'var(--paper)' : colour), title: 'title' }),
      ...wordsAt(titleY, 1, LINE / 2 + 1, origin, LINE, { fill: 'var(--quiet)' }),
      ...wordsAt(titleX, 1, bottom + TICKS + LINE / 2, origin, LINE, { fill: 'var(--quiet)' }),
      ...labels.flatMap((label) => wordsAt([label.text], label.x, label.y, origin, LINE, { textAnchor: 'middle', fill: 'var(--ink)', ...HALO })),
    ],
  }) as SVGSVGElement;
  applyAria(svg, 'img', describe);
  return svg;
}
