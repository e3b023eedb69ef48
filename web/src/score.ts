// The published formula: how many times slower than the best, over several questions.

/** Added to both sides of a ratio, seconds: below it, differences hardly count. */
export const ADDED_S = 0.01;

/** The least that a missing time counts as before it is doubled, seconds. */
export const MISSING_S = 3600;

type Time = number | null;

/** What a score is made of: a time for each question, and bytes in all. */
export interface Entrant {
  cold: readonly Time[];
  hot: readonly Time[];
  total_bytes: number | null;
}

/** Scores among those that were scored together; 1 is the best there can be. */
export interface Scored {
  cold: number | null;
  hot: number | null;
  size: number | null;
}

function usable(time: Time | undefined): Time {
  return time !== undefined && time !== null && Number.isFinite(time) && time >= 0 ? time : null;
}

/** The hot time of a question's runs, the cold one first: the better of the others, when all have a time. */
export function hot(runs: readonly Time[]): Time {
  const rest = runs.slice(1).map(usable);
  return rest.length === 0 || rest.includes(null) ? null : Math.min(...rest.filter((one) => one !== null));
}

/** What others may be measured by: never what is doubted. */
function sound(values: readonly (number | null)[], doubted: readonly boolean[]): number[] {
  return values.flatMap((value, index) => (value === null || doubted[index] === true ? [] : [value]));
}

/** Geometric means over `questions` of times ÷ the best time, one for each entrant. Nobody is measured by what is doubted. */
export function relativeTimes(
  all: readonly (readonly Time[])[], questions: readonly number[], doubted: readonly boolean[] = [],
): (number | null)[] {
  const logarithms = all.map(() => 0);
  let counted = 0;
  for (const question of questions) {
    const times = all.map((one) => usable(one[question]));
    const there = sound(times, doubted);
    // A question to which nobody has a time counts for nobody.
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

/** Sizes ÷ the smallest; null where none is known. */
export function relativeSizes(all: readonly (number | null)[], doubted: readonly boolean[] = []): (number | null)[] {
  const sizes = all.map((size) => (size !== null && size > 0 ? size : null));
  const measures = sound(sizes, doubted);
  const smallest = Math.min(...measures);
  return sizes.map((size) => (size === null || measures.length === 0 ? null : size / smallest));
}

/** What is thought to be wrong in what an entrant has, so that nobody else is measured by it. */
export interface Doubt {
  times: boolean;
  size: boolean;
}

/** The scores of `entrants` over the `questions` chosen, counted from 0, in the same order. */
export function scores(entrants: readonly Entrant[], questions: readonly number[], doubts: readonly Doubt[] = []): Scored[] {
  const times = doubts.map((one) => one.times);
  const cold = relativeTimes(entrants.map((one) => one.cold), questions, times);
  const warm = relativeTimes(entrants.map((one) => one.hot), questions, times);
  const sizes = relativeSizes(entrants.map((one) => one.total_bytes), doubts.map((one) => one.size));
  return entrants.map((_, index) => ({ cold: cold[index] ?? null, hot: warm[index] ?? null, size: sizes[index] ?? null }));
}
