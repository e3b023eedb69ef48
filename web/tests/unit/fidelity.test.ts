import assert from 'node:assert/strict';
import test from 'node:test';

import type { Finding, KnownCase } from '../../src/model.ts';
import type { CaseResult, System } from '../../src/fidelity.ts';
import type { Entry } from '../../src/view.ts';
import { caseKinds, evidenceOf, findingLabel, isAsRequired, kindsOf, outcomeLabel, outcomesOf, pathsLabel } from '../../src/fidelity.ts';

function tried(name: string, requirement: KnownCase['requirement'], findings: readonly Finding[]): CaseResult {
  const document: KnownCase = { name, requirement, source: 'RFC 8259 §4', probes: 'it', decides_i_json: true, bytes: 2, document: '<script>' };
  // The tests do not read the cell.
  return { document, entry: {} as Entry, findings };
}

const KEPT: readonly Finding[] = [
  { subject: 'bulk', state: 'accepted' }, { subject: 'bulk, whole', state: 'same bytes' }, { subject: 'parameter', state: 'accepted' }, { subject: 'parameter, whole', state: 'same bytes' },
];
const CHANGED: readonly Finding[] = [
  { subject: 'bulk', state: 'accepted' }, { subject: 'bulk, whole', state: 'changed', kinds: ['key order', 'loss'], observed: '{}' },
  { subject: 'bulk, value', state: 'nothing returned' }, { subject: 'parameter', state: 'rejected', message: 'no room' },
];
const PASSED_OVER: readonly Finding[] = [{ subject: 'bulk', state: 'accepted' }, { subject: 'bulk, whole', state: 'nothing returned' }, { subject: 'parameter', state: 'not tested' }];

const SYSTEMS: readonly System[] = [
  { key: '0', name: 'one', tried: [tried('fine', 'accept', KEPT), tried('broken', 'reject', PASSED_OVER)] },
  { key: '1', name: 'other', tried: [tried('fine', 'accept', CHANGED), tried('broken', 'reject', KEPT)] },
];

test('a number stands for the documents behind it', () => {
  const count = (key: string) => {
    const line = outcomesOf(SYSTEMS).find((one) => one.key === key);
    return SYSTEMS.map((system) => line?.by.get(system.key)?.length);
  };
  assert.deepEqual(count('valid'), [1, 1]);
  assert.deepEqual(count('rejected'), [0, 1]);
  assert.deepEqual(count('taken'), [0, 1], 'what is passed over is not taken');
  assert.deepEqual(count('changed'), [0, 1]);
  assert.deepEqual(count('none'), [1, 0]);
});

test('a document is as required if every path that was tested keeps it, or rejects what is no JSON', () => {
  const [one, other] = SYSTEMS.map((system) => system.tried.map(isAsRequired));
  assert.deepEqual([one, other], [[true, true], [false, false]]);
  assert.equal(isAsRequired(tried('any', 'choose', KEPT)), null, 'the RFC leaves the choice');
  assert.equal(isAsRequired(tried('any', 'accept', [{ subject: 'bulk', state: 'not tested' }])), null);
});

test('documents stand by kind with an outcome for each system, whose sign needs no colour', () => {
  const kinds = caseKinds([{ key: '0', name: 'one', tried: [tried('key-a', 'accept', KEPT), tried('key-b', 'choose', KEPT), tried('top-a', 'reject', KEPT)] }, ...SYSTEMS.slice(1)]);
  assert.deepEqual(kinds.map(({ kind, cases }) => [kind, cases.length]), [['key', 2], ['top', 1], ['fine', 1], ['broken', 1]]);
  const labels = kinds.flatMap(({ cases }) => cases.flatMap(({ by }) => [...by.values()].map(outcomeLabel)));
  assert.deepEqual(labels, ['✓ same bytes', '◦ same bytes', '✖ same bytes', '✖ bulk: changed: key order, loss', '✖ same bytes']);
});

test('kinds are of documents that are JSON, and a value that is lost is a loss', () => {
  assert.deepEqual(kindsOf(SYSTEMS, ', whole').map((line) => line.key), ['key order', 'loss']);
  assert.deepEqual(kindsOf(SYSTEMS, ', value').map((line) => line.key), ['loss']);
});

test('ways that say the same are told once', () => {
  assert.equal(findingLabel({ subject: 'bulk', state: 'changed', kinds: ['type'] }), 'changed: type');
  assert.equal(pathsLabel(tried('x', 'accept', KEPT), ', whole'), 'same bytes');
  assert.equal(pathsLabel(tried('x', 'accept', CHANGED), ''), 'bulk: accepted; parameter: rejected');
  assert.deepEqual(evidenceOf(tried('x', 'accept', CHANGED), ['', ', whole']), ['{}', 'no room']);
});
