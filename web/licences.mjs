// Copyright notices and licences of all bundled libraries, because most licences require them in every copy.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

function packageOf(input) {
  const path = input.split('node_modules/').at(-1).split('/');
  return path[0].startsWith('@') ? `${path[0]}/${path[1]}` : path[0];
}

/** Builds one comment with each licence text once, below the libraries that use it. */
export function licences(folder, inputs) {
  const names = [...new Set(inputs.filter((input) => input.includes('node_modules/')).map(packageOf))].sort();
  const byText = new Map();
  for (const name of names) {
    const place = join(folder, 'node_modules', name);
    const { version, license } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
    const file = readdirSync(place).sort().find((one) => /^licen[cs]e/i.test(one));
    if (file === undefined || !existsSync(join(place, file))) throw new Error(`${name} tells no licence`);
    const lines = readFileSync(join(place, file), 'utf8').split('\n').map((line) => line.trim());
    const holders = lines.filter((line) => /^copyright/i.test(line));
    const text = lines.filter((line) => !/^copyright/i.test(line) && !/^(the )?(mit|isc) licen[cs]e( \(mit\))?$/i.test(line))
      .join(' ').replace(/\s+/g, ' ').trim();
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${version} (${license}): ${holders.join(' ')}`]);
  }
  const parts = [...byText].map(([text, those]) => `${those.join('\n')}\n\n${text}`);
  return `/*!\n${parts.join('\n\n').replaceAll('*/', '* /')}\n*/`;
}
