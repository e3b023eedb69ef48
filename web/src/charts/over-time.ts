// What charts over time have in common: axes from zero with their titles, and room for the labels.

import type { Markish } from '@observablehq/plot';
import { axisX, axisY, gridY } from '@observablehq/plot';

import type { Scale, Tick } from './scale.ts';
import { pixels, roomyTicks, ticksAlong, ticksUp } from './scale.ts';
import { cut, GRID, LINE, QUIET, textWidth } from './text.ts';
import { wordsAt } from './words.ts';

const RIGHT = 14;
const TOP = LINE + 8;
/** Height of tick marks, tick labels and the title of the axis. */
const BOTTOM = 24 + LINE;

/** Room around the area between the axes, in pixels. */
export interface Margins {
  marginLeft: number;
  marginRight: number;
  marginTop: number;
  marginBottom: number;
}

export interface TimeFrame {
  margins: Margins;
  /** Grid, axes and titles. */
  marks: Markish[];
}

/** Ticks of the time axis: those of the scale, or the densest of several sets that has room. */
function ticksOf(x: Scale, sets: readonly (readonly Tick[])[], place: (value: number) => number, width: number): Tick[] {
  if (sets.length === 0) return ticksAlong(x, place, [0, width]);
  const fits = (ticks: readonly Tick[]): boolean => ticks.length <= 9 && roomyTicks(ticks, place, [0, width]).length === ticks.length;
  return roomyTicks(sets.find(fits) ?? sets[sets.length - 1] ?? [], place, [0, width]);
}

/** Lays out a chart over time. `x.title` stands below the chart, `y.title` above it. `sets` are ticks of the time axis to choose from, dense ones first. */
export function timeFrame(x: Scale, y: Scale, width: number, height: number, sets: readonly (readonly Tick[])[] = []): TimeFrame {
  const ticksY = ticksUp(y, height - TOP - BOTTOM);
  const marginLeft = Math.ceil(Math.max(24, ...ticksY.map(({ text }) => textWidth(text)))) + 12;
  const ticksX = ticksOf(x, sets, pixels(x, marginLeft, width - RIGHT), width);
  const origin = { left: marginLeft, top: TOP };
  const textOf = (ticks: readonly Tick[]) => (_: number, index: number): string => ticks[index]?.text ?? '';
  const quiet = { fill: 'var(--quiet)' };
  return {
    margins: { marginLeft, marginRight: RIGHT, marginTop: TOP, marginBottom: BOTTOM },
    marks: [
      gridY(ticksY.map(({ value }) => value), GRID),
      axisY(ticksY.map(({ value }) => value), { text: textOf(ticksY), label: null, ...QUIET }),
      axisX(ticksX.map(({ value }) => value), { text: textOf(ticksX), label: null, tickPadding: 6, ...QUIET }),
      ...wordsAt([cut(y.title, width - 2)], 1, LINE / 2, origin, LINE, quiet),
      ...wordsAt([cut(x.title, width - 2)], 1, height - LINE / 2 - 1, origin, LINE, quiet),
    ],
  };
}
