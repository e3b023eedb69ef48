// Intervals of what is computed on the page from medians and their intervals.

/** A figure with its 95 % interval; null where there is none. */
export interface Estimate {
  value: number;
  low: number | null;
  high: number | null;
}

/** Half the width of an interval on the logarithmic scale, after `added` is put to both ends. */
export function halfWidth(one: Estimate, added = 0): number | null {
  if (one.low === null || one.high === null || one.low + added <= 0) return null;
  return (Math.log(one.high + added) - Math.log(one.low + added)) / 2;
}

/** One ÷ other, the two taken as independent. */
export function ratio(one: Estimate, other: Estimate): Estimate {
  const value = one.value / other.value;
  const [a, b] = [halfWidth(one), halfWidth(other)];
  if (a === null || b === null) return { value, low: null, high: null };
  const spread = Math.exp(Math.hypot(a, b));
  return { value, low: value / spread, high: value * spread };
}

/**
 * The geometric mean over several things of (added + one) ÷ (added + other).
 *
 * Its interval is a cautious one: it is as wide as if what disturbed one thing had disturbed all of them the
 * same way, because trials of one round are asked within minutes of each other.
 */
export function meanRatio(pairs: readonly (readonly [Estimate, Estimate])[], added: number): Estimate | null {
  if (pairs.length === 0) return null;
  let logarithm = 0;
  let width: number | null = 0;
  for (const [one, other] of pairs) {
    logarithm += Math.log((added + one.value) / (added + other.value));
    const [a, b] = [halfWidth(one, added), halfWidth(other, added)];
    width = width === null || a === null || b === null ? null : width + Math.hypot(a, b);
  }
  const value = Math.exp(logarithm / pairs.length);
  if (width === null) return { value, low: null, high: null };
  const spread = Math.exp(width / pairs.length);
  return { value, low: value / spread, high: value * spread };
}

/** Whether an interval shows a difference: it excludes 1. Null without an interval. */
export function differs(one: Estimate): boolean | null {
  return one.low === null || one.high === null ? null : one.low > 1 || one.high < 1;
}

/** The middle value; null of nothing. */
export function median(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [below, above] = [sorted[middle - 1], sorted[middle]];
  if (above === undefined) return null;
  return sorted.length % 2 === 1 || below === undefined ? above : (below + above) / 2;
}
