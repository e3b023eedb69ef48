// Accessibility: contrast, names and roles, and no horizontal scrolling on narrow screens.

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';

import { nothingSerious, violations } from './axe.mjs';
import { launch, open } from './pages.mjs';

const PARTS = ['scores', 'hot', 'cold', 'load', 'size', 'quality', 'structure', 'memory', 'cpu', 'bound', 'series', 'published'];

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser.close(); });

for (const width of [360, 2560]) {
  for (const scheme of ['light', 'dark']) {
    test(`nothing serious is found at ${width} px, ${scheme}`, async () => {
      const { page, context, trouble } = await open(browser, 'small', { width, scheme });
      await nothingSerious(page, PARTS);
      await page.locator('#part-hot .figure-button').first().click();
      await page.waitForSelector('dialog .table tbody tr');
      assert.deepEqual(await violations(page), []);
      const inside = await page.evaluate(() => {
        const dialog = document.querySelector('dialog');
        return [dialog.scrollWidth, dialog.clientWidth];
      });
      assert.ok(inside[0] <= inside[1], `dialog: ${inside[0]} px in ${inside[1]}`);
      assert.deepEqual(trouble, []);
      await context.close();
    });
  }
}

test('the colours can be switched whatever the machine has', async () => {
  const { page, context } = await open(browser, 'small', { scheme: 'light' });
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await paper();
  await page.selectOption('select[name="theme"]', 'dark');
  assert.notEqual(await paper(), light);
  await context.close();
});
