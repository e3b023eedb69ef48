// Selects what is shown of a run under the reader's choice, and decides which cells may be ranked.

import type { Cell, Configuration, PageData, Run, Severity } from './model.ts';
import type { State } from './state.ts';
import { bytes, percent } from './format.ts';
import { CLASSES, isQuestion, parametersOf, PROFILES, verdictLabel } from './labels.ts';
import { Metric } from './metrics.ts';
import { ANALYTICS, DOCUMENTS, DURABILITY, FIDELITY, MIXED, Phase, QUESTIONS, SERVING, UNRANKED_FINDINGS, Verdict } from './vocabulary.ts';

/** Workloads that the page knows, in page order. */
const ORDER: readonly string[] = [ANALYTICS, SERVING, MIXED, DOCUMENTS, QUESTIONS, FIDELITY, DURABILITY];

const workloadsByRun = new WeakMap<Run, Set<string>>();

/**
 * Workloads of a run's cells. A run without any cell counts as analytics, whose parts then say that they are
 * empty.
 */
function workloadsOfRun(run: Run): ReadonlySet<string> {
  const known = workloadsByRun.get(run) ?? new Set<string>(run.cells.map((cell) => cell.workload));
  if (known.size === 0) known.add(ANALYTICS);
  workloadsByRun.set(run, known);
  return known;
}

/** Returns `true` if the run has results of the workload. */
export function hasWorkload(run: Run, workload: string): boolean {
  return workloadsOfRun(run).has(workload);
}

/** Workloads of several runs: those that the page knows in page order, then others by name. */
export function workloadsOf(runs: readonly Run[]): string[] {
  const all = [...new Set(runs.flatMap((run) => [...workloadsOfRun(run)]))];
  return [...ORDER.filter((name) => all.includes(name)), ...all.filter((name) => !ORDER.includes(name)).sort()];
}

/** Returns `true` for workloads that load documents and ask questions. */
export function isAsking(workload: string): boolean {
  return workload === ANALYTICS || workload === QUESTIONS;
}

/** A cell with its configuration and its position in the page's data. */
export interface Entry {
  run: number;
  index: number;
  cell: Cell;
  configuration: Configuration;
  /** The other cell of the same planned trials, if only some rounds were verified as cold; null otherwise. */
  beside: Entry | null;
}

/** Everything shown of one run under a choice. */
export interface View {
  figures: PageData;
  state: State;
  run: Run;
  runIndex: number;
  /** Workload whose results are shown. */
  workload: string;
  /** By configuration index: whether the configuration is shown. */
  shown: readonly boolean[];
  /** Indexes of the configurations shown, without reference configurations. */
  configurations: readonly number[];
  /** Rankings in page order: by class, then by profile, those never ranked last. */
  rankings: readonly string[];
  /** By ranking: one of its configurations, as a source of class and profile. */
  kinds: ReadonlyMap<string, Configuration>;
  /** Name of the workload that asks questions: the one shown if it does. */
  asking: string;
  /** Names of the questions shown. */
  questions: readonly string[];
  entries: readonly Entry[];
  /** Cells shown by step, in each step by phase. */
  bySteps: ReadonlyMap<string, readonly Entry[]>;
  /** Load cell by configuration index; absent if the configuration was not loaded. */
  loads: ReadonlyMap<number, Cell>;
  /** Keys of configuration and step whose plan differs from the promised one. */
  broken: ReadonlySet<string>;
}

function keepsStructure(configuration: Configuration, wanted: State['structure']): boolean {
  const retains = configuration.structure?.retains ?? 'unknown';
  switch (wanted) {
    case 'all': return true;
    case 'bytes': return retains === 'bytes';
    case 'value': return retains === 'bytes' || retains === 'value';
    case 'changed': return retains === 'changed';
  }
}

/** Returns `true` if the reader's choice shows a configuration; reference configurations are always shown. */
export function isShown(configuration: Configuration, state: State): boolean {
  if (configuration.reference) return true;
  return !state.withoutSystems.has(configuration.system) && !state.withoutVariants.has(configuration.variant)
    && !state.withoutClasses.has(configuration.preparation) && !state.withoutProfiles.has(configuration.profile ?? '')
    && !state.withoutRankings.has(configuration.ranking) && keepsStructure(configuration, state.structure);
}

/** Rankings by class and profile, then by number of configurations; ties keep the order of the plan. */
export function rankingsOf(configurations: readonly Configuration[]): Map<string, Configuration> {
  const found = new Map<string, { kind: Configuration; size: number }>();
  for (const kind of configurations) {
    if (!kind.reference) found.set(kind.ranking, { kind, size: (found.get(kind.ranking)?.size ?? 0) + 1 });
  }
  const place = ({ ranked, preparation, profile }: Configuration): number =>
    CLASSES.indexOf(preparation) * 10 + PROFILES.indexOf(profile) * 2 + (ranked ? 0 : 1);
  const sorted = [...found].sort(([, a], [, b]) => place(a.kind) - place(b.kind) || b.size - a.size);
  return new Map(sorted.map(([ranking, { kind }]) => [ranking, kind]));
}

/** Links the two cells of cold trials that were planned as one cell but could not all be verified as cold. */
function pairing(): (entry: Entry) => void {
  const known = new Map<string, Entry>();
  return (entry) => {
    const { cell } = entry;
    if (cell.phase !== Phase.Cold && cell.phase !== Phase.ColdUnverified) return;
    const slot = JSON.stringify([cell.workload, cell.step, cell.state, cell.configuration, cell.parameters]);
    const other = known.get(slot);
    if (other === undefined) known.set(slot, entry);
    else {
      other.beside = entry;
      entry.beside = other;
    }
  };
}

function promise(configuration: number, step: string): string {
  return `${configuration} ${step}`;
}

/** Everything shown of run `runIndex` under `state`; null if there is no such run. */
export function buildView(figures: PageData, state: State, runIndex = state.run): View | null {
  const run = figures.runs[runIndex];
  if (run === undefined) return null;
  const shown = run.configurations.map((one) => isShown(one, state));
  const entries: Entry[] = [];
  const bySteps = new Map<string, Entry[]>();
  const loads = new Map<number, Cell>();
  const questions = new Set<string>();
  const pair = pairing();
  run.cells.forEach((cell, index) => {
    const configuration = run.configurations[cell.configuration];
    if (configuration === undefined || cell.workload !== state.workload) return;
    const asking = isAsking(cell.workload);
    if (cell.step === 'load' && asking) loads.set(cell.configuration, cell);
    if (shown[cell.configuration] !== true || (asking && state.withoutQuestions.has(cell.step))) return;
    if (asking && isQuestion(cell.step)) questions.add(cell.step);
    const entry: Entry = { run: runIndex, index, cell, configuration, beside: null };
    pair(entry);
    entries.push(entry);
    const step = bySteps.get(cell.step);
    if (step === undefined) bySteps.set(cell.step, [entry]);
    else step.push(entry);
  });
  const indices = run.configurations.map((_, index) => index);
  const kinds = rankingsOf(run.configurations.filter((_, index) => shown[index] === true));
  return {
    figures, state, run, runIndex, workload: state.workload, shown, entries, bySteps, loads,
    broken: new Set(run.failures.filter((one) => one.kind === 'plan').map((one) => promise(one.configuration, one.step))),
    configurations: indices.filter((index) => shown[index] === true && run.configurations[index]?.reference === false),
    rankings: [...kinds.keys()], kinds,
    asking: isAsking(state.workload) ? state.workload : ANALYTICS,
    questions: [...questions].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })),
  };
}

/** All verdicts, from best to worst. */
const WORST: readonly Verdict[] = Object.values(Verdict);

/** Returns `true` if trials with this verdict have a time. */
export function hasTime(verdict: Verdict): boolean {
  return WORST.indexOf(verdict) <= WORST.indexOf(Verdict.Partial);
}

/** The worst verdict of all cells that were planned as this cell. */
export function worstVerdict({ cell, beside }: Entry): Verdict {
  const other = beside?.cell.verdict ?? cell.verdict;
  return WORST.indexOf(other) > WORST.indexOf(cell.verdict) ? other : cell.verdict;
}

const SEVERITIES: readonly (Severity | undefined)[] = [undefined, 'good', 'warning', 'failed'];

/** The worst severity of several cells; undefined if none has one. */
export function worstSeverity(entries: readonly Entry[]): Severity | undefined {
  return SEVERITIES[Math.max(0, ...entries.map(({ cell }) => SEVERITIES.indexOf(cell.severity)))];
}

/**
 * Decides which of two cells of one plan is shown. A cell without a time must not be hidden by one with a
 * time.
 */
function precedes(one: Cell, other: Cell, phases: readonly string[]): boolean {
  if (hasTime(one.verdict) !== hasTime(other.verdict)) return hasTime(other.verdict);
  return phases.indexOf(one.phase) < phases.indexOf(other.phase);
}

const selected = new WeakMap<View, Map<string, readonly Entry[]>>();

/** The cells of a step in the given phases and data state, one per configuration and set of parameters. */
export function cellsOf(
  view: View, step: string, phases: readonly string[], data: string | null = view.state.data, workload = view.asking,
): readonly Entry[] {
  // Cached, because many parts of the page ask for the same cells.
  const known = selected.get(view) ?? new Map<string, readonly Entry[]>();
  selected.set(view, known);
  const name = JSON.stringify([workload, step, phases, data]);
  const found = known.get(name) ?? select(view.bySteps.get(step) ?? [], workload, phases, data);
  known.set(name, found);
  return found;
}

function select(entries: readonly Entry[], workload: string, phases: readonly string[], data: string | null): Entry[] {
  const found = new Map<string, Entry>();
  for (const entry of entries) {
    const { cell } = entry;
    if (cell.workload !== workload || !phases.includes(cell.phase)) continue;
    if (data !== null && cell.state !== null && cell.state !== data) continue;
    const key = `${cell.configuration} ${data === null ? cell.state : ''} ${parametersOf(cell)}`;
    const before = found.get(key);
    if (before === undefined || precedes(cell, before.cell, phases)) found.set(key, entry);
  }
  return [...found.values()];
}

/**
 * Questions with at least one cell in the given phases and the data state shown, reference configurations
 * excluded.
 */
export function questionsIn(view: View, phases: readonly string[]): string[] {
  return view.questions.filter((step) => cellsOf(view, step, phases).some((entry) => !entry.configuration.reference));
}

/** The ranking shown first: that of the first preparation class with more than one configuration. */
export function leading(view: View): string | undefined {
  const size = (ranking: string): number => view.configurations.filter((index) => view.run.configurations[index]?.ranking === ranking).length;
  const ranked = view.rankings.filter((one) => view.kinds.get(one)?.ranked === true);
  return ranked.find((one) => size(one) > 1) ?? ranked[0];
}

/** How a cell may be compared: ranked, shown without rank, or without a value. */
export type RankTier = 'ranked' | 'apart' | 'none';

export interface RankStatus {
  tier: RankTier;
  /** All caveats of the cell; empty if it is fully comparable. */
  notes: string[];
  /** The caveats that exclude the cell from the ranking. */
  doubts: string[];
  /** The caveat that the trial may not have been cold; null if there is none. */
  coldDoubt: string | null;
  approximate: boolean;
}

/** Returns `true` if background work was left when the time limit for settling expired. */
export function hasBackgroundWork(cell: Cell): boolean {
  return cell.step === 'size' && (cell.metrics[Metric.BackgroundWorkLeft] ?? 0) > 0;
}

/** Returns `true` if a repeated (hot) question still read from disk. */
export function isReadFromDisk(cell: Cell): boolean {
  return cell.phase === Phase.HotNotInMemory;
}

/** Caveat from the configuration's load for later cells; null if all documents were loaded. */
function loadNote(view: View, cell: Cell): string | null {
  if (cell.step === 'load') return null;
  const load = view.loads.get(cell.configuration);
  if (load === undefined) return isAsking(cell.workload) ? 'no load known' : null;
  if (load.verdict === Verdict.Exact) return null;
  return load.verdict === Verdict.Partial ? 'partial load' : `load ${verdictLabel(load.verdict)}`;
}

/** Least share of the rate that writers must keep, as in the program; with less, questions beside them are not ranked. */
const KEPT_LIMIT = 0.95;

/** Caveat of questions beside a load that a system did not carry; null if it kept the rate. */
function keptNote(cell: Cell): string | null {
  const kept = cell.metrics[Metric.KeptShare];
  return kept === undefined || kept >= KEPT_LIMIT ? null : `${percent(kept)} of the rate kept`;
}

/** Determines the caveats of a cell and whether it may be ranked. */
export function rankStatus(view: View, entry: Entry): RankStatus {
  const { cell, beside, configuration } = entry;
  const verdict = worstVerdict(entry);
  const approximate = cell.verdict === Verdict.Approximate || beside?.cell.verdict === Verdict.Approximate;
  const ofLoad = loadNote(view, cell);
  // Every entry here excludes the cell from the ranking.
  const doubts: string[] = [];
  if (ofLoad !== null) doubts.push(ofLoad);
  const kept = keptNote(cell);
  if (kept !== null) doubts.push(kept);
  doubts.push(...UNRANKED_FINDINGS.filter((name) => cell.findings?.some(({ subject }) => subject === name) === true));
  if (!configuration.ranked && !configuration.reference) doubts.push('not ranked');
  if (verdict === Verdict.Unverified && configuration.other_questions[cell.step] !== undefined) doubts.push('another question');
  else if (verdict === Verdict.Unverified || verdict === Verdict.Disputed || (verdict === Verdict.Partial && ofLoad === null)) doubts.push(verdict);
  const read = cell.metrics[Metric.ReadBytes];
  if (isReadFromDisk(cell)) doubts.push(`not in memory${read === undefined ? '' : `: ${bytes(read)} read`}`);
  const coldDoubt = beside !== null ? 'cold unverified in part' : cell.phase === Phase.ColdUnverified ? 'cold unverified' : null;
  if (coldDoubt !== null) doubts.push(coldDoubt);
  if (view.broken.has(promise(cell.configuration, cell.step))) doubts.push('plan broken');
  if (hasBackgroundWork(cell)) doubts.push('background work not finished');
  const notes = approximate ? ['approximate', ...doubts] : doubts;
  return { tier: !hasTime(verdict) ? 'none' : doubts.length === 0 ? 'ranked' : 'apart', notes, doubts, coldDoubt, approximate };
}
