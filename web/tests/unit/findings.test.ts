import assert from 'node:assert/strict';
import test from 'node:test';

import type { Figures } from '../../src/model.ts';
import { catches } from '../../src/catches.ts';
import { byHowMuch, findingsOf, headline, howSure } from '../../src/findings.ts';
import { cellsOf, standing, view } from '../../src/select.ts';
import { initial } from '../../src/state.ts';
import { differs, meanRatio, ratio } from '../../src/stats.ts';
import { placedBars } from '../../src/bars.ts';
import { spoken } from '../../src/charts/bars.ts';
import { documentsOf, metric } from '../../src/metric.ts';
import { samples } from './samples.ts';

function of(figures: Figures) {
  const from = view(figures, initial(figures));
  assert.ok(from);
  return from;
}

test('by how much, in words', () => {
  assert.equal(byHowMuch(1.004, 'longer', 'long'), 'as long as');
  assert.equal(byHowMuch(1.12, 'longer', 'long'), '12 % longer than');
  assert.equal(byHowMuch(3.1, 'longer', 'long'), '3.10 times as long as');
});

test('a difference is shown only when the interval excludes 1', () => {
  assert.equal(howSure({ value: 2, low: 1.5, high: 2.5 }, '').difference, 'shown');
  const not = howSure({ value: 1.2, low: 0.9, high: 1.6 }, '');
  assert.equal(not.difference, 'not shown');
  assert.match(not.sure, /It holds 1/);
  assert.deepEqual(howSure({ value: 2, low: null, high: null }, 'once'), { sure: 'once', difference: 'once' });
});

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

test('nobody is named who failed, lost documents, is a reference row or is ranked apart', () => {
  const from = of(samples.small().figures);
  const main = findingsOf(from, 'json-only');
  assert.deepEqual(main.map((one) => one.about), ['Fastest hot', 'Fastest cold', 'Fastest to load', 'Smallest (drained)', 'Smallest (compacted)']);
  for (const finding of main) {
    assert.equal(finding.first?.system, 'clickhouse', finding.about);
    assert.equal(finding.first.ranks_with, 'json-only');
  }
  assert.match(main[0]?.sentence ?? '', /fastest on 6 of 6 questions.*SQLite.*3 configurations without a verified time/);
  const apart = findingsOf(from, 'generated');
  assert.ok(apart.every((one) => one.first === null || one.first.system === 'dolt'), 'MySQL lost two of a hundred documents');
});

test('a fast wrong answer wins nothing', () => {
  const { figures } = samples.small();
  const run = figures.runs[0];
  assert.ok(run);
  for (const cell of run.cells) {
    if (cell.configuration === 0 && cell.step === 'q1') Object.assign(cell, { verdict: 'wrong', median_s: null, low_s: null, high_s: null });
  }
  const [hot] = findingsOf(of(figures), 'json-only');
  assert.equal(hot?.first?.system, 'sqlite');
});

test('a load that was not verified keeps everything of it out of the ranking', () => {
  const { figures } = samples.small();
  const load = figures.runs[0]?.cells.find((cell) => cell.configuration === 0 && cell.step === 'load');
  assert.ok(load);
  load.verdict = 'unverified';
  const from = of(figures);
  assert.ok(findingsOf(from, 'json-only').every((one) => one.first?.system !== 'clickhouse'));
  const cell = cellsOf(from, 'q1', ['hot']).find((entry) => entry.cell.configuration === 0);
  assert.ok(cell);
  assert.equal(standing(from, cell).tier, 'apart');
});

test('cold that was not verified is never ranked as cold', () => {
  const from = of(samples.small().figures);
  const cold = cellsOf(from, 'q1', ['cold', 'cold-unverified']).find((entry) => entry.configuration.system === 'elasticsearch');
  assert.ok(cold);
  assert.deepEqual([standing(from, cold).tier, standing(from, cold).notes], ['apart', ['cold unverified']]);
});

test('cold that was verified in some rounds only is not ranked, and a wrong answer does not hide behind it', () => {
  const { figures } = samples.small();
  const run = figures.runs[0];
  assert.ok(run);
  const index = run.configurations.findIndex((one) => one.system === 'sqlite');
  const slot = () => {
    const from = of(figures);
    const [entry, ...more] = cellsOf(from, 'q3', ['cold', 'cold-unverified']).filter((one) => one.cell.configuration === index);
    assert.ok(entry && more.length === 0, 'two cells, one place');
    return { entry, how: standing(from, entry) };
  };
  assert.deepEqual([slot().how.tier, slot().how.notes, slot().entry.cell.phase], ['apart', ['cold unverified in part'], 'cold']);
  assert.doesNotMatch(findingsOf(of(figures), 'json-only')[1]?.sentence ?? '', /SQLite/);
  const unverified = run.cells.find((cell) => cell.configuration === index && cell.step === 'q3' && cell.phase === 'cold-unverified');
  assert.ok(unverified);
  for (const verdict of ['wrong', 'failed', 'timeout'] as const) {
    Object.assign(unverified, { verdict, median_s: null, low_s: null, high_s: null });
    assert.equal(slot().how.tier, 'none', verdict);
    const from = of(figures);
    const bar = placedBars(from, cellsOf(from, 'q3', ['cold', 'cold-unverified']), metric('time'), () => undefined)
      .find((one) => one.entry.cell.configuration === index)?.bar;
    assert.deepEqual([bar?.value, bar?.label], [null, verdict]);
  }
});

test('a plan that breaks its promise keeps its time and its place apart', () => {
  const from = of(samples.small().figures);
  const broken = cellsOf(from, 'q6', ['hot']).find((entry) => entry.configuration.system === 'postgresql');
  assert.ok(broken && broken.cell.median_s !== null);
  assert.deepEqual([standing(from, broken).tier, standing(from, broken).notes], ['apart', ['plan broken']]);
  const kept = cellsOf(from, 'q5', ['hot']).find((entry) => entry.configuration.system === 'postgresql');
  assert.equal(kept && standing(from, kept).tier, 'ranked');
  const told = catches(from);
  assert.match(told.find((one) => one.title === 'Not by the promised path')?.text ?? '', /PostgreSQL 18\.6 json-only \(Q6\)/);
  assert.doesNotMatch(told.find((one) => one.title === 'Failures')?.text ?? '', /PostgreSQL/);
});

test('who could not answer one question still takes another one away from the first', () => {
  const { figures } = samples.small();
  const run = figures.runs[0];
  assert.ok(run);
  const index = run.configurations.findIndex((one) => one.system === 'duckdb');
  const cell = run.cells.find((one) => one.configuration === index && one.step === 'q1' && one.phase === 'hot');
  assert.ok(cell);
  Object.assign(cell, { median_s: 1e-6, low_s: 1e-6, high_s: 1e-6 });
  assert.match(findingsOf(of(figures), 'json-only')[0]?.sentence ?? '', /fastest on 5 of 6 questions/);
});

test('what had not settled, and an answer compared with nothing, are shown and not ranked', () => {
  const { figures } = samples.small();
  const run = figures.runs[0];
  assert.ok(run);
  const size = (from: ReturnType<typeof of>) => cellsOf(from, 'size', ['steady'], 'drained').find((entry) => entry.configuration.system === 'mongodb');
  const from = of(figures);
  const entry = size(from);
  assert.ok(entry);
  assert.deepEqual([standing(from, entry).tier, standing(from, entry).notes], ['apart', ['not settled']]);
  const cell = run.cells.find((one) => one.configuration === 0 && one.step === 'q1' && one.phase === 'hot');
  assert.ok(cell);
  cell.verdict = 'unverified';
  const doubted = of(figures);
  assert.ok(catches(doubted).some((one) => one.title === 'Answers compared with nothing' && /ClickHouse/.test(one.text)));
  assert.notEqual(findingsOf(doubted, 'json-only')[0]?.first?.system, 'clickhouse');
});

test('a ratio says whose best it is, also when that one is filtered out', () => {
  const { figures } = samples.small();
  const from = view(figures, { ...initial(figures), withoutSystems: new Set(['clickhouse']) });
  assert.ok(from);
  const bars = placedBars(from, cellsOf(from, 'q1', ['hot']), metric('of_best'), () => undefined).map((one) => one.bar);
  const sqlite = bars.find((bar) => bar.name.startsWith('SQLite'));
  assert.ok(sqlite);
  assert.match(spoken(sqlite), /: [\d.]+ × of ClickHouse 26\.7 challenge, slower$/);
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

test('a run of one round, one without cold questions and one of nothing are told as they are', () => {
  const { figures } = samples.two();
  const run = figures.runs[0];
  assert.ok(run);
  run.rounds = 1;
  for (const cell of run.cells) Object.assign(cell, { low_s: null, high_s: null });
  const [hot] = findingsOf(of(figures), 'json-only');
  assert.deepEqual([hot?.difference, hot?.first?.system], ['once', 'clickhouse']);
  run.cells = run.cells.filter((cell) => !cell.phase.startsWith('cold'));
  assert.ok(findingsOf(of(figures), 'json-only').every((one) => one.about !== 'Fastest cold'));
  Object.assign(run, { cells: [], failures: [] });
  const nothing = of(figures);
  assert.deepEqual(findingsOf(nothing, 'json-only'), []);
  assert.deepEqual(nothing.questions, []);
});

test('a cell with parameters has them in its name, and another workload needs no load to be ranked', () => {
  const { figures } = samples.two();
  const run = figures.runs[0];
  const cell = run?.cells.find((one) => one.step === 'q1' && one.phase === 'hot');
  assert.ok(run && cell);
  run.cells.push({ ...cell, workload: 'append', step: 'q1', phase: 'batch', parameters: { clients: 4 } });
  const from = of(figures);
  const entry = from.entries.find((one) => one.cell.workload === 'append');
  assert.ok(entry);
  assert.equal(standing(from, entry).tier, 'ranked');
  assert.match(placedBars(from, [entry], metric('time'), () => undefined)[0]?.bar.name ?? '', /, clients 4$/);
  run.cells = run.cells.filter((one) => one.step !== 'load');
  const lost = of(figures);
  const [first] = cellsOf(lost, 'q1', ['hot']);
  assert.ok(first);
  assert.deepEqual(standing(lost, first).notes, ['no load known']);
});

test('every catch of a run is told', () => {
  const found = catches(of(samples.small().figures)).map((one) => one.title);
  assert.deepEqual(found, [
    'The run is not complete', 'Failures', 'Not by the promised path', 'Not all documents loaded', 'Ranked apart', 'Prepared differently', 'Embedded beside servers', 'Approximate answers',
    'Not verified as cold', 'Not settled', 'End of life', 'Documents do not come back as they were', '2 cores',
  ]);
  const { figures } = samples.two();
  const run = figures.runs[0];
  assert.ok(run);
  run.rounds = 1;
  assert.ok(catches(of(figures)).some((one) => one.title === 'One round only'));
});

test('one sentence says who was first at what, and does not hide that no difference is shown', () => {
  const main = findingsOf(of(samples.two().figures), 'json-only');
  const [hot] = main;
  assert.ok(hot?.first);
  assert.ok(headline(main).startsWith(`${hot.first.title} answered fastest`), headline(main));
  assert.match(headline(main), /loaded fastest/);
  assert.match(headline(main), /takes the least space/);
  const tied = main.map((one) => (one === hot ? { ...one, difference: 'not shown' as const } : one));
  assert.match(headline(tied), /answered fastest \(no difference to the second shown\)/);
  assert.equal(headline([]), '');
});
