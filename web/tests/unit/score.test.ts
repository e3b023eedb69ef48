import assert from 'node:assert/strict';
import test from 'node:test';

import { hot, scores } from '../../src/score.ts';
import { scorers } from '../../src/scoring.ts';
import { view } from '../../src/select.ts';
import { initial } from '../../src/state.ts';
import { samples } from './samples.ts';

const ALL = [0, 1, 2, 3, 4];

test('the published hot scores come out of the published times', () => {
  const shown = samples.published().filter((one) =>
    one.snapshot === '2025-11' && one.scale === 1_000_000_000 && one.retains_structure === true);
  const found = scores(shown, ALL).map((score, index) => [shown[index]?.system, score.hot] as const)
    .sort((a, b) => (a[1] ?? 0) - (b[1] ?? 0)).map(([system, score]) => `${system} ${score?.toFixed(2)}`);
  assert.deepEqual(found, [
    'ClickHouse 1.08', 'Starrocks 1.85', 'Apache Doris 2.32', 'Elasticsearch 14.63', 'SingleStore 84.99', 'MongoDB 1218.81',
    'DuckDB 4779.96', 'PostgreSQL 5691.31',
  ]);
});

test('a missing time counts as twice the worst, two hours at least', () => {
  const entrant = (time: number | null) => ({ cold: [], hot: [time, time, time, time, time], total_bytes: null });
  const of = (...times: (number | null)[]) => scores(times.map(entrant), ALL).map((score) => score.hot ?? NaN);
  const close = (one: number | undefined, other: number) => assert.ok(Math.abs((one ?? NaN) / other - 1) < 1e-9, `${one} ${other}`);
  close(of(0.99, null)[1], 7200.01);
  close(of(0.99, 4999.99, null)[1], 5000);
  close(of(0.99, 4999.99, null)[2], 9999.99);
  assert.equal(scores([entrant(1)], ALL)[0]?.cold, null, 'nobody has a cold time');
  assert.equal(scores([entrant(1)], [])[0]?.hot, null);
});

test('a hot time needs both runs', () => {
  assert.equal(hot([0.1, 3, 2]), 2);
  assert.equal(hot([0.1, 3, null]), null);
  assert.equal(hot([0.1, 3]), 3);
  assert.equal(hot([0.1]), null);
  assert.equal(hot([]), null);
});

test('size scores are multiples of the smallest, and leave out what is not known', () => {
  const of = (total_bytes: number | null) => ({ cold: [], hot: [], total_bytes });
  assert.deepEqual(scores([of(30), of(10), of(null), of(0)], ALL).map((one) => one.size), [3, 1, null, null]);
});

test('only what holds all documents is scored, each ranking by itself, over what is shown', () => {
  const { figures, evidence } = samples.small();
  const state = initial(figures);
  const from = view(figures, state);
  assert.ok(from);
  const all = scorers(from, 'medians', null);
  const systems = all.map((one) => figures.runs[0]?.configurations[one.configuration]?.system);
  assert.ok(!systems.includes('mysql'), 'it lost documents');
  assert.ok(!systems.includes('yardstick'));
  assert.equal(all.find((one) => one.ranking === 'generated')?.score.hot, 1, 'alone in its ranking');
  assert.equal(Math.min(...all.filter((one) => one.ranking === 'json-only').map((one) => one.score.hot ?? NaN)), 1);
  const narrowed = view(figures, { ...state, withoutSystems: new Set(['clickhouse']) });
  assert.ok(narrowed);
  assert.equal(Math.min(...scorers(narrowed, 'medians', null).map((one) => one.score.hot ?? NaN)), 1, 'the best of those left');
  const published = scorers(from, 'round 1', evidence.runs[0] ?? null);
  const first = published.find((one) => figures.runs[0]?.configurations[one.configuration]?.system === 'clickhouse');
  assert.equal(first?.missing.hot, 0);
  assert.ok(scorers(from, 'round 1', null).every((one) => one.score.hot === null), 'nothing without trials');
});
