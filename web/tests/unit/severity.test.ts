import assert from 'node:assert/strict';
import test from 'node:test';

import { measuredWord, metric } from '../../src/metric.ts';
import { initial } from '../../src/state.ts';
import { buildView, worstSeverity } from '../../src/view.ts';
import { samples } from './samples.ts';

function entries() {
  const { figures } = samples.small();
  const view = buildView(figures, initial(figures));
  assert.ok(view);
  return { view, entries: view.entries };
}

test('of several cells the worst counts, and what says nothing is good', () => {
  const { entries: [a, b, c] } = entries();
  assert.ok(a && b && c);
  assert.equal(worstSeverity([]), undefined);
  assert.equal(worstSeverity([a, b]), undefined);
  b.cell.severity = 'warning';
  assert.equal(worstSeverity([a, b, c]), 'warning');
  a.cell.severity = 'failed';
  assert.equal(worstSeverity([a, b, c]), 'failed');
});

test('trials in two groups are shown as two, and as no figure between them', () => {
  const { view, entries: [entry] } = entries();
  assert.ok(entry);
  Object.assign(entry.cell, { metrics: { wal_bytes_per_op: 1306 }, groups: { wal_bytes_per_op: [[3, 282], [3, 2480]] } });
  const word = '282 B/op in 3 trials, 2.48 kB/op in 3';
  assert.equal(measuredWord('wal_bytes_per_op', entry.cell), word);
  const shown = metric('wal_bytes_per_op');
  assert.deepEqual(shown.of(entry.cell, view.run), { value: 2480, low: 282, high: 2480 });
  assert.equal(shown.groups?.(entry.cell), word);
  assert.equal(measuredWord('operations', entry.cell), '–');
});
