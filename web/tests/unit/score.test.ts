import assert from 'node:assert/strict';
import test from 'node:test';

import { hot, scores } from '../../src/score.ts';
import type { PageData, Score } from '../../src/model.ts';
import type { ScoredConfiguration } from '../../src/scoring.ts';
import type { State } from '../../src/state.ts';
import { scorers } from '../../src/scoring.ts';
import { initial } from '../../src/state.ts';
import { buildView } from '../../src/view.ts';
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

test('what is suspected to be wrong is nobody\u2019s baseline', () => {
  const of = (time: number, total_bytes: number) => ({ cold: [], hot: [time], total_bytes });
  const all = [of(0.09, 1), of(0.19, 20), of(0.39, 10)];
  const doubts = [{ times: true, size: true }, { times: false, size: false }, { times: false, size: false }];
  const found = scores(all, [0], doubts);
  assert.deepEqual(found.map((one) => one.size), [0.1, 2, 1]);
  assert.deepEqual(found.map((one) => one.hot?.toFixed(2)), ['0.50', '1.00', '2.00']);
  assert.deepEqual(scores(all.slice(0, 1), [0], doubts), [{ cold: null, hot: null, size: null }], 'not even its own');
  const missing = scores([...all, { cold: [], hot: [null], total_bytes: null }], [0], [{ times: true, size: true }]);
  const without = scores([...all.slice(1), { cold: [], hot: [null], total_bytes: null }], [0]);
  assert.deepEqual(missing.slice(1), without, 'whatever it is, nobody else knows of it');
});

function shownOf(figures: PageData, change: Partial<State> = {}) {
  const view = buildView(figures, { ...initial(figures), ...change });
  assert.ok(view);
  return view;
}

const systemOf = (figures: PageData, one: ScoredConfiguration) => figures.runs[0]?.configurations[one.configuration]?.system;

test('only what holds all documents is scored, each ranking by itself, over what is shown', () => {
  const { figures } = samples.small();
  const all = scorers(shownOf(figures), 'medians', null);
  const systems = all.map((one) => systemOf(figures, one));
  assert.ok(!all.some((one) => systemOf(figures, one) === 'mysql' && one.ranking === 'extracted'), 'it lost documents');
  assert.ok(all.every((one) => one.ranking !== 'prepared, not ranked'), 'never ranked');
  assert.ok(!systems.includes('yardstick'));
  assert.equal(all.find((one) => one.ranking === 'extracted')?.sides.hot.value, 1, 'alone in its ranking');
  const least = (some: readonly ScoredConfiguration[]) => Math.min(...some.filter((one) => one.ranking === 'prepared').map((one) => one.sides.hot.value ?? NaN));
  assert.equal(least(all), 1);
  assert.equal(least(scorers(shownOf(figures, { withoutSystems: new Set(['clickhouse']) }), 'medians', null)), 1, 'the best of those left');
  const only = all.flatMap((one) => (systemOf(figures, one) === 'clickhouse' ? [] : [one.configuration]));
  assert.equal(least(scorers(shownOf(figures), 'medians', null, new Set(only))), 1, 'the best of those that are scored');
});

test('round 1 over everything is the program\u2019s own published score', () => {
  const { figures, evidence } = samples.small();
  const run = figures.runs[0];
  const own = evidence.runs[0];
  assert.ok(run && own);
  assert.deepEqual(scorers(shownOf(figures), 'round 1', own), [], 'a run that is not complete has none');
  run.complete = true;
  const cell = run.cells.findIndex((one) => run.configurations[one.configuration]?.system === 'dolt' && one.step === 'q2' && one.phase === 'hot');
  const trials = own.cells[cell]?.trials;
  assert.ok(trials);
  trials.verdict[trials.verdict.length - 1] = 'unverified';
  run.scores = samples.publishedScores(run.configurations, run.cells, own.cells);
  const all = scorers(shownOf(figures), 'round 1', own);
  const three = (value: number | null) => (value === null ? null : Number(value.toPrecision(3)));
  assert.deepEqual(
    all.map(({ configuration, sides }) => ({ configuration, state: 'drained', cold: three(sides.cold.value), hot: three(sides.hot.value), size: three(sides.size.value) }))
      .sort((a, b) => a.configuration - b.configuration),
    run.scores.map((one) => ({ ...one, cold: three(one.cold), hot: three(one.hot), size: three(one.size) })),
  );
  const of = (system: string) => {
    const found = all.find((one) => systemOf(figures, one) === system && one.ranking !== 'as-is');
    assert.ok(found);
    return found.sides;
  };
  assert.equal(of('dolt').hot.missing, 1, 'compared with nothing in a later round');
  assert.deepEqual(of('sqlite').cold.notes, ['cold unverified in part'], 'its third cold time of round 1 was not verified');
  assert.deepEqual([of('elasticsearch').hot.approximate, of('elasticsearch').cold.notes], [true, ['cold unverified']]);
  assert.deepEqual(of('mongodb').size.notes, ['background work not finished']);
  assert.ok(scorers(shownOf(figures), 'round 1', null).every((one) => one.sides.hot.value === null), 'nothing without trials');
});

test('the runs of the samples carry the scores that the page computes', () => {
  const { figures, evidence } = samples.two();
  const run = figures.runs[0];
  assert.ok(run && run.scores.length > 5);
  for (const { configuration, sides } of scorers(shownOf(figures), 'round 1', evidence.runs[0] ?? null)) {
    const program: Score | undefined = run.scores.find((one) => one.configuration === configuration);
    assert.ok(program);
    for (const kind of ['hot', 'cold', 'size'] as const) {
      assert.equal(sides[kind].value?.toPrecision(3), program[kind]?.toPrecision(3), `${configuration} ${kind}`);
    }
  }
});

test('who was not asked everything yet, and a size that had not settled, have no score over medians', () => {
  const { figures } = samples.small();
  const run = figures.runs[0];
  assert.ok(run);
  run.cells = run.cells.filter((cell) => !(cell.configuration === 5 && cell.step === 'q6'));
  const all = scorers(shownOf(figures), 'medians', null);
  const sqlite = all.find((one) => one.configuration === 5);
  assert.deepEqual([sqlite?.sides.hot.value, sqlite?.sides.hot.word, sqlite?.sides.hot.notes], [null, 'not asked', ['1 of 6 not asked']]);
  assert.equal(all.find((one) => systemOf(figures, one) === 'mongodb')?.sides.size.word, 'not ranked');
  const approximate = all.find((one) => systemOf(figures, one) === 'elasticsearch');
  assert.equal(approximate?.sides.size.approximate, false);
  assert.deepEqual([approximate?.sides.cold.word, approximate?.sides.cold.notes], ['no time', ['cold unverified']]);
});

test('hot that was not in memory has no score, whatever the basis, and nobody is the best beside nobody', () => {
  const { figures, evidence } = samples.small();
  const run = figures.runs[0];
  assert.ok(run);
  run.complete = true;
  const stock = (all: readonly ScoredConfiguration[]) => all.find((one) => one.ranking === 'prepared, stock')?.sides.hot;
  assert.deepEqual([stock(scorers(shownOf(figures), 'medians', null))?.word, stock(scorers(shownOf(figures), 'medians', null))?.missing], ['incomplete', 5]);
  assert.equal(stock(scorers(shownOf(figures), 'round 1', evidence.runs[0] ?? null))?.missing, 4);
});
