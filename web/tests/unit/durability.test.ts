import assert from 'node:assert/strict';
import test from 'node:test';

import type { Durability, DurabilityEvidence, Finding } from '../../src/model.ts';
import type { CrashSet } from '../../src/durability.ts';
import type { Entry } from '../../src/view.ts';
import { crashLabel, kindLabel, lossSeverity, lossyCrashes, outcomePhrase, survivalOf, tierLabel } from '../../src/durability.ts';

function crashSet(kind: string, metrics: Record<string, number>, each: readonly Finding[] = []): CrashSet {
  // The tests read only these fields of the cell.
  return { entry: { cell: { metrics, verdict: 'not_applicable' } } as unknown as Entry, name: 'one', tier: 'synced', kind, promise: 'nothing', each };
}

test('crashes are told by their number, and by their kind', () => {
  assert.equal(outcomePhrase(crashSet('power', { crashes: 10, crashes_without_loss: 10 })), 'kept in 10 of 10 power cuts');
  assert.equal(outcomePhrase(crashSet('process', { crashes: 1, crashes_without_loss: 0 })), 'kept in 0 of 1 kill');
  assert.equal(outcomePhrase(crashSet('power', {})), 'not applicable here');
  assert.deepEqual(['power', 'process'].map(kindLabel), ['power loss', 'process crash']);
});

test('what was kept is no evidence, but for what was acknowledged after the cut', () => {
  const kept: Finding = { subject: 'crash 1', state: 'nothing lost', observed: '9 writes' };
  const late: Finding = { subject: 'crash 2', state: 'nothing lost', kinds: ['acknowledged after the cut'], observed: '9 writes' };
  const gone: Finding = { subject: 'crash 3', state: 'does not start', kinds: ['environment'], message: 'the log is <damaged>' };
  assert.deepEqual(lossyCrashes(crashSet('power', {}, [kept, late, gone])), [late, gone]);
  assert.equal(crashLabel(late), 'nothing lost: acknowledged after the cut: 9 writes');
  assert.equal(crashLabel(gone), 'does not start: environment: the log is <damaged>');
});

test('a promise that was broken has a sign, and what the tier allows has none', () => {
  const kept = crashSet('power', { crashes: 10, crashes_as_promised: 10 });
  const broken = crashSet('power', { crashes: 10, crashes_as_promised: 8 });
  assert.deepEqual(survivalOf(kept), { text: '✓ 10 of 10', short: '✓ 10/10', kept: true });
  assert.deepEqual(survivalOf(broken), { text: '✖ 8 of 10', short: '✖ 8/10', kept: false });
  assert.equal(survivalOf(crashSet('power', {})).kept, null);
  const finding = (state: string): Finding => ({ subject: 'crash 1', state });
  assert.equal(lossSeverity(broken, finding('promise broken')), 'failed');
  assert.equal(lossSeverity(broken, finding('lost, as the tier declares')), 'good');
  // A tier without a limit promises nothing, so that its promise is kept whatever happens.
  assert.equal(lossSeverity(kept, finding('does not start')), 'warning');
});

test('a tier says what was tested of it, and what was not', () => {
  const tier: Durability = { tier: 'window', process_crash: 'up to 1 s', power_loss: 'up to 1 s', basis: '' };
  assert.equal(tierLabel(tier), 'window: a process crash loses up to 1 s (as documented, not tested), a power loss up to 1 s (as documented, not tested)');
  const tested: DurabilityEvidence[] = [{ kind: 'process', crashes: 10, without_loss: 4, as_promised: 9, date: '2026-11-23' }];
  assert.equal(
    tierLabel({ ...tier, tested }),
    'window: a process crash loses up to 1 s (kept in 4 of 10 kills, as promised in 9, 2026-11-23), a power loss up to 1 s (as documented, not tested)',
  );
});
