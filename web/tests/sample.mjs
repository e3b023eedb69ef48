// Generates the pages for browser tests that the program has not written: node tests/sample.mjs FOLDER

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';

import { crowded, crowdedServing, durability, fidelity, oneSize, ownQuestions } from './crowded.mjs';
import { documents, empty, large, once, other, serving, several, small, two } from './data.mjs';
import { frontier, mixed } from './mixed.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const built = process.env.JSONATHLON_PAGE_OUT ?? join(here, '..', '..', 'crates', 'report', 'page');
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'";

function packed(part) {
  return gzipSync(JSON.stringify(part), { level: 9 }).toString('base64');
}

/** Builds a page with the same structure as the program's. */
export function pageOf({ figures, evidence }) {
  const script = readFileSync(join(built, 'page.js'), 'utf8').replaceAll('</script', '<\\/script');
  const style = readFileSync(join(built, 'page.css'), 'utf8');
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta http-equiv="Content-Security-Policy" content="${POLICY}"><title>jsonathlon</title><style>${style}</style></head>
<body><div id="page"><noscript>This page needs JavaScript.</noscript></div><script type="text/plain" id="figures">${packed(figures)}</script><script type="text/plain" id="evidence">${packed(evidence)}</script><script>${script}</script></body></html>
`;
}

/** The pages by the names of their files. */
const PAGES = {
  small, two, large, serving, mixed, frontier, documents, several, empty, once, other,
  crowded, 'crowded-serving': crowdedServing, 'one-size': oneSize, 'own-questions': ownQuestions, fidelity, durability,
};

/** Writes all sample pages into a folder. */
export function samples(folder) {
  mkdirSync(folder, { recursive: true });
  for (const [name, made] of Object.entries(PAGES)) {
    const pack = made();
    const trials = pack.evidence.runs.flatMap((run) => run.cells).reduce((sum, cell) => sum + cell.trials.round.length, 0);
    const page = pageOf(pack);
    writeFileSync(join(folder, `${name}.html`), page);
    console.log(`${name}.html: ${(page.length / 1e6).toFixed(2)} MB, ${trials} trials`);
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const folder = process.argv[2];
  if (folder === undefined) {
    console.error('usage: npm run sample -- FOLDER');
    process.exit(2);
  }
  samples(folder);
}
