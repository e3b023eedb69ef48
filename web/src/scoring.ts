// The entrants of a score: over medians, or over the trials of round 1 as the published benchmark takes them.

import type { RunEvidence } from './model.ts';
import type { Entrant, Scored } from './score.ts';
import type { Entry, View } from './select.ts';
import { totalBytes } from './metric.ts';
import { hot, scores } from './score.ts';
import { cellsOf, standing } from './select.ts';

/** What a score is computed from. */
export type Basis = 'medians' | 'round 1';

export interface Scorer {
  configuration: number;
  ranking: string;
  score: Scored;
  /** Questions without a time, hot and cold. */
  missing: { hot: number; cold: number };
  approximate: boolean;
  /** A figure behind each of the three. */
  entries: { hot: Entry | null; cold: Entry | null; size: Entry | null };
}

/** The published benchmark knows these; the page's own score takes whatever is asked. */
const PUBLISHED_QUESTIONS: readonly string[] = ['q1', 'q2', 'q3', 'q4', 'q5'];

/** Questions that count for a basis. */
export function scoredQuestions(from: View, basis: Basis): string[] {
  return from.questions.filter((one) => basis === 'medians' || PUBLISHED_QUESTIONS.includes(one));
}

/** Times of round 1 in the order in which they were taken; null for one that has none. */
function roundOne(entry: Entry, evidence: RunEvidence): (number | null)[] {
  const { trials } = evidence.cells[entry.index] ?? {};
  if (trials === undefined) return [];
  const places = trials.round.flatMap((round, index) => (round === 1 ? [index] : []));
  places.sort((a, b) => (trials.at_ms[a] ?? 0) - (trials.at_ms[b] ?? 0));
  return places.map((place) => trials.seconds[place] ?? null);
}

function timeOf(from: View, entry: Entry | undefined, basis: Basis, evidence: RunEvidence | null): number | null {
  if (entry === undefined) return null;
  const { tier } = standing(from, entry);
  if (entry.cell.median_s === null || tier === 'none') return null;
  // The published statistic takes what cold times there are; the page's own only verified ones.
  if (basis === 'medians') return tier === 'ranked' ? entry.cell.median_s : null;
  if (evidence === null) return null;
  const times = roundOne(entry, evidence);
  if (entry.cell.phase !== 'hot') return times[0] ?? null;
  return times.length < 2 ? null : hot([null, ...times.slice(0, 2)]);
}

/** Scores of what is shown, each among those of its ranking. Who does not hold all documents has none. */
export function scorers(from: View, basis: Basis, evidence: RunEvidence | null): Scorer[] {
  const questions = scoredQuestions(from, basis);
  const byPlace = (phases: readonly string[]): Map<number, Entry>[] => questions.map((question) =>
    new Map(cellsOf(from, question, phases).map((entry) => [entry.cell.configuration, entry])));
  const [cold, warm] = [byPlace(['cold', 'cold-unverified']), byPlace(['hot'])];
  const sizes = new Map(cellsOf(from, 'size', ['steady']).map((entry) => [entry.cell.configuration, entry]));
  return from.rankings.flatMap((ranking) => {
    const those = from.configurations.filter((index) =>
      from.run.configurations[index]?.ranks_with === ranking && from.loads.get(index)?.verdict === 'exact'
      && (warm.some((one) => one.has(index)) || cold.some((one) => one.has(index)) || sizes.has(index)));
    const entrants: Entrant[] = those.map((index) => ({
      cold: cold.map((one) => timeOf(from, one.get(index), basis, evidence)),
      hot: warm.map((one) => timeOf(from, one.get(index), basis, evidence)),
      total_bytes: bytesOf(sizes.get(index)),
    }));
    const found = scores(entrants, questions.map((_, index) => index));
    return those.map((configuration, index) => ({
      configuration, ranking,
      score: found[index] ?? { cold: null, hot: null, size: null },
      missing: {
        hot: entrants[index]?.hot.filter((time) => time === null).length ?? 0,
        cold: entrants[index]?.cold.filter((time) => time === null).length ?? 0,
      },
      approximate: [...warm, ...cold].some((one) => one.get(configuration)?.cell.verdict === 'approximate'),
      entries: {
        hot: warm.find((one) => one.has(configuration))?.get(configuration) ?? null,
        cold: cold.find((one) => one.has(configuration))?.get(configuration) ?? null,
        size: sizes.get(configuration) ?? null,
      },
    }));
  });
}

function bytesOf(entry: Entry | undefined): number | null {
  return entry === undefined ? null : totalBytes(entry.cell);
}
