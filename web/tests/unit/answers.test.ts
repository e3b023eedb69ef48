// Tests of the display text of answers.

import assert from 'node:assert/strict';
import test from 'node:test';

import { isEmpty, shown } from '../../src/answers.ts';
import type { AnswerValue } from '../../src/model.ts';

test('numbers that JSON does not have are read by their names', () => {
  assert.equal(shown([{ float: 'Infinity' }, 'Infinity', null, 1.5, true]), '[Infinity, "Infinity", null, 1.5, true]');
});

test('an answer that says nothing is empty', () => {
  const of = (rows: AnswerValue[][], count = rows.length): boolean => isEmpty({ first: { rows, count } });
  assert.ok(of([]) && of([[null, 0]]));
  assert.ok(!of([[0, 1]]) && !of([['']]) && !of([[{ float: 'NaN' }]]) && !of([[0]], 20));
  assert.ok(!isEmpty({}));
});
