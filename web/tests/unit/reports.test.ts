import assert from 'node:assert/strict';
import test from 'node:test';

import type { Cell, Run } from '../../src/model.ts';
import { besideWords, isReport, loadPairs, lossOf, reportsOf, streamsOf, verdictWords } from '../../src/reports.ts';
import { initial } from '../../src/state.ts';
import { buildView, rankStatus } from '../../src/view.ts';
import { Phase } from '../../src/vocabulary.ts';
import { samples } from './samples.ts';

/** A serving run in which each load was also measured beside reports, with one report. */
function withReports() {
  const { figures } = samples.serving();
  const [run] = figures.runs;
  assert.ok(run);
  const loads = run.cells.filter(({ phase, parameters }) => phase === Phase.Measured && parameters.operation === undefined);
  const beside = loads.map((cell): Cell => ({ ...cell, parameters: { streams: 2, ...cell.parameters } }));
  const reports = loads.map((cell): Cell => ({ ...cell, step: 'revenue', phase: Phase.Both, parameters: { ...cell.parameters, mix: cell.step, streams: 2 }, metrics: { question_p50_us: 5 } }));
  const rest = loads.slice(0, 1).map((cell): Cell => ({ ...cell, step: 'revenue', phase: Phase.Still, parameters: { streams: 2 }, metrics: { question_p50_us: 4 } }));
  run.cells = [...run.cells, ...beside, ...rest, ...reports];
  const view = buildView(figures, initial(figures));
  assert.ok(view);
  return { run: run as Run, view, loads: loads.length };
}

test('a load beside reports stands beside the same load alone', () => {
  const { run, view, loads } = withReports();
  const pairs = loadPairs(view);
  assert.ok(loads > 1 && pairs.length === loads, `${pairs.length} of ${loads}`);
  for (const { beside, alone, title } of pairs) {
    assert.ok(alone !== undefined && alone.cell.parameters.streams === undefined, title);
    assert.deepEqual([alone.cell.configuration, alone.cell.step], [beside.cell.configuration, beside.cell.step]);
    assert.match(title, /^mix \w+, \d+ clients?/);
  }
  const [first] = pairs;
  assert.ok(first);
  run.load_losses = [{ cell: run.cells.indexOf(first.beside.cell), metric: 'throughput_ops_per_s', ratio: 0.5, low: 0.4, high: 0.6, difference: 'slower' }];
  assert.equal(lossOf(run, first.beside, 'throughput_ops_per_s')?.ratio, 0.5);
  assert.equal(lossOf(run, first.beside, 'service_p99_us'), undefined);
});

test('reports are told by the load beside them', () => {
  const { view, loads } = withReports();
  const reports = reportsOf(view);
  assert.equal(reports.length, loads + 1);
  assert.ok(reports.every(({ cell }) => isReport(cell)));
  assert.deepEqual([streamsOf(view), reports.filter(({ cell }) => besideWords(cell) === 'at rest').length], [2, 1]);
  const view0 = buildView(samples.serving().figures, initial(samples.serving().figures));
  assert.ok(view0 !== null && streamsOf(view0) === null, 'a run without reports has none');
});

test('a load that had fewer reports beside it, and reports beside a load that was not kept, are not ranked', () => {
  const { view } = withReports();
  const [pair] = loadPairs(view);
  const report = reportsOf(view)[1];
  assert.ok(pair && report);
  pair.beside.cell.findings = [{ subject: 'fewer reports', state: 'not all questions' }];
  assert.ok(rankStatus(view, pair.beside).doubts.includes('fewer reports'));
  pair.beside.cell.findings = [{ subject: 'too short', state: 'no whole set' }, { subject: 'another', state: 'accepted' }];
  assert.deepEqual(rankStatus(view, pair.beside).doubts.filter((doubt) => doubt === 'too short' || doubt === 'another'), ['too short']);
  report.cell.findings = [{ subject: 'faulty load', state: 'partial' }];
  assert.equal(rankStatus(view, report).tier, 'apart');
  assert.ok(rankStatus(view, report).doubts.includes('faulty load'));
  report.cell.metrics.kept_share = 0.5;
  assert.ok(rankStatus(view, report).doubts.some((doubt) => doubt.includes('of the rate kept')));
});

test('a verdict that was reached before the trials is told as such', () => {
  const { view } = withReports();
  const [, report] = reportsOf(view);
  assert.ok(report);
  const { verdict } = report.cell;
  assert.equal(verdictWords(report.cell), verdictWords({ ...report.cell, findings: [{ subject: 'another', state: 'exact' }] }));
  assert.equal(verdictWords({ ...report.cell, verdict, findings: [{ subject: 'judged at rest', state: verdict }] }), `${verdictWords(report.cell)} at rest`);
});
