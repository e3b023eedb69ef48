// For everybody: contrasts, names and roles, and no scrolling to the side on a narrow screen.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import test, { after, before } from 'node:test';

import { launch, open, part, settled } from './pages.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PARTS = ['scores', 'hot', 'cold', 'load', 'size', 'quality', 'structure', 'memory', 'cpu', 'bound', 'series', 'published'];

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser.close(); });

/** What axe finds serious or worse. */
async function violations(page) {
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  return found.violations.filter((one) => one.impact === 'serious' || one.impact === 'critical')
    .map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | ')}`);
}

for (const width of [360, 2560]) {
  for (const scheme of ['light', 'dark']) {
    test(`nothing serious is found at ${width} px, ${scheme}`, async () => {
      const { page, context, trouble } = await open(browser, 'small', { width, scheme });
      for (const id of PARTS) await part(page, id);
      await page.evaluate(() => { for (const one of document.querySelectorAll('main details')) one.open = true; });
      await page.addStyleTag({ content: '.part { content-visibility: visible !important }' });
      await settled(page);
      await page.evaluate(axe);
      assert.deepEqual(await violations(page), []);
      const wide = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
      assert.ok(wide[0] <= wide[1], `${wide[0]} px in ${wide[1]}`);
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
