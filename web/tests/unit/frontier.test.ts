import assert from 'node:assert/strict';
import test from 'node:test';

import type { PageData } from '../../src/model.ts';
import { frontierOf, frontiersOf, isDominated, placeOf } from '../../src/frontier.ts';
import { initial } from '../../src/state.ts';
import { buildView } from '../../src/view.ts';
import { Phase } from '../../src/vocabulary.ts';
import { samples } from './samples.ts';

function of(figures: PageData) {
  const view = buildView(figures, initial(figures));
  assert.ok(view);
  return frontiersOf(view);
}

// The same points as in crates/stats/src/frontier.rs, which draws the tables.
test('the share is that of the tables', () => {
  const [postgresql, sqlite] = of(samples.frontier().figures);
  assert.ok(postgresql?.frontier && sqlite?.frontier);
  assert.ok(Math.abs(postgresql.frontier.share - 0.79) < 0.005, String(postgresql.frontier.share));
  assert.deepEqual(postgresql.frontier.hull.map(({ documents }) => documents), [0, 3757, 30_052, 36_850]);
  assert.deepEqual(postgresql.points.map(({ label }) => label), ['questions alone', '10 %', '20 %', '50 %', '80 %', 'max', 'writers alone']);
  assert.deepEqual(postgresql.points.map((_, index) => placeOf(postgresql, index)), ['peak', 'hull', 'not dominated', 'dominated', 'dominated', 'hull', 'peak']);
  assert.deepEqual(sqlite.points.map((_, index) => placeOf(sqlite, index)), ['peak', 'not dominated', 'hull', 'below the line', 'below the line', 'below the line', 'peak']);
  assert.deepEqual(sqlite.points.map((_, index) => isDominated(sqlite, index)), [false, false, false, true, false, true, false]);
});

test('merely sharing the cores is half, no interference is one, and a point beyond a peak widens the box', () => {
  const peaks = [{ documents: 0, questions: 10 }, { documents: 100, questions: 0 }];
  assert.deepEqual([frontierOf(peaks).share, frontierOf(peaks).hull.length], [0.5, 2]);
  assert.equal(frontierOf([...peaks, { documents: 100, questions: 10 }]).share, 1);
  assert.ok(Math.abs(frontierOf([...peaks, { documents: 110, questions: 4 }]).share - 0.7) < 1e-12);
});

test('a peak that was too short leaves no frontier', () => {
  const { figures } = samples.frontier();
  const alone = figures.runs[0]?.cells.find(({ phase }) => phase === Phase.Alone);
  assert.ok(alone);
  alone.findings = [{ subject: 'too short', state: '0.40 s' }];
  const [postgresql, sqlite] = of(figures);
  assert.ok(postgresql && sqlite?.frontier);
  assert.deepEqual([postgresql.frontier, postgresql.points[postgresql.points.length - 1]?.at], [null, null]);
});

test('unverified answers leave no frontier, and runs of one rate have none', () => {
  const mongodb = of(samples.frontier().figures)[2];
  assert.ok(mongodb);
  assert.deepEqual([mongodb.frontier, mongodb.points[1]?.at, mongodb.points[0]?.at], [null, null, { documents: 0, questions: 540 }]);
  assert.equal(placeOf(mongodb, 0), null);
  assert.deepEqual(of(samples.mixed().figures), []);
});
