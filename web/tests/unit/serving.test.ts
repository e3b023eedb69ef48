import assert from 'node:assert/strict';
import test from 'node:test';

import type { PageData } from '../../src/model.ts';
import { dimensionsOf } from '../../src/labels.ts';
import { caveats, distributionOf, groupsOf, groupsWithTimes, leaders, leaderSentence, nines, overClients, overThroughput, percentileName, timesOf } from '../../src/serving.ts';
import { initial } from '../../src/state.ts';
import { logTicks } from '../../src/charts/curves.ts';
import { buildView } from '../../src/view.ts';
import { samples } from './samples.ts';

function of(figures: PageData, without: readonly string[] = []) {
  const view = buildView(figures, { ...initial(figures), withoutSystems: new Set(without) });
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

test('who gets most done is said with the interval, and that nothing is shown where nothing is', () => {
  const { figures } = samples.serving();
  const [a, c] = leaders(of(figures));
  assert.ok(a && c);
  assert.match(leaderSentence(c).text, /^Mix c, synced: PostgreSQL 1\.0 key gets most done, [\d.]+k operations\/s \([\d.]+k … [\d.]+k\) at 32 clients\. SQLite 1\.0 key reaches 0\.\d+ × of it/);
  assert.equal(a.others.length, 2, 'what is wrong or not ranked is not named');
  const [peak] = figures.runs[0]?.peaks.filter((one) => one.ratio_to_best.ratio < 1) ?? [];
  assert.ok(peak);
  Object.assign(peak.ratio_to_best, { low: 0.9, high: 1.02 });
  for (const one of figures.runs[0]?.peaks ?? []) if (one !== peak && one.ratio_to_best.ratio < 1) Object.assign(one, { throughput_ops_per_s: 1 });
  for (const one of figures.runs[0]?.peaks ?? []) one.leads = false;
  const not = leaders(of(figures)).map(leaderSentence).find((one) => one.sure === 'not shown');
  assert.match(not?.text ?? '', /^Mix a, synced: no difference shown between PostgreSQL 1\.0 key and /);
  assert.doesNotMatch(not?.text ?? '', /gets most done/);
  for (const one of figures.runs[0]?.peaks ?? []) Object.assign(one.ratio_to_best, { low: null, high: null });
  const few = leaders(of(figures)).map(leaderSentence);
  assert.ok(few.every((one) => one.sure === 'once' && /too few rounds to say which gets most done/.test(one.text)), few[0]?.text);
});

test('who is filtered out leads nobody', () => {
  const { figures } = samples.serving();
  const all = leaders(of(figures)).find((one) => one.group.mix === 'c');
  const without = leaders(of(figures, ['postgresql'])).find((one) => one.group.mix === 'c');
  assert.equal(all?.best.entry.configuration.system, 'postgresql');
  assert.equal(without?.best.entry.configuration.system, 'sqlite');
  // Ratios over paired rounds are known only relative to the configuration that leads among all.
  const [next] = without?.others ?? [];
  assert.ok(next && next.ratio.value < 1 && next.ratio.low !== null);
  const alone = leaders(of(figures, ['postgresql', 'sqlite'])).find((one) => one.group.mix === 'c');
  assert.equal(alone && leaderSentence(alone).sure, 'alone');
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

test('ticks of a logarithmic scale', () => {
  assert.deepEqual(logTicks(1, 100), [1, 2, 5, 10, 20, 50, 100]);
  assert.deepEqual(logTicks(1, 1e6), [1, 10, 100, 1000, 1e4, 1e5, 1e6]);
});
