// The page as a reader meets it: without a network, by mouse, by keyboard, by link.

import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test, { after, before } from 'node:test';

import { folder, labels, launch, open, part } from './pages.mjs';

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser.close(); });

/** Figures of a part, as soon as they differ from what they were. */
async function changed(page, id, was) {
  await page.waitForFunction(([name, text]) =>
    JSON.stringify([...document.querySelectorAll(`#part-${name} .figure-button`)].map((one) => one.getAttribute('aria-label'))) !== text, [id, JSON.stringify(was)]);
  return labels(page, id);
}

for (const name of ['small', 'two', 'large']) {
  test(`${name}: opens from a file without a network, a message or an error`, async () => {
    const { page, context, trouble } = await open(browser, name);
    for (const id of ['scores', 'hot', 'cold', 'load', 'size', 'series']) await part(page, id);
    assert.match(await page.locator('h1').textContent(), /documents/);
    assert.ok(await page.locator('.finding').count() >= 3);
    assert.deepEqual(trouble, []);
    await context.close();
  });
}

test('hostile text stays text, on the page, in tables and behind figures', async () => {
  const { page, context, trouble } = await open(browser, 'small');
  const hot = await part(page, 'hot');
  await hot.locator('details summary').first().click();
  await page.evaluate(() => { for (const one of document.querySelectorAll('details')) one.open = true; });
  await hot.locator('.figure-button[aria-label*="onerror"]').first().click();
  await page.waitForSelector('dialog[open]');
  await page.evaluate(() => { for (const one of document.querySelectorAll('dialog details')) one.open = true; });
  assert.match(await page.locator('body').innerText(), /<img src=x onerror=alert\(1\)>/);
  assert.equal(await page.locator('img').count(), 0);
  const scripts = await page.evaluate(() => [...document.querySelectorAll('script')].filter((one) => one.textContent === 'alert(1)').length);
  assert.equal(scripts, 0);
  assert.deepEqual(trouble, []);
  await context.close();
});

test('every filter changes what is shown, and back and forward go through the choices', async () => {
  const { page, context, trouble } = await open(browser, 'small');
  await part(page, 'hot');
  const all = await labels(page, 'hot');
  const tick = (name, value) => page.evaluate(([field, word]) => document.querySelector(`input[name="${field}"][value="${word}"]`).click(), [name, value]);
  const systems = await page.locator('input[name="systems"]').evaluateAll((boxes) => boxes.map((box) => box.value));
  assert.ok(systems.length > 1);
  await tick('systems', systems[0]);
  const without = await changed(page, 'hot', all);
  assert.ok(without.length < all.length);
  await page.goBack();
  assert.deepEqual(await changed(page, 'hot', without), all);
  await page.goForward();
  assert.deepEqual(await changed(page, 'hot', all), without);
  await page.locator('.reset').evaluate((one) => one.click());
  await changed(page, 'hot', without);

  for (const name of ['variants', 'rankings', 'questions']) {
    const words = await page.locator(`input[name="${name}"]`).evaluateAll((boxes) => boxes.map((box) => box.value));
    if (words.length < 2) continue;
    await tick(name, words[words.length - 1]);
    const fewer = await changed(page, 'hot', all);
    assert.ok(fewer.length < all.length, name);
    await page.locator('.reset').evaluate((one) => one.click());
    assert.deepEqual(await changed(page, 'hot', fewer), all);
  }
  for (const [name, value] of [['metric', 'documents_per_s'], ['metric', 'peak_pss_bytes'], ['structure', 'bytes']]) {
    const there = await page.locator(`select[name="${name}"] option[value="${value}"]`).count();
    if (there === 0) continue;
    await page.selectOption(`select[name="${name}"]`, value);
    const other = await changed(page, 'hot', all);
    assert.notDeepEqual(other, all);
    await page.locator('.reset').evaluate((one) => one.click());
    assert.deepEqual(await changed(page, 'hot', other), all);
  }
  const states = await page.locator('select[name="data"] option').count();
  if (states > 1) {
    await part(page, 'size');
    const drained = await labels(page, 'size');
    await page.selectOption('select[name="data"]', 'compacted');
    await changed(page, 'size', drained);
    await page.locator('.reset').evaluate((one) => one.click());
  }
  const snapshots = await page.locator('select[name="published"] option').evaluateAll((options) => options.map((option) => option.value).filter((value) => value !== ''));
  if (snapshots.length > 0) {
    const hot = await part(page, 'hot');
    assert.doesNotMatch(await hot.innerText(), /Hollow/);
    await page.selectOption('select[name="published"]', snapshots[0]);
    await page.waitForFunction(() => /Hollow/.test(document.getElementById('part-hot').innerText));
    assert.match(await hot.locator('svg').first().textContent(), /m6i\.8xlarge/);
  }
  assert.deepEqual(trouble, []);
  await context.close();
});

test('a run and a scale can be chosen, and a search narrows the list of many systems', async () => {
  const { page, context } = await open(browser, 'large');
  const title = await page.locator('h1').textContent();
  const scales = await page.locator('select[name="scale"] option').evaluateAll((options) => options.map((option) => option.value));
  await page.selectOption('select[name="scale"]', scales[0]);
  await page.waitForFunction((was) => document.querySelector('h1').textContent !== was, title);
  const boxes = page.locator('input[name="systems"]');
  const count = await boxes.count();
  assert.ok(count >= 50);
  await page.fill('.systems input[type="search"]', '4');
  assert.ok(await boxes.count() < count);
  await page.fill('.systems input[type="search"]', '');
  await page.getByRole('button', { name: 'None of Systems' }).click();
  await page.waitForFunction(() => document.querySelectorAll('input[name="systems"]:checked').length === 0);
  await page.getByRole('button', { name: 'All of Systems' }).click();
  await page.waitForFunction((all) => document.querySelectorAll('input[name="systems"]:checked').length === all, count);
  await context.close();

  const pair = await open(browser, 'two');
  const first = await pair.page.locator('h1').textContent();
  await pair.page.selectOption('select[name="run"]', '1');
  await pair.page.waitForFunction((was) => document.querySelector('h1').textContent !== was, first);
  await part(pair.page, 'runs');
  assert.deepEqual(pair.trouble, []);
  await pair.context.close();
});

test('a deep link restores its state, an opened figure too', async () => {
  const { page, context } = await open(browser, 'large');
  const scales = await page.locator('select[name="scale"] option').evaluateAll((options) => options.map((option) => option.value));
  await page.selectOption('select[name="scale"]', scales[1]);
  await page.selectOption('select[name="metric"]', 'of_best');
  await page.locator('input[name="systems"]').first().click();
  await part(page, 'hot');
  await page.waitForTimeout(300);
  const shown = await labels(page, 'hot');
  await page.locator('#part-hot .figure-button').first().click();
  await page.waitForSelector('dialog[open]');
  const fragment = new URL(page.url()).hash;
  const opened = await page.locator('#dialog-title').textContent();
  await context.close();

  const again = await open(browser, 'large', { fragment });
  await again.page.waitForSelector('dialog[open]');
  assert.equal(await again.page.locator('#dialog-title').textContent(), opened);
  assert.equal(await again.page.locator('select[name="metric"]').inputValue(), 'of_best');
  assert.equal(await again.page.locator('select[name="scale"]').inputValue(), scales[1]);
  assert.equal(await again.page.locator('input[name="systems"]').first().isChecked(), false);
  await again.page.keyboard.press('Escape');
  await again.page.waitForSelector('dialog', { state: 'detached' });
  assert.doesNotMatch(again.page.url(), /figure=/);
  await part(again.page, 'hot');
  await again.page.waitForTimeout(300);
  assert.deepEqual(await labels(again.page, 'hot'), shown);
  assert.deepEqual(again.trouble, []);
  await again.context.close();
});

test('a figure opens its trials by mouse and by keyboard, as many as it has', async () => {
  const { page, context, trouble } = await open(browser, 'small');
  await part(page, 'hot');
  const bars = page.locator('#part-hot .figure-button');
  await bars.nth(1).click();
  await page.waitForSelector('dialog .table tbody tr');
  const told = Number(await page.locator('dialog .pairs div', { hasText: 'trials with a time' }).locator('dd').textContent());
  assert.ok(told > 0);
  assert.equal(await page.locator('dialog .table tbody tr').count(), told);
  assert.ok(await page.locator('dialog svg').count() > 0);
  const byMouse = await page.locator('#dialog-title').textContent();
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog', { state: 'detached' });

  await bars.first().focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForSelector('dialog .table tbody tr');
  assert.equal(await page.locator('#dialog-title').textContent(), byMouse);
  await page.locator('dialog header button').click();
  await page.waitForSelector('dialog', { state: 'detached' });
  assert.equal(await page.evaluate(() => document.activeElement.classList.contains('figure-button')), true, 'the focus is back at the figure');

  await page.locator('#part-hot > details > summary').click();
  await page.locator('#part-hot table button.figure').first().click();
  await page.waitForSelector('dialog[open]');
  assert.deepEqual(trouble, []);
  await context.close();
});

test('a chart is exported as SVG that stands alone, a table as Markdown with its figures', async () => {
  const { page, context, trouble } = await open(browser, 'small', { scheme: 'dark' });
  const hot = await part(page, 'hot');
  const [download] = await Promise.all([page.waitForEvent('download'), hot.locator('button.export', { hasText: 'SVG' }).first().click()]);
  assert.match(download.suggestedFilename(), /^jsonathlon-q1.*\.svg$/);
  const svg = readFileSync(await download.path(), 'utf8');
  const found = await page.evaluate((text) => {
    const parsed = new DOMParser().parseFromString(text, 'image/svg+xml');
    return { broken: parsed.querySelector('parsererror') !== null, root: parsed.documentElement.localName, texts: parsed.documentElement.textContent };
  }, svg);
  assert.equal(found.broken, false);
  assert.equal(found.root, 'svg');
  assert.match(found.texts, /Q1 top event types/);
  assert.doesNotMatch(svg, /var\(|light-dark\(|href=/);

  await hot.locator(':scope > details > summary').click();
  const figure = await hot.locator('table button.figure').first().textContent();
  await page.evaluate(() => { navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }; });
  await hot.locator('.table button.export').first().click();
  const markdown = await page.evaluate(() => window.copied);
  assert.match(markdown, /^\*\*Q1 top event types\*\*\n\n\| system \|/);
  assert.ok(markdown.includes(figure));
  await page.evaluate(() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')); });
  const [saved] = await Promise.all([page.waitForEvent('download'), hot.locator('.table button.export').first().click()]);
  assert.match(saved.suggestedFilename(), /\.md$/);
  assert.equal(readFileSync(await saved.path(), 'utf8'), markdown);
  assert.deepEqual(trouble, []);
  await context.close();
});

test('a page is no larger than 3 MB', () => {
  for (const name of ['small', 'two', 'large']) {
    assert.ok(statSync(join(folder(), `${name}.html`)).size <= 3e6, name);
  }
});
