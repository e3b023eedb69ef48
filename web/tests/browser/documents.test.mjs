// Browser tests of the parts of a documents run.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import test, { after, before } from 'node:test';

import { launch, open, part, settled } from './pages.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Parts that contain charts. */
const PARTS = ['by-size', 'disk'];

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser.close(); });

/** Brings a part with a table but without a chart into view and returns it. */
async function tablePart(page, id) {
  const found = page.locator(`#part-${id}`);
  await found.locator('table').first().waitFor({ state: 'attached' });
  await found.scrollIntoViewIfNeeded();
  return found;
}

test('a run of large documents opens with its sentence, and a chart and a table for each test', async () => {
  const { page, context, trouble } = await open(browser, 'documents');
  await page.waitForSelector('#part-findings', { state: 'attached' });
  assert.match(await page.locator('#part-findings').textContent(), /tables of large documents/);
  assert.match(await page.locator('.overview thead').textContent(), /export, identical.*64KiB.*1MiB/);
  const sizes = await part(page, 'by-size');
  await settled(page);
  assert.ok(await sizes.locator('svg').count() > 3);
  await sizes.locator('details > summary').first().click();
  await sizes.locator('.table tbody tr').first().waitFor();
  assert.match(await sizes.locator('.table').first().innerText(), /64KiB/);
  assert.equal(await page.locator('[id^="part-workload"]').count(), 0, 'every cell has a part');
  assert.deepEqual(trouble, []);
  await context.close();
});

test('published figures are a layer that is laid over and taken away again', async () => {
  const { page, context, trouble } = await open(browser, 'documents');
  const sizes = await part(page, 'by-size');
  await settled(page);
  const dashed = () => sizes.locator('svg [stroke-dasharray="4 3"] path').count();
  assert.equal(await dashed(), 0);
  await page.check('input[name="published-documents"]');
  await page.waitForFunction(() => document.querySelectorAll('#part-by-size svg [stroke-dasharray="4 3"] path').length > 0);
  assert.match(await sizes.innerText(), /Apple M2 Pro/);
  await sizes.locator('details > summary').first().click();
  await sizes.locator('.table').last().waitFor();
  assert.match(await sizes.locator('.table').last().innerText(), /probably one of the two was copied/);
  await page.uncheck('input[name="published-documents"]');
  await page.waitForFunction(() => document.querySelectorAll('#part-by-size svg [stroke-dasharray="4 3"] path').length === 0);
  assert.deepEqual(trouble, []);
  await context.close();
});

test('what plans do with an index is told with the sizes and data sets where it differs', async () => {
  const { page, context, trouble } = await open(browser, 'documents');
  const uses = await tablePart(page, 'index-use');
  const rows = await uses.locator('.table').first().locator('tbody tr').allTextContents();
  assert.ok(rows.some((row) => /✓ used \(64KiB\), ○ usable \(1MiB/.test(row)), rows.join('\n'));
  assert.ok(rows.some((row) => /≈ in vain \(identical\), ✓ used \(distinct\)/.test(row)), rows.join('\n'));
  assert.ok(rows.some((row) => /✕ impossible – used by filter column by name and contains @>/.test(row)), rows.join('\n'));
  await uses.locator('.table button.figure').first().click();
  await page.waitForSelector('dialog[open]');
  assert.deepEqual(trouble, []);
  await context.close();
});

test('who changes places is told with its interval', async () => {
  const { page, context, trouble } = await open(browser, 'documents');
  const crossovers = await tablePart(page, 'crossovers');
  assert.match(await crossovers.locator('tbody tr').first().textContent(), /export.*KiB.*…/s);
  assert.deepEqual(trouble, []);
  await context.close();
});

for (const scheme of ['light', 'dark']) {
  test(`nothing serious is found in a run of large documents at 360 px, ${scheme}`, async () => {
    const { page, context, trouble } = await open(browser, 'documents', { width: 360, scheme });
    for (const id of PARTS) await part(page, id);
    await page.evaluate(() => { for (const one of document.querySelectorAll('main details')) one.open = true; });
    await page.addStyleTag({ content: '.part { content-visibility: visible !important }' });
    await settled(page);
    await page.evaluate(axe);
    const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
    const serious = found.violations.filter((one) => one.impact === 'serious' || one.impact === 'critical');
    assert.deepEqual(serious.map((one) => `${one.id}: ${one.nodes[0]?.html.slice(0, 160)}`), []);
    const wide = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
    assert.ok(wide[0] <= wide[1], `${wide[0]} px in ${wide[1]}`);
    assert.deepEqual(trouble, []);
    await context.close();
  });
}
