// Frontiers of a mixed run: what writers and questions reach together, against what each reaches alone. The hull and the share are
// those of crates/stats/src/frontier.rs.

import type { Configuration } from './model.ts';
import type { MetricName } from './metrics.ts';
import type { Entry, View } from './view.ts';
import { percent } from './format.ts';
import { configurationName } from './labels.ts';
import { Metric } from './metrics.ts';
import { ALL_QUESTIONS, INGEST, isOfPhase } from './mixed.ts';
import { Phase, UNRANKED_FINDINGS, Verdict } from './vocabulary.ts';

/** Rates that were achieved together: acknowledged documents per second and questions per hour. */
export interface LoadPoint {
  documents: number;
  questions: number;
}

/** The hull of all points with the share of the box of both peaks that lies below it. */
export interface Frontier {
  /** Ends of the straight lines, from the peak of questions to that of documents. */
  hull: readonly LoadPoint[];
  /** 0.5 is what two loads give that merely share the cores, 1 is no interference at all. */
  share: number;
}

/** Where a point lies: an end of a line of the hull, less than both loads get in turns, beaten by no point, or beaten in both rates. */
export type Place = 'peak' | 'hull' | 'below the line' | 'not dominated' | 'dominated';

/** A load with what was reached under it. */
export interface RatedPoint {
  /** Rate of the writers: `10 %` of their peak, `max`, or which of both loads was alone. */
  label: string;
  /** Cells of the load: the questions first, if any were asked. */
  entries: readonly Entry[];
  /** null unless both rates were reached with verified answers. */
  at: LoadPoint | null;
}

/** Both peaks of a configuration and its points between them, from questions alone to writers alone. */
export interface MeasuredFrontier {
  configuration: Configuration;
  name: string;
  points: readonly RatedPoint[];
  /** null if a point or a peak has no verified rates, or was too short: without one of them the frontier would look smaller than it is. */
  frontier: Frontier | null;
}

/** The upper part of the convex hull of points (Andrew, 1979). */
function upperHull(points: readonly LoadPoint[]): LoadPoint[] {
  const hull: LoadPoint[] = [];
  for (const point of [...points].sort((a, b) => a.documents - b.documents || b.questions - a.questions)) {
    if (hull[hull.length - 1]?.documents === point.documents) continue;
    for (;;) {
      const [a, b] = hull.slice(-2);
      if (a === undefined || b === undefined) break;
      const turn = (b.documents - a.documents) * (point.questions - a.questions) - (b.questions - a.questions) * (point.documents - a.documents);
      if (turn < 0) break;
      hull.pop();
    }
    hull.push(point);
  }
  return hull;
}

/** The frontier through points, which include both peaks. */
export function frontierOf(points: readonly LoadPoint[]): Frontier {
  const hull = upperHull(points);
  const area = hull.slice(1).reduce((sum, point, index) => {
    const before = hull[index] ?? point;
    return sum + (point.documents - before.documents) * (before.questions + point.questions) / 2;
  }, 0);
  const box = Math.max(...points.map(({ documents }) => documents)) * Math.max(...points.map(({ questions }) => questions));
  return { hull, share: area / box };
}

/** Returns `true` if another point is at least as good as the one at this index in both rates, and better in one. */
export function isDominated({ points }: MeasuredFrontier, index: number): boolean {
  const own = points[index]?.at ?? null;
  return own !== null && points.some(({ at }) => at !== null && at.documents >= own.documents && at.questions >= own.questions
    && (at.documents > own.documents || at.questions > own.questions));
}

/** Where the point at this index lies among all of them; null without a frontier. */
export function placeOf(measured: MeasuredFrontier, index: number): Place | null {
  const { points, frontier } = measured;
  const own = points[index]?.at ?? null;
  const [first, last] = [points[0]?.at ?? null, points[points.length - 1]?.at ?? null];
  if (frontier === null || own === null || first === null || last === null) return null;
  if (index === 0 || index === points.length - 1) return 'peak';
  if (frontier.hull.includes(own)) return 'hull';
  if (own.documents / last.documents + own.questions / first.questions < 1) return 'below the line';
  return isDominated(measured, index) ? 'dominated' : 'not dominated';
}

/** Value of a metric if all answers of its cell are right and it was measured for long enough; null otherwise. */
function verified(entry: Entry | undefined, name: MetricName): number | null {
  if (entry?.cell.findings?.some(({ subject }) => UNRANKED_FINDINGS.includes(subject)) === true) return null;
  if (entry === undefined || (entry.cell.verdict !== Verdict.Exact && entry.cell.verdict !== Verdict.Approximate)) return null;
  const value = entry.cell.metrics[name];
  return value === undefined || !Number.isFinite(value) ? null : value;
}

function labelOf({ cell: { parameters } }: Entry): string {
  return parameters.rate_share === undefined ? String(parameters.rate) : percent(Number(parameters.rate_share)).replace(/\.0+(?= )/, '');
}

/** Points of the rates, shares of the peak in ascending order first. */
function ratesOf(entries: readonly Entry[]): RatedPoint[] {
  const beside = entries.filter(({ cell }) => cell.phase === Phase.Both && cell.step === ALL_QUESTIONS);
  const order = ({ cell }: Entry): number => Number(cell.parameters.rate_share ?? Infinity);
  return beside.sort((a, b) => order(a) - order(b)).map((questions) => {
    const key = JSON.stringify(questions.cell.parameters);
    const writers = entries.find(({ cell }) => cell.phase === Phase.Both && cell.step === INGEST && JSON.stringify(cell.parameters) === key);
    const [documents, asked] = [verified(writers, Metric.DocumentsPerS), verified(questions, Metric.QuestionsPerH)];
    return {
      label: labelOf(questions), entries: writers === undefined ? [questions] : [questions, writers],
      at: documents === null || asked === null ? null : { documents, questions: asked },
    };
  });
}

function measured(configuration: Configuration, entries: readonly Entry[]): MeasuredFrontier {
  const of = (phase: string, step: string): Entry | undefined => entries.find(({ cell }) => cell.phase === phase && cell.step === step);
  const [streams, writers] = [of(Phase.Still, ALL_QUESTIONS), of(Phase.Alone, INGEST)];
  const [questions, documents] = [verified(streams, Metric.QuestionsPerH), verified(writers, Metric.DocumentsPerS)];
  const alone = (entry: Entry | undefined): readonly Entry[] => (entry === undefined ? [] : [entry]);
  const points: RatedPoint[] = [
    { label: 'questions alone', entries: alone(streams), at: questions === null || questions <= 0 ? null : { documents: 0, questions } },
    ...ratesOf(entries),
    { label: 'writers alone', entries: alone(writers), at: documents === null || documents <= 0 ? null : { documents, questions: 0 } },
  ];
  const there = points.flatMap(({ at }) => (at === null ? [] : [at]));
  return { configuration, name: configurationName(configuration), points, frontier: there.length === points.length ? frontierOf(there) : null };
}

/** Frontiers of all configurations shown, in the order of the plan. Empty for runs of one rate. */
export function frontiersOf(view: View): MeasuredFrontier[] {
  const entries = view.entries.filter(({ cell, configuration }) => isOfPhase(cell) && !configuration.reference);
  if (!entries.some(({ cell }) => cell.parameters.rate_share !== undefined)) return [];
  const indexes = [...new Set(entries.map(({ cell }) => cell.configuration))].sort((a, b) => a - b);
  return indexes.flatMap((index) => {
    const own = entries.filter(({ cell }) => cell.configuration === index);
    return own[0] === undefined ? [] : [measured(own[0].configuration, own)];
  });
}
