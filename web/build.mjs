// Builds page.js and page.css, which the program embeds. The build is reproducible: equal sources give equal
// bytes.

import { build } from 'esbuild';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { licences } from './licences.mjs';
import { unreached } from './unreached.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.env.JSONATHLON_PAGE_OUT ?? join(here, '..', 'crates', 'report', 'page');

const { metafile } = await build({
  absWorkingDir: here,
  entryPoints: { page: 'src/main.tsx' },
  outdir: out,
  bundle: true,
  minify: true,
  format: 'iife',
  target: ['chrome123', 'firefox121', 'safari17.5'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  plugins: [unreached],
  legalComments: 'eof',
  metafile: true,
  charset: 'utf8',
  logLevel: 'info',
});
const used = Object.values(metafile.outputs).flatMap((one) => Object.entries(one.inputs)).filter(([, input]) => input.bytesInOutput > 0);
appendFileSync(join(out, 'page.js'), `${licences(here, used.map(([name]) => name))}\n`);
// `<!--` would change the parsing of an HTML script element; in the bundle it occurs only in strings.
const script = join(out, 'page.js');
writeFileSync(script, readFileSync(script, 'utf8').replaceAll('<!--', '\\x3C!--'));
await build({
  absWorkingDir: here,
  entryPoints: { page: 'src/page.css' },
  outdir: out,
  bundle: true,
  minify: true,
  target: ['chrome123', 'firefox121', 'safari17.5'],
  charset: 'utf8',
  logLevel: 'info',
});
