import assert from 'node:assert/strict';
import test from 'node:test';

import { byName, bytes, count, counted, integer, interval, list, metricTitle, percent, seconds, tick, times, timestamp } from '../../src/format.ts';
import { escaped, markdown } from '../../src/export/markdown.ts';
import { colourOf } from '../../src/colours.ts';
import { metric } from '../../src/metric.ts';
import { fileName } from '../../src/export/download.ts';

test('three digits and the right unit at every edge', () => {
  for (const [value, text] of [
    [123.4, '123 s'], [9.999, '10.0 s'], [1, '1.00 s'], [0.9996, '1.00 s'], [0.9994, '999 ms'], [0.0123, '12.3 ms'], [0.001, '1.00 ms'],
    [0.0005, '500 µs'], [0, '0'], [NaN, '–'],
  ] as const) assert.equal(seconds(value), text);
  assert.equal(bytes(480_800_000), '481 MB');
  assert.equal(bytes(12), '12 B');
  assert.equal(bytes(999_600), '1.00 MB');
  assert.equal(count(1_234_567), '1.23M');
  assert.equal(times(1), '1.00 ×');
  assert.equal(integer(1_234_567), '1,234,567');
});

test('almost all does not read as all', () => {
  assert.equal(percent(1), '100 %');
  assert.equal(percent(0.99999), '99.99 %');
  assert.equal(percent(0.5), '50.0 %');
});

test('a metric is written by the unit in its name', () => {
  assert.equal(byName('peak_pss_bytes', 2e8), '200 MB');
  assert.equal(byName('engine_bytes_read', 2e8), '200 MB');
  assert.equal(metricTitle('engine_memory_bytes'), 'memory by the engine’s count');
  assert.equal(metricTitle('cache_hits'), 'cache hits');
  assert.equal(metric('documents_per_s').better, 'higher');
  assert.equal(metric('total_bytes').better, 'lower');
  // The direction of metrics defined by a system's folder is unknown.
  assert.equal(metric('operations_per_s').better, null);
  assert.equal(byName('disk_read_bytes_per_s', 2e8), '200 MB/s');
  assert.equal(byName('documents_per_s', 51_500), '51.5k/s');
  assert.equal(byName('response_p99_us', 1500), '1.50 ms');
  assert.equal(byName('resident_share', 0.01), '1.00 %');
  assert.equal(byName('errors', 3), '3');
});

test('ticks lose zeros that say nothing', () => {
  assert.equal(tick('10.0 ms'), '10 ms');
  assert.equal(tick('1.00M'), '1M');
  assert.equal(tick('0.10'), '0.1');
  assert.equal(tick('100 MB'), '100 MB');
  assert.equal(tick('1.50 ms'), '1.5 ms');
});

test('words', () => {
  assert.equal(list(['a', 'b', 'c']), 'a, b and c');
  assert.equal(list([]), '');
  assert.equal(counted(1, 'round'), '1 round');
  assert.equal(counted(2000, 'trial'), '2,000 trials');
  assert.equal(timestamp('2026-11-22T04:27:41+02:00'), '2026-11-22 02:27 UTC');
  assert.equal(interval(0.001, null, seconds), '–');
  assert.equal(fileName('Q1 top <event> types', 'svg'), 'jsonathlon-q1-top-event-types.svg');
  assert.equal(fileName('…', 'svg'), 'jsonathlon-chart.svg');
  assert.equal(fileName('Q1', 'csv', ['my run/1', '10M documents', '2026-11-22']), 'jsonathlon-q1-my-run-1-10m-documents-2026-11-22.csv');
});

test('Markdown keeps figures, and nothing in a cell ends the cell', () => {
  const text = markdown('T', ['system', 'time'], [['a|b\n<img>', '1.00 s']], [false, true]);
  assert.equal(text, '**T**\n\n| system | time |\n| --- | ---: |\n| a\\|b &lt;img&gt; | 1.00 s |\n');
});

test('hostile text is text, by the same rules as in the Markdown of the program', () => {
  for (const [text, safe] of [
    ['a|b', 'a\\|b'],
    ['a\n\n# b', 'a # b'],
    ['<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
    ['&lt;', '&amp;lt;'],
    ['`x`', '\\`x\\`'],
    ['a\\|b', 'a\\\\\\|b'],
    ['![x](http://y)', '!\\[x\\](http:<!-- -->//y)'],
    ['@somebody', '@<!-- -->somebody'],
    ['**_~~x~~_**', '\\*\\*\\_\\~\\~x\\~\\~\\_\\*\\*'],
    ['\u001b[31mred\u202e', '\\[31mred'],
    ['<!-- x -->', '&lt;!-- x --&gt;'],
    ['a\u0085b\u00a0\u2003c', 'a b c'],
    ['see www.x', 'see www<!-- -->.x'],
  ] as const) assert.equal(escaped(text), safe, text);
});

test('names that objects have of themselves are names like others', () => {
  assert.match(colourOf('constructor'), /^var\(--colour-\d\)$/);
  assert.equal(metric('constructor').title, 'constructor');
});
