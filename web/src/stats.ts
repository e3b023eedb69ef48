// Intervals of what is computed on the page from medians and their intervals.

/** A figure with its 95 % interval; null where there is none. */
export interface Estimate {
  value: number;
  low: number | null;
  high: number | null;
}

/** How far the ends of an interval lie from the figure, on the logarithmic scale. */
export interface Distances {
  below: number;
  above: number;
}

/**
 * The distances after `added` is put to all three. They are kept apart because adding makes an interval lopsided:
 * what lies below comes nearer than what lies above.
 */
export function distances(one: Estimate, added = 0): Distances | null {
  if (one.low === null || one.high === null || one.low + added <= 0 || one.value + added <= 0) return null;
  const middle = Math.log(one.value + added);
  return { below: Math.max(0, middle - Math.log(one.low + added)), above: Math.max(0, Math.log(one.high + added) - middle) };
}

/** The distances of one ÷ other, the two taken as independent: low is one's low end over the other's high end. */
function together(one: Distances | null, other: Distances | null): Distances | null {
  if (one === null || other === null) return null;
  return { below: Math.hypot(one.below, other.above), above: Math.hypot(one.above, other.below) };
}

function around(value: number, wide: Distances | null): Estimate {
  if (wide === null) return { value, low: null, high: null };
  return { value, low: value / Math.exp(wide.below), high: value * Math.exp(wide.above) };
}

/** One ÷ other, the two taken as independent. */
export function ratio(one: Estimate, other: Estimate): Estimate {
  return around(one.value / other.value, together(distances(one), distances(other)));
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
  let sum: Distances | null = { below: 0, above: 0 };
  for (const [one, other] of pairs) {
    logarithm += Math.log((added + one.value) / (added + other.value));
    const wide = together(distances(one, added), distances(other, added));
    sum = sum === null || wide === null ? null : { below: sum.below + wide.below, above: sum.above + wide.above };
  }
  const mean = sum === null ? null : { below: sum.below / pairs.length, above: sum.above / pairs.length };
  return around(Math.exp(logarithm / pairs.length), mean);
}

/** Whether an interval shows a difference: it excludes 1. Null without an interval. */
export function differs(one: Estimate): boolean | null {
  return one.low === null || one.high === null ? null : one.low > 1 || one.high < 1;
}
