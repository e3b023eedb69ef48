// A browser without a network, and the pages that it opens.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';

import { samples } from '../sample.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

function browserPath() {
  if (process.env.JSONATHLON_CHROMIUM) return process.env.JSONATHLON_CHROMIUM;
  for (const name of NAMES) {
    for (const folder of (process.env.PATH ?? '').split(delimiter)) {
      if (existsSync(join(folder, name))) return join(folder, name);
    }
  }
  throw new Error(`no browser: set JSONATHLON_CHROMIUM, or put one of ${NAMES.join(', ')} on PATH`);
}

let made;

/** The folder of small.html, two.html and large.html: the program's, else made by the tests themselves. */
export function folder() {
  return process.env.JSONATHLON_PAGES || ownFolder();
}

function ownFolder() {
  if (made === undefined) {
    made = mkdtempSync(join(tmpdir(), 'jsonathlon-pages-'));
    process.on('exit', () => rmSync(made, { recursive: true, force: true }));
    samples(made);
  }
  return made;
}

/** Pages that only the tests themselves make. */
const ODD = ['documents', 'empty', 'once', 'other'];

/** The file of a page. */
function pathOf(name) {
  return join(ODD.includes(name) ? ownFolder() : folder(), `${name}.html`);
}

/** The figures that a page holds. */
export function figuresOf(name) {
  const page = readFileSync(join(folder(), `${name}.html`), 'utf8');
  const [, packed] = /<script type="text\/plain" id="figures">([^<]*)</.exec(page);
  return JSON.parse(gunzipSync(Buffer.from(packed, 'base64')).toString());
}

/** Waits until what is drawn in idle time has been drawn: two looks at the page in a row show the same. */
export async function settled(page) {
  await page.evaluate(() => { window.lastLook = null; });
  await page.waitForFunction(() => {
    const [now, before] = [document.body.innerHTML.length, window.lastLook];
    window.lastLook = now;
    return before === now;
  }, undefined, { polling: 200 });
}

export function launch() {
  return chromium.launch({ executablePath: browserPath(), args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
}

/**
 * Opens a page with the network off. `trouble` collects whatever must not happen: requests, messages, errors, alerts.
 */
export async function open(browser, name, { fragment = '', width = 1280, height = 900, scheme = 'light', chart = true } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion: 'reduce', acceptDownloads: true });
  await context.setOffline(true);
  const address = pathToFileURL(pathOf(name)).href;
  const trouble = [];
  await context.route('**/*', (route) => {
    if (route.request().url().split('#')[0] === address) return route.continue();
    trouble.push(`request: ${route.request().url()}`);
    return route.abort();
  });
  const page = await context.newPage();
  page.on('console', (message) => trouble.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => trouble.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    trouble.push(`alert: ${dialog.message()}`);
    return dialog.dismiss();
  });
  await page.goto(`${address}${fragment}`);
  if (chart) await page.waitForFunction(() => performance.getEntriesByName('first-chart').length > 0);
  return { page, context, trouble, address };
}

/** Brings a part of the page into view and waits until it is drawn. */
export async function part(page, id) {
  await page.waitForSelector(`#part-${id}`, { state: 'attached' });
  // What lies above is drawn when it comes near and is then higher, so one look may not be enough.
  await page.waitForFunction((name) => {
    const place = document.getElementById(`part-${name}`);
    if (place.querySelector('svg') === null || Math.abs(place.getBoundingClientRect().top) > innerHeight / 2) place.scrollIntoView({ behavior: 'instant' });
    return place.querySelector('svg') !== null;
  }, id, { polling: 100 });
  return page.locator(`#part-${id}`);
}

/** What the figures of a part say. */
export async function labels(page, id) {
  const buttons = page.locator(`#part-${id} .figure-button`);
  return buttons.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
}
