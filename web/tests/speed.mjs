// Prints the measurements of several visits: node tests/speed.mjs [VISITS]

import { told, visit } from './browser/measure.mjs';
import { launch } from './browser/pages.mjs';

const visits = Number(process.argv[2] ?? 5);
const browser = await launch();
const all = [];
for (let index = 0; index < visits; index += 1) {
  const figures = await visit(browser);
  console.log(told(figures));
  all.push(figures);
}
await browser.close();
const firsts = all.map((one) => one.first).sort((a, b) => a - b);
console.log(`over ${visits} visits: first chart median ${Math.round(firsts[Math.floor(firsts.length / 2)] ?? NaN)} ms; ${told({ first: Math.min(...firsts), filters: all.flatMap((one) => one.filters) }).replace('first chart', 'least')}`);
