// Tests of the computations behind charts. Without a browser, widths of texts are estimated.

import assert from 'node:assert/strict';
import test from 'node:test';

import type { Bar } from '../../src/charts/rows.ts';
import type { Scale } from '../../src/charts/scale.ts';
import { below, besideEnds } from '../../src/charts/legend.ts';
import { placeLabels } from '../../src/charts/point-labels.ts';
import { placeRows } from '../../src/charts/rows.ts';
import { linearStep, logScale, pixels, ratioScale, steps, ticksAlong, ticksUp, zeroScale } from '../../src/charts/scale.ts';
import { cut, fittedNames, textWidth, wrapped } from '../../src/charts/text.ts';
import { csv } from '../../src/export/csv.ts';
import { bytes, seconds, threeDigits } from '../../src/format.ts';

function scaleOf(values: readonly number[], limits: readonly number[] = []): Scale {
  return logScale(values, seconds, 'time', limits);
}

/** The first digit of a number: 1, 2 or 5 for a step. */
function firstDigit(value: number): number {
  return Number(value.toExponential(3).split('e')[0]);
}

test('axes have ticks in steps of 1, 2 and 5, two at least, whose labels do not touch', () => {
  assert.deepEqual(steps(1, 100), [1, 2, 5, 10, 20, 50, 100]);
  assert.deepEqual(steps(1, 1e3, [1]), [1, 10, 100, 1000]);
  assert.deepEqual([0.7, 3, 20, 600].map((range) => linearStep(range, 4)), [0.2, 1, 5, 200]);
  for (const values of [[1, 1], [1.2, 1.8], [3e-6, 4e3], [0.02, 0.9]]) {
    const scale = scaleOf(values);
    for (const width of [320, 600]) {
      const place = pixels(scale, 24, width - 24);
      const ticks = ticksAlong(scale, place, [0, width]);
      assert.ok(ticks.length >= 2 && ticks.length <= 9, `${values.join()} in ${width}: ${ticks.map(({ text }) => text).join(' ')}`);
      for (const { value } of ticks) assert.ok([1, 2, 5].includes(firstDigit(value)), String(value));
      ticks.forEach((one, index) => {
        const next = ticks[index + 1];
        if (next !== undefined) assert.ok(place(next.value) - place(one.value) > (textWidth(one.text) + textWidth(next.text)) / 2);
      });
    }
    assert.ok(ticksUp(scale, 270).length >= 2);
  }
});

test('a log scale has no zero and room around the values, and a far limit does not press them together', () => {
  const scale = scaleOf([0, 0.01, 0.02], [1e-9, 0.03]);
  assert.ok(scale.low > 0.0005 && scale.low < 0.01 && scale.high > 0.03 && scale.high < 0.05, `${scale.low} ${scale.high}`);
  const place = pixels(scale, 0, 100);
  assert.equal(place(1e-9), 0);
  assert.equal(place(99), 100);
  const ratios = ratioScale([1, 3], threeDigits, 'score');
  assert.ok(ratios.rule === 1 && ratios.low < 1 && ratios.high > 3);
  const sizes = zeroScale([730, 12_345], bytes, 'bytes');
  assert.deepEqual([sizes.low, sizes.title], [0, 'bytes, from zero']);
  assert.equal(ticksUp(sizes, 200)[0]?.text, '0');
});

test('a name that is too long loses what it shares, never what distinguishes it', () => {
  const names = ['btree', 'hash', 'gin'].map((word) => `PostgreSQL 18.6 json column with ${word} index on the path of the kind compressed`);
  const lines = fittedNames(names.map((name) => ({ name, remarks: '' })), () => [150, 150]);
  lines.forEach((own, index) => {
    assert.ok(own.length <= 2 && own.every((line) => textWidth(line) <= 150), own.join(' | '));
    assert.match(own.join(' '), new RegExp(['btree', 'hash', 'gin'][index] ?? ''));
  });
  assert.equal(new Set(lines.map((own) => own.join(' '))).size, 3);
  const [long] = fittedNames([{ name: 'x'.repeat(300), remarks: '· not ranked' }], () => [200, 200]);
  assert.match(long?.join(' ') ?? '', /^x+…x+ · not ranked$/);
  assert.deepEqual(fittedNames([{ name: 'short', remarks: '· cold unverified' }], () => [300]), [['short · cold unverified']]);
});

test('text is broken between words, and cut where it has no room', () => {
  assert.deepEqual(wrapped('one two three', [60, 60]), ['one two', 'three']);
  assert.equal(wrapped('one two three four', [60, 30]), null);
  assert.deepEqual(wrapped('PostgreSQL', [10, 200]), ['', 'PostgreSQL']);
  assert.ok(textWidth(cut('a'.repeat(100), 100)) <= 100);
  assert.equal(cut('fits', 100), 'fits');
});

test('rows stand below each other with their values beside the first line', () => {
  const row = (name: string, group: string): Bar =>
    ({ key: name, name, notes: ['end of life'], group, colour: '', look: 'plain', value: 1, low: null, high: null, label: '282 B in 3 trials, 2.48 kB in 3', more: '', open: null });
  const names = ['A system with a long name 1.2.3 and a long variant', 'B', 'C'];
  const layout = placeRows(names.map((name, index) => row(name, index === 2 ? 'Prepared' : 'As-is')), 340, 10);
  assert.deepEqual(layout.headings.map(({ text }) => text), ['As-is', 'Prepared']);
  layout.rows.forEach((one, index) => {
    const next = layout.rows[index + 1];
    assert.ok(one.markY < one.top + one.height && (next === undefined || next.top >= one.top + one.height));
    assert.equal(one.lines.filter(({ y }) => y === one.labelY).every(({ text }) => textWidth(text) + textWidth(one.row.label, true) < 340), true);
  });
});

test('names of curves keep apart, or stand below where there is no room', () => {
  const ends = Array.from({ length: 8 }, (_, index) => ({ name: `System ${index}`, y: 100 + index }));
  const keys = besideEnds(ends, 400, 180, 20, 290);
  assert.ok(keys !== null && keys.length === 8);
  const middles = keys.map(({ y }) => y).sort((a, b) => a - b);
  middles.forEach((y, index) => assert.ok(y >= 20 && y <= 290 && (index === 0 || y - (middles[index - 1] ?? 0) >= 14.9)));
  assert.equal(besideEnds(Array.from({ length: 40 }, () => ({ name: 'one', y: 0 })), 400, 180, 20, 290), null);
  const legend = below(['one', 'two', 'three'], 340, 300);
  assert.ok(legend.end > 300 && legend.keys.every(({ x }) => x < 340));
});

test('labels of points cover neither each other nor points', () => {
  const points = Array.from({ length: 12 }, (_, index) => ({ x: 50 + index * 9, y: 100, text: String(2 ** index) }));
  const frame = { left: 0, right: 400, top: 0, bottom: 200 };
  const placed = placeLabels(points, frame);
  assert.ok(placed.length > 4 && placed.length <= 12);
  placed.forEach((one, index) => {
    for (const other of placed.slice(index + 1)) {
      assert.ok(Math.abs(one.x - other.x) >= (textWidth(one.text) + textWidth(other.text)) / 2 || Math.abs(one.y - other.y) >= 14, `${one.text} and ${other.text}`);
    }
  });
});

test('the data of a figure is CSV as the program writes it', () => {
  assert.equal(csv({ columns: ['name', 'value'], rows: [['a, "b"', 1.5], ['c\nd', null]] }), 'name,value\n"a, ""b""",1.5\n"c\nd",\n');
});
