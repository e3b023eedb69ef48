// Browser tests of the parts of a serving run.

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';

import { nothingSerious } from './axe.mjs';
import { figuresOf, launch, open, part, settled } from './pages.mjs';

const PARTS = ['throughput', 'times', 'distributions', 'seconds', 'operations', 'serving-loads'];

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser.close(); });

test('a serving run opens with its sentence, its charts and a table behind each, without a message', async () => {
  const { page, context, trouble } = await open(browser, 'serving');
  const [{ answers }] = figuresOf('serving').runs;
  const told = answers.find((one) => one.severity === 'failed') ?? answers[0];
  assert.ok((await page.locator('.lead').first().textContent()).replaceAll('\u00a0', ' ').includes(told.sentence));
  assert.match(await page.locator('.overview thead').textContent(), /mix a, synced: operations\/s.*1 client.*8 clients/);
  await page.waitForSelector('.catches', { state: 'attached' });
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
      await nothingSerious(page, PARTS);
      assert.deepEqual(trouble, []);
      await context.close();
    });
  }
}
