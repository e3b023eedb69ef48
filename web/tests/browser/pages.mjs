// A browser without a network, and the pages that it opens.

import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
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
  if (process.env.JSONATHLON_PAGES) return process.env.JSONATHLON_PAGES;
  if (made === undefined) {
    made = mkdtempSync(join(tmpdir(), 'jsonathlon-pages-'));
    samples(made);
  }
  return made;
}

export function launch() {
  return chromium.launch({ executablePath: browserPath(), args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
}

/**
 * Opens a page with the network off. `trouble` collects whatever must not happen: requests, messages, errors, alerts.
 */
export async function open(browser, name, { fragment = '', width = 1280, height = 900, scheme = 'light' } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion: 'reduce', acceptDownloads: true });
  await context.setOffline(true);
  const address = pathToFileURL(join(folder(), `${name}.html`)).href;
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
  await page.waitForFunction(() => performance.getEntriesByName('first-chart').length > 0);
  return { page, context, trouble, address };
}

/** Brings a part of the page into view and waits until it is drawn. */
export async function part(page, id) {
  await page.waitForSelector(`#part-${id}`, { state: 'attached' });
  await page.evaluate((name) => document.getElementById(`part-${name}`).scrollIntoView(), id);
  await page.waitForSelector(`#part-${id} svg`);
  return page.locator(`#part-${id}`);
}

/** What the figures of a part say. */
export async function labels(page, id) {
  const buttons = page.locator(`#part-${id} .figure-button`);
  return buttons.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
}
