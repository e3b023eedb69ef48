// Tests of figures in a real browser: no text covers another or leaves its figure, and every figure can be saved.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after, before } from 'node:test';

import { loadAxe, violations } from './axe.mjs';
import { drawAll, figures, misplacedTexts } from './boxes.mjs';
import { folder, launch, open, part, settled } from './pages.mjs';

/** Pages with as much text as runs may have, one at least for each workload, with the least number of their figures. */
const PAGES = {
  crowded: 20, 'crowded-serving': 5, serving: 5, mixed: 12, frontier: 2, documents: 5, 'one-size': 5, 'own-questions': 5, fidelity: 0, durability: 1, two: 10, study: 1, 'study-frontier': 2, choose: 3,
};

/** Pages without a sample, because the program writes them without a script. */
const WITHOUT_SCRIPT = ['study', 'study-frontier', 'choose'];

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser.close(); });

for (const [name, least] of Object.entries(PAGES)) {
  for (const width of [1280, 390]) {
    const hasScript = !WITHOUT_SCRIPT.includes(name);
    const skip = !hasScript && !existsSync(join(folder(), `${name}.html`));
    test(`${name}: texts of figures keep apart and inside at ${width} px, and axe finds nothing serious`, { skip }, async () => {
      // On a phone, the first chart may be below the first screen, and is drawn only when the page is scrolled.
      const { page, context, trouble } = await open(browser, name, { width, chart: hasScript && least > 1 && width > 390 && !['mixed', 'frontier'].includes(name) });
      if (hasScript) await page.waitForSelector('.part');
      await drawAll(page);
      await settled(page);
      await drawAll(page);
      await settled(page);
      assert.ok(await figures(page) >= least, `${await figures(page)} figures`);
      await loadAxe(page);
      for (const colorScheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme });
        assert.deepEqual((await misplacedTexts(page)).slice(0, 12), [], colorScheme);
        assert.deepEqual(await violations(page), [], colorScheme);
      }
      const wide = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
      assert.ok(wide[0] <= wide[1], `${wide[0]} px in ${wide[1]}`);
      assert.deepEqual(trouble, []);
      await context.close();
    });
  }
}

/** Starts the download of a figure in one format. */
async function saved(page, section, format) {
  const [download] = await Promise.all([page.waitForEvent('download'), section.locator('button.export', { hasText: format }).first().click()]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

test('a figure is saved as SVG, PNG and CSV, whose names state subject, data and date', async () => {
  for (const scheme of ['light', 'dark']) {
    const { page, context, trouble } = await open(browser, 'crowded', { scheme });
    const hot = await part(page, 'hot');
    await settled(page);
    const svg = await saved(page, hot, 'SVG');
    assert.match(svg.name, /^jsonathlon-q1-top-event-types-crowded-10m-documents-2026-11-22\.svg$/);
    const text = svg.bytes.toString('utf8');
    assert.match(text, /10,000,000 documents of 4\.80 GB.*2026-11-22/);
    const png = await saved(page, hot, 'PNG');
    assert.match(png.name, /2026-11-22\.png$/);
    assert.equal(png.bytes.subarray(1, 4).toString(), 'PNG');
    const [, width] = /<svg [^>]*width="([\d.]+)"/.exec(text);
    assert.equal(png.bytes.readUInt32BE(16), Math.floor(Number(width) * 2), 'twice as wide as the drawing');
    const csv = await saved(page, hot, 'CSV');
    assert.match(csv.name, /2026-11-22\.csv$/);
    const lines = csv.bytes.toString('utf8').trimEnd().split('\n');
    assert.equal(lines[0], 'ranking,name,notes,value,low,high,shown as');
    assert.ok(lines.length > 10 && lines.some((line) => /^reference,yardstick one-core,,[\d.e-]+,,,/.test(line)), lines.join('\n'));
    assert.deepEqual(trouble, []);
    await context.close();
  }
});

test('times are dots on a log axis without a zero, bytes are bars from zero, and the yardstick sets no scale', async () => {
  const { page, context, trouble } = await open(browser, 'crowded');
  const hot = await part(page, 'hot');
  await settled(page);
  const ticks = (section) => section.locator('svg').first().locator('[aria-hidden] text').evaluateAll((all) => all.map((one) => one.textContent));
  const times = await ticks(hot);
  assert.ok(times.some((text) => /^time, less is better, log scale$/.test(text)) && !times.includes('0'), times.join(' | '));
  const numbers = times.filter((text) => /^\d+(\.\d+)? (µs|ms|s)$/.test(text)).map((text) => text.replace(/\D.*$/, ''));
  assert.ok(numbers.filter((one) => /^[125]0*$/.test(one)).length >= 2, times.join(' | '));
  assert.ok(times.some((text) => /yardstick one-core .*/.test(text)), 'the yardstick is named');
  const size = await part(page, 'size');
  await settled(page);
  const bytes = await ticks(size);
  assert.ok(bytes.includes('0') && bytes.some((text) => /from zero$/.test(text)), bytes.join(' | '));
  assert.deepEqual(trouble, []);
  await context.close();
});

test('one size is drawn as rows, several sizes as curves', async () => {
  const { page, context, trouble } = await open(browser, 'one-size');
  const single = await part(page, 'by-size');
  await settled(page);
  assert.ok(await single.locator('.figure-button').count() > 5, 'rows open their trials');
  await context.close();
  const several = await open(browser, 'documents');
  const curves = await part(several.page, 'by-size');
  await settled(several.page);
  assert.ok(await curves.locator('svg path[fill="none"], svg g[fill="none"] path').count() > 0);
  assert.deepEqual([...trouble, ...several.trouble], []);
  await several.context.close();
});

test('a tier that was broken is red with a sign, and a matrix of documents scrolls inside itself', async () => {
  const broken = await open(browser, 'durability', { chart: false });
  const survival = await part(broken.page, 'survival');
  await settled(broken.page);
  const words = await survival.locator('svg text').allTextContents();
  assert.ok(words.includes('✖ 8 of 10') && words.includes('✓ 10 of 10'), words.join(' | '));
  const red = await broken.page.evaluate(() => {
    const probe = document.createElement('span');
    probe.style.color = 'var(--bad)';
    document.body.append(probe);
    const wanted = getComputedStyle(probe).color;
    probe.remove();
    return [...document.querySelectorAll('#part-survival svg text')].filter((one) => one.textContent.startsWith('✖')).every((one) => getComputedStyle(one).fill === wanted);
  });
  assert.ok(red);
  assert.deepEqual(broken.trouble, []);
  await broken.context.close();

  const matrix = await open(browser, 'fidelity', { width: 390, chart: false });
  await matrix.page.waitForSelector('#part-cases table.cases', { state: 'attached' });
  await matrix.page.locator('#part-cases .kind button').first().click();
  await matrix.page.waitForFunction(() => document.querySelectorAll('#part-cases tbody tr').length > 15);
  const [inside, outside] = await matrix.page.evaluate(() => {
    const scroll = document.querySelector('#part-cases .scroll');
    return [scroll.scrollWidth > scroll.clientWidth, document.documentElement.scrollWidth <= innerWidth];
  });
  assert.deepEqual([inside, outside], [true, true]);
  assert.match(await matrix.page.locator('#part-cases').innerText(), /✓ .*✖ /s);
  assert.deepEqual(matrix.trouble, []);
  await matrix.context.close();
});
