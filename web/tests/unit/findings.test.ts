import assert from 'node:assert/strict';
import test from 'node:test';

import type { Figures } from '../../src/model.ts';
import { catches } from '../../src/catches.ts';
import { byHowMuch, findingsOf, howSure } from '../../src/findings.ts';
import { cellsOf, standing, view } from '../../src/select.ts';
import { initial } from '../../src/state.ts';
import { differs, meanRatio, ratio } from '../../src/stats.ts';
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

test('nobody is named who failed, lost documents, is a reference row or is ranked apart', () => {
  const from = of(samples.small().figures);
  const main = findingsOf(from, 'json-only');
  assert.deepEqual(main.map((one) => one.about), ['Fastest hot', 'Fastest cold', 'Fastest to load', 'Smallest (drained)', 'Smallest (compacted)']);
  for (const finding of main) {
    assert.equal(finding.first?.system, 'clickhouse', finding.about);
    assert.equal(finding.first.ranks_with, 'json-only');
  }
  assert.match(main[0]?.sentence ?? '', /fastest on 6 of 6 questions.*SQLite.*2 configurations without a verified time/);
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

test('every catch of a run is told', () => {
  const found = catches(of(samples.small().figures)).map((one) => one.title);
  assert.deepEqual(found, [
    'The run is not complete', 'Failures', 'Not all documents loaded', 'Ranked apart', 'Embedded beside servers', 'Approximate answers',
    'Not verified as cold', 'End of life', 'Documents do not come back as they were', '2 cores',
  ]);
  const { figures } = samples.two();
  const run = figures.runs[0];
  assert.ok(run);
  run.rounds = 1;
  assert.ok(catches(of(figures)).some((one) => one.title === 'One round only'));
});
