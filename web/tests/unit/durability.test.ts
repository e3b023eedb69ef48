import assert from 'node:assert/strict';
import test from 'node:test';

import type { Finding } from '../../src/model.ts';
import type { CrashSet } from '../../src/durability.ts';
import type { Entry } from '../../src/view.ts';
import { crashLabel, kindLabel, lossyCrashes, outcomePhrase, tierLabel } from '../../src/durability.ts';

function stops(kind: string, metrics: Record<string, number>, each: readonly Finding[] = []): CrashSet {
  // The tests read only these fields of the cell.
  return { entry: { cell: { metrics, verdict: 'not_applicable' } } as unknown as Entry, name: 'one', tier: 'synced', kind, promise: 'nothing', each };
}

test('stops are told by their number, and by their kind', () => {
  assert.equal(outcomePhrase(stops('power', { stops: 10, stops_kept: 10 })), 'kept in 10 of 10 power cuts');
  assert.equal(outcomePhrase(stops('process', { stops: 1, stops_kept: 0 })), 'kept in 0 of 1 kill');
  assert.equal(outcomePhrase(stops('power', {})), 'not applicable here');
  assert.deepEqual(['power', 'process'].map(kindLabel), ['power loss', 'process crash']);
});

test('what was kept is no evidence, but for what was acknowledged after the cut', () => {
  const kept: Finding = { of: 'stop 1', state: 'kept', seen: '9 writes' };
  const late: Finding = { of: 'stop 2', state: 'kept', kinds: ['acknowledged after the cut'], seen: '9 writes' };
  const gone: Finding = { of: 'stop 3', state: 'does not start', kinds: ['environment'], words: 'the log is <damaged>' };
  assert.deepEqual(lossyCrashes(stops('power', {}, [kept, late, gone])), [late, gone]);
  assert.equal(crashLabel(late), 'kept: acknowledged after the cut: 9 writes');
  assert.equal(crashLabel(gone), 'does not start: environment: the log is <damaged>');
});

test('a tier says what was tested of it, and what was not', () => {
  const tier = { tier: 'window', process_crash: 'up to 1 s', power_loss: 'up to 1 s' };
  assert.equal(tierLabel(tier), 'window: a process crash loses up to 1 s (as documented, not tested), a power loss up to 1 s (as documented, not tested)');
  const tested = [{ kind: 'process', stops: 10, kept: 4, as_promised: 9, date: '2026-11-23' }];
  assert.equal(
    tierLabel({ ...tier, tested }),
    'window: a process crash loses up to 1 s (kept in 4 of 10 kills, as promised in 9, 2026-11-23), a power loss up to 1 s (as documented, not tested)',
  );
});
