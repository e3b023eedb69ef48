// Metrics of a cell: its time, values derived from it, and all other measured quantities.

import type { Cell, Configuration, Ratio, Run } from './model.ts';
import type { Better, Unit } from './metrics.ts';
import type { Estimate } from './stats.ts';
import { byName, count, formatOr, metricTitle, REGISTERED, seconds, times, withInterval } from './format.ts';
import { ASKED } from './labels.ts';
import { Metric } from './metrics.ts';
import { ANALYTICS } from './vocabulary.ts';

/** A metric as charts, tables and filters show it. */
export interface ShownMetric {
  name: string;
  title: string;
  /** Direction that is better; null if it is unknown or neither is better. */
  better: Better;
  /** Whether the metric is the time of the trial itself, so that published times can be drawn next to it. */
  time: boolean;
  format: (value: number) => string;
  of: (cell: Cell, run: Run) => Estimate | null;
  /** The ratio to the configuration that the cell is compared with. */
  beside?: (cell: Cell) => Ratio | null;
  /** Description of both groups if the trials fall into two; null otherwise. */
  groups?: (cell: Cell) => string | null;
  /** Caveats of this metric for a cell, such as `embedded`. */
  notes?: (cell: Cell, configuration: Configuration) => readonly string[];
}

const loaded = new WeakMap<Run, ReadonlyMap<number, number>>();

/** Documents loaded by a configuration; its times refer to that number. */
export function documentsOf(run: Run, configuration: number): number {
  let known = loaded.get(run);
  if (known === undefined) {
    known = new Map(run.cells.flatMap((cell) => {
      const documents = cell.metrics[Metric.DocumentsLoaded];
      return cell.step === 'load' && cell.workload === ANALYTICS && documents !== undefined ? [[cell.configuration, documents] as const] : [];
    }));
    loaded.set(run, known);
  }
  return known.get(configuration) ?? run.data.documents;
}

/**
 * A metric of a cell with its interval over rounds, if any. For trials in two groups: the upper median, with
 * the lower one as lower limit.
 */
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

/** Description of trials in two groups: `282 B in 3 trials, 2.48 kB in 3`; null if there is one group. */
export function inGroups(name: string, cell: Cell): string | null {
  const groups = cell.groups?.[name];
  if (groups === undefined) return null;
  const [[few, low], [many, high]] = groups;
  return `${byName(name, low)} in ${few} trials, ${byName(name, high)} in ${many}`;
}

/** A metric of a cell as text: both groups of its trials, or its value with its interval. */
export function measuredWord(name: string, cell: Cell): string {
  return inGroups(name, cell) ?? formatOr(cell.metrics[name], (value) => withInterval(name, value, cell.intervals[name]));
}

/** Units of counts and bytes. */
const COUNTED: readonly Unit[] = ['B', 'B/op', '/op', 'count'];

/** Returns `true` if the metric is a ratio to another configuration, which has a rule at 1. */
export function isRatio(name: string): boolean {
  return name === 'of_best' || name === 'of_yardstick';
}

/** How a metric is drawn: counts and bytes as bars from zero; times, rates, shares and ratios as dots on a log scale. */
export function chartKind(name: string): 'dots' | 'bars' {
  const known = REGISTERED.get(name);
  if (known !== undefined) return COUNTED.includes(known.unit) ? 'bars' : 'dots';
  return DERIVED.some((one) => one.name === name) || /_(s|ms|us|share|error)$/.test(name) ? 'dots' : 'bars';
}

/** Axis title with the direction that is better. */
export function axisOf({ title, better }: Pick<ShownMetric, 'title' | 'better'>): string {
  return better === null ? title : `${title}, ${better === 'higher' ? 'more' : 'less'} is better`;
}

function beside(one: Ratio | null): Estimate | null {
  return one && { value: one.ratio, low: one.low, high: one.high };
}

const TIME: ShownMetric = {
  name: 'time',
  title: 'time',
  better: 'lower',
  time: true,
  format: seconds,
  of: (cell) => (cell.median_s === null ? null : { value: cell.median_s, low: cell.low_s, high: cell.high_s }),
};

const DERIVED: readonly ShownMetric[] = [
  TIME,
  {
    name: 'of_best',
    title: '× of best',
    better: 'lower',
    time: false,
    format: times,
    of: (cell) => beside(cell.ratio_to_best),
    beside: (cell) => cell.ratio_to_best,
  },
  {
    name: 'of_yardstick',
    title: '× of yardstick',
    better: 'lower',
    time: false,
    format: times,
    of: (cell) => beside(cell.ratio_to_yardstick),
    beside: (cell) => cell.ratio_to_yardstick,
  },
  {
    name: Metric.DocumentsPerS,
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

function measured(name: string): ShownMetric {
  return {
    name,
    title: metricTitle(name),
    better: REGISTERED.get(name)?.better ?? null,
    time: false,
    format: (value) => byName(name, value),
    of: (cell) => measuredIn(cell, name),
    // For embedded engines, metrics of the processes include the worker with client and decoding.
    groups: (cell) => inGroups(name, cell),
    notes: (_, configuration) => (REGISTERED.get(name)?.ofProcesses === true && configuration.embedded ? ['embedded'] : []),
  };
}

/** The metric with this name; time if the name is malformed. */
export function metric(name: string): ShownMetric {
  return DERIVED.find((one) => one.name === name) ?? (/^[a-z0-9_]+$/.test(name) ? measured(name) : TIME);
}

/** Metrics that the reader can select: those derived from times, and every metric of a hot or cold trial. */
export function metricsOf(runs: readonly Run[]): ShownMetric[] {
  const names = new Set<string>();
  for (const run of runs) {
    for (const cell of run.cells) {
      if (!ASKED.includes(cell.phase)) continue;
      for (const name of Object.keys(cell.metrics)) names.add(name);
    }
  }
  for (const one of DERIVED) names.delete(one.name);
  const known = [...REGISTERED.keys()].filter((name) => names.delete(name));
  return [...DERIVED, ...[...known, ...[...names].sort()].map(measured)];
}

/** Returns `true` if the system reports no total size, so that its files are counted instead. */
export function isOfFiles(cell: Cell): boolean {
  return cell.metrics[Metric.TotalBytes] === undefined && cell.metrics[Metric.FilesBytes] !== undefined;
}

/**
 * Bytes that count as the size: the total that the system's catalogue reports, else its files; null if both
 * are unknown.
 */
export function totalBytes(cell: Cell): number | null {
  return cell.metrics[Metric.TotalBytes] ?? cell.metrics[Metric.FilesBytes] ?? null;
}

/** Total bytes with the interval over loads; without limits if measured once. */
export function totalEstimate(cell: Cell): Estimate | null {
  return measuredIn(cell, isOfFiles(cell) ? Metric.FilesBytes : Metric.TotalBytes);
}

/** Total bytes with the smallest and largest value over several loads. */
export function totalRange(cell: Cell): Estimate | null {
  const value = totalBytes(cell);
  const { [Metric.LeastTotalBytes]: low = null, [Metric.MostTotalBytes]: high = null } = cell.metrics;
  return value === null ? null : { value, low, high };
}
