// Measures the speed of a page by its own performance marks during typical interactions.

import { statSync } from 'node:fs';
import { join } from 'node:path';

import { folder, open, part, settled } from './pages.mjs';

/** One visit of large.html: milliseconds until the first chart, and of every filter change. */
export async function visit(browser) {
  const { page, context } = await open(browser, 'large');
  const first = await page.evaluate(() => performance.getEntriesByName('first-chart')[0].startTime);
  await part(page, 'hot');
  await settled(page);
  let changes = 0;
  // A filter change is complete when it has been measured and the parts outside the screen have been updated.
  const over = async () => {
    changes += 1;
    await page.waitForFunction((count) => performance.getEntriesByName('filter').length >= count, changes);
    await settled(page);
  };
  const put = async (name, value) => {
    await page.evaluate(([field, word]) => {
      const select = document.querySelector(`select[name="${field}"]`);
      select.value = word;
      select.dispatchEvent(new Event('change', { bubbles: true }));
    }, [name, value]);
    await over();
  };
  const scales = await page.locator('select[name="scale"] option').evaluateAll((options) => options.map((option) => option.value));
  for (const [name, value] of [
    ['metric', 'of_best'], ['metric', 'time'], ['metric', 'documents_per_s'], ['metric', 'time'], ['scale', scales[0]], ['scale', scales[1]],
    ['scale', scales[scales.length - 1]], ['structure', 'value'], ['structure', 'all'],
  ]) await put(name, value);
  for (const [name, place] of [['systems', 0], ['systems', 5], ['variants', 0], ['questions', 2]]) {
    if (await page.evaluate(([field, index]) => {
      const box = document.querySelectorAll(`input[name="${field}"]`)[index];
      box?.click();
      return box !== undefined;
    }, [name, place])) await over();
  }
  const filters = await page.evaluate(() => performance.getEntriesByName('filter').map((one) => one.duration));
  await context.close();
  return { first, filters };
}

/** Formats a visit: `speed: first chart 312 ms, filters median 40 max 77 ms, page 1.9 MB`. */
export function told({ first, filters }) {
  const sorted = [...filters].sort((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)] ?? NaN;
  const size = statSync(join(folder(), 'large.html')).size;
  return `speed: first chart ${Math.round(first)} ms, filters median ${Math.round(middle)} max ${Math.round(sorted[sorted.length - 1] ?? NaN)} ms, page ${(size / 1e6).toFixed(1)} MB`;
}
