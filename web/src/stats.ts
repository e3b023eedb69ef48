// Intervals of values computed on the page from medians and their intervals.

/** A value with its 95 % interval; limits are null if there is no interval. */
export interface Estimate {
  value: number;
  low: number | null;
  high: number | null;
}

/** Distances of the interval's ends from the value, on a logarithmic scale. */
export interface Distances {
  below: number;
  above: number;
}

/**
 * Distances after `added` has been added to the value and both limits; null without an interval. The two
 * distances differ because adding a constant makes the interval asymmetric: the lower end comes nearer than
 * the upper one.
 */
export function distances(one: Estimate, added = 0): Distances | null {
  if (one.low === null || one.high === null || one.low + added <= 0 || one.value + added <= 0) return null;
  const middle = Math.log(one.value + added);
  return { below: Math.max(0, middle - Math.log(one.low + added)), above: Math.max(0, Math.log(one.high + added) - middle) };
}

/**
 * Distances of one ÷ other for independent values: the lower end combines the lower end of `one` with the
 * upper end of `other`.
 */
function together(one: Distances | null, other: Distances | null): Distances | null {
  if (one === null || other === null) return null;
  return { below: Math.hypot(one.below, other.above), above: Math.hypot(one.above, other.below) };
}

function around(value: number, wide: Distances | null): Estimate {
  if (wide === null) return { value, low: null, high: null };
  return { value, low: value / Math.exp(wide.below), high: value * Math.exp(wide.above) };
}

/** The ratio one ÷ other with its interval; both values are treated as independent. */
export function ratio(one: Estimate, other: Estimate): Estimate {
  return around(one.value / other.value, together(distances(one), distances(other)));
}

/**
 * The geometric mean of (added + one) ÷ (added + other) over all pairs.
 *
 * The interval is conservative: its width assumes that disturbances affect all pairs alike, because trials of
 * one round run within minutes of each other.
 */
export function meanRatio(pairs: readonly (readonly [Estimate, Estimate])[], added: number): Estimate | null {
  if (pairs.length === 0) return null;
  let logarithm = 0;
  let sum: Distances | null = { below: 0, above: 0 };
  for (const [one, other] of pairs) {
    logarithm += Math.log((added + one.value) / (added + other.value));
    const wide = together(distances(one, added), distances(other, added));
    sum = sum === null || wide === null ? null : { below: sum.below + wide.below, above: sum.above + wide.above };
  }
  const mean = sum === null ? null : { below: sum.below / pairs.length, above: sum.above / pairs.length };
  return around(Math.exp(logarithm / pairs.length), mean);
}

/**
 * Returns `true` if the interval of a ratio excludes 1, i.e. shows a difference; null without an interval.
 */
export function differs(one: Estimate): boolean | null {
  return one.low === null || one.high === null ? null : one.low > 1 || one.high < 1;
}
