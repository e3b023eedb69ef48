// What can be read of a cell: its time, what follows from it, and whatever else was measured.

import type { Cell, Configuration, Ratio, Run } from './model.ts';
import type { Better } from './figures.ts';
import type { Estimate } from './stats.ts';
import { byName, count, figureTitle, or, REGISTERED, seconds, times, withInterval } from './format.ts';

export interface Metric {
  name: string;
  title: string;
  /** Which direction is better; null where it is not known, or neither is. */
  better: Better;
  /** A time of the trial itself: published times can stand beside it. */
  time: boolean;
  format: (value: number) => string;
  of: (cell: Cell, run: Run) => Estimate | null;
  /** What the cell is held against. */
  beside?: (cell: Cell) => Ratio | null;
  /** Both groups in words, where trials fall into two. */
  groups?: (cell: Cell) => string | null;
  /** What keeps a figure of it from being like others. */
  notes?: (cell: Cell, configuration: Configuration) => readonly string[];
}

const loaded = new WeakMap<Run, ReadonlyMap<number, number>>();

/** The documents that a configuration holds: its times are for so many. */
export function documentsOf(run: Run, configuration: number): number {
  let known = loaded.get(run);
  if (known === undefined) {
    known = new Map(run.cells.flatMap((cell) => {
      const documents = cell.metrics.documents_loaded;
      return cell.step === 'load' && cell.workload === 'analytics' && documents !== undefined ? [[cell.configuration, documents] as const] : [];
    }));
    loaded.set(run, known);
  }
  return known.get(configuration) ?? run.data.documents;
}

/** A metric of a cell, with its interval over rounds where it has one; of trials in two groups the upper one, from the lower. */
function measuredIn(cell: Cell, name: string): Estimate | null {
  const value = cell.metrics[name];
  if (value === undefined || !Number.isFinite(value)) return null;
  const groups = cell.groups?.[name];
  if (groups !== undefined) {
    const [[, low], [, high]] = groups;
    return { value: high, low, high };
  }
  const [low, high] = cell.intervals[name] ?? [null, null];
  return { value, low, high };
}

/** `282 B in 3 trials, 2.48 kB in 3`, of trials that fall into two groups. */
export function inGroups(name: string, cell: Cell): string | null {
  const groups = cell.groups?.[name];
  if (groups === undefined) return null;
  const [[few, low], [many, high]] = groups;
  return `${byName(name, low)} in ${few} trials, ${byName(name, high)} in ${many}`;
}

/** A metric of a cell in words: both groups of its trials where there are two, or its value with its interval. */
export function measuredWord(name: string, cell: Cell): string {
  return inGroups(name, cell) ?? or(cell.metrics[name], (value) => withInterval(name, value, cell.intervals[name]));
}

/** What an axis says of the direction. */
export function axisOf({ title, better }: Pick<Metric, 'title' | 'better'>): string {
  return better === null ? title : `${title}, ${better === 'higher' ? 'more' : 'less'} is better`;
}

function beside(one: Ratio | null): Estimate | null {
  return one && { value: one.ratio, low: one.low, high: one.high };
}

const TIME: Metric = {
  name: 'time',
  title: 'time',
  better: 'lower',
  time: true,
  format: seconds,
  of: (cell) => (cell.median_s === null ? null : { value: cell.median_s, low: cell.low_s, high: cell.high_s }),
};

const DERIVED: readonly Metric[] = [
  TIME,
  {
    name: 'of_best',
    title: '× of best',
    better: 'lower',
    time: false,
    format: times,
    of: (cell) => beside(cell.of_best),
    beside: (cell) => cell.of_best,
  },
  {
    name: 'of_yardstick',
    title: '× of yardstick',
    better: 'lower',
    time: false,
    format: times,
    of: (cell) => beside(cell.of_yardstick),
    beside: (cell) => cell.of_yardstick,
  },
  {
    name: 'documents_per_s',
    title: 'documents per second',
    better: 'higher',
    time: false,
    format: (value) => `${count(value)}/s`,
    of: (cell, run) => {
      if (cell.median_s === null || cell.median_s <= 0) return null;
      const documents = documentsOf(run, cell.configuration);
      const rate = (time: number | null): number | null => (time === null || time <= 0 ? null : documents / time);
      return { value: documents / cell.median_s, low: rate(cell.high_s), high: rate(cell.low_s) };
    },
  },
];

function measured(name: string): Metric {
  return {
    name,
    title: figureTitle(name),
    better: REGISTERED.get(name)?.better ?? null,
    time: false,
    format: (value) => byName(name, value),
    of: (cell) => measuredIn(cell, name),
    // The worker of the harness, with client and decoding, is in figures of the processes of an embedded engine.
    groups: (cell) => inGroups(name, cell),
    notes: (_, configuration) => (REGISTERED.get(name)?.ofProcesses === true && configuration.embedded ? ['embedded'] : []),
  };
}

/** The metric of a name; time when nobody has heard of it. */
export function metric(name: string): Metric {
  return DERIVED.find((one) => one.name === name) ?? (/^[a-z0-9_]+$/.test(name) ? measured(name) : TIME);
}

/** What a reader can choose between: what follows from times, and every metric that a question of the run has. */
export function metricsOf(runs: readonly Run[]): Metric[] {
  const names = new Set<string>();
  for (const run of runs) {
    for (const cell of run.cells) {
      if (!cell.phase.startsWith('hot') && !cell.phase.startsWith('cold')) continue;
      for (const name of Object.keys(cell.metrics)) names.add(name);
    }
  }
  for (const one of DERIVED) names.delete(one.name);
  const known = [...REGISTERED.keys()].filter((name) => names.delete(name));
  return [...DERIVED, ...[...known, ...[...names].sort()].map(measured)];
}

/** Whether the system tells no total of its own, so that its files are counted. */
export function isOfFiles(cell: Cell): boolean {
  return cell.metrics.total_bytes === undefined && cell.metrics.files_bytes !== undefined;
}

/** Bytes that count as the size: the system's own catalogue, else its files. */
export function totalBytes(cell: Cell): number | null {
  return cell.metrics.total_bytes ?? cell.metrics.files_bytes ?? null;
}

/** The same with its interval over loads; without one where it was taken once. */
export function totalEstimate(cell: Cell): Estimate | null {
  return measuredIn(cell, isOfFiles(cell) ? 'files_bytes' : 'total_bytes');
}

/** The same with its range over several loads. */
export function totalRange(cell: Cell): Estimate | null {
  const value = totalBytes(cell);
  const { least_total_bytes: low = null, most_total_bytes: high = null } = cell.metrics;
  return value === null ? null : { value, low, high };
}
