// Scales and ticks of charts: logarithmic for times and ratios, from zero for counts and bytes, with ticks in steps of 1, 2 and 5.

import { tick } from '../format.ts';
import { textWidth } from './text.ts';

export interface Scale {
  kind: 'log' | 'linear';
  low: number;
  high: number;
  format: (value: number) => string;
  /** Title of the axis, with the direction that is better. */
  title: string;
  /** Value with a rule through the chart, such as 1 in charts of ratios. */
  rule?: number;
}

export interface Tick {
  value: number;
  text: string;
}

/** Ratio to the nearest value up to which an interval widens the scale; longer intervals are cut. */
const REACH = 10;

/** Multiples of 1, 2 and 5 times a power of ten, from `low` to `high`. */
export function steps(low: number, high: number, parts: readonly number[] = [1, 2, 5]): number[] {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const powers = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  return powers.flatMap((power) => parts.map((part) => Number(`${part}e${power}`))).filter((value) => value >= low * 0.999 && value <= high * 1.001);
}

/** Widens a range until it contains two steps, so that the axis has two ticks at least. */
function withTwoSteps(low: number, high: number): [number, number] {
  let range: [number, number] = [low, high];
  while (steps(...range).length < 2) {
    const [from, to] = range;
    const below = steps(from / 10, from * 0.998).pop() ?? from / 2;
    const above = steps(to * 1.002, to * 10)[0] ?? to * 2;
    range = from / below < above / to ? [below * 0.98, to] : [from, above * 1.02];
  }
  return range;
}

/**
 * A log scale with room around the values. Intervals widen it, but an interval that spans orders of magnitude
 * does not press all values together.
 */
export function logScale(
  values: readonly number[], format: (value: number) => string, title: string, limits: readonly number[] = [],
): Scale {
  const positive = (all: readonly number[]): number[] => all.filter((value) => value > 0 && Number.isFinite(value));
  const there = positive(values);
  const whole = { kind: 'log' as const, format, title: `${title}, log scale` };
  if (there.length === 0) return { ...whole, low: 0.1, high: 10 };
  const [least, most] = [Math.min(...there), Math.max(...there)];
  const reached = positive(limits).map((limit) => Math.min(most * REACH, Math.max(least / REACH, limit)));
  const [low, high] = [Math.min(least, ...reached), Math.max(most, ...reached)];
  const edge = Math.max(1.08, (high / low) ** 0.03);
  const [from, to] = withTwoSteps(low / edge, high * edge);
  return { ...whole, low: from, high: to };
}

/** A log scale of ratios, with a rule at 1. */
export function ratioScale(
  values: readonly number[], format: (value: number) => string, title: string, limits: readonly number[] = [],
): Scale {
  return { ...logScale([1, ...values], format, title, limits), rule: 1 };
}

/** A linear scale from zero, for lengths that have a meaning. */
export function zeroScale(
  values: readonly number[], format: (value: number) => string, title: string, limits: readonly number[] = [],
): Scale {
  const there = [...values, ...limits].filter((value) => value > 0 && Number.isFinite(value));
  const most = there.length === 0 ? 1 : Math.max(...there);
  return { kind: 'linear', low: 0, high: most * 1.04, format, title: `${title}, from zero` };
}

/** Maps values to pixels; values beyond the scale are mapped to its ends. */
export function pixels(scale: Pick<Scale, 'kind' | 'low' | 'high'>, from: number, to: number): (value: number) => number {
  const of = (value: number): number => (scale.kind === 'log' ? Math.log(Math.max(value, Number.MIN_VALUE)) : value);
  const [low, range] = [of(scale.low), of(scale.high) - of(scale.low)];
  return (value) => from + (to - from) * (range > 0 ? Math.min(1, Math.max(0, (of(value) - low) / range)) : 0.5);
}

/** The step of a linear axis with about `count` ticks: 1, 2 or 5 times a power of ten. */
export function linearStep(range: number, count: number): number {
  const least = range / Math.max(1, count);
  const power = Math.floor(Math.log10(least));
  return [1, 2, 5].map((part) => Number(`${part}e${power}`)).find((step) => step >= least * 0.999) ?? Number(`1e${power + 1}`);
}

/** Sets of ticks to choose from, dense ones first. */
function candidates({ kind, low, high }: Pick<Scale, 'kind' | 'low' | 'high'>): number[][] {
  if (kind === 'linear') {
    return [8, 5, 4, 3, 2, 1].map((count) => {
      const step = linearStep(high - low, count);
      const first = Math.ceil(low / step - 1e-9);
      const number = Math.floor(high / step + 1e-9) - first + 1;
      return Array.from({ length: Math.max(0, number) }, (_, index) => Number(((first + index) * step).toPrecision(12)));
    });
  }
  const powers = steps(low, high, [1]);
  const every = (distance: number): number[] => powers.filter((_, index) => index % distance === 0);
  return [steps(low, high), steps(low, high, [1, 5]), powers, every(2), every(3), every(5)];
}

/** Formats values as tick labels; zero has no unit, and texts that stand for several values are left out. */
export function ticksAt(values: readonly number[], format: (value: number) => string): Tick[] {
  const ticks = values.map((value) => ({ value, text: value === 0 ? '0' : tick(format(value)) }));
  const uses = new Map<string, number>();
  for (const { text } of ticks) uses.set(text, (uses.get(text) ?? 0) + 1);
  return ticks.filter(({ value, text }) => uses.get(text) === 1 && (value === 0 || !/^0(\.0+)?([^\d.]|$)/.test(text)));
}

/** Minimum distance between two tick labels in pixels: beside each other and below each other. */
const BESIDE = 10;
const BELOW = 18;

/** Most labels of an axis; more distract. */
const MOST_TICKS = 9;

/** Keeps the ticks whose labels lie inside `room` and do not touch the one before; the last one is kept if possible. */
export function roomyTicks(ticks: readonly Tick[], place: (value: number) => number, room: readonly [number, number]): Tick[] {
  const kept: Tick[] = [];
  const half = ({ text }: Tick): number => textWidth(text) / 2;
  const touch = (one: Tick, other: Tick): boolean => Math.abs(place(one.value) - place(other.value)) < half(one) + half(other) + BESIDE;
  for (const one of ticks) {
    const at = place(one.value);
    if (at - half(one) < room[0] || at + half(one) > room[1]) continue;
    const before = kept[kept.length - 1];
    if (before !== undefined && touch(one, before)) {
      if (one !== ticks[ticks.length - 1] || kept.length < 2) continue;
      kept.pop();
      const earlier = kept[kept.length - 1];
      if (earlier !== undefined && touch(one, earlier)) continue;
    }
    kept.push(one);
  }
  return kept;
}

/** Ticks of a horizontal axis whose labels lie between `room` and do not touch. */
export function ticksAlong(scale: Scale, place: (value: number) => number, room: readonly [number, number]): Tick[] {
  const sets = candidates(scale).map((values) => ticksAt(values, scale.format));
  const fits = (ticks: readonly Tick[]): boolean => ticks.length <= MOST_TICKS && roomyTicks(ticks, place, room).length === ticks.length;
  const found = sets.find((ticks) => ticks.length > 1 && fits(ticks)) ?? sets.find((ticks) => ticks.length > 1) ?? sets[0] ?? [];
  return roomyTicks(found, place, room);
}

/** Ticks of a vertical axis whose labels do not touch. */
export function ticksUp(scale: Scale, height: number): Tick[] {
  const place = pixels(scale, height, 0);
  const fits = (ticks: readonly Tick[]): boolean => ticks.every((one, index) => {
    const before = ticks[index - 1];
    return before === undefined || place(before.value) - place(one.value) >= BELOW;
  });
  const sets = candidates(scale).map((values) => ticksAt(values, scale.format));
  return sets.find((ticks) => ticks.length > 1 && ticks.length <= MOST_TICKS && fits(ticks)) ?? sets.find((ticks) => ticks.length > 0 && fits(ticks)) ?? [];
}
