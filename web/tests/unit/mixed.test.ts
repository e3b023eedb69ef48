import assert from 'node:assert/strict';
import test from 'node:test';

import type { PageData } from '../../src/model.ts';
import { termsOf } from '../../src/glossary.ts';
import { stepName, stepTitle } from '../../src/labels.ts';
import { ALL_QUESTIONS, configurationsOf, entriesOf, entryOf, INGEST, isOfPhase, loadsOf, loadSuffix, questionsOf, secondsOf, SLOW_DOWNS, slowDown, wholeSeconds } from '../../src/mixed.ts';
import { initial } from '../../src/state.ts';
import { buildView, rankStatus } from '../../src/view.ts';
import { Phase } from '../../src/vocabulary.ts';
import { samples } from './samples.ts';

function of(figures: PageData) {
  const view = buildView(figures, initial(figures));
  assert.ok(view);
  const [load, ...others] = loadsOf(view);
  assert.ok(load);
  return { view, load, others };
}

test('cells of equal writers, streams, batch and rate are one load, with the writers alone', () => {
  const { figures } = samples.mixed();
  const { view, load, others } = of(figures);
  assert.deepEqual([load.title, others.length, loadSuffix([load], load)], ['batch 1000, rate 2000, streams 2, writers 2', 0, '']);
  assert.deepEqual([configurationsOf(load), questionsOf(load)], [[0, 1, 2, 3], ['q1', 'q2', 'q3', 'q4', 'q5']]);
  assert.equal(load.entries.length, view.entries.filter(({ cell }) => isOfPhase(cell)).length);
  assert.ok(view.entries.some(({ cell }) => !isOfPhase(cell)), 'load and size are of no phase');
  const changed = figures.runs[0]?.cells.filter(({ configuration, phase, parameters }) => configuration === 3 && phase !== Phase.Alone && parameters.rate !== undefined) ?? [];
  for (const cell of changed) cell.parameters = { ...cell.parameters, rate: 500 };
  const two = of(figures);
  assert.equal(two.others.length, 1);
  assert.deepEqual([two.load, ...two.others].map((one) => entriesOf(one, Phase.Alone, INGEST).length), [4, 4], 'writers alone have no rate');
  const [run] = figures.runs;
  assert.ok(run);
  run.cells = run.cells.filter(({ phase }) => phase === Phase.Alone);
  assert.equal(of(figures).load.entries.length, 4, 'they are shown without questions, too');
  assert.match(loadSuffix([two.load, ...two.others], two.load), /^, batch 1000/);
});

test('a question that takes twice as long beside writers is slowed down twice, with an interval', () => {
  const { figures } = samples.mixed();
  const { load } = of(figures);
  const [beside, after] = SLOW_DOWNS;
  assert.ok(beside && after);
  const both = entryOf(load, 0, beside.phase, 'q1');
  const left = entryOf(load, 0, after.phase, 'q1');
  assert.ok(both && left);
  const median = (cell: typeof both.cell): number => cell.metrics.question_p50_us ?? 0;
  left.cell.metrics.question_p50_us = median(both.cell) / 2;
  left.cell.intervals.question_p50_us = [median(left.cell) * 0.95, median(left.cell) * 1.05];
  const found = slowDown(load, both.cell, beside.against);
  assert.ok(found?.low && found.high);
  assert.ok(Math.abs(found.value - 2) < 1e-9 && found.low < 1.91 && found.high > 2.09, `${found.low} … ${found.high}`);
  delete left.cell.intervals.question_p50_us;
  assert.equal(slowDown(load, both.cell, beside.against)?.low, null, 'no interval without that of both');
  delete left.cell.metrics.question_p50_us;
  assert.equal(slowDown(load, both.cell, beside.against), null);
});

test('questions beside writers that did not keep the rate, and answers of no single moment, are not ranked', () => {
  const { view, load } = of(samples.mixed().figures);
  const tiers = entriesOf(load, Phase.Both, ALL_QUESTIONS).map((entry) => [entry.configuration.system, rankStatus(view, entry).tier, rankStatus(view, entry).notes.join()]);
  assert.deepEqual(tiers, [['postgresql', 'ranked', ''], ['clickhouse', 'apart', '60.0 % of the rate kept'], ['elasticsearch', 'apart', 'unverified'], ['mock', 'none', '']]);
  const left = entryOf(load, 1, Phase.Left, ALL_QUESTIONS);
  assert.ok(left);
  assert.equal(rankStatus(view, left).tier, 'ranked', 'the rate is of questions beside writers only');
});

test('seconds of wrong answers are not shown, and a last second that is cut short is no stall', () => {
  const { figures, evidence } = samples.mixed();
  const { view, load } = of(figures);
  const seconds = secondsOf(view, evidence, load);
  assert.deepEqual(seconds.map(({ configuration, documents, questions }) => [configuration.system, documents.length, questions.length]), [
    ['postgresql', 3, 3], ['clickhouse', 3, 3], ['elasticsearch', 3, 3],
  ]);
  const [trial] = seconds[1]?.documents ?? [];
  assert.ok(trial);
  assert.deepEqual([trial.operations.length, wholeSeconds(trial), trial.operations[3]], [11, 10, 0], 'the stall stays');
  assert.equal(wholeSeconds({ ...trial, operations: [7] }), 1);
  assert.ok(entryOf(load, 3, Phase.Both, INGEST));
  const [questions] = seconds[2]?.questions ?? [];
  assert.deepEqual([questions?.stale_max_ms?.length, questions?.stale_max_ms?.[5], trial.stale_max_ms], [11, null, undefined], 'only questions are stale');
});

test('the terms of a mixed run are defined there', () => {
  const terms = termsOf(['mixed']).map(({ id }) => id);
  for (const term of ['interference', 'debt', 'disorder', 'stale', 'kept', 'backlog', 'closed', 'bounded'] as const) {
    assert.ok(terms.includes(term), term);
    assert.ok(!termsOf(['serving']).some(({ id }) => id === term), term);
  }
});

test('steps of mixed loads are named in words, and questions of the same name are not', () => {
  assert.deepEqual([ALL_QUESTIONS, INGEST, 'q1'].map((step) => stepName(step, Phase.Both)), ['all questions', 'writers', 'Q1']);
  assert.deepEqual([stepTitle(INGEST, Phase.Alone), stepTitle('q1', Phase.Both)], ['writers', 'Q1 top event types']);
  assert.equal(stepName(ALL_QUESTIONS, Phase.Hot), ALL_QUESTIONS);
});
