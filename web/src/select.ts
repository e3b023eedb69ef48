// What of a run is shown under the reader's choice, and how a figure may stand beside others.

import type { Cell, Configuration, Figures, Run, Severity, Verdict } from './model.ts';
import type { State } from './state.ts';
import { bytes } from './format.ts';
import { CLASSES, isQuestion, parametersOf, PROFILES, verdictWord } from './words.ts';

/** The workload of loading and questions. */
export const ANALYTICS = 'analytics';
/** That of users' own questions. */
export const QUESTIONS = 'questions';

/** A workload that loads documents and asks questions. */
export function isAsking(workload: string): boolean {
  return workload === ANALYTICS || workload === QUESTIONS;
}

/** A cell with its configuration, and where it stands in the page's data. */
export interface Entry {
  run: number;
  index: number;
  cell: Cell;
  configuration: Configuration;
  /** The other cell of the same planned trials, where only some rounds were verified as cold. */
  beside: Entry | null;
}

/** What is shown of one run. */
export interface View {
  figures: Figures;
  state: State;
  run: Run;
  runIndex: number;
  /** By index of the configuration: it is shown. */
  shown: readonly boolean[];
  /** Shown configurations that are no reference rows. */
  configurations: readonly number[];
  /** Rankings in the order of the page: by class, then by profile, what is never ranked after what is. */
  rankings: readonly string[];
  /** By ranking: one of its configurations, which has its class and profile. */
  kinds: ReadonlyMap<string, Configuration>;
  /** The workload that asks questions. */
  asking: string;
  /** Questions that are shown. */
  questions: readonly string[];
  entries: readonly Entry[];
  /** Cells by step, then by phase. */
  bySteps: ReadonlyMap<string, readonly Entry[]>;
  /** By index of the configuration: verdict of its load; none when it was not loaded. */
  loads: ReadonlyMap<number, Cell>;
  /** Configuration and step, where a plan is not what the configuration promises. */
  broken: ReadonlySet<string>;
}

function keepsStructure(one: Configuration, wanted: State['structure']): boolean {
  const retains = one.structure?.retains ?? 'unknown';
  switch (wanted) {
    case 'all': return true;
    case 'bytes': return retains === 'bytes';
    case 'value': return retains === 'bytes' || retains === 'value';
    case 'changed': return retains === 'changed';
  }
}

/** A configuration is shown under the reader's choice. Reference rows are, whatever is chosen. */
export function isShown(one: Configuration, state: State): boolean {
  if (one.reference) return true;
  return !state.withoutSystems.has(one.system) && !state.withoutVariants.has(one.variant)
    && !state.withoutClasses.has(one.preparation ?? '') && !state.withoutProfiles.has(one.profile ?? '')
    && !state.withoutRankings.has(one.ranking) && keepsStructure(one, state.structure);
}

/** Rankings by class and profile, then the one with most configurations; ties in the order of the plan. */
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

/** Finds the two cells that cold trials of one plan became, where not all could be verified. */
function pairing(): (entry: Entry) => void {
  const known = new Map<string, Entry>();
  return (entry) => {
    const { cell } = entry;
    if (cell.phase !== 'cold' && cell.phase !== 'cold-unverified') return;
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

/** Everything that is shown of run `runIndex` under `state`. */
export function view(figures: Figures, state: State, runIndex = state.run): View | null {
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
    if (configuration === undefined) return;
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
    figures, state, run, runIndex, shown, entries, bySteps, loads,
    broken: new Set(run.failures.filter((one) => one.kind === 'plan').map((one) => promise(one.configuration, one.step))),
    configurations: indices.filter((index) => shown[index] === true && run.configurations[index]?.reference === false),
    rankings: [...kinds.keys()], kinds,
    asking: run.cells.find((cell) => isAsking(cell.workload))?.workload ?? ANALYTICS,
    questions: [...questions].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })),
  };
}

const WORST: readonly Verdict[] = ['exact', 'approximate', 'unverified', 'disputed', 'partial', 'not_applicable', 'wrong', 'timeout', 'failed'];

/** A trial of this verdict has a time. */
export function hasTime(verdict: Verdict): boolean {
  return WORST.indexOf(verdict) <= WORST.indexOf('partial');
}

/** The worst verdict of everything that was planned as this cell. */
export function worstVerdict({ cell, beside }: Entry): Verdict {
  const other = beside?.cell.verdict ?? cell.verdict;
  return WORST.indexOf(other) > WORST.indexOf(cell.verdict) ? other : cell.verdict;
}

const SEVERITIES: readonly (Severity | undefined)[] = [undefined, 'good', 'warning', 'failed'];

/** The worst of several cells. */
export function worstSeverity(entries: readonly Entry[]): Severity | undefined {
  return SEVERITIES[Math.max(0, ...entries.map(({ cell }) => SEVERITIES.indexOf(cell.severity)))];
}

/** Which of two cells of one plan is shown: what has no time must not hide behind what has one. */
function precedes(one: Cell, other: Cell, phases: readonly string[]): boolean {
  if (hasTime(one.verdict) !== hasTime(other.verdict)) return hasTime(other.verdict);
  return phases.indexOf(one.phase) < phases.indexOf(other.phase);
}

const selected = new WeakMap<View, Map<string, readonly Entry[]>>();

/** The cells of a step in phases and a state of the data, one for each configuration. */
export function cellsOf(
  from: View, step: string, phases: readonly string[], data: string | null = from.state.data, workload = from.asking,
): readonly Entry[] {
  // Every part of the page asks for the same few.
  const known = selected.get(from) ?? new Map<string, readonly Entry[]>();
  selected.set(from, known);
  const name = JSON.stringify([workload, step, phases, data]);
  const found = known.get(name) ?? select(from.bySteps.get(step) ?? [], workload, phases, data);
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

/** Questions that somebody was asked in one of the phases, in the state of the data that is shown. */
export function questionsIn(from: View, phases: readonly string[]): string[] {
  return from.questions.filter((step) => cellsOf(from, step, phases).some((entry) => !entry.configuration.reference));
}

/** How a figure may stand beside others: ranked, only shown, or without a figure. */
export type Tier = 'ranked' | 'apart' | 'none';

export interface Standing {
  tier: Tier;
  /** Why it is not quite like the others; empty when it is. */
  notes: string[];
  /** Those of them that keep it out of the ranking. */
  doubts: string[];
  /** That of them which says that it may not have been cold. */
  coldDoubt: string | null;
  approximate: boolean;
}

/** Background work was left when the system's time to settle was over. */
export function isUnsettled(cell: Cell): boolean {
  return cell.step === 'size' && (cell.metrics.background_work_left ?? 0) > 0;
}

/** Asked repeatedly, and read from the disk all the same. */
export function isOutOfMemory(cell: Cell): boolean {
  return cell.phase === 'hot-not-in-memory';
}

/** What a load leaves to say of what came after it; null when all documents are in. */
function loadNote(from: View, cell: Cell): string | null {
  if (cell.step === 'load') return null;
  const load = from.loads.get(cell.configuration);
  if (load === undefined) return isAsking(cell.workload) ? 'no load known' : null;
  if (load.verdict === 'exact') return null;
  return load.verdict === 'partial' ? 'partial load' : `load ${verdictWord(load.verdict)}`;
}

/** Why a cell is not like others, and whether it may be ranked at all. */
export function standing(from: View, entry: Entry): Standing {
  const { cell, beside, configuration } = entry;
  const verdict = worstVerdict(entry);
  const approximate = cell.verdict === 'approximate' || beside?.cell.verdict === 'approximate';
  const ofLoad = loadNote(from, cell);
  // Whatever stands here keeps a figure out of the ranking.
  const doubts: string[] = [];
  if (ofLoad !== null) doubts.push(ofLoad);
  if (!configuration.ranked && !configuration.reference) doubts.push('not ranked');
  if (verdict === 'unverified' && configuration.other_questions[cell.step] !== undefined) doubts.push('another question');
  else if (verdict === 'unverified' || verdict === 'disputed' || (verdict === 'partial' && ofLoad === null)) doubts.push(verdict);
  if (isOutOfMemory(cell)) doubts.push(`not in memory${cell.metrics.read_bytes === undefined ? '' : `: ${bytes(cell.metrics.read_bytes)} read`}`);
  const coldDoubt = beside !== null ? 'cold unverified in part' : cell.phase === 'cold-unverified' ? 'cold unverified' : null;
  if (coldDoubt !== null) doubts.push(coldDoubt);
  if (from.broken.has(promise(cell.configuration, cell.step))) doubts.push('plan broken');
  if (isUnsettled(cell)) doubts.push('not settled');
  const notes = approximate ? ['approximate', ...doubts] : doubts;
  return { tier: !hasTime(verdict) ? 'none' : doubts.length === 0 ? 'ranked' : 'apart', notes, doubts, coldDoubt, approximate };
}
