import assert from 'node:assert/strict';
import test from 'node:test';

import type { PageData } from '../../src/model.ts';
import type { Overview } from '../../src/overview.ts';
import { colourLevel, overviewOf } from '../../src/overview.ts';
import { initial } from '../../src/state.ts';
import { buildView } from '../../src/view.ts';
import { samples } from './samples.ts';

function of(figures: PageData, without: readonly string[] = []): Overview {
  const view = buildView(figures, { ...initial(figures), withoutSystems: new Set(without) });
  assert.ok(view);
  return overviewOf(view);
}

function cellOf({ rows, columns }: Overview, name: string, column: string) {
  const place = columns.findIndex(({ fullTitle }) => fullTitle.startsWith(column));
  assert.ok(place >= 0, column);
  return rows.find((row) => row.name.startsWith(name))?.cells[place] ?? null;
}

test('each further colour stands for a larger ratio', () => {
  assert.deepEqual([1, 1.09, 1.1, 1.5, 2, 5, 20, 1e6].map(colourLevel), [0, 0, 1, 2, 3, 4, 5, 5]);
});

test('questions are compared within their ranking, the best first', () => {
  const overview = of(samples.small().figures);
  assert.deepEqual([...new Set(overview.columns.map(({ group }) => group))], ['hot', 'cold', 'load', 'size']);
  assert.equal(overview.columns.length, 14);
  const best = overview.rows.filter(({ ranking }) => ranking === 'prepared')[0];
  assert.ok(best);
  assert.deepEqual(best.cells[0]?.ratio, 1);
  const rankings = overview.rows.map(({ ranking }) => ranking);
  assert.deepEqual([...new Set(rankings)], ['as-is', 'prepared', 'prepared, not ranked', 'prepared, stock', 'extracted']);
  assert.ok(!overview.rows.some(({ name }) => name.startsWith('yardstick')), 'never a reference');
  assert.ok(overview.terms.includes('hot') && overview.terms.includes('compacted') && overview.terms.includes('as-is'));
});

test('what is wrong, late, partial or not ranked has a sign and no colour', () => {
  const overview = of(samples.small().figures);
  const shown = (name: string, column: string) => {
    const cell = cellOf(overview, name, column);
    return [cell?.text, cell?.sign, cell?.ratio];
  };
  assert.deepEqual(shown('DuckDB 2.0.0 json', 'Q5'), ['wrong', 'failed', null]);
  assert.deepEqual(shown('MongoDB', 'Q4'), ['timeout', 'failed', null]);
  const lossy = cellOf(overview, 'MySQL 9.7.4 generated', 'Q1');
  assert.deepEqual([lossy?.sign, lossy?.ratio, lossy?.remark], ['warning', null, 'partial load']);
  const cold = cellOf(overview, 'Elasticsearch', 'Q1 top event types, cold');
  assert.deepEqual([cold?.sign, cold?.remark], ['warning', 'cold unverified']);
  const published = cellOf(overview, 'ClickHouse 26.7 as-published', 'Q1');
  assert.deepEqual([published?.sign, published?.remark], ['warning', 'not ranked']);
  assert.ok(overview.rows.every(({ cells }) => cells.every((cell) => cell === null || cell.sign === null || cell.ratio === null)));
  assert.deepEqual(overview.rows.find(({ name }) => name.startsWith('MongoDB'))?.remarks, ['end of life']);
});

test('colours are among what is shown, and one alone is compared with nobody', () => {
  const { figures } = samples.small();
  const without = of(figures, ['clickhouse']);
  assert.ok(without.rows.some(({ ranking, cells }) => ranking === 'prepared' && cells[0]?.ratio === 1));
  const alone = of(figures, ['clickhouse', 'sqlite']);
  assert.deepEqual(alone.rows.filter(({ ranking }) => ranking === 'as-is').map(({ cells }) => cells[0]?.ratio), [null]);
});

test('mixes have a column for each number of clients, of which more is better', () => {
  const overview = of(samples.serving().figures);
  assert.deepEqual(overview.columns.slice(0, 3).map(({ group, title }) => [group, title]), [
    ['mix a, synced: operations/s', '1 client'], ['mix a, synced: operations/s', '8 clients'], ['mix a, synced: operations/s', '32 clients'],
  ]);
  const [most, least] = [cellOf(overview, 'PostgreSQL', 'mix c, synced: operations/s, 32'), cellOf(overview, 'MongoDB', 'mix c, synced: operations/s, 32')];
  assert.equal(most?.ratio, 1);
  assert.ok((least?.ratio ?? 0) > 1);
  assert.deepEqual(cellOf(overview, '<img', 'mix a, synced: operations/s, 8')?.text, 'wrong');
  for (const term of ['mix-a', 'mix-c', 'tier-synced', 'closed-loop', 'wal'] as const) assert.ok(overview.terms.includes(term), term);
});

test('a mixed run has a column of questions for each phase, and one for writers beside them and alone', () => {
  const overview = of(samples.mixed().figures);
  assert.deepEqual(overview.columns.slice(0, 6).map(({ group, title }) => [group, title]), [
    ...['still', 'beside writers', 'writers gone', 'drained'].map((title) => ['questions per hour', title]), ['response of a batch', 'p95'], ['documents/s', 'writers alone'],
  ]);
  const slow = cellOf(overview, 'ClickHouse', 'questions per hour, beside writers');
  assert.deepEqual([slow?.ratio, slow?.sign, slow?.remark], [null, 'warning', '60.0 % of the rate kept']);
  assert.equal(cellOf(overview, '<img', 'questions per hour, beside writers')?.text, 'wrong');
  assert.equal(cellOf(overview, 'ClickHouse', 'questions per hour, writers gone')?.ratio, 1);
  for (const term of ['interference', 'debt', 'disorder', 'kept', 'stale'] as const) assert.ok(overview.terms.includes(term), term);
});

test('large documents have a column for each size', () => {
  const overview = of(samples.documents().figures);
  const exports = overview.columns.filter(({ group }) => group === 'export, identical');
  assert.deepEqual(exports.map(({ title }) => title), ['64KiB', '1MiB', '16MiB']);
  assert.ok(overview.columns.some(({ group }) => group === 'index, stored, distinct'));
  assert.ok(overview.columns.some(({ group }) => group === 'stored bytes, identical'));
  const cell = cellOf(overview, '<img', 'copy, identical');
  assert.deepEqual([cell?.text, cell?.sign, cell?.ratio], ['not applicable', null, null]);
});
