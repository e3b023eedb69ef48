// Bundles the unit tests, because they are TypeScript, and runs them with the test runner of Node.

import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const made = join(here, '..', '.made');
const names = readdirSync(join(here, 'unit')).filter((name) => name.endsWith('.test.ts'));
await build({
  absWorkingDir: join(here, '..'), entryPoints: names.map((name) => `tests/unit/${name}`), outdir: made, outExtension: { '.js': '.mjs' },
  bundle: true, platform: 'node', format: 'esm', external: ['node:*', '*/data.mjs', '*/mixed.mjs'], logLevel: 'warning', target: 'node20',
  define: { DATA: JSON.stringify(join(here, 'data.mjs')), MIXED_DATA: JSON.stringify(join(here, 'mixed.mjs')) },
});
const run = spawnSync(process.execPath, ['--test', ...names.map((name) => join(made, name.replace('.ts', '.mjs')))], { stdio: 'inherit' });
process.exit(run.status ?? 1);
