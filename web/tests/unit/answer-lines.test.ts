import assert from 'node:assert/strict';
import test from 'node:test';

import { answerLines, answersOf, caveatWords, fullSentence } from '../../src/answer-lines.ts';
import { GLOSSARY, termsOf } from '../../src/glossary.ts';
import { samples } from './samples.ts';

test('every workload has a line, failures first, then its most important answer', () => {
  const { figures } = samples.several();
  const lines = answerLines(figures).map(({ run, workload, answers, more }) => [run, workload, answers.map(({ sentence }) => sentence), more]);
  assert.deepEqual(lines, [
    [0, 'analytics', ['ClickHouse was 1.50 × faster than PostgreSQL (1.30 … 1.70).', 'Dolt was 1.50 × faster than MySQL (1.30 … 1.70).'], 0],
    [1, 'serving', ['A system gave 3 wrong answers.', 'PostgreSQL was 1.50 × faster than MongoDB (1.30 … 1.70).'], 0],
  ]);
});

test('each ranking that has the most important comparison has its sentence', () => {
  const { figures } = samples.several();
  const run = figures.runs[0] ?? assert.fail();
  const [first] = answersOf(run, 'analytics');
  assert.ok(first);
  run.answers = [{ ...first, ranking: 'as-is' }, { ...first, ranking: 'as-is', conditions: 'cold' }, { ...first, ranking: 'prepared' }];
  assert.deepEqual(answerLines(figures)[0]?.answers.map(({ ranking, conditions }) => [ranking, conditions]), [['as-is', first.conditions], ['prepared', first.conditions]]);
});

test('many failures are counted, and broken promises are told in their own box only', () => {
  const { figures } = samples.several();
  const run = figures.runs[1];
  const [failure] = run?.answers ?? [];
  assert.ok(run && failure);
  run.answers = [...Array.from({ length: 5 }, () => failure), { ...failure, subject: 'durability' as const }];
  const told = () => answerLines(figures).find(({ workload }) => workload === 'serving');
  assert.deepEqual([told()?.answers.length, told()?.more], [3, 3]);
  run.headline = [{ severity: 'failed', text: 'lost' }];
  assert.deepEqual([told()?.answers.length, told()?.more], [3, 2]);
  run.answers = [];
  assert.equal(told(), undefined, 'a run without an answer has no line');
});

test('caveats are words with a definition', () => {
  const { figures } = samples.several();
  const [answer] = answersOf(figures.runs[0] ?? assert.fail(), 'analytics');
  assert.ok(answer);
  assert.equal(fullSentence({ ...answer, sentence: 'A was faster than B (1.30 … 1.70)' }), 'A was faster than B (1.30 … 1.70).');
  const found = caveatWords({ ...answer, caveats: ['end_of_life', 'busy_machine'] });
  assert.deepEqual(found.map(({ words }) => words), ['a version named here is no longer supported by its vendor', 'other programs or virtual machines were running: repeat on a quiet machine']);
});

test('each term is defined once, in sentences that can be read at once', () => {
  assert.equal(new Set(GLOSSARY.map(({ id }) => id)).size, GLOSSARY.length);
  for (const { term, definition } of GLOSSARY) {
    assert.match(definition, /\.$/, term);
    for (const sentence of definition.split(/(?<=\.) /)) assert.ok(sentence.split(' ').length <= 30, `${term}: ${sentence}`);
  }
  const terms = (...workloads: string[]) => termsOf(workloads).map(({ id }) => id);
  assert.ok(terms('serving').includes('mix-a') && !terms('fidelity').includes('mix-a'));
  assert.ok(terms('fidelity').includes('class'), 'what all workloads use');
});
