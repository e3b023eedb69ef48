// Data of a serving run: mixes under their conditions, throughput by clients, times by throughput, time
// distributions, and which system reaches the highest throughput.

import type { Cell, Configuration, Evidence, Peak, SecondColumns } from './model.ts';
import type { MetricName } from './metrics.ts';
import type { Estimate } from './stats.ts';
import type { Entry, View } from './view.ts';
import { tierLabel } from './durability.ts';
import { count, counted, list, microseconds, threeDigits } from './format.ts';
import { configurationName, dimensionsOf } from './labels.ts';
import { Metric } from './metrics.ts';
import { differs, ratio } from './stats.ts';
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

/** The best number of clients of each ranked configuration, for one ranking of one mix. */
export interface Leader {
  group: ConditionGroup;
  ranking: string;
  best: Placed;
  /** The remaining configurations, highest throughput first. */
  others: { placed: Placed; ratio: Estimate }[];
}

export interface Placed {
  entry: Entry;
  peak: Peak;
}

function throughput(entry: Entry): Estimate {
  return metricOf(entry.cell, Metric.ThroughputOpsPerS) ?? { value: 0, low: null, high: null };
}

/** The configuration with the highest throughput among those shown, per mix and ranking. */
export function leaders(view: View): Leader[] {
  const byCell = new Map(view.run.peaks.map((peak) => [peak.cell, peak]));
  return groupsOf(view).flatMap((group) => {
    const placed = group.entries.flatMap((entry) => {
      const peak = byCell.get(entry.index);
      return peak === undefined ? [] : [{ entry, peak }];
    });
    return view.rankings.flatMap((ranking) => {
      const ranked = placed.filter(({ entry }) => entry.configuration.ranking === ranking).sort((a, b) => b.peak.throughput_ops_per_s - a.peak.throughput_ops_per_s);
      const [best, ...rest] = ranked;
      if (best === undefined) return [];
      // If the best of the ranking is filtered out, there is no ratio over paired rounds; the ratio of the
      // medians is used instead.
      const beside = ({ entry, peak }: Placed): Estimate => (peak.ratio_to_best.other === best.entry.cell.configuration
        ? { value: peak.ratio_to_best.ratio, low: peak.ratio_to_best.low, high: peak.ratio_to_best.high }
        : ratio(throughput(entry), throughput(best.entry)));
      return [{ group, ranking, best, others: rest.map((one) => ({ placed: one, ratio: beside(one) })) }];
    });
  });
}

function rangeOf({ low, high }: Estimate, format: (value: number) => string): string {
  return low === null || high === null ? '' : ` (${format(low)} … ${format(high)})`;
}

/** One sentence on the configuration with the highest throughput, and how certain that is. */
export function leaderSentence({ group, best, others }: Leader): { text: string; sure: 'shown' | 'not shown' | 'once' | 'alone' } {
  const at = (entry: Entry): string => counted(clientsOf(entry.cell), 'client');
  const own = throughput(best.entry);
  const name = configurationName(best.entry.configuration);
  const done = `${count(own.value)} operations/s${rangeOf(own, count)} at ${at(best.entry)}`;
  const [next] = others;
  const title = group.title.charAt(0).toUpperCase() + group.title.slice(1);
  if (next === undefined) return { text: `${title}: ${name} is the only one ranked, ${done}.`, sure: 'alone' };
  const reaches = ({ placed, ratio: by }: Leader['others'][number]): string =>
    `${configurationName(placed.entry.configuration)} reaches ${threeDigits(by.value)} × of it${rangeOf(by, threeDigits)} at ${at(placed.entry)}`;
  // A configuration that leads among all also leads among those shown.
  const alike = best.peak.leads ? [] : others.filter((one) => differs(one.ratio) !== true);
  if (alike.length === 0) return { text: `${title}: ${name} gets most done, ${done}. ${reaches(next)}.`, sure: 'shown' };
  const sure = alike.some((one) => differs(one.ratio) === null) ? 'once' : 'not shown';
  const why = sure === 'once' ? 'too few rounds to say which gets most done' : `no difference shown between ${list([best.entry, ...alike.map(({ placed }) => placed.entry)].map(({ configuration }) => configurationName(configuration)))}`;
  return { text: `${title}: ${why}. ${name} does ${done}; ${alike.map(reaches).join('; ')}.`, sure };
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
