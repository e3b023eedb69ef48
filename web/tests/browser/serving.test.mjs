// The parts of a serving run as a reader meets them.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import test, { after, before } from 'node:test';

import { launch, open, part, settled } from './pages.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PARTS = ['throughput', 'times', 'distributions', 'seconds', 'operations', 'serving-loads'];

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser.close(); });

async function violations(page) {
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  return found.violations.filter((one) => one.impact === 'serious' || one.impact === 'critical')
    .map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | ')}`);
}

test('a serving run opens with its sentence, its charts and a table behind each, without a message', async () => {
  const { page, context, trouble } = await open(browser, 'serving');
  assert.match(await page.locator('.lead').textContent(), /^Mix [ac], synced: .* gets most done, .* operations\/s/);
  assert.match(await page.locator('.catches').first().textContent(), /Steady state: not tested/);
  for (const id of PARTS) {
    const section = await part(page, id);
    await settled(page);
    assert.ok(await section.locator('svg').count() > 0, id);
    const summary = section.locator('details > summary').first();
    await summary.click();
    await section.locator('.table tbody tr').first().waitFor();
    assert.ok(await section.locator('.table tbody tr').count() > 1, id);
  }
  assert.equal(await page.locator('[id^="part-workload"]').count(), 0, 'every cell has a part');
  assert.deepEqual(trouble, []);
  await context.close();
});

test('percentiles, clients and mixes can be chosen, and a figure opens its trials', async () => {
  const { page, context, trouble } = await open(browser, 'serving');
  const times = await part(page, 'times');
  assert.match(await times.innerText(), /response time, p99/);
  await page.selectOption('select[name="percentile"]', 'p50');
  await page.waitForFunction(() => /response time, median/.test(document.getElementById('part-times').innerText));
  const distributions = await part(page, 'distributions');
  await page.selectOption('select[name="clients"]', '1');
  await page.waitForFunction(() => /1 client: service time/.test(document.getElementById('part-distributions').innerText));
  assert.match(await distributions.locator('svg').first().textContent(), /p99/);
  const seconds = await part(page, 'seconds');
  await page.selectOption('select[name="clients-seconds"]', '8');
  await settled(page);
  assert.ok(await seconds.locator('svg').count() > 1);
  const throughput = await part(page, 'throughput');
  await throughput.locator('details > summary').first().click();
  await throughput.locator('.table button.figure').first().click();
  await page.waitForSelector('dialog[open] .table tbody tr');
  assert.match(await page.locator('dialog h2').first().textContent(), /1 client/);
  assert.deepEqual(trouble, []);
  await context.close();
});

for (const width of [360, 1440]) {
  for (const scheme of ['light', 'dark']) {
    test(`nothing serious is found in a serving run at ${width} px, ${scheme}`, async () => {
      const { page, context, trouble } = await open(browser, 'serving', { width, scheme });
      for (const id of PARTS) await part(page, id);
      await page.evaluate(() => { for (const one of document.querySelectorAll('main details')) one.open = true; });
      await page.addStyleTag({ content: '.part { content-visibility: visible !important }' });
      await settled(page);
      await page.evaluate(axe);
      assert.deepEqual(await violations(page), []);
      const wide = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
      assert.ok(wide[0] <= wide[1], `${wide[0]} px in ${wide[1]}`);
      assert.deepEqual(trouble, []);
      await context.close();
    });
  }
}
