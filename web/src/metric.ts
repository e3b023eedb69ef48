// What can be read of a cell: its time, what follows from it, and whatever else was measured.

import type { Cell, Configuration, Ratio, Run } from './model.ts';
import type { Estimate } from './stats.ts';
import { byName, count, nameInWords, seconds, times } from './format.ts';

export interface Metric {
  name: string;
  title: string;
  /** More is better. */
  higher: boolean;
  /** A time of the trial itself: published times can stand beside it. */
  time: boolean;
  format: (value: number) => string;
  of: (cell: Cell, run: Run) => Estimate | null;
  /** What the cell is held against. */
  beside?: (cell: Cell) => Ratio | null;
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

function exact(value: number | null | undefined): Estimate | null {
  return value === null || value === undefined || !Number.isFinite(value) ? null : { value, low: null, high: null };
}

function beside(one: Ratio | null): Estimate | null {
  return one && { value: one.ratio, low: one.low, high: one.high };
}

const TIME: Metric = {
  name: 'time',
  title: 'time',
  higher: false,
  time: true,
  format: seconds,
  of: (cell) => (cell.median_s === null ? null : { value: cell.median_s, low: cell.low_s, high: cell.high_s }),
};

const DERIVED: readonly Metric[] = [
  TIME,
  {
    name: 'of_best',
    title: '× of best',
    higher: false,
    time: false,
    format: times,
    of: (cell) => beside(cell.of_best),
    beside: (cell) => cell.of_best,
  },
  {
    name: 'of_yardstick',
    title: '× of yardstick',
    higher: false,
    time: false,
    format: times,
    of: (cell) => beside(cell.of_yardstick),
    beside: (cell) => cell.of_yardstick,
  },
  {
    name: 'documents_per_s',
    title: 'documents per second',
    higher: true,
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

const TITLES: ReadonlyMap<string, string> = new Map([
  ['server_s', 'server’s own time'],
  ['server_cpu_s', 'CPU seconds, system'],
  ['client_cpu_s', 'CPU seconds, client'],
  ['peak_pss_bytes', 'peak memory'],
  ['held_pss_bytes', 'memory held'],
  ['idle_pss_bytes', 'memory when idle'],
  ['read_bytes', 'bytes read'],
  ['written_bytes', 'bytes written'],
]);

/** The worker of the harness, with client and decoding, is in these figures of an embedded engine. */
function isOfProcesses(name: string): boolean {
  return name === 'server_cpu_s' || name.endsWith('_pss_bytes');
}

function measured(name: string): Metric {
  return {
    name,
    title: TITLES.get(name) ?? nameInWords(name),
    higher: name.endsWith('_per_s'),
    time: false,
    format: (value) => byName(name, value),
    of: (cell) => exact(cell.metrics[name]),
    notes: (_, configuration) => (isOfProcesses(name) && configuration.embedded ? ['embedded'] : []),
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
  const known = [...TITLES.keys()].filter((name) => names.delete(name));
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

/** The same with its range over several loads. */
export function totalRange(cell: Cell): Estimate | null {
  const value = totalBytes(cell);
  const { least_total_bytes: low = null, most_total_bytes: high = null } = cell.metrics;
  return value === null ? null : { value, low, high };
}
