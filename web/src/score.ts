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

function relativeTimes(all: readonly (readonly Time[])[], questions: readonly number[]): (number | null)[] {
  const logarithms = all.map(() => 0);
  let counted = 0;
  for (const question of questions) {
    const times = all.map((one) => usable(one[question]));
    const there = times.filter((time) => time !== null);
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

/** The scores of `entrants` over the `questions` chosen, counted from 0, in the same order. */
export function scores(entrants: readonly Entrant[], questions: readonly number[]): Scored[] {
  const cold = relativeTimes(entrants.map((one) => one.cold), questions);
  const warm = relativeTimes(entrants.map((one) => one.hot), questions);
  const sizes = entrants.map((one) => (one.total_bytes !== null && one.total_bytes > 0 ? one.total_bytes : null));
  const smallest = Math.min(...sizes.filter((size) => size !== null));
  return entrants.map((_, index) => {
    const size = sizes[index] ?? null;
    return { cold: cold[index] ?? null, hot: warm[index] ?? null, size: size === null ? null : size / smallest };
  });
}
