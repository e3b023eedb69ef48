import assert from 'node:assert/strict';
import test from 'node:test';

import type { PageData, RunEvidence } from '../../src/model.ts';
import { findCaveats } from '../../src/caveats.ts';
import { configurationKey, HOT, rankingTitle } from '../../src/labels.ts';
import { initial } from '../../src/state.ts';
import { differs, meanRatio, ratio } from '../../src/stats.ts';
import { stealByCell } from '../../src/steal.ts';
import { placedBars } from '../../src/bars.ts';
import { ariaLabel } from '../../src/charts/rows.ts';
import { documentsOf, metric } from '../../src/metric.ts';
import { buildView, cellsOf, leading, rankStatus } from '../../src/view.ts';
import { samples } from './samples.ts';

function of(figures: PageData) {
  const view = buildView(figures, initial(figures));
  assert.ok(view);
  return view;
}

test('the interval of a mean over questions is as wide as the widest reading of it', () => {
  const one = { value: 2, low: 1, high: 4 };
  const other = { value: 1, low: 1, high: 1 };
  const mean = meanRatio([[one, other], [one, other]], 0);
  assert.ok(mean?.low && mean.high);
  assert.ok(Math.abs(mean.value - 2) < 1e-9 && Math.abs(mean.low - 1) < 1e-9 && Math.abs(mean.high - 4) < 1e-9);
  assert.equal(meanRatio([], 0), null);
  assert.equal(meanRatio([[{ value: 2, low: null, high: null }, other]], 0)?.low, null);
  assert.equal(differs(ratio(one, { value: 2, low: 1, high: 4 })), false);
});

test('an interval that is lopsided after 10 ms are added stays lopsided', () => {
  const first = { value: 0.005, low: 0.0014, high: 0.0178 };
  const second = { value: 0.015, low: 0.0148, high: 0.0152 };
  const by = meanRatio([[second, first]], 0.01);
  assert.ok(by?.low && by.high);
  assert.ok(Math.abs(by.value - 1.667) < 0.001);
  assert.ok(by.low < 1, `${by.low}: the first may have taken 17.8 ms`);
  const other = meanRatio([[first, second]], 0.01);
  assert.ok(other?.low && other.high && Math.abs(other.low * by.high - 1) < 1e-9 && Math.abs(other.high * by.low - 1) < 1e-9);
});

test('a load that was not verified keeps everything of it out of the ranking', () => {
  const { figures } = samples.small();
  const load = figures.runs[0]?.cells.find((cell) => cell.configuration === 0 && cell.step === 'load');
  assert.ok(load);
  load.verdict = 'unverified';
  const view = of(figures);
  const cell = cellsOf(view, 'q1', ['hot']).find((entry) => entry.cell.configuration === 0);
  assert.ok(cell);
  assert.equal(rankStatus(view, cell).tier, 'apart');
});

test('cold that was not verified is never ranked as cold', () => {
  const view = of(samples.small().figures);
  const cold = cellsOf(view, 'q1', ['cold', 'cold-unverified']).find((entry) => entry.configuration.system === 'elasticsearch');
  assert.ok(cold);
  assert.deepEqual([rankStatus(view, cold).tier, rankStatus(view, cold).notes], ['apart', ['cold unverified']]);
});

test('cold that was verified in some rounds only is not ranked, and a wrong answer does not hide behind it', () => {
  const { figures } = samples.small();
  const run = figures.runs[0];
  assert.ok(run);
  const index = run.configurations.findIndex((one) => one.system === 'sqlite');
  const slot = () => {
    const view = of(figures);
    const [entry, ...more] = cellsOf(view, 'q3', ['cold', 'cold-unverified']).filter((one) => one.cell.configuration === index);
    assert.ok(entry && more.length === 0, 'two cells, one place');
    return { entry, how: rankStatus(view, entry) };
  };
  assert.deepEqual([slot().how.tier, slot().how.notes, slot().entry.cell.phase], ['apart', ['cold unverified in part'], 'cold']);
  const unverified = run.cells.find((cell) => cell.configuration === index && cell.step === 'q3' && cell.phase === 'cold-unverified');
  assert.ok(unverified);
  for (const verdict of ['wrong', 'failed', 'timeout'] as const) {
    Object.assign(unverified, { verdict, median_s: null, low_s: null, high_s: null });
    assert.equal(slot().how.tier, 'none', verdict);
    const view = of(figures);
    const bar = placedBars(view, cellsOf(view, 'q3', ['cold', 'cold-unverified']), metric('time'), () => undefined)
      .find((one) => one.entry.cell.configuration === index)?.bar;
    assert.deepEqual([bar?.value, bar?.label], [null, verdict]);
  }
});

test('a plan that breaks its promise keeps its time and its place apart', () => {
  const view = of(samples.small().figures);
  const broken = cellsOf(view, 'q6', ['hot']).find((entry) => entry.configuration.system === 'postgresql');
  assert.ok(broken && broken.cell.median_s !== null);
  assert.deepEqual([rankStatus(view, broken).tier, rankStatus(view, broken).notes], ['apart', ['plan broken']]);
  const kept = cellsOf(view, 'q5', ['hot']).find((entry) => entry.configuration.system === 'postgresql');
  assert.equal(kept && rankStatus(view, kept).tier, 'ranked');
  const told = findCaveats(view);
  assert.match(told.find((one) => one.title === 'Plan broken')?.text ?? '', /PostgreSQL 18\.6 json-only \(Q6\)/);
  assert.doesNotMatch(told.find((one) => one.title === 'Failures')?.text ?? '', /PostgreSQL/);
});

test('what had not settled, and an answer compared with nothing, are shown and not ranked', () => {
  const { figures } = samples.small();
  const run = figures.runs[0];
  assert.ok(run);
  const size = (view: ReturnType<typeof of>) => cellsOf(view, 'size', ['steady'], 'drained').find((entry) => entry.configuration.system === 'mongodb');
  const view = of(figures);
  const entry = size(view);
  assert.ok(entry);
  assert.deepEqual([rankStatus(view, entry).tier, rankStatus(view, entry).notes], ['apart', ['background work not finished']]);
  const cell = run.cells.find((one) => one.configuration === 0 && one.step === 'q1' && one.phase === 'hot');
  assert.ok(cell);
  cell.verdict = 'unverified';
  const doubted = of(figures);
  assert.ok(findCaveats(doubted).some((one) => one.title === 'Unverified answers' && /ClickHouse/.test(one.text)));
});

test('a ratio says whose best it is, also when that one is filtered out', () => {
  const { figures } = samples.small();
  const view = buildView(figures, { ...initial(figures), withoutSystems: new Set(['clickhouse']) });
  assert.ok(view);
  const bars = placedBars(view, cellsOf(view, 'q1', ['hot']), metric('of_best'), () => undefined).map((one) => one.bar);
  const sqlite = bars.find((bar) => bar.name === 'SQLite 3.54.1 indexed');
  assert.ok(sqlite);
  assert.match(ariaLabel(sqlite), /: [\d.]+ × of ClickHouse 26\.7 challenge, slower$/);
});

test('documents a second are those that a configuration holds', () => {
  const { figures } = samples.small();
  const run = figures.runs[0];
  assert.ok(run);
  const index = run.configurations.findIndex((one) => one.system === 'mysql');
  assert.equal(documentsOf(run, index), 980_000);
  const cell = run.cells.find((one) => one.configuration === index && one.step === 'q1' && one.phase === 'hot');
  assert.ok(cell?.median_s);
  assert.ok(Math.abs((metric('documents_per_s').of(cell, run)?.value ?? 0) * cell.median_s - 980_000) < 1);
});

test('a cell with parameters has them in its name, and another workload needs no load to be ranked', () => {
  const { figures } = samples.two();
  const run = figures.runs[0];
  const cell = run?.cells.find((one) => one.step === 'q1' && one.phase === 'hot');
  assert.ok(run && cell);
  run.cells.push({ ...cell, workload: 'append', step: 'q1', phase: 'measured', parameters: { clients: 4 } });
  const view = buildView(figures, { ...initial(figures), workload: 'append' });
  assert.ok(view);
  const entry = view.entries.find((one) => one.cell.workload === 'append');
  assert.ok(entry);
  assert.equal(rankStatus(view, entry).tier, 'ranked');
  assert.match(placedBars(view, [entry], metric('time'), () => undefined)[0]?.bar.name ?? '', /, 4 clients$/);
  run.cells = run.cells.filter((one) => one.step !== 'load');
  const lost = of(figures);
  const [first] = cellsOf(lost, 'q1', ['hot']);
  assert.ok(first);
  assert.deepEqual(rankStatus(lost, first).notes, ['no load known']);
});

test('every catch of a run is told, in a line each', () => {
  const { figures, evidence } = samples.small();
  const view = of(figures);
  const found = findCaveats(view, evidence.runs[0] ?? null);
  assert.deepEqual(found.map((one) => one.title), [
    'Run not complete', 'Failures', 'Plan broken', 'Hot, not in memory', 'Not all documents loaded', 'Too few documents for all cores',
    'Statements as published', 'Another question', 'Embedded next to servers', 'Approximate answers',
    'Not verified as cold', 'Background work not finished', 'End of life', 'Not the newest', 'Documents change in a round trip', 'CPU steal', 'One machine',
  ]);
  assert.ok(found.every((one) => one.line.length < 110), found.map((one) => one.line).join('\n'));
  const text = (title: string) => found.find((one) => one.title === title)?.text ?? '';
  assert.match(text('Hot, not in memory'), /MySQL 9\.7\.4 virtual stock \(Q2 529 MB/);
  assert.match(text('Too few documents for all cores'), /DuckDB 2\.0\.0 variant \(1 unit of 1,000,000 documents\)/);
  assert.match(text('Not the newest'), /^Dolt 2\.2\.0 of 2026-07-15: newer versions were out/);
  assert.match(text('Another question'), /as-published Q4: It counts every kind/);
  const line = found.find((one) => one.title === 'CPU steal')?.line ?? '';
  const [high, known] = (line.match(/[\d,]+/g) ?? []).map((word) => Number(word.replace(',', '')));
  assert.ok(high !== undefined && known !== undefined && high > 0 && high < known / 10, line);
  const { figures: old } = samples.two();
  const run = old.runs[0];
  assert.ok(run);
  run.rounds = 1;
  const titles = findCaveats(of(old)).map((one) => one.title);
  assert.ok(titles.includes('One round only') && titles.includes('Ranked apart'));
  assert.ok(!titles.includes('Prepared differently'));
});

test('classes and profiles are rankings of their own, in the order of the page, and what is never ranked is named nowhere', () => {
  const { figures } = samples.small();
  const view = of(figures);
  assert.deepEqual(view.rankings, ['as-is', 'prepared', 'prepared, not ranked', 'prepared, stock', 'extracted']);
  assert.equal(leading(view), 'as-is');
  const published = view.entries.filter((entry) => !entry.configuration.ranked && !entry.configuration.reference);
  assert.ok(published.length > 10);
  for (const entry of published) assert.notEqual(rankStatus(view, entry).tier, 'ranked');
  assert.deepEqual(rankStatus(view, published.find((entry) => entry.cell.step === 'q4') ?? published[0]!).notes, ['not ranked', 'another question']);
  const bars = placedBars(view, cellsOf(view, 'q1', ['hot']), metric('time'), () => undefined);
  const groups = [...new Set(bars.map((one) => one.bar.group))];
  assert.deepEqual(groups, ['As-is', 'Prepared', 'Prepared, not ranked', 'Prepared, stock', 'Extracted']);
  // A configuration that is faster than all others in another class stays below its own heading.
  const places = bars.map((one) => groups.indexOf(one.bar.group));
  assert.deepEqual(places, [...places].sort((a, b) => a - b));
});

test('hot that was not in memory is shown with its bytes, never ranked and never the best', () => {
  const { figures } = samples.small();
  const run = figures.runs[0];
  assert.ok(run);
  const index = run.configurations.findIndex((one) => one.system === 'clickhouse');
  const cell = run.cells.find((one) => one.configuration === index && one.step === 'q2' && one.phase === 'hot');
  assert.ok(cell);
  Object.assign(cell, { phase: 'hot-not-in-memory', metrics: { ...cell.metrics, read_bytes: 1.09e9 } });
  const view = of(figures);
  const entry = cellsOf(view, 'q2', HOT).find((one) => one.cell === cell);
  assert.ok(entry);
  assert.deepEqual([rankStatus(view, entry).tier, rankStatus(view, entry).notes], ['apart', ['not in memory: 1.09 GB read']]);
  assert.equal(cellsOf(view, 'q2', ['hot']).some((one) => one.cell === cell), false);
  assert.match(findCaveats(view).find((one) => one.title === 'Hot, not in memory')?.text ?? '', /ClickHouse 26\.7 challenge \(Q2 1\.09 GB\)/);
});

test('a further rule separates the rankings of a class, and another class is another configuration', () => {
  const view = of(samples.two().figures);
  assert.deepEqual(view.rankings, ['prepared, json-only', 'prepared, generated']);
  assert.equal(rankingTitle(view.rankings[0] ?? ''), 'Prepared, json-only');
  const one = samples.two().figures.runs[0]?.configurations[0];
  assert.ok(one);
  assert.equal(configurationKey(one), configurationKey({ ...one, version: 'another' }));
  assert.notEqual(configurationKey(one), configurationKey({ ...one, preparation: 'as-is' }));
});

test('stolen CPU time is divided by the CPU capacity of the time since the previous trial', () => {
  const { figures, evidence } = samples.small();
  const [run, own] = [figures.runs[0], evidence.runs[0]];
  assert.ok(run && own);
  const trials = (at_ms: number[], seconds: number[], machine_steal_s: number[], more = {}) => ({ at_ms, seconds, metrics: { machine_steal_s, ...more } });
  const cells = [trials([10_000, 20_000], [0.1, 0.1], [0, 1]), trials([20_100], [0.1], [0.02]), trials([30_000], [0.1], [9], { machine_steal_share: [0.01] })].map((some) => ({ trials: some }));
  const found = stealByCell({ ...own, cells } as unknown as RunEvidence, { ...run.machine, cores: 2 });
  // 1 s of 20 core seconds is above 2 %, and so is 0.02 s of 0.2; the first trial has no previous one.
  assert.deepEqual(found, [{ high: 1, known: 2 }, { high: 1, known: 1 }, { high: 0, known: 1 }]);
});
