// Data of a mixed run: its loads, the phases of each, slow-downs of questions, and what happened in each second.

import type { Cell, Configuration, Evidence, SecondColumns } from './model.ts';
import type { ShownMetric } from './metric.ts';
import type { Estimate } from './stats.ts';
import type { Entry, View } from './view.ts';
import { times } from './format.ts';
import { configurationName, dimensionsOf, isQuestion } from './labels.ts';
import { Metric } from './metrics.ts';
import { metricOf } from './serving.ts';
import { ratio } from './stats.ts';
import { MIXED, Phase } from './vocabulary.ts';

/** Step of all questions together. */
export const ALL_QUESTIONS = 'all';

/** Step of the writers. */
export const INGEST = 'ingest';

/** Phases in which questions are asked, in their order within a round. */
export const ASKING_PHASES = [Phase.Still, Phase.Both, Phase.Left, Phase.Drained] as const;

const PHASES: readonly string[] = [...ASKING_PHASES, Phase.Alone];

/** Cells under equal numbers of writers and streams, batch and rate, with those of the same writers alone. */
export interface MixedLoad {
  key: string;
  /** Display title, such as `batch 1000, rate 2000, streams 2, writers 2`. */
  title: string;
  entries: Entry[];
}

/** Returns `true` for cells of questions or writers, in any phase of a round. */
export function isOfPhase(cell: Cell): boolean {
  return cell.workload === MIXED && PHASES.includes(cell.phase);
}

/** Parameters of a cell without the rate, which is always the highest one where writers are alone. */
function withoutRate({ parameters }: Cell): string {
  return JSON.stringify(Object.entries(parameters).filter(([name]) => name !== 'rate'));
}

/** Adds a cell to the load of its parameters, which may be a new one. */
function addTo(loads: Map<string, MixedLoad>, entry: Entry): void {
  const key = JSON.stringify(entry.cell.parameters);
  const load = loads.get(key) ?? { key, title: dimensionsOf(entry.cell.parameters), entries: [] };
  load.entries.push(entry);
  loads.set(key, load);
}

/**
 * The loads shown, in the order of measurement. Writers alone belong to all loads that differ from theirs in the rate
 * only, and are a load of their own if there is none.
 */
export function loadsOf(view: View): MixedLoad[] {
  const loads = new Map<string, MixedLoad>();
  const entries = view.entries.filter(({ cell }) => isOfPhase(cell));
  for (const entry of entries.filter(({ cell }) => cell.phase !== Phase.Alone)) addTo(loads, entry);
  for (const entry of entries.filter(({ cell }) => cell.phase === Phase.Alone)) {
    const those = [...loads.values()].filter(({ entries: [first] }) => first !== undefined && withoutRate(first.cell) === withoutRate(entry.cell));
    for (const load of those) load.entries.push(entry);
    if (those.length === 0) addTo(loads, entry);
  }
  return [...loads.values()];
}

/** What follows a title to tell a load from others; empty if there is only one. */
export function loadSuffix(loads: readonly MixedLoad[], load: MixedLoad): string {
  return loads.length > 1 ? `, ${load.title}` : '';
}

/** Cells of a step in a phase, one for each configuration. */
export function entriesOf(load: MixedLoad, phase: string, step: string): Entry[] {
  return load.entries.filter(({ cell }) => cell.phase === phase && cell.step === step);
}

/** The cell of a configuration's step in a phase; undefined if it was not reached. */
export function entryOf(load: MixedLoad, configuration: number, phase: string, step: string): Entry | undefined {
  return entriesOf(load, phase, step).find(({ cell }) => cell.configuration === configuration);
}

/** Indexes of the configurations of a load, in the order of the plan. */
export function configurationsOf(load: MixedLoad): number[] {
  return [...new Set(load.entries.filter(({ configuration }) => !configuration.reference).map(({ cell }) => cell.configuration))].sort((a, b) => a - b);
}

/** Names of the questions of a load. */
export function questionsOf(load: MixedLoad): string[] {
  return [...new Set(load.entries.map(({ cell }) => cell.step).filter(isQuestion))].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}

/** A comparison of two phases of a round. */
export interface PhasePair {
  phase: Phase;
  /** Phase that the other one is compared with. */
  against: Phase;
  title: string;
}

/** What the writers slow down, as long as they are there and after they have gone. */
export const SLOW_DOWNS: readonly PhasePair[] = [
  { phase: Phase.Both, against: Phase.Left, title: 'beside writers ÷ writers gone' },
  { phase: Phase.Left, against: Phase.Drained, title: 'writers gone ÷ drained' },
];

/**
 * The median time of a question in a phase ÷ in another one; null if one of them has no time. Both are treated as
 * independent, which usually makes the interval wider than that of a ratio paired by round.
 */
export function slowDown(load: MixedLoad, cell: Cell, against: Phase): Estimate | null {
  const other = entryOf(load, cell.configuration, against, cell.step);
  const [one, two] = [metricOf(cell, Metric.QuestionP50Us), other === undefined ? null : metricOf(other.cell, Metric.QuestionP50Us)];
  return one === null || two === null || one.value <= 0 || two.value <= 0 ? null : ratio(one, two);
}

/** The slow-down of questions as charts show it. */
export function slowDownMetric(load: MixedLoad, { against, title }: PhasePair): ShownMetric {
  return { name: `slow_down_${against}`, title: `time, ${title}`, better: 'lower', time: false, format: times, of: (cell) => slowDown(load, cell, against) };
}

/** What a configuration's writers and streams did in each second of a phase, a trial for each round. */
export interface MixedSeconds {
  entry: Entry;
  configuration: Configuration;
  name: string;
  documents: readonly SecondColumns[];
  questions: readonly SecondColumns[];
}

/** Seconds beside writers; configurations without any are left out. */
export function secondsOf(view: View, evidence: Evidence, load: MixedLoad): MixedSeconds[] {
  const trials = (entry: Entry | undefined): readonly SecondColumns[] =>
    (entry === undefined ? [] : evidence.runs[view.runIndex]?.cells[entry.index]?.seconds ?? []);
  return configurationsOf(load).flatMap((index) => {
    const [all, ingest] = [ALL_QUESTIONS, INGEST].map((step) => entryOf(load, index, Phase.Both, step));
    const [questions, documents, entry] = [trials(all), trials(ingest), all ?? ingest];
    if (entry === undefined || questions.length + documents.length === 0) return [];
    return [{ entry, configuration: entry.configuration, name: configurationName(entry.configuration), documents, questions }];
  });
}

/** Number of whole seconds of a trial: the last one is cut short by the end of the phase, and would look like a stall. */
export function wholeSeconds(trial: SecondColumns): number {
  return Math.max(1, trial.operations.length - 1);
}
