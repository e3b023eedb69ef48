// Checks pages with axe and for horizontal overflow.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { part, settled } from './pages.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Loads axe into a page. */
export async function loadAxe(page) {
  await page.evaluate(axe);
}

/** Violations that axe rates serious or critical. Axe must have been loaded before. */
export async function violations(page) {
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  return found.violations.filter((one) => one.impact === 'serious' || one.impact === 'critical')
    .map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | ')}`);
}

/**
 * Opens the parts and all their details; asserts that axe finds nothing serious and nothing overflows
 * horizontally.
 */
export async function nothingSerious(page, parts) {
  for (const id of parts) await part(page, id);
  await page.evaluate(() => { for (const one of document.querySelectorAll('main details')) one.open = true; });
  await page.addStyleTag({ content: '.part { content-visibility: visible !important }' });
  await settled(page);
  await loadAxe(page);
  assert.deepEqual(await violations(page), []);
  // Open filters would cover what a test clicks next.
  await page.evaluate(() => { for (const one of document.querySelectorAll('details.filters')) one.open = false; });
  const wide = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  assert.ok(wide[0] <= wide[1], `${wide[0]} px in ${wide[1]}`);
}
