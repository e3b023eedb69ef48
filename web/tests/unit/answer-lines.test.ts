import assert from 'node:assert/strict';
import test from 'node:test';

import { answerLines, answersOf, caveatsInOrder, caveatWords, fullSentence, noteOf, rankingPrefix, sharedCaveats } from '../../src/answer-lines.ts';
import { GLOSSARY, piecesOf, termsOf } from '../../src/glossary.ts';
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
  assert.equal(fullSentence({ ...answer, sentence: 'A was faster than B (95 %: 1.30 … 1.70)' }), 'A was faster than B (95\u00a0%: 1.30\u00a0…\u00a01.70).');
  const told = { ...answer, caveats: ['end_of_life' as const, 'busy_machine' as const], caveat_texts: ['A 6 is no longer supported by its vendor', 'other programs were running'], caveat_labels: ['A 6: end of life', 'busy machine'] };
  assert.deepEqual(caveatWords(told), [
    { words: 'A 6 is no longer supported by its vendor', term: 'end-of-life' }, { words: 'other programs were running', term: 'busy-machine' },
  ]);
  const other = { ...told, caveat_texts: ['B 7 is no longer supported by its vendor', 'other programs were running'] };
  assert.deepEqual(sharedCaveats([told, other]).map(({ term }) => term), ['busy-machine'], 'only what says the same of both');
  const inOrder = caveatsInOrder([told, other, { ...told }], sharedCaveats([told, other]));
  assert.deepEqual([...inOrder.values()].map((caveats) => caveats.map(({ words }) => words)), [
    ['A 6 is no longer supported by its vendor'], ['B 7 is no longer supported by its vendor'], ['A 6: end of life'],
  ]);
});

test('the first screen has all comparisons of large documents and of mixed loads', () => {
  const { figures } = samples.several();
  const run = figures.runs[0] ?? assert.fail();
  const [answer] = answersOf(run, 'analytics');
  assert.ok(answer);
  const documents = (subject: typeof answer.subject, sentence: string) => ({ ...answer, workload: 'documents', subject, sentence });
  const alone = { ...documents('copy', 'alone'), outcome: { kind: 'only_one' as const, only: 0 } };
  run.answers = [documents('operations', 'first'), documents('import', 'import'), documents('export', 'export'), alone, documents('correctness', 'right')];
  run.cells = run.cells.map((cell) => ({ ...cell, workload: 'documents' }));
  const lineOf = () => answerLines(figures).find(({ workload }) => workload === 'documents') ?? assert.fail();
  assert.deepEqual([lineOf().answers, lineOf().details].map((some) => some.map(({ sentence }) => sentence)), [['first'], ['import', 'export']]);
  assert.match(noteOf(lineOf()), /smallest one, with its interval/);
});

test('a ranking and conditions need one colon', () => {
  const [answer] = answersOf(samples.several().figures.runs[0] ?? assert.fail(), 'analytics');
  assert.ok(answer);
  const prefix = (conditions: string, sentence: string) => rankingPrefix({ ...answer, ranking: 'as-is', conditions, sentence });
  assert.deepEqual([prefix('', 'A leads'), prefix('mix a', 'mix a: A leads'), prefix('synced', 'Promise of tier synced kept')], ['As-is: ', 'As-is, ', 'As-is: ']);
  const written = [prefix('1 MiB', 'Import, 1 MiB: A leads'), prefix('Writers alone, 2 writers', 'Writers alone: A leads'), prefix('1 MiB', 'Fastest: A')];
  assert.deepEqual(written, ['As-is, ', 'As-is, ', 'As-is: '], 'a part of the conditions is enough, other words are not');
});

test('a line says what its figure is the mean of', () => {
  const [line] = answerLines(samples.several().figures);
  assert.ok(line);
  assert.match(noteOf(line), /geometric mean.*Q6 is this program’s own question/);
  assert.equal(noteOf({ ...line, answers: [], details: [] }), '');
});

test('terms within a sentence are found, each once and the most special one', () => {
  const terms = (sentence: string) => piecesOf(sentence).flatMap(({ text, term }) => (term === null ? [] : [[text, term]]));
  assert.deepEqual(terms('As-is: DuckDB ran Q1–Q5 hot 1.6 × faster than B hot (95\u00a0%: 1.5 … 1.7).'), [['As-is', 'as-is'], ['hot', 'hot'], ['95\u00a0%', 'interval']]);
  assert.deepEqual(terms('mix c, 32 clients: no difference shown'), [['mix c', 'mix-c'], ['no difference shown', 'no-difference']]);
  assert.deepEqual(terms('Promise of tier synced kept by A'), [['tier synced', 'tier-synced']]);
  assert.deepEqual(terms('A is alone in its group, so nobody wins'), [['alone in its group', 'ranking']]);
  const sentence = 'All 252 I-JSON objects preserved by A';
  assert.equal(piecesOf(sentence).map(({ text }) => text).join(''), sentence);
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
