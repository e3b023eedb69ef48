// Data of a documents run: times by document size for each test, disk usage, and index use in plans.

import type { DrawnCurve } from './charts/curves.ts';
import type { Cell, PublishedDocumentsResult } from './model.ts';
import type { Curve } from './serving.ts';
import type { Entry, View } from './view.ts';
import { colourOf } from './colours.ts';
import { seconds } from './format.ts';
import { COLD, configurationName, verdictLabel } from './labels.ts';
import { Metric } from './metrics.ts';
import { rankStatus } from './view.ts';
import { DOCUMENTS } from './vocabulary.ts';


/** Tests in display order, each with its description. */
export const TESTS: readonly (readonly [string, string])[] = [
  ['export', 'all documents out as JSON text'], ['import', 'the documents in'], ['copy', 'copy with a small change'],
  ['extract', 'one number of every document'], ['filter', 'keys of documents by a number'], ['order', 'keys in the order of a number'],
  ['index', 'creation of an index'], ['update_path', 'one number of one document changed'],
  ['version', 'one version of one document'], ['limit', 'one document, larger and larger until one is refused'],
];

const UNITS: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

function wordOf(cell: Cell, name: string): string {
  const value = cell.parameters[name];
  return value === undefined ? '' : String(value);
}

/** Parses a size name such as `64KiB`; returns bytes. */
export function bytesOfSize(word: string): number {
  const [, digits, unit] = /^(\d+)((?:[KMG]i)?B)$/.exec(word) ?? [];
  return Number(digits ?? 0) * (UNITS[unit ?? 'B'] ?? 1);
}

/** Formats bytes as a size name such as `64KiB`. */
export function sizeLabel(bytes: number): string {
  for (const [unit, factor] of Object.entries(UNITS).reverse()) {
    if (bytes >= factor) return `${Math.round(bytes / factor)}${unit}`;
  }
  return `${bytes}B`;
}

/** Requested document size of a cell in bytes. */
export function sizeOf(cell: Cell): number {
  return bytesOfSize(wordOf(cell, 'size'));
}

/**
 * What distinguishes cells of one test and configuration: index, statement form, depth, history, and cold.
 */
export function kindOf(cell: Cell): string {
  const words: string[] = [];
  const [index, form, depth, history] = ['index', 'form', 'depth', 'history'].map((name) => wordOf(cell, name));
  if (index !== undefined && index !== '') words.push(cell.step === 'index' ? index : `index ${index}`);
  if (form !== undefined && form !== '') words.push(`${form} form`);
  if (depth !== undefined && depth !== '') words.push(`depth ${depth}`);
  if (history !== undefined && history !== '') words.push(`by ${history}`);
  if (COLD.includes(cell.phase)) words.push('cold');
  return words.join(', ');
}

/** All cells of one test over one data set. */
export interface Test {
  key: string;
  step: string;
  data: string;
  title: string;
  entries: Entry[];
}

function own(view: View): Entry[] {
  return view.entries.filter(({ cell }) => cell.workload === DOCUMENTS);
}

/** The tests shown, in test order, separated by data set. */
export function testsOf(view: View): Test[] {
  const found = new Map<string, Test>();
  for (const [step, words] of TESTS) {
    for (const entry of own(view).filter(({ cell }) => cell.step === step)) {
      const data = wordOf(entry.cell, 'data');
      const key = `${data} ${step}`;
      const test = found.get(key) ?? { key, step, data, title: `${step.replace('_', ' ')}: ${words}, ${data}`, entries: [] };
      test.entries.push(entry);
      found.set(key, test);
    }
  }
  return [...found.values()];
}

/** Cells of a test that one chart shows. */
export interface Facet {
  key: string;
  title: string;
  entries: readonly Entry[];
  /** Name of a cell's curve or row in the chart. */
  nameOf: (entry: Entry) => string;
}

/** Maximum number of curves in one chart; more are split by configuration. */
const MOST_CURVES = 12;

/** Name of a configuration, followed by what distinguishes its cells. */
function fullName({ cell, configuration }: Entry): string {
  const kind = kindOf(cell);
  return `${configurationName(configuration)}${kind === '' ? '' : `, ${kind}`}`;
}

/** Whether a test ran with an index; the creation of an index is a test of its own. */
function hasIndex({ cell }: Entry): boolean {
  return cell.step !== 'index' && wordOf(cell, 'index') !== '';
}

function isCold({ cell }: Entry): boolean {
  return COLD.includes(cell.phase);
}

/** One facet for each configuration, whose cells are named by their kinds only. */
function byConfiguration(test: Test, title: string, entries: readonly Entry[]): Facet[] {
  const configurations = [...new Set(entries.map(({ cell }) => cell.configuration))];
  return configurations.map((index) => {
    const own = entries.filter(({ cell }) => cell.configuration === index);
    const [first] = own;
    return {
      key: `${test.key} ${title} ${index}`, title: `${title}: ${first === undefined ? '' : configurationName(first.configuration)}`, entries: own,
      nameOf: ({ cell }) => kindOf(cell) || 'no index',
    };
  });
}

/** All cells in one facet; split by configuration if one chart would hold too many curves. */
function splitIfCrowded(test: Test, title: string, entries: readonly Entry[]): Facet[] {
  const curves = new Set(entries.map((entry) => `${entry.cell.configuration} ${kindOf(entry.cell)}`));
  if (entries.length === 0) return [];
  if (curves.size > MOST_CURVES) return byConfiguration(test, title, entries);
  const kinds = new Set(entries.map(({ cell }) => kindOf(cell)));
  return [{ key: `${test.key} ${title}`, title, entries, nameOf: kinds.size === 1 ? ({ configuration }) => configurationName(configuration) : fullName }];
}

/** The charts of a test without indexes: hot cells, then cold ones. */
export function facetsOf(test: Test): Facet[] {
  const plain = test.entries.filter((entry) => !hasIndex(entry));
  return [
    ...splitIfCrowded(test, test.title, plain.filter((entry) => !isCold(entry))),
    ...splitIfCrowded(test, `${test.title}, cold`, plain.filter(isCold)),
  ];
}

/** The charts of a test with indexes: one per configuration, next to the same test without an index. */
export function indexFacetsOf(test: Test): Facet[] {
  const indexed = new Set(test.entries.filter(hasIndex).map(({ cell }) => cell.configuration));
  const entries = test.entries.filter((entry) => indexed.has(entry.cell.configuration) && !isCold(entry));
  return byConfiguration(test, `${test.step.replace('_', ' ')}, ${test.data}`, entries);
}

/** Median time by document size, one curve per configuration and kind. */
export function overSizes(view: View, { entries, nameOf }: Pick<Facet, 'entries' | 'nameOf'>): Curve[] {
  const found = new Map<string, Curve>();
  for (const entry of [...entries].sort((a, b) => sizeOf(a.cell) - sizeOf(b.cell))) {
    const { cell, configuration } = entry;
    const how = rankStatus(view, entry);
    if (how.tier === 'none' || cell.median_s === null) continue;
    const key = `${cell.configuration} ${kindOf(cell)}`;
    const curve = found.get(key) ?? { key, configuration, name: nameOf(entry), points: [] };
    curve.points.push({ x: sizeOf(cell), y: cell.median_s, low: cell.low_s, high: cell.high_s, ranked: how.tier === 'ranked', entry });
    found.set(key, curve);
  }
  return [...found.values()];
}

/** Table rows of a test: one per configuration and kind, with its cell for each size. */
export function rowsOf(entries: readonly Entry[]): { name: string; bySize: Map<number, Entry> }[] {
  const found = new Map<string, { name: string; bySize: Map<number, Entry> }>();
  for (const entry of entries) {
    const kind = kindOf(entry.cell);
    const key = `${entry.cell.configuration} ${kind}`;
    const row = found.get(key) ?? { name: fullName(entry), bySize: new Map() };
    row.bySize.set(sizeOf(entry.cell), entry);
    found.set(key, row);
  }
  return [...found.values()];
}

/** Distinct document sizes of the cells in bytes, ascending. */
export function sizesOf(entries: readonly Entry[]): number[] {
  return [...new Set(entries.map((entry) => sizeOf(entry.cell)))].sort((a, b) => a - b);
}

/** How plans use an index, by the value of the metric: signs that need no colour, with their words. */
const USAGES = ['✕ impossible', '≈ in vain', '○ usable', '✓ used'] as const;

/** The value of the metric for a used index. */
const USED = 3;

/** Text for an index that was not built with a query, which says nothing about the system. */
export const NOT_TRIED = '· not tried';

/** How a plan uses an index, as a sign and a word; the verdict if no plan was read. */
export function indexUsageLabel(cell: Cell): string {
  const use = cell.metrics[Metric.IndexUse];
  return use === undefined ? `⚠ ${verdictLabel(cell.verdict)}` : USAGES[use] ?? USAGES[0];
}

/** Index use in the plans of one configuration. */
export interface Uses {
  key: number;
  name: string;
  indexes: string[];
  rows: { operation: string; form: string; byIndex: Map<string, Entry[]> }[];
}

const OPERATIONS: readonly string[] = ['extract', 'filter', 'order', 'contains', 'exists'];

/** One index-use matrix per configuration shown. */
export function indexUsageTables(view: View): Uses[] {
  const found = new Map<number, Uses>();
  for (const entry of own(view).filter(({ cell }) => cell.step === 'use')) {
    const { cell, configuration } = entry;
    const uses = found.get(cell.configuration) ?? { key: cell.configuration, name: configurationName(configuration), indexes: [], rows: [] };
    const [index, operation, form] = [wordOf(cell, 'index'), wordOf(cell, 'query'), wordOf(cell, 'form')];
    if (!uses.indexes.includes(index)) uses.indexes.push(index);
    let row = uses.rows.find((one) => one.operation === operation && one.form === form);
    if (row === undefined) {
      row = { operation, form, byIndex: new Map() };
      uses.rows.push(row);
    }
    row.byIndex.set(index, [...row.byIndex.get(index) ?? [], entry]);
    found.set(cell.configuration, uses);
  }
  for (const uses of found.values()) uses.rows.sort((a, b) => OPERATIONS.indexOf(a.operation) - OPERATIONS.indexOf(b.operation));
  return [...found.values()];
}

function isUsed({ cell }: Entry): boolean {
  return cell.metrics[Metric.IndexUse] === USED;
}

/** Operators of other queries that use an index which this query does not use; those of the same operation first. */
export function usedInstead({ rows }: Uses, index: string, row: Uses['rows'][number]): string[] {
  if (row.byIndex.get(index)?.some(isUsed) === true) return [];
  const others = rows.filter((one) => one !== row && one.byIndex.get(index)?.some(isUsed) === true);
  const same = others.filter(({ operation }) => operation === row.operation);
  return [...same.map(({ form }) => form), ...others.filter((one) => !same.includes(one)).map(({ operation, form }) => `${operation} ${form}`)];
}

/**
 * The index-use words of several cells. If they differ, each word is followed by its sizes, its data sets or
 * both.
 */
export function useWords(entries: readonly Entry[]): string {
  const cells = entries.map(({ cell }) => cell).sort((a, b) => sizeOf(a) - sizeOf(b));
  const labels: readonly ((cell: Cell) => string)[] = [
    (cell) => wordOf(cell, 'size'), (cell) => wordOf(cell, 'data'), (cell) => `${wordOf(cell, 'size')} ${wordOf(cell, 'data')}`,
  ];
  // The first label that tells differing cells apart; size and data set together otherwise.
  const label = labels.find((one) => new Set(cells.map(one)).size === new Set(cells.map((cell) => `${one(cell)} ${indexUsageLabel(cell)}`)).size) ?? labels[2];
  const found = new Map<string, Set<string>>();
  for (const cell of cells) found.set(indexUsageLabel(cell), (found.get(indexUsageLabel(cell)) ?? new Set()).add(label?.(cell) ?? ''));
  const all = [...found];
  return all.length === 1 ? all[0]?.[0] ?? '' : all.map(([word, labelled]) => `${word} (${[...labelled].join(', ')})`).join(', ');
}

/** Cells of the disk-usage step. */
export function disksOf(view: View): Entry[] {
  return own(view).filter(({ cell }) => cell.step === 'disk');
}

/**
 * Returns `true` if published results can be drawn next to this test: the published documents are identical
 * copies.
 */
export function canBePublished(test: Test): boolean {
  return test.data === 'identical';
}

function publishedName({ system, variant, index }: PublishedDocumentsResult): string {
  return `${system} ${variant}${index === null ? '' : `, ${index}`}, published`;
}

/**
 * Published mean times of a test, one curve per configuration. Times are scaled from the bytes of the
 * published tables to those of this run.
 */
export function publishedCurves(published: readonly PublishedDocumentsResult[], test: Test): DrawnCurve[] {
  const bytes = new Map(test.entries.flatMap(({ cell }): [number, number][] => {
    const own = cell.metrics[Metric.SourceBytes];
    return own === undefined ? [] : [[sizeOf(cell), own]];
  }));
  const curves = new Map<string, { curve: DrawnCurve; points: DrawnCurve['points'][number][] }>();
  for (const one of published) {
    const size = 2 ** (one.n + 4);
    const own = bytes.get(size);
    if (one.test !== test.step || one.mean_s === null || own === undefined) continue;
    const name = publishedName(one);
    const scale = own / (size * one.documents);
    const doubts = one.suspected_errors.length === 0 ? '' : `; suspected error: ${one.suspected_errors.join('; ')}`;
    const points = curves.get(name)?.points ?? [];
    points.push({
      x: size, y: one.mean_s * scale, low: null, high: null, ranked: false,
      title: `${name}, ${sizeLabel(size)}: ${seconds(one.mean_s)} ± ${seconds(one.sd_s ?? 0)} over ${one.documents} documents, here ${seconds(one.mean_s * scale)}${doubts}`,
    });
    curves.set(name, { curve: { name, colour: colourOf(one.system), points, dashed: true }, points });
  }
  return [...curves.values()].map(({ curve }) => curve);
}
