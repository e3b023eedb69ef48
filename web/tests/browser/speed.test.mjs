// Prints the speed of the large page. It depends on the machine, so the test asserts only that it was
// measured.

import assert from 'node:assert/strict';
import test from 'node:test';

import { told, visit } from './measure.mjs';
import { launch } from './pages.mjs';

test('the large page tells when its first chart and every change were painted', async () => {
  const browser = await launch();
  const figures = await visit(browser);
  console.log(told(figures));
  assert.ok(figures.first > 0);
  assert.ok(figures.filters.length >= 9);
  await browser.close();
});
