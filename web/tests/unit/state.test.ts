import assert from 'node:assert/strict';
import test from 'node:test';

import type { PageData, Run } from '../../src/model.ts';
import type { State } from '../../src/state.ts';
import { cellMark, fromFragment, initial, tabChoice, toFragment } from '../../src/state.ts';
import { buildView, isShown, workloadsOf } from '../../src/view.ts';
import { samples } from './samples.ts';

const { figures } = samples.large();

test('the own choice of the page is no fragment, and the largest run is shown', () => {
  const own = initial(figures);
  assert.equal(toFragment(own, figures), '');
  assert.equal(figures.runs[own.run]?.data.documents, 1e8);
  assert.deepEqual(fromFragment('', figures), own);
});

test('every choice comes back from the address', () => {
  const own = initial(figures);
  const changes: Partial<State>[] = [
    { run: 1 }, { metric: 'peak_pss_bytes' }, { data: 'compacted' }, { structure: 'bytes' }, { published: '2025-11' },
    { withoutSystems: new Set(['system-3', 'system-4']) }, { withoutVariants: new Set(['no-index']) }, { withoutRankings: new Set(['extracted']) }, { withoutClasses: new Set(['as-is']) }, { withoutProfiles: new Set(['sized']) },
    { withoutQuestions: new Set(['q1', 'q6']) }, { opened: { run: 2, cell: 7 } },
    { basis: 'round 1' }, { month: '2025-02' }, { scale: 10_000_000 }, { kept: 'no' }, { at: 'hot' }, { at: 'hot:q1-top-event-types' },
    { withoutSystems: new Set(Array.from({ length: 50 }, (_, index) => `system-${index}`)) },
    { withoutSystems: new Set(Array.from({ length: 49 }, (_, index) => `system-${index}`)), run: 0, metric: 'of_best' },
  ];
  for (const change of changes) {
    const state = { ...own, ...change };
    const fragment = toFragment(state, figures);
    assert.notEqual(fragment, '');
    assert.match(fragment, /^[\w=&%.:~-]+$/);
    assert.deepEqual(fromFragment(`#${fragment}`, figures), state, fragment);
  }
});

test('what is not understood in an address is passed over', () => {
  const own = initial(figures);
  for (const text of [
    '#', '#x', '#run=none', '#state=x', '#structure=x', '#figure=large-1m:999999', '#figure=large-1m:', '#figure=:', '#no-systems=nobody',
    '#systems=nobody', '#systems=%E0%A4%A', '#no-questions=', '#metric', '#metric=nothing', '#metric=%', '#published=1999-01', '#basis=x', '#month=x', '#scale=7', '#kept=x', '#tab=nothing', '#at=a%20b', '#at=a:b:c',
  ]) assert.deepEqual(fromFragment(text, figures), own, text);
  const known = fromFragment('#no-systems=%E0%A4%A.system-3.nobody', figures);
  assert.deepEqual([...known.withoutSystems], ['system-3']);
});

test('names of runs and systems may hold anything', () => {
  const run = figures.runs[0];
  const configuration = run?.configurations[0];
  assert.ok(run && configuration);
  for (const system of ['x.y,z&', '', '~', '%', '__proto__', 'constructor', 'é #']) {
    const odd: Run = {
      ...run, name: 'a&b=c:d.é #', configurations: [{ ...configuration, system }, ...run.configurations.slice(1)],
    };
    const both: PageData = { ...figures, runs: [odd, ...figures.runs.slice(1)] };
    const others: string[] = run.configurations.slice(1).map((one) => one.system);
    const choices: readonly ReadonlySet<string>[] = [new Set([system]), new Set(others)];
    for (const withoutSystems of choices) {
      const state: State = { ...initial(both), run: 0, data: 'compacted', withoutSystems, opened: { run: 0, cell: 1 } };
      const found = fromFragment(toFragment(state, both), both);
      assert.deepEqual({ ...found, withoutSystems: [...found.withoutSystems].filter((one) => one !== 'yardstick') },
        { ...state, withoutSystems: [...withoutSystems].filter((one) => one !== 'yardstick') }, system);
    }
  }
});

test('a link to a figure holds where cells stand in another order, and every cell has a mark of its own', () => {
  const own = initial(figures);
  const run = figures.runs[2];
  assert.ok(run);
  assert.equal(new Set(run.cells.map((cell) => cellMark(run, cell))).size, run.cells.length);
  const fragment = toFragment({ ...own, opened: { run: 2, cell: 7 } }, figures);
  const again: PageData = { ...figures, runs: figures.runs.map((one) => ({ ...one, cells: [...one.cells].reverse() })) };
  assert.deepEqual(fromFragment(fragment, again).opened, { run: 2, cell: run.cells.length - 8 });
});

test('reference rows are shown whatever is chosen, others by every filter', () => {
  const own = initial(figures);
  const configurations = figures.runs[0]?.configurations ?? [];
  const shown = (state: State) => configurations.filter((one) => isShown(one, state));
  assert.equal(shown(own).length, 52);
  const none = { ...own, withoutSystems: new Set(configurations.map((one) => one.system)) };
  assert.ok(shown(none).every((one) => one.reference));
  assert.ok(shown({ ...own, withoutClasses: new Set(['as-is']) }).every((one) => one.reference || one.preparation !== 'as-is'));
  assert.ok(shown({ ...own, withoutProfiles: new Set(['sized']) }).every((one) => one.reference));
  assert.ok(shown({ ...own, withoutVariants: new Set(['no-index']) }).every((one) => one.variant !== 'no-index'));
  assert.ok(shown({ ...own, structure: 'changed' }).every((one) => one.reference || one.structure?.retains === 'changed'));
  assert.deepEqual(buildView(figures, { ...own, withoutQuestions: new Set(['q2']) })?.questions, ['q1', 'q3', 'q4', 'q5', 'q6']);
});

test('a tab is kept in the address, and shows a run that has its workload', () => {
  const { figures: both } = samples.several();
  const own = initial(both);
  assert.deepEqual([workloadsOf(both.runs), own.workload, own.run], [['analytics', 'serving'], 'analytics', 0]);
  const served = { ...own, ...tabChoice(both, own.run, 'serving') };
  assert.deepEqual([served.workload, served.run], ['serving', 1]);
  assert.equal(toFragment(served, both), 'tab=serving');
  assert.deepEqual(fromFragment('#tab=serving', both), served);
  assert.deepEqual(fromFragment('#run=serving', both), served, 'a run is shown by its own workload');
  assert.ok(buildView(both, served)?.entries.every(({ cell }) => cell.workload === 'serving'));
});
