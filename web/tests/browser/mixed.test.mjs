// Browser tests of the parts of a mixed run.

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';

import { nothingSerious } from './axe.mjs';
import { launch, open, part, settled } from './pages.mjs';

const PARTS = ['mixed-seconds', 'freshness', 'slow-downs'];

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser.close(); });

test('a mixed run opens with its tables, its charts and a table behind each, without a message', async () => {
  const { page, context, trouble } = await open(browser, 'mixed', { chart: false });
  assert.match(await page.locator('.overview thead').textContent(), /questions per hour.*still.*beside writers.*writers gone.*drained/);
  const findings = page.locator('#part-findings');
  const text = await findings.innerText();
  for (const words of ['interference', 'debt', 'disorder', '60.0 % of the rate kept', 'Writers']) assert.ok(text.includes(words), words);
  for (const id of PARTS) {
    const section = await part(page, id);
    await settled(page);
    assert.ok(await section.locator('svg').count() > 2, id);
    const summary = section.locator('details > summary').first();
    await summary.click();
    await section.locator('.table tbody tr').first().waitFor();
    assert.ok(await section.locator('.table tbody tr').count() > 1, id);
  }
  assert.deepEqual(trouble, []);
  await context.close();
});

test('a wrong system has no value in a chart, and a figure opens its trials', async () => {
  const { page, context, trouble } = await open(browser, 'mixed', { chart: false });
  const freshness = await part(page, 'freshness');
  await settled(page);
  const labels = await freshness.locator('.figure-button').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
  assert.equal(labels.filter((label) => label.endsWith(': wrong')).length, 3, labels.join('\n'));
  const slow = await part(page, 'slow-downs');
  await settled(page);
  assert.match(await slow.locator('svg').first().textContent(), /×/);
  await slow.locator('details > summary').first().click();
  await slow.locator('.table button.figure').first().click();
  await page.waitForSelector('dialog[open] .table tbody tr');
  assert.deepEqual(trouble, []);
  await context.close();
});

for (const width of [360, 1440]) {
  for (const scheme of ['light', 'dark']) {
    test(`nothing serious is found in a mixed run at ${width} px, ${scheme}`, async () => {
      const { page, context, trouble } = await open(browser, 'mixed', { width, scheme, chart: false });
      await nothingSerious(page, PARTS);
      assert.deepEqual(trouble, []);
      await context.close();
    });
  }
}
