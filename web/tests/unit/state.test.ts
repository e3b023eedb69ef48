import assert from 'node:assert/strict';
import test from 'node:test';

import type { State } from '../../src/state.ts';
import { fromFragment, initial, toFragment } from '../../src/state.ts';
import { isShown, view } from '../../src/select.ts';
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
    { withoutSystems: new Set(['system-3', 'system-4']) }, { withoutVariants: new Set(['no-index']) }, { withoutRankings: new Set(['generated']) },
    { withoutQuestions: new Set(['q1', 'q6']) }, { opened: { run: 2, cell: 7 } },
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
  for (const text of ['#', '#x', '#run=none', '#state=x', '#structure=x', '#figure=large-1m:999999', '#figure=:', '#no-systems=nobody', '#systems=%E0%A4%A', '#metric']) {
    const found = fromFragment(text, figures);
    assert.equal(found.run, own.run, text);
    assert.equal(found.opened, null, text);
  }
});

test('names of runs and systems may hold anything', () => {
  const run = figures.runs[0];
  const configuration = run?.configurations[0];
  assert.ok(run && configuration);
  const odd = { ...run, name: 'a&b=c:d.é #', configurations: [{ ...configuration, system: 'x.y,z&' }, ...run.configurations.slice(1)] };
  const both = { ...figures, runs: [odd, ...figures.runs.slice(1)] };
  const state = { ...initial(both), run: 0, withoutSystems: new Set(['x.y,z&']), opened: { run: 0, cell: 1 } };
  assert.deepEqual(fromFragment(toFragment(state, both), both), state);
});

test('reference rows are shown whatever is chosen, others by every filter', () => {
  const own = initial(figures);
  const configurations = figures.runs[0]?.configurations ?? [];
  const shown = (state: State) => configurations.filter((one) => isShown(one, state));
  assert.equal(shown(own).length, 52);
  const none = { ...own, withoutSystems: new Set(configurations.map((one) => one.system)) };
  assert.ok(shown(none).every((one) => one.reference));
  assert.ok(shown({ ...own, withoutVariants: new Set(['no-index']) }).every((one) => one.variant !== 'no-index'));
  assert.ok(shown({ ...own, structure: 'changed' }).every((one) => one.reference || one.structure?.retains === 'changed'));
  assert.deepEqual(view(figures, { ...own, withoutQuestions: new Set(['q2']) })?.questions, ['q1', 'q3', 'q4', 'q5', 'q6']);
});
