// Takes the pictures of docs/images: node screenshots.mjs [-o FOLDER] PAGE.html...
//
// Each page is taken at the top, as wide as a desktop and as a phone, in light and in dark. A page is named after its file, or after
// its folder if the file is report.html or study.html. The first page is also the picture of the README.

import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { launch } from './tests/browser/pages.mjs';

const DEFAULT_FOLDER = join(dirname(fileURLToPath(import.meta.url)), '..', 'docs', 'images');

/** Width and height of the window in pixels. */
const WINDOWS = [[1280, 900], [390, 844]];

/** Names of files that the program gives to all pages of their kind. */
const COMMON_NAMES = ['report.html', 'study.html'];

function nameOf(file) {
  const name = COMMON_NAMES.includes(basename(file)) ? basename(dirname(resolve(file))) : basename(file, '.html');
  return name.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'page';
}

/** Waits until two looks at the page are alike, so that its charts are drawn. */
async function settled(page) {
  await page.waitForFunction(() => {
    const [now, before] = [document.body.innerHTML.length, window.lastLook];
    window.lastLook = now;
    return before === now;
  }, undefined, { polling: 400 });
}

async function picture(browser, file, [width, height], colorScheme, to) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(pathToFileURL(resolve(file)).href);
  await page.waitForSelector('h1');
  await settled(page);
  await page.screenshot({ path: to });
  await context.close();
}

const words = process.argv.slice(2);
const option = words.indexOf('-o');
const folder = option < 0 ? DEFAULT_FOLDER : resolve(words[option + 1] ?? '');
const files = option < 0 ? words : words.filter((_, place) => place !== option && place !== option + 1);
const missing = files.filter((file) => !existsSync(file));
if (files.length === 0 || missing.length > 0) {
  console.error(missing.length > 0 ? `no such page: ${missing.join(', ')}` : 'usage: npm run screenshots -- [-o FOLDER] PAGE.html...');
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
const browser = await launch();
for (const [place, file] of files.entries()) {
  for (const window of WINDOWS) {
    for (const scheme of ['light', 'dark']) {
      const to = join(folder, `${nameOf(file)}-${window[0]}-${scheme}.png`);
      await picture(browser, file, window, scheme, to);
      if (place === 0 && window === WINDOWS[0]) copyFileSync(to, join(folder, `page-${scheme}.png`));
      console.log(to);
    }
  }
}
await browser.close();
