// Data of a serving run: mixes under their conditions, throughput by clients, times by throughput, time
// distributions, and caveats.

import type { Cell, Configuration, Evidence, SecondColumns } from './model.ts';
import type { MetricName } from './metrics.ts';
import type { Estimate } from './stats.ts';
import type { Entry, View } from './view.ts';
import { tierLabel } from './durability.ts';
import { count, counted, list, microseconds } from './format.ts';
import { configurationName, dimensionsOf } from './labels.ts';
import { Metric } from './metrics.ts';
import { rankStatus } from './view.ts';
import { Phase, SERVING } from './vocabulary.ts';

/** Client share of the CPU time above which the clients may be the bottleneck. */
const DRIVER_BOUND = 0.5;

/** Parameters that distinguish the cells of one group. */
const INSIDE: readonly string[] = ['clients', 'rate_per_s', 'rate_share', 'operation'];

/** Cells of one mix under equal conditions, over all numbers of clients and rates. */
export interface ConditionGroup {
  key: string;
  mix: string;
  /** Display title, such as `mix a, synced`. */
  title: string;
  /** Whether operations started by a schedule (open loop). */
  open: boolean;
  /** Cells of the mix as a whole. */
  entries: Entry[];
  /** Cells of the mix's single operations; empty if it has only one. */
  operations: Entry[];
}

export function isOpenLoop(cell: Cell): boolean {
  const arrival = cell.parameters.arrival;
  return arrival !== undefined && arrival !== 'closed';
}

export function clientsOf(cell: Cell): number {
  return Number(cell.parameters.clients ?? 0);
}

function conditions(cell: Cell): Cell['parameters'] {
  return Object.fromEntries(Object.entries(cell.parameters).filter(([name]) => !INSIDE.includes(name)));
}

/** The mixes shown, in the order of measurement. */
export function groupsOf(view: View): ConditionGroup[] {
  const found = new Map<string, ConditionGroup>();
  for (const entry of view.entries) {
    const { cell } = entry;
    if (cell.workload !== SERVING || cell.phase !== Phase.Measured) continue;
    const under = conditions(cell);
    const key = JSON.stringify([cell.step, cell.state, under]);
    const words = dimensionsOf(under);
    const group = found.get(key)
      ?? { key, mix: cell.step, title: `mix ${cell.step}${words === '' ? '' : `, ${words}`}`, open: isOpenLoop(cell), entries: [], operations: [] };
    (cell.parameters.operation === undefined ? group.entries : group.operations).push(entry);
    found.set(key, group);
  }
  return [...found.values()];
}

/** A metric of a cell with its interval; null if it was not measured. */
export function metricOf(cell: Cell, name: MetricName): Estimate | null {
  const value = cell.metrics[name];
  if (value === undefined || !Number.isFinite(value)) return null;
  const [low, high] = cell.intervals[name] ?? [null, null];
  return { value, low, high };
}

/** One point of a curve. */
export interface CurvePoint {
  x: number;
  y: number;
  low: number | null;
  high: number | null;
  /** False if the point is shown but not ranked. */
  ranked: boolean;
  entry: Entry;
}

/** The points of one configuration, sorted by x. */
export interface Curve {
  key: string;
  configuration: Configuration;
  name: string;
  points: CurvePoint[];
}

function curves(view: View, entries: readonly Entry[], point: (cell: Cell) => { x: number; y: Estimate } | null, order: (cell: Cell) => number): Curve[] {
  const found = new Map<number, Curve>();
  for (const entry of [...entries].sort((a, b) => order(a.cell) - order(b.cell))) {
    const { cell, configuration } = entry;
    const how = rankStatus(view, entry);
    const at = how.tier === 'none' ? null : point(cell);
    if (at === null) continue;
    const curve = found.get(cell.configuration) ?? { key: String(cell.configuration), configuration, name: configurationName(configuration), points: [] };
    curve.points.push({ x: at.x, y: at.y.value, low: at.y.low, high: at.y.high, ranked: how.tier === 'ranked', entry });
    found.set(cell.configuration, curve);
  }
  return [...found.values()];
}

/** Throughput by number of clients, one curve per configuration. */
export function overClients(view: View, group: ConditionGroup): Curve[] {
  return curves(view, group.entries, (cell) => {
    const y = metricOf(cell, Metric.ThroughputOpsPerS);
    return y === null ? null : { x: clientsOf(cell), y };
  }, clientsOf);
}

/** Quantile of times, as metrics name it; `max` is the longest. */
export type Percentile = 'p50' | 'p90' | 'p99' | 'p999' | 'max';

/** Kind of times, as metrics and histograms name it. */
export type TimeKind = 'response' | 'service';

/** The metric of a quantile of times. */
export function timeMetric(kind: TimeKind, percentile: Percentile): MetricName {
  return `${kind}_${percentile}_us` as const;
}

/** Kind of times of a group: response times in an open loop, service times in a closed loop. */
export function timesOf(group: Pick<ConditionGroup, 'open'>): { name: TimeKind; words: string } {
  return group.open ? { name: 'response', words: 'response time' } : { name: 'service', words: 'service time' };
}

/** Groups whose times are shown: open-loop groups, and closed-loop groups of mixes without an open loop. */
export function groupsWithTimes(groups: readonly ConditionGroup[]): ConditionGroup[] {
  const open = groups.filter((group) => group.open);
  return [...open, ...groups.filter((group) => !group.open && !open.some((one) => one.mix === group.mix))];
}

function rateOf(cell: Cell): number {
  return Number(cell.parameters.rate_per_s ?? cell.parameters.rate_share ?? 0);
}

/**
 * A percentile of times by throughput, one curve per configuration, ordered by rate (open loop) or clients
 * (closed loop).
 */
export function overThroughput(view: View, group: ConditionGroup, percentile: Percentile): Curve[] {
  const { name } = timesOf(group);
  return curves(view, group.entries, (cell) => {
    const [x, y] = [cell.metrics[Metric.ThroughputOpsPerS], metricOf(cell, timeMetric(name, percentile))];
    return x === undefined || y === null || x <= 0 ? null : { x, y };
  }, group.open ? rateOf : clientsOf);
}

/** Position of a share on an axis on which each further nine has equal width; null for 1. */
export function nines(share: number): number | null {
  return share >= 1 ? null : -Math.log10(1 - share);
}

/** Time distribution of a cell, positioned on the axis of `nines`. */
export function distributionOf(cell: Cell, histogram: string): { at: number; share: number; us: number }[] {
  return (cell.distributions?.[histogram] ?? []).flatMap(([share, us]) => {
    const at = nines(share);
    return at === null || us <= 0 ? [] : [{ at, share, us }];
  });
}

/** Formats a share as a percentile: `p99.9`. */
export function percentileName(share: number): string {
  return `p${Number((share * 100).toFixed(3))}`;
}

/** Returns `true` if the clients used more than half of the CPU time. */
export function isDriverBound(cell: Cell): boolean {
  return (cell.metrics[Metric.ClientCpuShare] ?? 0) > DRIVER_BOUND;
}

/**
 * Per system: number of trials with a checkpoint inside the measurement window, and systems that do not
 * report checkpoints.
 */
function checkpointsOf(cells: readonly Entry[], own: Evidence['runs'][number]): string {
  const trials = new Map<string, SecondColumns[]>();
  for (const { configuration, index } of cells) trials.set(configuration.title, [...(trials.get(configuration.title) ?? []), ...(own.cells[index]?.seconds ?? [])]);
  const told: string[] = [];
  const silent: string[] = [];
  for (const [title, all] of trials) {
    const known = all.flatMap((one) => (one.checkpoints === null ? [] : [one.checkpoints.some((at) => at >= one.ramp)]));
    const marked = known.filter((one) => one).length;
    if (known.length > 0) told.push(`${marked === 0 ? 'none' : marked} of ${counted(known.length, 'trial')} of ${title}`);
    else if (all.length > 0) silent.push(title);
  }
  return [...(told.length > 0 ? [`inside ${list(told)}`] : []), ...(silent.length > 0 ? [`not reported by ${list(silent)}`] : [])].join('; ') || 'not known';
}

/** Counters that are caveats if they are not zero, with their titles. */
const COUNTED: readonly (readonly [string, MetricName])[] = [
  ['Errors', Metric.Errors], ['Lost updates', Metric.LostUpdates], ['Stale answers', Metric.StaleAnswers], ['Arrivals not begun', Metric.MissedArrivals],
];

/** Caveats of a serving run, one line each. */
export function caveats(view: View, evidence: Evidence | null): { title: string; line: string }[] {
  const found: { title: string; line: string }[] = [];
  const put = (title: string, line: string): void => void found.push({ title, line });
  const cells = view.entries.filter(({ cell }) => cell.workload === SERVING && cell.phase === Phase.Measured && cell.parameters.operation === undefined);
  const steady = cells.flatMap(({ cell }) => cell.metrics[Metric.Steady] ?? []);
  const own = evidence?.runs[view.runIndex] ?? null;
  const unsteady = steady.filter((one) => one < 1).length;
  put('Steady state', `${steady.length === 0 ? 'not tested' : unsteady === 0 ? 'reached before measuring began' : `not reached in ${unsteady} of ${counted(steady.length, 'cell')}`}`);
  if (own !== null) put('Checkpoints', checkpointsOf(cells, own));
  const tiers = new Map<string, Set<string>>();
  for (const index of view.configurations) {
    const one = view.run.configurations[index];
    if (one === undefined || one.durability === null) continue;
    const line = tierLabel(one.durability);
    tiers.set(line, (tiers.get(line) ?? new Set()).add(one.title));
  }
  for (const [line, titles] of tiers) put('Durability', `${line}; ${list([...titles])}`);
  const bound = new Set(cells.filter(({ cell }) => isDriverBound(cell)).map(({ configuration }) => configuration.title));
  if (bound.size > 0) put('Driver-bound', `the clients took more than half of the CPU time in cells of ${list([...bound])}, so they may be what was measured`);
  if (cells.some(({ cell }) => !isOpenLoop(cell))) put('Service time', 'in a closed loop a stall delays one operation of each client: service time is not latency under load, and not ranked');
  for (const [title, name] of COUNTED) {
    const affected = cells.filter(({ cell }) => (cell.metrics[name] ?? 0) > 0);
    const sum = affected.reduce((before, { cell }) => before + (cell.metrics[name] ?? 0), 0);
    if (sum > 0) put(title, `${count(sum)}, of ${list([...new Set(affected.map(({ configuration }) => configuration.title))])}`);
  }
  for (const index of view.configurations) {
    const one = view.run.configurations[index];
    if (one !== undefined && one.not_made_for !== null) put(one.title, `not made for this and not ranked: ${one.not_made_for}`);
  }
  const late = Math.max(0, ...cells.map(({ cell }) => cell.metrics[Metric.LatenessP99Us] ?? 0));
  if (late > 0) put('Lateness of the clients', `operations for which a connection was free were sent at most ${microseconds(late)} late (p99)`);
  return found;
}
