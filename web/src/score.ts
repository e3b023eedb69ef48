// The published scoring formula: geometric mean of time ratios to the best, over several questions.

/** Seconds added to both sides of a ratio, so that differences far below 10 ms hardly count. */
export const ADDED_S = 0.01;

/** Minimum in seconds that a missing time counts as, before it is doubled. */
export const MISSING_S = 3600;

type Time = number | null;

/** Input of a score: one time per question, and the total bytes. */
export interface ScoreInput {
  cold: readonly Time[];
  hot: readonly Time[];
  total_bytes: number | null;
}

/** Scores among all configurations scored together; 1 is the best possible. */
export interface Scored {
  cold: number | null;
  hot: number | null;
  size: number | null;
}

function usable(time: Time | undefined): Time {
  return time !== undefined && time !== null && Number.isFinite(time) && time >= 0 ? time : null;
}

/**
 * The hot time of a question's runs: the best run after the first (cold) one; null if any of these has no
 * time.
 */
export function hot(runs: readonly Time[]): Time {
  const rest = runs.slice(1).map(usable);
  return rest.length === 0 || rest.includes(null) ? null : Math.min(...rest.filter((one) => one !== null));
}

/** Values that may serve as the best: all that are not excluded. */
function sound(values: readonly (number | null)[], excluded: readonly boolean[]): number[] {
  return values.flatMap((value, index) => (value === null || excluded[index] === true ? [] : [value]));
}

/**
 * Geometric means over `questions` of time ÷ best time, one per configuration. Excluded times never serve as
 * the best.
 */
export function relativeTimes(
  all: readonly (readonly Time[])[], questions: readonly number[], excluded: readonly boolean[] = [],
): (number | null)[] {
  const logarithms = all.map(() => 0);
  let counted = 0;
  for (const question of questions) {
    const times = all.map((one) => usable(one[question]));
    const there = sound(times, excluded);
    // A question without any time is ignored for all configurations.
    if (there.length === 0) continue;
    const baseline = Math.min(...there);
    const missing = 2 * Math.max(MISSING_S, ...there);
    counted += 1;
    times.forEach((time, index) => {
      logarithms[index] = (logarithms[index] ?? 0) + Math.log((ADDED_S + (time ?? missing)) / (ADDED_S + baseline));
    });
  }
  return logarithms.map((sum) => (counted > 0 ? Math.exp(sum / counted) : null));
}

/** Sizes ÷ smallest size; null if unknown. Excluded sizes never serve as the smallest. */
export function relativeSizes(all: readonly (number | null)[], excluded: readonly boolean[] = []): (number | null)[] {
  const sizes = all.map((size) => (size !== null && size > 0 ? size : null));
  const measures = sound(sizes, excluded);
  const smallest = Math.min(...measures);
  return sizes.map((size) => (size === null || measures.length === 0 ? null : size / smallest));
}

/** Parts of a configuration's data that are suspected to be wrong and must not serve as the best. */
export interface Doubt {
  times: boolean;
  size: boolean;
}

/** Scores of `inputs` over `questions` (indexes from 0), in the order of `inputs`. */
export function scores(inputs: readonly ScoreInput[], questions: readonly number[], doubts: readonly Doubt[] = []): Scored[] {
  const times = doubts.map((one) => one.times);
  const cold = relativeTimes(inputs.map((one) => one.cold), questions, times);
  const warm = relativeTimes(inputs.map((one) => one.hot), questions, times);
  const sizes = relativeSizes(inputs.map((one) => one.total_bytes), doubts.map((one) => one.size));
  return inputs.map((_, index) => ({ cold: cold[index] ?? null, hot: warm[index] ?? null, size: sizes[index] ?? null }));
}
