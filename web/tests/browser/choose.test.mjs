// Tests of the page of a choice in a real browser: cells open their evidence, which leads to the trials.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test, { after, before } from 'node:test';

import { folder, launch, open } from './pages.mjs';

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser.close(); });

// The page of a choice has no sample, because the program writes it without a script.
const skip = !existsSync(join(folder(), 'choose.html'));

test('cells open their evidence without JavaScript, by click and by key', { skip }, async () => {
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  await page.goto(pathToFileURL(join(folder(), 'choose.html')).href);
  const cell = page.locator('#need-1-response');
  await cell.locator('summary').click();
  assert.ok(await cell.locator('.evidence').isVisible());
  assert.match(await cell.locator('.evidence').innerText(), /limit\s+p99 < .*measured\s+[\d.]+\s(µs|ms|s)/s);
  await cell.locator('summary').press('Enter');
  assert.ok(!(await cell.locator('.evidence').isVisible()));
  await context.close();
});

test('the link of a cell opens its trials on the page of the run', { skip }, async () => {
  const choice = await open(browser, 'choose', { chart: false });
  const links = await choice.page.locator('#need-1-response .evidence a').evaluateAll((all) => all.map((one) => one.getAttribute('href')));
  await choice.context.close();
  assert.equal(links.length, 1, links.join(' '));
  const [file, fragment] = links[0].split('#');
  const run = await open(browser, file.replace(/\.html$/, ''), { fragment: `#${fragment}`, chart: false });
  const dialog = run.page.locator('dialog[open]');
  await dialog.waitFor();
  assert.match(await dialog.innerText(), /trials/i);
  assert.deepEqual([...choice.trouble, ...run.trouble], []);
  await run.context.close();
});

test('every part is one click away, and the table scrolls inside itself on a phone', { skip }, async () => {
  const { page, context, trouble } = await open(browser, 'choose', { width: 390, chart: false });
  const parts = await page.locator('.bar nav a').evaluateAll((all) => all.map((one) => one.getAttribute('href')));
  assert.ok(parts.length > 1 && parts.slice(1).every((address) => existsSync(join(folder(), address))), parts.join(' '));
  const [inside, outside] = await page.evaluate(() => {
    const scroll = document.querySelector('#decision .scroll');
    return [scroll.scrollWidth > scroll.clientWidth, document.documentElement.scrollWidth <= innerWidth];
  });
  assert.deepEqual([inside, outside], [true, true]);
  assert.deepEqual(trouble, []);
  await context.close();
});
