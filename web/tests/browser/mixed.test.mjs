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

test('the seconds beside writers show how stale questions were', async () => {
  const { page, context, trouble } = await open(browser, 'mixed', { chart: false });
  const seconds = await part(page, 'mixed-seconds');
  await settled(page);
  const titles = await seconds.locator('.chart-title').allInnerTexts();
  assert.deepEqual(titles.map((title) => title.split(': ')[1]), Array(3).fill(['documents', 'questions', 'stale']).flat(), titles.join('\n'));
  const described = await seconds.locator('svg[role="img"]').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
  assert.ok(described.filter((words) => /longest staleness in each second, a line for each round$/.test(words)).length === 3, described.join('\n'));
  await seconds.locator('details > summary').first().click();
  assert.match(await seconds.locator('.table').filter({ hasText: 'p95' }).last().innerText(), /1\.\d\d s/);
  assert.deepEqual(trouble, []);
  await context.close();
});

test('a frontier is drawn with its share and both peaks, and a system without one is named', async () => {
  const { page, context, trouble } = await open(browser, 'frontier', { chart: false });
  const frontier = await part(page, 'frontier');
  await settled(page);
  assert.equal(await frontier.locator('svg').count(), 2);
  const [described] = await frontier.locator('svg').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
  assert.match(described, /PostgreSQL.* share 0\.79 of both peaks alone, 36\.[89]k\/s documents and 12\.2k\/h questions; .*questions alone 0.* and 12\.2k\/h; 10 % 3\.76k\/s and 12\.0k\/h; .*; max 30\.1k\/s/);
  assert.match(await frontier.innerText(), /MongoDB.*: no share: a point or a peak has no verified rates, or was too short\./);
  const texts = await frontier.locator('svg').first().locator('text').allTextContents();
  for (const label of ['questions alone', '10 %', '50 %', 'max', 'writers alone']) assert.ok(texts.includes(label), `${label} is not among ${texts.join(', ')}`);
  await frontier.locator('details > summary').first().click();
  const rows = await frontier.locator('.table tbody tr').allInnerTexts();
  assert.equal(rows.length, 3 * 7);
  assert.ok(rows.some((row) => /50 %.*below the line/s.test(row)), rows.join('\n'));
  await frontier.locator('.table button.figure').first().click();
  await page.waitForSelector('dialog[open] .table tbody tr');
  assert.deepEqual(trouble, []);
  await context.close();
});

test('a run at one rate has no frontier', async () => {
  const { page, context, trouble } = await open(browser, 'mixed', { chart: false });
  await part(page, 'slow-downs');
  await settled(page);
  assert.equal(await page.locator('#part-frontier').count(), 0);
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

for (const width of [390, 1440]) {
  for (const scheme of ['light', 'dark']) {
    test(`nothing serious is found in a frontier at ${width} px, ${scheme}`, async () => {
      const { page, context, trouble } = await open(browser, 'frontier', { width, scheme, chart: false });
      await nothingSerious(page, ['frontier']);
      assert.deepEqual(trouble, []);
      await context.close();
    });
  }
}
