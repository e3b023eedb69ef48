// What of a run is shown under the reader's choice, and how a figure may stand beside others.

import type { Cell, Configuration, Figures, Run } from './model.ts';
import type { State } from './state.ts';
import { isQuestion } from './words.ts';

/** A cell with its configuration, and where it stands in the page's data. */
export interface Entry {
  run: number;
  index: number;
  cell: Cell;
  configuration: Configuration;
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
  /** Rankings in the order of the page: that with most configurations first. */
  rankings: readonly string[];
  /** Questions that are shown. */
  questions: readonly string[];
  entries: readonly Entry[];
  /** Cells by step, then by phase. */
  bySteps: ReadonlyMap<string, readonly Entry[]>;
  /** By index of the configuration: verdict of its load; none when it was not loaded. */
  loads: ReadonlyMap<number, Cell>;
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
    && !state.withoutRankings.has(one.ranks_with) && keepsStructure(one, state.structure);
}

/** Rankings with the number of their configurations, most first; ties in the order of the plan. */
export function rankingsOf(configurations: readonly Configuration[]): string[] {
  const sizes = new Map<string, number>();
  for (const one of configurations) {
    if (!one.reference) sizes.set(one.ranks_with, (sizes.get(one.ranks_with) ?? 0) + 1);
  }
  return [...sizes].sort((a, b) => b[1] - a[1]).map(([ranking]) => ranking);
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
  run.cells.forEach((cell, index) => {
    const configuration = run.configurations[cell.configuration];
    if (configuration === undefined) return;
    if (cell.step === 'load' && cell.workload === 'analytics') loads.set(cell.configuration, cell);
    if (shown[cell.configuration] !== true || state.withoutQuestions.has(cell.step)) return;
    if (isQuestion(cell.step)) questions.add(cell.step);
    const entry = { run: runIndex, index, cell, configuration };
    entries.push(entry);
    const step = bySteps.get(cell.step);
    if (step === undefined) bySteps.set(cell.step, [entry]);
    else step.push(entry);
  });
  const indices = run.configurations.map((_, index) => index);
  return {
    figures, state, run, runIndex, shown, entries, bySteps, loads,
    configurations: indices.filter((index) => shown[index] === true && run.configurations[index]?.reference === false),
    rankings: rankingsOf(run.configurations.filter((_, index) => shown[index] === true)),
    questions: [...questions].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })),
  };
}

/** The cells of a step in phases and a state of the data; the first phase that a configuration has counts. */
export function cellsOf(
  from: View, step: string, phases: readonly string[], data: string | null = from.state.data,
): Entry[] {
  const found = new Map<string, Entry>();
  const place = (entry: Entry): number => phases.indexOf(entry.cell.phase);
  for (const entry of from.bySteps.get(step) ?? []) {
    if (entry.cell.workload !== 'analytics' || place(entry) < 0) continue;
    if (data !== null && entry.cell.state !== null && entry.cell.state !== data) continue;
    const parameters = Object.keys(entry.cell.parameters).length > 0 ? JSON.stringify(entry.cell.parameters) : '';
    const key = `${entry.cell.configuration} ${data === null ? entry.cell.state : ''} ${parameters}`;
    const before = found.get(key);
    if (before === undefined || place(entry) < place(before)) found.set(key, entry);
  }
  return [...found.values()];
}

/** How a figure may stand beside others: ranked, only shown, or without a figure. */
export type Tier = 'ranked' | 'apart' | 'none';

export interface Standing {
  tier: Tier;
  /** Why it is not quite like the others; empty when it is. */
  notes: string[];
  approximate: boolean;
}

/** Why a cell is not like others, and whether it may be ranked at all. */
export function standing(from: View, entry: Entry): Standing {
  const { cell } = entry;
  const notes: string[] = [];
  const approximate = cell.verdict === 'approximate';
  if (approximate) notes.push('approximate');
  const load = from.loads.get(cell.configuration);
  const whole = load === undefined || load.verdict === 'exact' || cell.step === 'load';
  if (!whole) notes.push(load.verdict === 'partial' ? 'partial load' : `load ${load.verdict}`);
  if ((cell.verdict === 'partial' && whole) || cell.verdict === 'unverified') notes.push(cell.verdict);
  if (cell.phase === 'cold-unverified') notes.push('cold unverified');
  const timed = cell.verdict === 'exact' || approximate;
  const there = timed || cell.verdict === 'partial' || cell.verdict === 'unverified';
  const ranked = timed && whole && load !== undefined && cell.phase !== 'cold-unverified';
  return { tier: !there ? 'none' : ranked ? 'ranked' : 'apart', notes, approximate };
}
