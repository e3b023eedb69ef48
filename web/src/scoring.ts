// Input of a score: medians, or the trials of round 1 as in the published benchmark.

import type { RunEvidence } from './model.ts';
import type { Basis } from './state.ts';
import type { Estimate } from './stats.ts';
import type { Entry, View } from './view.ts';
import { COLD, HOT } from './labels.ts';
import { isOfFiles, totalBytes } from './metric.ts';
import { ADDED_S, hot, relativeSizes, relativeTimes } from './score.ts';
import { meanRatio } from './stats.ts';
import { cellsOf, hasTime, isReadFromDisk, questionsIn, rankStatus } from './view.ts';
import { Phase, Verdict } from './vocabulary.ts';

export type Kind = 'hot' | 'cold' | 'size';
type Timed = Exclude<Kind, 'size'>;
type Time = number | null;

/** One of the three scores of a configuration: hot, cold or size. */
export interface ScorePart {
  value: number | null;
  /** Number of questions that count, and how many of them have no valid time. */
  questions: number;
  missing: number;
  /** Caveats of this score. */
  notes: string[];
  approximate: boolean;
  /** Whether a caveat keeps the score from being comparable. */
  doubted: boolean;
  /** Word shown instead of a score; null if the score is shown. */
  word: string | null;
  /** A cell behind the score, to open; null if there is none. */
  entry: Entry | null;
}

export interface ScoredConfiguration {
  configuration: number;
  ranking: string;
  sides: Record<Kind, ScorePart>;
}

const PHASES: Record<Timed, readonly string[]> = { hot: HOT, cold: COLD };

/** Questions of the published benchmark; the page's own score uses all questions asked. */
const PUBLISHED_QUESTIONS: readonly string[] = ['q1', 'q2', 'q3', 'q4', 'q5'];

/** Questions that count for a basis and a kind of time. */
export function scoredQuestions(view: View, basis: Basis, kind: Timed): string[] {
  return questionsIn(view, PHASES[kind]).filter((one) => basis === 'medians' || PUBLISHED_QUESTIONS.includes(one));
}

/** Both cells of trials that were planned as one cell (verified and unverified cold trials). */
function planned(entry: Entry): Entry[] {
  return entry.beside === null ? [entry] : [entry, entry.beside];
}

/**
 * The times of round 1 by repetition, and whether the cold one was unverified. There are no times if any
 * trial of any round was wrong, unverified or disputed.
 */
function roundOne(entry: Entry, evidence: RunEvidence): { times: Time[]; unverified: boolean } {
  const found: { times: Time[]; unverified: boolean } = { times: [], unverified: false };
  for (const one of planned(entry)) {
    const trials = evidence.cells[one.index]?.trials;
    if (trials === undefined || trials.verdict.some((verdict) => !hasTime(verdict) || verdict === Verdict.Unverified || verdict === Verdict.Disputed)) {
      return { times: [], unverified: false };
    }
    trials.round.forEach((round, index) => {
      const order = trials.order[index];
      if (round !== 1 || order === undefined) return;
      found.times[order] = trials.seconds[index] ?? null;
      if (order === 0 && one.cell.phase === Phase.ColdUnverified) found.unverified = true;
    });
  }
  return found;
}

interface CountedTime {
  time: Time;
  /** Caveats of the time, or the reason why an existing time does not count. */
  notes: readonly string[];
}

/**
 * Selects the time that counts: the published statistic also accepts unverified cold times and adds a caveat;
 * the page's own score accepts only ranked times.
 */
function counted(view: View, entry: Entry | undefined, kind: Timed, basis: Basis, evidence: RunEvidence | null): CountedTime {
  if (entry === undefined) return { time: null, notes: [] };
  const { tier, notes, doubts, coldDoubt } = rankStatus(view, entry);
  if (basis === 'medians') return tier === 'ranked' ? { time: entry.cell.median_s, notes: [] } : { time: null, notes: doubts };
  if (evidence === null) return { time: null, notes: [] };
  if (isReadFromDisk(entry.cell)) return { time: null, notes };
  const { times, unverified } = roundOne(entry, evidence);
  const time = kind === 'cold' ? times[0] ?? null : hot([null, times[0] ?? null, times[1] ?? null]);
  if (time === null) return { time, notes: [] };
  return { time, notes: doubts.filter((doubt) => unverified || doubt !== coldDoubt) };
}

function different(words: readonly string[]): string[] {
  return [...new Set(words)];
}

/** Hot or cold scores of the configurations of one ranking. */
function timeSides(view: View, configurations: readonly number[], kind: Timed, basis: Basis, evidence: RunEvidence | null): ScorePart[] {
  const questions = scoredQuestions(view, basis, kind);
  const slots = questions.map((question) => new Map(cellsOf(view, question, PHASES[kind]).map((entry) => [entry.cell.configuration, entry])));
  const all = configurations.map((index) => {
    const entries = slots.map((slot) => slot.get(index));
    const asked = entries.filter((entry) => entry !== undefined);
    const times = entries.map((entry) => counted(view, entry, kind, basis, evidence));
    // Over medians, a configuration that was not asked every question is left out; the published statistic
    // counts a missing time instead.
    return { asked, times, takesPart: asked.length > 0 && (basis === 'round 1' || asked.length === questions.length) };
  });
  const places = questions.map((_, index) => index);
  const scored = relativeTimes(all.map((one) => (one.takesPart ? one.times.map(({ time }) => time) : [])), places);
  return all.map(({ asked, times, takesPart }, index): ScorePart => {
    const missing = times.filter(({ time }) => time === null).length;
    // If some times count, the caveats of the others are replaced by their number.
    const notes = different(times.flatMap((one) => (one.time !== null || missing === questions.length ? one.notes : [])));
    if (takesPart && missing > 0 && missing < questions.length) notes.push(`${missing} of ${questions.length} without a time that counts`);
    if (!takesPart && asked.length > 0) notes.push(`${questions.length - asked.length} of ${questions.length} not asked`);
    // A score computed against no other configuration would look perfect.
    const alone = takesPart && missing > 0 && missing < questions.length && all.filter((one) => one.takesPart).length === 1;
    return {
      value: takesPart ? scored[index] ?? null : null, questions: questions.length, missing, notes, doubted: notes.length > 0,
      approximate: asked.some((entry) => planned(entry).some((one) => one.cell.verdict === Verdict.Approximate)),
      word: !takesPart ? 'not asked' : missing === questions.length ? 'no time' : alone && basis === 'medians' ? 'incomplete' : null, entry: asked[0] ?? null,
    };
  });
}

function sizeSides(view: View, configurations: readonly number[], basis: Basis, sizes: ReadonlyMap<number, Entry>): ScorePart[] {
  const all = configurations.map((index) => {
    const entry = sizes.get(index);
    if (entry === undefined) return { entry: null, total: null, notes: [], doubted: false };
    const { tier, notes, doubts } = rankStatus(view, entry);
    const counts = basis === 'round 1' || tier === 'ranked';
    return { entry, total: counts ? totalBytes(entry.cell) : null, notes: isOfFiles(entry.cell) ? [...notes, 'files'] : notes, doubted: doubts.length > 0 };
  });
  const scored = relativeSizes(all.map((one) => one.total));
  return all.map(({ entry, total, notes, doubted }, index): ScorePart => ({
    value: scored[index] ?? null, questions: 0, missing: 0, notes, doubted, approximate: false, entry,
    word: total !== null ? null : entry !== null && totalBytes(entry.cell) !== null ? 'not ranked' : 'not measured',
  }));
}

/**
 * Scores of the configurations shown (or of `only`), each within its ranking. Configurations that do not hold
 * all documents have none. Over round 1, an incomplete run has none, because a pending trial would count as a
 * missing time.
 */
export function scorers(view: View, basis: Basis, evidence: RunEvidence | null, only: ReadonlySet<number> | null = null): ScoredConfiguration[] {
  // Several charts show the medians, so they are cached.
  const shared = basis === 'medians' && only === null;
  const known = shared ? overMedians.get(view) : undefined;
  const found = known ?? scored(view, basis, evidence, only);
  if (shared) overMedians.set(view, found);
  return found;
}

const overMedians = new WeakMap<View, ScoredConfiguration[]>();

function scored(view: View, basis: Basis, evidence: RunEvidence | null, only: ReadonlySet<number> | null): ScoredConfiguration[] {
  if (basis === 'round 1' && !view.run.complete) return [];
  const sizes = new Map(cellsOf(view, 'size', [Phase.Steady]).map((entry) => [entry.cell.configuration, entry]));
  const asked = new Set(view.entries.map((entry) => entry.cell.configuration));
  return view.rankings.filter((ranking) => view.kinds.get(ranking)?.ranked === true).flatMap((ranking) => {
    const configurations = view.configurations.filter((index) =>
      view.run.configurations[index]?.ranking === ranking && view.loads.get(index)?.verdict === Verdict.Exact
      && (only === null ? asked.has(index) : only.has(index)) && (basis === 'medians' || hasSize(sizes.get(index))));
    const warm = timeSides(view, configurations, 'hot', basis, evidence);
    const cold = timeSides(view, configurations, 'cold', basis, evidence);
    const size = sizeSides(view, configurations, basis, sizes);
    return configurations.flatMap((configuration, index) => {
      const [a, b, c] = [warm[index], cold[index], size[index]];
      return a && b && c ? [{ configuration, ranking, sides: { hot: a, cold: b, size: c } }] : [];
    });
  });
}

/** Whether a configuration has a size; the published statistic leaves out those without. */
function hasSize(entry: Entry | undefined): boolean {
  return entry !== undefined && totalBytes(entry.cell) !== null;
}

/**
 * Mean ratio of two configurations' times over all hot questions for which both are ranked; null if there is
 * none.
 */
export function hotRatio(view: View, configuration: number, other: number): Estimate | null {
  const timeOf = (question: string, index: number): Estimate | null => {
    const entry = cellsOf(view, question, HOT).find(({ cell }) => cell.configuration === index);
    if (entry === undefined || rankStatus(view, entry).tier !== 'ranked' || entry.cell.median_s === null) return null;
    return { value: entry.cell.median_s, low: entry.cell.low_s, high: entry.cell.high_s };
  };
  const pairs = questionsIn(view, HOT).flatMap((question) => {
    const [a, b] = [timeOf(question, configuration), timeOf(question, other)];
    return a !== null && b !== null ? [[a, b] as const] : [];
  });
  return meanRatio(pairs, ADDED_S);
}
