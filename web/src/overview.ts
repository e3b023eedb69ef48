// The table of the first screen: configurations by questions, mixes, sizes, kinds of documents or crashes. Each
// cell is compared with the best of its column within the same ranking.

import type { TermId } from './glossary.ts';
import type { Better, MetricName } from './metrics.ts';
import type { ConditionGroup } from './serving.ts';
import type { Entry, View } from './view.ts';
import { crashSetsOf, kindLabel } from './durability.ts';
import { disksOf, kindOf, sizeLabel, sizeOf, testsOf } from './documents.ts';
import { isAsRequired, systemsOf } from './fidelity.ts';
import { bytes, count, microseconds, seconds } from './format.ts';
import { termNamed } from './glossary.ts';
import { COLD, configurationName, dimensionsOf, HOT, phaseLabel, stepName, stepTitle, verdictLabel } from './labels.ts';
import { totalBytes } from './metric.ts';
import { Metric } from './metrics.ts';
import { ALL_QUESTIONS, ASKING_PHASES, entriesOf, INGEST, loadsOf, loadSuffix } from './mixed.ts';
import { clientsOf, groupsOf, timeMetric, timesOf } from './serving.ts';
import { cellsOf, isAsking, questionsIn, rankStatus, worstVerdict } from './view.ts';
import { CrashKind, DataState, DOCUMENTS, DURABILITY, FIDELITY, MIXED, Phase, SERVING, Verdict } from './vocabulary.ts';

/** Result of one configuration in one column. */
export interface OverviewCell {
  /** The cell whose evidence a click opens. */
  entry: Entry;
  /** The value, or the word that replaces it. */
  text: string;
  /** How many times worse than the best of its ranking, 1 for the best; null if it is not compared. */
  ratio: number | null;
  /** Whether a sign stands before the text. A cell with a sign is never coloured. */
  sign: 'failed' | 'warning' | null;
  /** Reason for the sign, or a remark on the value; empty if there is none. */
  remark: string;
}

export interface OverviewColumn {
  key: string;
  title: string;
  /** The title with everything that it leaves out. */
  fullTitle: string;
  /** Heading above this column and its neighbours with the same one. */
  group: string;
}

export interface OverviewRow {
  configuration: number;
  name: string;
  ranking: string;
  /** Properties of the configuration that readers must know, such as `end of life`. */
  remarks: readonly string[];
  /** One cell for each column; null where there is none. */
  cells: readonly (OverviewCell | null)[];
}

/** The table of the first screen, for one workload of a run. */
export interface Overview {
  columns: readonly OverviewColumn[];
  rows: readonly OverviewRow[];
  /** Terms of its headings, for which the headings have no room. */
  terms: readonly TermId[];
}

/** Upper limits of the ratio for each colour, from the best on; the last colour has no limit. */
export const LIMITS: readonly number[] = [1.1, 1.5, 2, 5, 20];

/** Number of the colour of a ratio, 0 for the best. */
export function colourLevel(ratio: number): number {
  const found = LIMITS.findIndex((limit) => ratio < limit);
  return found < 0 ? LIMITS.length : found;
}

/** A column of measured values, one cell for each configuration. */
interface Measured extends OverviewColumn {
  better: Better;
  entries: readonly Entry[];
  value: (entry: Entry) => number | null;
  format: (value: number) => string;
}

const TIME = {
  better: 'lower', format: seconds,
  value: ({ cell }: Entry): number | null => cell.median_s,
} as const;

const SIZE = {
  better: 'lower', format: bytes,
  value: ({ cell }: Entry): number | null => totalBytes(cell),
} as const;

/** Columns of the time of a load and of the size after it, if both are known. */
function loadColumns(view: View, workload: string): Measured[] {
  const sizes = (state: string): readonly Entry[] => cellsOf(view, 'size', [Phase.Steady], state, workload);
  const state = [DataState.Compacted, DataState.Drained].find((one) => sizes(one).some(({ configuration }) => !configuration.reference));
  return [
    { ...TIME, key: 'load', title: 'time', fullTitle: 'load, until durable and visible', group: 'load', entries: cellsOf(view, 'load', [Phase.Load], null, workload) },
    ...(state === undefined ? [] : [{ ...SIZE, key: `size ${state}`, title: state, fullTitle: `size, ${state}`, group: 'size', entries: sizes(state) }]),
  ];
}

function questionColumns(view: View): Measured[] {
  const of = (group: string, phases: readonly string[]): Measured[] => questionsIn(view, phases).map((step) => ({
    ...TIME, key: `${group} ${step}`, title: stepName(step), fullTitle: `${stepTitle(step)}, ${group}`, group, entries: cellsOf(view, step, phases),
  }));
  return [...of('hot', HOT), ...of('cold', COLD), ...loadColumns(view, view.asking)];
}

/** The rate of an open loop as text; cells of equal text share a column. */
function rateOf({ cell: { parameters } }: Entry): string {
  const { rate_share: share, rate_per_s: rate } = parameters;
  return share !== undefined ? dimensionsOf({ rate_share: share }) : rate === undefined ? '' : dimensionsOf({ rate_per_s: rate });
}

function mixColumns(group: ConditionGroup): Measured[] {
  const words = new Map<string, Entry[]>();
  for (const entry of group.entries) {
    const word = group.open ? rateOf(entry) : dimensionsOf({ clients: clientsOf(entry.cell) });
    words.set(word, [...words.get(word) ?? [], entry]);
  }
  const { name, words: kind } = timesOf(group);
  const metric = group.open ? timeMetric(name, 'p99') : Metric.ThroughputOpsPerS;
  const title = `${group.title}: ${group.open ? `${kind}, p99` : 'operations/s'}`;
  return [...words].filter(([, entries]) => !group.open || new Set(entries.map(({ cell }) => cell.configuration)).size > 1)
    .map(([word, entries]): Measured => ({
      key: `${group.key} ${word}`, title: word, fullTitle: `${title}, ${word}`, group: title, entries,
      better: group.open ? 'lower' : 'higher', format: group.open ? microseconds : count,
      value: ({ cell }: Entry) => cell.metrics[metric] ?? null,
    }));
}

/** Tests of which single documents have other sizes than the tables. */
const NOT_BY_SIZE: readonly string[] = ['limit', 'version', 'update_path'];

/** Columns of a mixed run: questions per hour in each phase, and writers beside questions and alone. */
function mixedColumns(view: View): Measured[] {
  const loads = loadsOf(view);
  return loads.flatMap((load): Measured[] => {
    const suffix = loadSuffix(loads, load);
    const column = (group: string, phase: string, step: string, better: Better, name: MetricName): Measured => ({
      key: `${load.key} ${group} ${phase}`, title: phaseLabel(phase), fullTitle: `${group}, ${phaseLabel(phase)}${suffix}`, group: `${group}${suffix}`, entries: entriesOf(load, phase, step),
      better, format: name === Metric.InsertResponseP95Us ? microseconds : count, value: ({ cell }: Entry) => cell.metrics[name] ?? null,
    });
    return [
      ...ASKING_PHASES.map((phase) => column('questions per hour', phase, ALL_QUESTIONS, 'higher', Metric.QuestionsPerH)),
      { ...column('response of a batch', Phase.Both, INGEST, 'lower', Metric.InsertResponseP95Us), title: 'p95' },
      column('documents/s', Phase.Alone, INGEST, 'higher', Metric.DocumentsPerS),
    ];
  });
}

function sizeColumns(view: View): Measured[] {
  const columns: Measured[] = [];
  const add = (group: string, base: Pick<Measured, 'better' | 'format' | 'value'>, entries: readonly Entry[]): void => {
    const sizes = [...new Set(entries.map(({ cell }) => sizeOf(cell)))].sort((a, b) => a - b);
    for (const size of sizes) {
      columns.push({
        ...base, key: `${group} ${size}`, title: sizeLabel(size), fullTitle: `${group}, documents of ${sizeLabel(size)}`, group,
        entries: entries.filter(({ cell }) => sizeOf(cell) === size),
      });
    }
  };
  for (const test of testsOf(view)) {
    if (NOT_BY_SIZE.includes(test.step)) continue;
    // Results with an index, a form or another depth have charts of their own.
    const kinds = new Set(test.entries.map(({ cell }) => kindOf(cell)).filter((kind) => kind === '' || test.step === 'index'));
    for (const kind of kinds) {
      const name = [test.step.replace('_', ' '), kind, test.data].filter((word) => word !== '').join(', ');
      add(name, TIME, test.entries.filter(({ cell }) => kindOf(cell) === kind));
    }
  }
  const stored = { better: 'lower', format: bytes, value: ({ cell }: Entry): number | null => cell.metrics[Metric.FilesBytes] ?? null } as const;
  const disks = disksOf(view);
  for (const data of new Set(disks.map(({ cell }) => String(cell.parameters.data ?? '')))) {
    add(`stored bytes, ${data}`, stored, disks.filter(({ cell }) => String(cell.parameters.data ?? '') === data));
  }
  return columns;
}

/** The best value of a column for each ranking with at least two configurations that may be ranked. */
function bestByRanking(view: View, column: Measured): ReadonlyMap<string, number> {
  const values = new Map<string, number[]>();
  for (const entry of column.entries) {
    const value = rankStatus(view, entry).tier === 'ranked' && !entry.configuration.reference ? column.value(entry) : null;
    const { ranking } = entry.configuration;
    if (value !== null && value > 0) values.set(ranking, [...values.get(ranking) ?? [], value]);
  }
  return new Map([...values].filter(([, all]) => all.length > 1).map(([ranking, all]) => [ranking, column.better === 'higher' ? Math.max(...all) : Math.min(...all)]));
}

/** Verdicts of results that must not be used; the word stands instead of a value. */
const FAILED: readonly Verdict[] = [Verdict.Wrong, Verdict.Timeout, Verdict.Failed];

function measuredCell(view: View, column: Measured, best: ReadonlyMap<string, number>, entry: Entry): OverviewCell {
  const how = rankStatus(view, entry);
  const verdict = worstVerdict(entry);
  const value = how.tier === 'none' ? null : column.value(entry);
  if (value === null) {
    const text = how.tier === 'none' || verdict !== Verdict.Exact ? verdictLabel(verdict) : 'not measured';
    return { entry, text, ratio: null, sign: FAILED.includes(verdict) ? 'failed' : null, remark: '' };
  }
  const text = column.format(value);
  const [remark = ''] = how.doubts.length > 0 ? how.doubts : how.notes;
  if (how.tier === 'apart') return { entry, text, ratio: null, sign: 'warning', remark };
  const least = best.get(entry.configuration.ranking);
  const ratio = least === undefined || value <= 0 ? null : column.better === 'higher' ? least / value : value / least;
  return { entry, text, ratio, sign: null, remark };
}

/** The cells of a measured column by configuration. */
function measuredCells(view: View, column: Measured): ReadonlyMap<number, OverviewCell> {
  const best = bestByRanking(view, column);
  const found = new Map<number, OverviewCell>();
  for (const entry of column.entries) {
    if (entry.configuration.reference || found.has(entry.cell.configuration)) continue;
    found.set(entry.cell.configuration, measuredCell(view, column, best, entry));
  }
  return found;
}

/** A column with its cells by configuration. */
interface Filled {
  column: OverviewColumn;
  cells: ReadonlyMap<number, OverviewCell>;
}

/** Number of kinds of documents with a column of their own; documents of further kinds share one. */
const KINDS = 24;

/** Columns of a fidelity run: I-JSON safety, then one for each kind of documents. */
function fidelityColumns(view: View): Filled[] {
  const systems = systemsOf(view);
  const kinds = [...new Set(systems.flatMap(({ tried }) => tried.map(({ document }) => document.name.split('-', 1)[0] ?? '')))];
  const own = new Set(kinds.length > KINDS ? kinds.slice(0, KINDS - 1) : kinds);
  const kindName = (name: string): string => (own.has(name.split('-', 1)[0] ?? '') ? name.split('-', 1)[0] ?? '' : 'others');
  const safe = new Map<number, OverviewCell>();
  const byKind = new Map<string, Map<number, OverviewCell>>();
  for (const { key, tried } of systems) {
    const grade = view.run.i_json?.find(({ configuration }) => String(configuration) === key);
    const wrong = tried.find((one) => one.document.requirement === 'accept' && isAsRequired(one) === false);
    const entry = wrong?.entry ?? tried[0]?.entry;
    if (grade !== undefined && grade.safe !== null && entry !== undefined) {
      safe.set(Number(key), {
        entry, text: grade.safe ? 'yes' : 'no', ratio: grade.safe ? 1 : null, sign: grade.safe ? null : 'failed',
        remark: `${grade.preserved_cases} of ${grade.deciding_cases}`,
      });
    }
    const groups = new Map<string, { entry: Entry; right: number; all: number; isWrong: boolean }>();
    for (const one of tried) {
      const right = isAsRequired(one);
      if (right === null) continue;
      const name = kindName(one.document.name);
      const group = groups.get(name) ?? { entry: one.entry, right: 0, all: 0, isWrong: false };
      // A click opens a document that was treated otherwise, if there is one.
      if (!right && !group.isWrong) Object.assign(group, { entry: one.entry, isWrong: true });
      group.all += 1;
      group.right += right ? 1 : 0;
      groups.set(name, group);
    }
    for (const [name, { entry: first, right, all }] of groups) {
      const cells = byKind.get(name) ?? new Map<number, OverviewCell>();
      const whole = right === all;
      cells.set(Number(key), { entry: first, text: `${right} of ${all}`, ratio: whole ? 1 : null, sign: whole ? null : 'failed', remark: whole ? '' : `${all - right} otherwise` });
      byKind.set(name, cells);
    }
  }
  const column = (key: string, title: string, fullTitle: string, group: string): OverviewColumn => ({ key, title, fullTitle, group });
  return [
    ...(safe.size === 0 ? [] : [{ column: column('i-json', 'safe', 'I-JSON-safe', 'I-JSON'), cells: safe }]),
    ...[...byKind].map(([name, cells]) => ({ column: column(`kind ${name}`, name, `documents whose names begin with ${name}, as the RFC says`, 'documents treated as the RFC says'), cells })),
  ];
}

/** Columns of a durability run: one for each tier and kind of crash. */
function crashColumns(view: View): Filled[] {
  const found = new Map<string, { column: OverviewColumn; cells: Map<number, OverviewCell> }>();
  for (const { entry, tier, kind } of crashSetsOf(view)) {
    const { cell } = entry;
    const key = `${tier} ${kind}`;
    const filled = found.get(key)
      ?? { column: { key, title: kindLabel(kind), fullTitle: `tier ${tier}, ${kindLabel(kind)}, crashes`, group: `tier ${tier}` }, cells: new Map<number, OverviewCell>() };
    const { [Metric.Crashes]: crashes, [Metric.CrashesWithoutLoss]: kept = 0, [Metric.CrashesAsPromised]: promised } = cell.metrics;
    if (crashes === undefined) {
      const isFailed = FAILED.includes(cell.verdict);
      filled.cells.set(cell.configuration, { entry, text: isFailed ? verdictLabel(cell.verdict) : 'not tested', ratio: null, sign: isFailed ? 'failed' : null, remark: '' });
    } else {
      const isBroken = cell.severity === 'failed' || (promised ?? crashes) < crashes;
      const isKept = kept === crashes && !isBroken;
      filled.cells.set(cell.configuration, {
        // The number is of what the remark says.
        entry, text: `${isKept ? kept : isBroken && promised !== undefined ? crashes - promised : crashes - kept} of ${crashes} ${isKept ? 'kept' : 'lost'}`,
        ratio: isKept ? 1 : null, sign: isBroken ? 'failed' : isKept ? null : 'warning',
        remark: isBroken ? 'promise broken' : isKept ? 'nothing lost' : 'lost, as the tier allows',
      });
    }
    found.set(key, filled);
  }
  const order = [...found.values()];
  // Columns of one tier stand together.
  return [...new Set(order.map(({ column }) => column.group))].flatMap((group) => order.filter(({ column }) => column.group === group));
}

function columnsOf(view: View): Filled[] {
  if (view.workload === FIDELITY) return fidelityColumns(view);
  if (view.workload === DURABILITY) return crashColumns(view);
  const measured = isAsking(view.workload) ? questionColumns(view)
    : view.workload === SERVING ? [...groupsOf(view).flatMap(mixColumns), ...loadColumns(view, SERVING)]
      : view.workload === MIXED ? [...mixedColumns(view), ...loadColumns(view, MIXED)]
        : view.workload === DOCUMENTS ? sizeColumns(view) : [];
  return measured.map(({ key, title, fullTitle, group, ...rest }) => ({
    column: { key, title, fullTitle, group }, cells: measuredCells(view, { key, title, fullTitle, group, ...rest }),
  }));
}

/** Mean of the logarithms of a row's ratios in the first columns; infinite if one of them is missing. */
function rowWorth(cells: readonly (OverviewCell | null)[], columns: number): number {
  return cells.slice(0, columns).reduce((sum, cell) => {
    const ratio = cell === null ? null : cell.ratio;
    return sum + (ratio === null ? Infinity : Math.log(ratio));
  }, 0);
}

function termsIn(view: View, columns: readonly OverviewColumn[]): TermId[] {
  const of = (...names: string[]): TermId[] => names.flatMap((name) => termNamed(name) ?? []);
  const classes = [...new Set(view.configurations.flatMap((index) => view.run.configurations[index]?.preparation ?? []))];
  const common = [...(classes.length > 1 ? of('class') : []), ...of(...classes), ...of('interval')];
  const groups = new Set(columns.map(({ group }) => group));
  if (isAsking(view.workload)) {
    return of(...['hot', 'cold', 'load'].filter((name) => groups.has(name)), ...columns.filter(({ group }) => group === 'size').map(({ title }) => title), 'of-best', 'of-yardstick').concat(common);
  }
  if (view.workload === SERVING) {
    const mixes = groupsOf(view);
    const tiers = new Set(mixes.flatMap(({ entries }) => entries.map(({ cell }) => String(cell.parameters.durability ?? ''))));
    const loops = [...(mixes.some(({ open }) => !open) ? ['closed-loop'] : []), ...(mixes.some(({ open }) => open) ? ['open-loop', 'response-time', 'percentile'] : [])];
    return of('mix', ...mixes.map(({ mix }) => `mix-${mix}`), 'zipfian', 'clients', 'throughput', ...loops, 'tier', ...[...tiers].map((tier) => `tier-${tier}`), 'wal', 'drained', 'of-best').concat(common);
  }
  if (view.workload === MIXED) return of('interference', 'debt', 'disorder', 'kept', 'stale', 'drained', 'response-time', 'of-best').concat(common);
  if (view.workload === DOCUMENTS) return of('identical', 'copy', 'hot', 'of-best').concat(common);
  if (view.workload === FIDELITY) return of('i-json', 'as-the-rfc', 'case');
  const kinds = new Set(view.entries.map(({ cell }) => cell.step));
  const tiers = new Set(view.entries.map(({ cell }) => String(cell.parameters.durability ?? '')));
  return of('tier', ...[...tiers].map((tier) => `tier-${tier}`), ...(kinds.has(CrashKind.Process) ? ['process-crash'] : []), ...(kinds.has(CrashKind.Power) ? ['power-loss'] : []), 'acknowledged', 'as-promised', 'wal');
}

/** The table of the workload shown: rows by ranking, in each ranking the best first. */
export function overviewOf(view: View): Overview {
  const filled = columnsOf(view).filter(({ cells }) => cells.size > 0);
  const columns = filled.map(({ column }) => column);
  const firstGroup = columns.filter(({ group }) => group === columns[0]?.group).length;
  const indexes = view.configurations.filter((index) => filled.some(({ cells }) => cells.has(index)));
  const embedded = indexes.filter((index) => view.run.configurations[index]?.embedded === true).length;
  const rows = indexes.flatMap((index): OverviewRow[] => {
    const configuration = view.run.configurations[index];
    if (configuration === undefined) return [];
    const remarks = [
      ...(configuration.end_of_life ? ['end of life'] : []),
      ...(configuration.outdated === null ? [] : [`of ${configuration.outdated}, not the newest`]),
      ...(configuration.embedded && embedded < indexes.length ? ['in-process'] : []),
    ];
    return [{ configuration: index, name: configurationName(configuration), ranking: configuration.ranking, remarks, cells: filled.map(({ cells }) => cells.get(index) ?? null) }];
  });
  const worth = new Map(rows.map((row) => [row, rowWorth(row.cells, firstGroup)]));
  const place = ({ ranking }: OverviewRow): number => view.rankings.indexOf(ranking);
  // Infinite differences would be no numbers.
  const compare = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);
  rows.sort((a, b) => place(a) - place(b) || compare(worth.get(a) ?? Infinity, worth.get(b) ?? Infinity));
  return { columns, rows, terms: columns.length === 0 ? [] : [...new Set(termsIn(view, columns))] };
}
