// What can be read of a cell: its time, what follows from it, and whatever else was measured.

import type { Cell, Run } from './model.ts';
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
}

function exact(value: number | null | undefined): Estimate | null {
  return value === null || value === undefined || !Number.isFinite(value) ? null : { value, low: null, high: null };
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
    of: (cell) => cell.of_best && { value: cell.of_best.ratio, low: cell.of_best.low, high: cell.of_best.high },
  },
  {
    name: 'of_yardstick',
    title: '× of yardstick',
    higher: false,
    time: false,
    format: times,
    of: (cell) =>
      cell.of_yardstick && { value: cell.of_yardstick.ratio, low: cell.of_yardstick.low, high: cell.of_yardstick.high },
  },
  {
    name: 'documents_per_s',
    title: 'documents per second',
    higher: true,
    time: false,
    format: (value) => `${count(value)}/s`,
    of: (cell, run) => {
      if (cell.median_s === null || cell.median_s <= 0) return null;
      const documents = cell.metrics.documents_loaded ?? run.data.documents;
      const rate = (time: number | null): number | null => (time === null || time <= 0 ? null : documents / time);
      return { value: documents / cell.median_s, low: rate(cell.high_s), high: rate(cell.low_s) };
    },
  },
];

const TITLES: Record<string, string> = {
  server_s: 'server’s own time',
  server_cpu_s: 'CPU seconds, system',
  client_cpu_s: 'CPU seconds, client',
  peak_pss_bytes: 'peak memory',
  held_pss_bytes: 'memory held',
  idle_pss_bytes: 'memory when idle',
  read_bytes: 'bytes read',
  written_bytes: 'bytes written',
};

function measured(name: string): Metric {
  return {
    name,
    title: TITLES[name] ?? nameInWords(name),
    higher: name.endsWith('_per_s'),
    time: false,
    format: (value) => byName(name, value),
    of: (cell) => exact(cell.metrics[name]),
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
      if (cell.phase !== 'hot' && !cell.phase.startsWith('cold')) continue;
      for (const name of Object.keys(cell.metrics)) names.add(name);
    }
  }
  for (const one of DERIVED) names.delete(one.name);
  const known = Object.keys(TITLES).filter((name) => names.delete(name));
  return [...DERIVED, ...[...known, ...[...names].sort()].map(measured)];
}

/** Bytes that count as the size: the system's own catalogue, else its files. */
export function totalBytes(cell: Cell): number | null {
  return cell.metrics.total_bytes ?? cell.metrics.files_bytes ?? null;
}
