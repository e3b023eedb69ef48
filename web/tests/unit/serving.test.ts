import assert from 'node:assert/strict';
import test from 'node:test';

import type { PageData } from '../../src/model.ts';
import { dimensionsOf } from '../../src/labels.ts';
import { caveats, distributionOf, groupsOf, groupsWithTimes, nines, overClients, overThroughput, percentileName, timesOf } from '../../src/serving.ts';
import { initial } from '../../src/state.ts';
import { buildView } from '../../src/view.ts';
import { samples } from './samples.ts';

function of(figures: PageData) {
  const view = buildView(figures, initial(figures));
  assert.ok(view);
  return view;
}

test('cells of a mix stand together, whatever the number of clients, the rate or the operation', () => {
  const groups = groupsOf(of(samples.serving().figures));
  assert.deepEqual(groups.map((one) => [one.title, one.open, one.entries.length, one.operations.length]), [
    ['mix a, synced', false, 15, 30], ['mix a, synced, poisson', true, 12, 0], ['mix c, synced', false, 15, 0],
  ]);
  assert.equal(dimensionsOf({ values: 'random', clients: 1, arrival: 'closed', documents: 'large', durability: 'synced' }), '1 client, synced, random values, large documents');
});

test('throughput over clients leaves out what is wrong and marks what is not ranked', () => {
  const view = of(samples.serving().figures);
  const [a, , c] = groupsOf(view);
  assert.ok(a && c);
  assert.deepEqual(overClients(view, a).map((curve) => [curve.configuration.system, curve.points.length]), [['postgresql', 3], ['mongodb', 3], ['sqlite', 3], ['duckdb', 3]]);
  const curves = overClients(view, c);
  const ranked = new Map(curves.map((curve) => [curve.configuration.system, curve.points.every((point) => point.ranked)]));
  assert.deepEqual([ranked.get('postgresql'), ranked.get('mock'), ranked.get('duckdb')], [true, false, false]);
  assert.deepEqual(curves[0]?.points.map((point) => point.x), [1, 8, 32]);
  assert.ok(curves[0]?.points.every((point) => point.low !== null && point.low < point.y));
});

test('times are response times by a schedule, and service times only where there is none', () => {
  const view = of(samples.serving().figures);
  const groups = groupsOf(view);
  const those = groupsWithTimes(groups);
  assert.deepEqual(those.map((one) => [one.mix, timesOf(one).words]), [['a', 'response time'], ['c', 'service time']]);
  const [open] = those;
  assert.ok(open);
  const [postgresql] = overThroughput(view, open, 'p99');
  assert.equal(postgresql?.points.length, 3);
  const rates = postgresql?.points.map((point) => point.x) ?? [];
  assert.deepEqual(rates, [...rates].sort((x, y) => x - y));
  assert.ok((postgresql?.points[2]?.y ?? 0) > (postgresql?.points[0]?.y ?? 0));
});

test('each nine of the axis of percentiles is as wide as the one before', () => {
  assert.ok(Math.abs((nines(0.99) ?? 0) - 2) < 1e-9 && Math.abs((nines(0.999) ?? 0) - 3) < 1e-9);
  assert.equal(nines(1), null);
  assert.deepEqual([0.5, 0.99, 0.999, 0.99999].map(percentileName), ['p50', 'p99', 'p99.9', 'p99.999']);
  const cell = samples.serving().figures.runs[0]?.cells.find((one) => one.distributions !== undefined);
  assert.ok(cell);
  const points = distributionOf(cell, 'service');
  assert.equal(points.length, (cell.distributions?.service?.length ?? 0) - 1, 'the longest is no point of the curve');
  assert.deepEqual(distributionOf(cell, 'response'), []);
});

test('the caveats of a run', () => {
  const { figures, evidence } = samples.serving();
  const lines = new Map(caveats(of(figures), evidence).map((one) => [one.title, one.line]));
  assert.equal(lines.get('Steady state'), 'not tested');
  assert.match(lines.get('Checkpoints') ?? '', /^inside \d+ of \d+ trials of [^;]+; not reported by /);
  assert.match(lines.get('Durability') ?? '', /^synced: a process crash loses nothing \(as documented, not tested\), a power loss nothing \(as documented, not tested\); /);
  assert.ok(lines.has('Driver-bound') && lines.has('Service time') && lines.has('Arrivals not begun'));
  assert.match(lines.get('DuckDB') ?? '', /not made for this/);
  assert.equal(lines.has('Errors'), false);
  for (const run of evidence.runs) for (const cell of run.cells) for (const one of cell.seconds ?? []) one.checkpoints = [];
  const without = caveats(of(figures), evidence).find((one) => one.title === 'Checkpoints');
  assert.match(without?.line ?? '', /^inside none of \d+ trials of /);
});
