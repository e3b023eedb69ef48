// Browser tests of the page without a network: mouse, keyboard and links.

import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test, { after, before } from 'node:test';

import { choose, figuresOf, filters, folder, labels, launch, open, part, settled } from './pages.mjs';

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser.close(); });

/** Waits until the values of a part differ from `was`, and returns them. */
async function changed(page, id, was) {
  await page.waitForFunction(([name, text]) =>
    JSON.stringify([...document.querySelectorAll(`#part-${name} .figure-button`)].map((one) => one.getAttribute('aria-label'))) !== text, [id, JSON.stringify(was)]);
  await settled(page);
  return labels(page, id);
}

for (const name of ['small', 'two', 'large']) {
  test(`${name}: opens from a file without a network, a message or an error`, async () => {
    const { page, context, trouble } = await open(browser, name);
    for (const id of ['scores', 'hot', 'cold', 'load', 'size', 'series']) await part(page, id);
    assert.match(await page.locator('h1').textContent(), /documents/);
    assert.ok(await page.locator('.lead').count() > 0);
    assert.ok(await page.locator('.overview button.heat').count() > 10);
    assert.ok(await page.locator('.answers li').count() > 0);
    assert.deepEqual(trouble, []);
    await context.close();
  });
}

test('hostile text stays text, on the page, in tables and behind figures', async () => {
  const { page, context, trouble } = await open(browser, 'small');
  const hot = await part(page, 'hot');
  await hot.locator('details summary').first().click();
  await page.evaluate(() => { for (const one of document.querySelectorAll('details:not(.filters)')) one.open = true; });
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
  // The window shows all charts of the part, so that all of them are updated immediately.
  const { page, context, trouble } = await open(browser, 'small', { height: 2400 });
  await part(page, 'hot');
  await settled(page);
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

  const [{ configurations, cells }] = figuresOf('small').runs;
  const own = configurations.filter((one) => !one.reference);
  const rankings = new Set(own.map((one) => one.ranking));
  // There is no ranking filter if class and profile already determine the ranking.
  const pairs = new Set(own.map((one) => `${one.preparation} ${one.profile}`));
  const words = {
    classes: new Set(own.map((one) => one.preparation ?? '')), profiles: new Set(own.map((one) => one.profile ?? '')),
    variants: new Set(own.map((one) => one.variant)), rankings: rankings.size > pairs.size ? rankings : new Set(),
    questions: new Set(cells.map((one) => one.step).filter((step) => /^q\d$/.test(step))),
  };
  const reset = async (fewer) => {
    await page.locator('.reset').evaluate((one) => one.click());
    assert.deepEqual(await changed(page, 'hot', fewer), all);
  };
  for (const [name, expected] of Object.entries(words)) {
    const boxes = await page.locator(`input[name="${name}"]`).evaluateAll((some) => some.map((box) => box.value));
    // A filter with a single value is not shown.
    assert.equal(boxes.length, expected.size > 1 ? expected.size : 0, name);
    for (const last of boxes.slice(-1)) {
      await tick(name, last);
      const fewer = await changed(page, 'hot', all);
      assert.ok(fewer.length < all.length, name);
      await reset(fewer);
    }
  }
  for (const [name, value] of [['metric', 'documents_per_s'], ['metric', 'of_best'], ['metric', 'server_cpu_s'], ['structure', 'bytes']]) {
    await choose(page, name, value);
    await reset(await changed(page, 'hot', all));
  }
  await part(page, 'scores');
  await choose(page, 'data', 'compacted');
  await page.waitForFunction(() => /Score: size \(compacted\)/.test(document.getElementById('part-scores').innerText));
  assert.deepEqual(trouble, []);
  await context.close();
});

test('published results lie over charts at their own scale, and not over scores', async () => {
  const { page, context, trouble } = await open(browser, 'large');
  await choose(page, 'scale', '1000000');
  const hot = await part(page, 'hot');
  assert.doesNotMatch(await hot.innerText(), /Hollow/);
  await choose(page, 'published', '2025-11');
  await page.waitForFunction(() => /Hollow/.test(document.getElementById('part-hot').innerText));
  assert.match(await hot.locator('svg').first().textContent(), /m6i\.8xlarge/);
  const scores = await part(page, 'scores');
  await settled(page);
  assert.doesNotMatch(await scores.innerText(), /Hollow/);
  const size = await part(page, 'size');
  await settled(page);
  assert.deepEqual(await size.locator('.chart').evaluateAll((charts) => charts.map((one) => [/drained/.test(one.textContent), /m6i/.test(one.querySelector('svg').textContent)])), [[false, false], [true, true]]);
  assert.deepEqual(trouble, []);
  await context.close();
});

test('what figures are held against is named, also when it is filtered out', async () => {
  const { page, context, trouble } = await open(browser, 'small', { height: 2400 });
  const [{ configurations, cells }] = figuresOf('small').runs;
  const beaten = cells.find((one) => one.step === 'q1' && one.phase === 'hot' && one.ratio_to_best !== null && one.ratio_to_best.other !== one.configuration);
  const best = configurations[beaten.ratio_to_best.other];
  await part(page, 'hot');
  await settled(page);
  const was = await labels(page, 'hot');
  await choose(page, 'metric', 'of_best');
  const told = await changed(page, 'hot', was);
  assert.ok(told.some((label) => label.includes(` × of ${best.title} ${best.version} ${best.variant}`)), told.join('\n'));
  assert.doesNotMatch(await page.locator('#part-hot').innerText(), /filtered out/);
  await page.evaluate((system) => [...document.querySelectorAll('input[name="systems"]')].find((box) => box.value === system).click(), best.system);
  await changed(page, 'hot', told);
  await page.waitForFunction(() => /the best of the whole run, filtered out or not/.test(document.getElementById('part-hot').innerText));
  assert.deepEqual(trouble, []);
  await context.close();
});

test('classes stand under headings of their own, and the first sentence is the program\u2019s', async () => {
  const { page, context, trouble } = await open(browser, 'small');
  const [run] = figuresOf('small').runs;
  const told = run.answers.find((one) => one.severity === 'failed') ?? run.answers[0];
  assert.ok((await page.locator('.lead').first().textContent()).replaceAll('\u00a0', ' ').includes(told.sentence));
  const groups = await page.locator('.overview tr.group').allTextContents();
  assert.deepEqual(groups.slice(0, 2), ['As-is', 'Prepared']);
  await part(page, 'hot');
  await settled(page);
  const bars = await labels(page, 'hot');
  assert.ok(bars.some((label) => /, As-is: /.test(label)) && bars.some((label) => /, Prepared: /.test(label)));
  assert.ok(bars.some((label) => /not in memory: .* read.*, Prepared, stock: /.test(label)), bars.join('\n'));
  await page.locator('#part-hot > details > summary').click();
  await page.locator('#part-hot table tr.group').first().waitFor();
  assert.deepEqual((await page.locator('#part-hot table').first().locator('tr.group').allTextContents()).slice(0, 2), ['As-is', 'Prepared']);
  assert.deepEqual(trouble, []);
  await context.close();
});

test('caveats are a line each with details on demand', async () => {
  const { page, context } = await open(browser, 'small');
  await page.waitForSelector('.catches', { state: 'attached' });
  const caveats = page.locator('.catches > li');
  assert.ok(await caveats.count() > 5);
  const text = page.locator('.catches details p');
  assert.equal(await text.first().isVisible(), false);
  await page.locator('.catches summary').first().click();
  assert.equal(await text.first().isVisible(), true);
  assert.match(await page.locator('.catches').textContent(), /Hot, not in memory: /);
  await context.close();
});

test('a configuration tells what was set, and a figure leads to the others of its system', async () => {
  const { page, context, trouble } = await open(browser, 'small');
  await page.getByRole('button', { name: 'Configurations', exact: true }).click();
  await page.waitForSelector('#part-configurations .configuration');
  await page.locator('.configuration summary').first().click();
  await page.waitForSelector('.configuration[open] .pairs');
  assert.match(await page.locator('.configuration[open]').innerText(), /sized for 12\.\d GB[^]*Memory settings[^]*buffers/);
  const [{ configurations, cells }] = figuresOf('small').runs;
  const several = configurations.findIndex((one) => configurations.some((other) => other !== one && other.system === one.system && !one.reference));
  if (several >= 0) {
    const { title, version, variant } = configurations[several];
    assert.ok(cells.some((cell) => cell.configuration === several));
    await part(page, 'hot');
    await settled(page);
    await page.locator(`#part-hot .figure-button[aria-label^="${title} ${version} ${variant}"]`).first().click();
    await page.waitForSelector('dialog .siblings button');
    const before = await page.locator('#dialog-title').textContent();
    await page.locator('dialog .siblings button').first().click();
    await page.waitForFunction((was) => document.querySelector('#dialog-title').textContent !== was, before);
  }
  assert.deepEqual(trouble, []);
  await context.close();
});

test('round 1 over everything is what the program has computed itself', async () => {
  const { page, context, trouble } = await open(browser, 'two');
  const [run] = figuresOf('two').runs;
  assert.ok(run.complete && run.scores.length > 3);
  const scores = await part(page, 'scores');
  await scores.locator('input[value="round 1"]').click();
  await page.waitForFunction(() => document.querySelector('#part-scores input[value="round 1"]').checked);
  await scores.locator(':scope > details > summary').click();
  await page.waitForFunction(() => /Scores over round 1/.test(document.querySelector('#part-scores .table')?.textContent ?? ''));
  const rows = await scores.locator('tbody tr:not(.group)').evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  const three = (value) => value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
  const comparable = new Set(run.cells.filter((cell) => cell.step === 'load' && cell.verdict === 'exact').map((cell) => cell.configuration));
  const expected = run.scores.filter((one) => comparable.has(one.configuration)).map((one) => {
    const { title, version, variant, storage } = run.configurations[one.configuration];
    // A configuration without any time has no score; the page shows a word instead.
    const timed = (phase) => run.cells.some((cell) => cell.configuration === one.configuration && cell.phase.startsWith(phase) && cell.median_s !== null);
    const label = (phase) => (timed(phase) ? three(one[phase]) : 'no time');
    return [`${title} ${version} ${variant}${storage === 'default' ? '' : ` ${storage}`}`, label('hot'), label('cold'), three(one.size)];
  });
  const sorted = (some) => some.map((one) => one.join(' | ')).sort();
  assert.deepEqual(sorted(rows.map(([name, , hot, cold, size]) => [name, hot, cold, size])), sorted(expected));
  assert.match(page.url(), /basis=round%201/);
  assert.deepEqual(trouble, []);
  await context.close();
});

test('a part is there for the keyboard before it is drawn, and print has everything at once', async () => {
  const { page, context, trouble } = await open(browser, 'small');
  const before = await page.evaluate(() => {
    dispatchEvent(new Event('beforeprint'));
    return [document.querySelectorAll('.drawing:empty').length, document.querySelectorAll('.drawing').length];
  });
  assert.equal(before[0], 0);
  assert.ok(before[1] > 20, 'charts of all parts');
  await context.close();

  const again = await open(browser, 'large');
  await again.page.getByRole('button', { name: 'Published', exact: true }).click();
  await again.page.waitForFunction(() => document.activeElement?.id === 'title-published');
  assert.ok(await again.page.evaluate(() => document.getElementById('title-published').getBoundingClientRect().top < innerHeight));
  assert.deepEqual([...trouble, ...again.trouble], []);
  assert.deepEqual(await again.page.evaluate(() => [...document.querySelectorAll('[id]')].map((one) => one.id).filter((id) => /\s/.test(id))), []);
  await again.context.close();
});

test('a page without a cell, and one of a single round, open without an error', async () => {
  for (const name of ['empty', 'once']) {
    const { page, context, trouble } = await open(browser, name, { chart: name !== 'empty' });
    await page.waitForSelector('h1');
    await page.waitForSelector('.catches', { state: 'attached' });
    assert.match(await page.locator('main').textContent(), name === 'empty' ? /No comparable results match the filters/ : /One round only/);
    assert.deepEqual(trouble, []);
    await context.close();
  }
});

test('a workload without parts of its own has its cells in a plain table, and no parts of others', async () => {
  const { page, context, trouble } = await open(browser, 'other', { chart: false });
  await page.waitForSelector('h1');
  await page.evaluate(() => document.getElementById('at-others').scrollIntoView());
  const table = page.locator('#at-others table');
  await table.waitFor();
  const words = await table.innerText();
  for (const word of [/documents per second/, /500\/s \(450\/s … 550\/s\)/, /records per s/, /1.00k\/s/, /lost/, /ClickHouse 26.7 challenge/]) assert.match(words, word);
  assert.match(await page.locator('main').innerText(), /Workload: append/);
  // Broken durability promises come first and are marked by more than colour.
  const alarm = page.getByRole('alert');
  assert.match(await alarm.innerText(), /^Durability promise broken\s+✖ MongoDB 6\.0\.5, window tier, power loss: promise broken in 2 of 3 crashes, 11,872 of 14,718[^\n]*\s+The disk was busy/);
  assert.equal(await page.locator('h1 + .alarms').count(), 1, 'below the title, above everything else');
  const rows = await table.locator('tbody tr').evaluateAll((all) => all.map((row) => [row.className, row.querySelector('.sign')?.textContent ?? '']));
  assert.deepEqual(rows.slice(0, 4), [['good', ''], ['failed', '✖ '], ['warning', '⚠ '], ['good', '']]);
  assert.match(words, /282 B\/op in 3 trials, 2\.48 kB\/op in 3/);
  assert.doesNotMatch(words, /1\.31 kB/, 'a median that is of neither group');
  const parts = await page.locator('header nav button').allInnerTexts();
  assert.deepEqual(parts, ['Findings', 'The run', 'Configurations', 'Series', 'Glossary']);
  await table.locator('button').first().click();
  await page.waitForSelector('dialog[open]');
  assert.deepEqual(trouble, []);
  await context.close();
});

test('a run and a scale can be chosen, and a search narrows the list of many systems', async () => {
  const { page, context } = await open(browser, 'large');
  const title = await page.locator('h1').textContent();
  const scales = await page.locator('select[name="scale"] option').evaluateAll((options) => options.map((option) => option.value));
  await choose(page, 'scale', scales[0]);
  await page.waitForFunction((was) => document.querySelector('h1').textContent !== was, title);
  await filters(page, true);
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
  await choose(pair.page, 'run', '1');
  await pair.page.waitForFunction((was) => document.querySelector('h1').textContent !== was, first);
  await part(pair.page, 'runs');
  assert.deepEqual(pair.trouble, []);
  await pair.context.close();
});

test('a deep link restores its state, an opened figure too', async () => {
  const { page, context } = await open(browser, 'large', { height: 2400 });
  const scales = await page.locator('select[name="scale"] option').evaluateAll((options) => options.map((option) => option.value));
  await choose(page, 'scale', scales[1]);
  await choose(page, 'metric', 'of_best');
  await page.locator('input[name="systems"]').first().evaluate((box) => box.click());
  await part(page, 'hot');
  await settled(page);
  const shown = await labels(page, 'hot');
  await page.locator('#part-hot .figure-button').first().click();
  await page.waitForSelector('dialog[open]');
  const fragment = new URL(page.url()).hash;
  const opened = await page.locator('#dialog-title').textContent();
  await context.close();

  const again = await open(browser, 'large', { fragment, height: 2400 });
  await again.page.waitForSelector('dialog[open]');
  assert.equal(await again.page.locator('#dialog-title').textContent(), opened);
  assert.equal(await again.page.locator('select[name="metric"]').inputValue(), 'of_best');
  assert.equal(await again.page.locator('select[name="scale"]').inputValue(), scales[1]);
  assert.equal(await again.page.locator('input[name="systems"]').first().isChecked(), false);
  await again.page.keyboard.press('Escape');
  await again.page.waitForSelector('dialog', { state: 'detached' });
  assert.doesNotMatch(again.page.url(), /figure=/);
  await part(again.page, 'hot');
  await settled(again.page);
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
  // The memory settings are a table too.
  const trials = page.locator('dialog [aria-label="Trials"] tbody tr');
  await trials.first().waitFor();
  assert.equal(await trials.count(), told);
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

test('the first screen is a sentence and a table, whose cells open their evidence by mouse and by keyboard', async () => {
  const { page, context, trouble } = await open(browser, 'small');
  const table = page.locator('.overview');
  await table.waitFor();
  const box = await table.boundingBox();
  assert.ok(box.y < 900, 'the table begins on the first screen');
  const best = await page.locator('.overview td.heat-0 button').first().getAttribute('aria-label');
  assert.match(best, /1\.0\d ×/);
  // Wrong and failed results have a sign and a word, and no colour.
  const failed = page.locator('.overview button.heat.failed');
  const [{ cells, configurations }] = figuresOf('small').runs;
  const isFailed = ({ configuration, verdict }) => !configurations[configuration].reference && ['wrong', 'timeout', 'failed'].includes(verdict);
  assert.equal(await failed.count() > 0, cells.some(isFailed));
  for (const words of await failed.allTextContents()) assert.match(words, /^✖ (wrong|timeout|failed)/);
  assert.equal(await page.locator('.overview td:not(.heat-none) button.failed, .overview td:not(.heat-none) button.warning').count(), 0);
  await page.locator('.overview td.heat-0 button').first().focus();
  await page.keyboard.press('Enter');
  await page.waitForSelector('dialog .table tbody tr');
  const byKeyboard = await page.locator('#dialog-title').textContent();
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog', { state: 'detached' });
  await page.locator('.overview td.heat-0 button').first().click();
  await page.waitForSelector('dialog[open]');
  assert.equal(await page.locator('#dialog-title').textContent(), byKeyboard);
  assert.deepEqual(trouble, []);
  await context.close();
});

test('the table is legible in every colour, and scrolls inside itself on a phone', async () => {
  for (const scheme of ['light', 'dark']) {
    const { page, context, trouble } = await open(browser, 'small', { width: 390, scheme });
    await page.locator('.swatch').first().waitFor();
    const ratios = await page.evaluate(() => {
      const channels = (text) => text.match(/[\d.]+/g).slice(0, 3).map(Number);
      const light = (text) => channels(text).map((one) => one / 255).map((one) => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
        .reduce((sum, one, index) => sum + one * [0.2126, 0.7152, 0.0722][index], 0);
      return [0, 1, 2, 3, 4, 5].map((level) => {
        const swatch = document.querySelector(`.swatch.heat-${level}`);
        const { color, backgroundColor } = getComputedStyle(swatch);
        const [a, b] = [light(color), light(backgroundColor)].sort((x, y) => y - x);
        return (a + 0.05) / (b + 0.05);
      });
    });
    assert.ok(ratios.every((one) => one >= 4.5), `${scheme}: ${ratios.join(', ')}`);
    const [inside, page390] = await page.evaluate(() => {
      const scroll = document.querySelector('.overview-scroll');
      return [scroll.scrollWidth > scroll.clientWidth, document.documentElement.scrollWidth <= innerWidth];
    });
    assert.deepEqual([inside, page390], [true, true]);
    assert.deepEqual(trouble, []);
    await context.close();
  }
});

test('a page of several workloads has a tab for each, kept in the address, and a headline for all', async () => {
  const { page, context, trouble } = await open(browser, 'several');
  const tabs = page.getByRole('tab');
  assert.deepEqual(await tabs.allTextContents(), ['Analytics', 'Serving']);
  const leads = (await page.locator('.lead').allTextContents()).map((one) => one.replaceAll('\u00a0', ' '));
  assert.match(leads[0], /^Analytics: Prepared, json-only: ClickHouse was 1\.50 × faster/);
  assert.match(leads[1], /^Prepared, generated: Dolt was 1\.50 × faster/);
  assert.match(leads[2], /^Serving: ✖ A system gave 3 wrong answers\./);
  assert.ok(await page.locator('.lead.failed').count() === 1 && leads.length === 4);
  await tabs.first().focus();
  await page.keyboard.press('ArrowRight');
  await page.waitForSelector('#part-throughput', { state: 'attached' });
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Serving');
  assert.match(page.url(), /#tab=serving$/);
  assert.equal(await page.getByRole('tab', { selected: true }).textContent(), 'Serving');
  assert.equal(await page.locator('#part-hot').count(), 0);
  assert.match(await page.locator('.overview thead').innerText(), /mix a, synced/);
  await page.goBack();
  await page.waitForSelector('#part-hot', { state: 'attached' });
  await context.close();

  const again = await open(browser, 'several', { fragment: '#tab=serving' });
  await again.page.waitForSelector('#part-throughput', { state: 'attached' });
  assert.deepEqual((await again.page.locator('.lead').allTextContents()).map((one) => one.replaceAll('\u00a0', ' ')), leads, 'whichever tab is open');
  assert.deepEqual([...trouble, ...again.trouble], []);
  await again.context.close();
});

test('a term tells its definition at a click, and the glossary has all of them', async () => {
  const { page, context, trouble } = await open(browser, 'serving');
  const term = page.locator('.terms button', { hasText: 'mix a' });
  await term.click();
  assert.equal(await term.getAttribute('aria-expanded'), 'true');
  assert.match(await page.locator('.terms').innerText(), /Half reads, half updates; zipfian keys\./);
  await page.getByRole('button', { name: 'Glossary', exact: true }).click();
  await page.waitForSelector('#part-glossary dl');
  const glossary = await page.locator('#part-glossary').innerText();
  for (const word of ['mix f', 'tier', 'drained', 'WAL', '95 % interval', '× of best']) assert.ok(glossary.includes(word), word);
  assert.deepEqual(trouble, []);
  await context.close();
});

test('a part and a figure can be linked to', async () => {
  const { page, context, trouble } = await open(browser, 'small');
  await part(page, 'cold');
  await settled(page);
  const address = await page.locator('#part-cold .heading .anchor').getAttribute('href');
  const figure = await page.locator('#part-cold .figure-place > .anchor').first().getAttribute('href');
  assert.equal(address, '#at=cold');
  assert.match(figure, /^#at=cold%3Aq1-/);
  await context.close();
  for (const [fragment, id] of [[address, 'title-cold'], [figure, /^figure-cold-q1-/]]) {
    const again = await open(browser, 'small', { fragment });
    await again.page.waitForFunction(() => /cold/.test(document.activeElement?.id ?? ''));
    const focused = await again.page.evaluate(() => document.activeElement.id);
    assert.ok(typeof id === 'string' ? [id, 'at-cold'].includes(focused) : id.test(focused) || focused === 'at-cold', focused);
    await again.page.waitForFunction(() => document.getElementById('at-cold').getBoundingClientRect().top < innerHeight);
    assert.deepEqual([...trouble, ...again.trouble], []);
    await again.context.close();
  }
});

test('filters that are set are shown as chips, which take them back, and stay in sight', async () => {
  const { page, context, trouble } = await open(browser, 'small');
  assert.equal(await page.locator('.chip').count(), 0);
  await choose(page, 'metric', 'of_best');
  await page.locator('input[name="systems"]').first().evaluate((box) => box.click());
  await page.waitForFunction(() => document.querySelectorAll('.chip').length === 2);
  await part(page, 'cold');
  const box = await page.locator('.filter-bar').boundingBox();
  assert.ok(box.y >= 0 && box.y < 100, `${box.y}`);
  await page.locator('.chip', { hasText: '× of best' }).click();
  await page.waitForFunction(() => document.querySelectorAll('.chip').length === 1);
  assert.doesNotMatch(page.url(), /metric/);
  assert.deepEqual(trouble, []);
  await context.close();
});

test('a page is no larger than 3 MB', () => {
  for (const name of ['small', 'two', 'large']) {
    assert.ok(statSync(join(folder(), `${name}.html`)).size <= 3e6, name);
  }
});
