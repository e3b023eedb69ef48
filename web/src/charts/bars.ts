// Bar chart on a log scale, one bar per configuration: name and value on one line, the bar with its interval
// below.
//
// The baseline is the decade below the smallest value. Bar lengths on a log scale have no meaning by
// themselves; the axis says so. Configurations without a value show a word and no bar.

import { axisX, barX, gridX, plot, ruleX, ruleY, text, tickX } from '@observablehq/plot';

import { tick } from '../format.ts';
import { applyAria } from './a11y.ts';
import { overlayButton, rovingTabIndex } from './buttons.ts';
import { hatches } from './hatch.ts';

/** Look of a bar: only `plain` bars can be ranked; the other looks signal a caveat. */
export type Look = 'plain' | 'hatched' | 'muted' | 'hollow';

export interface Bar {
  /** Identifies the bar within its chart. */
  key: string;
  name: string;
  /** Caveats, shown after the name. */
  notes: readonly string[];
  /** Heading above the bar; empty if the chart has no headings. */
  group: string;
  colour: string;
  look: Look;
  /** Null if a word replaces the value. */
  value: number | null;
  low: number | null;
  high: number | null;
  /** The formatted value, or the word that replaces it. */
  label: string;
  /** Text appended to the value in tooltips and for screen readers. */
  more: string;
  /** Opens the details behind the value; null if there are none. */
  open: (() => void) | null;
}

export interface Reference {
  name: string;
  value: number;
  label: string;
}

export interface Scale {
  kind: 'log' | 'linear';
  low: number;
  high: number;
  format: (value: number) => string;
  /** Title of the axis, with scale and direction. */
  title: string;
}

const ROW = 34;
const TOP = 8;
const BOTTOM = 36;
const REFERENCE = 15;
/** Pixels on each side for the labels of the outermost ticks. */
const SIDE = 22;
const LETTER = 6.4;

/** Height of the chart in pixels, before it is drawn. `bars` includes headings, which are as high as bars. */
export function barsHeight(bars: number, references: number): number {
  return TOP + references * REFERENCE + bars * ROW + BOTTOM;
}

/** Distinct headings in order; empty if all bars have the same one. */
export function groupsOf(bars: readonly Pick<Bar, 'group'>[]): string[] {
  const groups = [...new Set(bars.map((bar) => bar.group))];
  return groups.length > 1 ? groups : [];
}

/** A log scale that contains `values` and starts at the decade below the smallest. */
export function logScale(
  values: readonly number[], format: (value: number) => string, title: string,
): Scale {
  const there = values.filter((value) => value > 0 && Number.isFinite(value));
  const low = 10 ** Math.floor(Math.log10(Math.min(...there) * 0.999));
  const most = Math.max(...there) * 1.001;
  const power = 10 ** Math.floor(Math.log10(most));
  const high = ([1, 2, 5, 10].find((step) => step * power >= most) ?? 10) * power;
  const whole = there.length > 0;
  return { kind: 'log', low: whole ? low : 0.1, high: whole ? high : 1, format, title: `${title}, log scale` };
}

/**
 * A log scale of multiples of the best value: bar lengths are logarithms, so the best bar has length zero.
 */
export function multipleScale(values: readonly number[], format: (value: number) => string, title: string): Scale {
  return { ...logScale(values, format, title), low: 1, high: Math.max(2, logScale(values, format, title).high), title: `${title}, log scale from 1` };
}

function ticks(scale: Scale, width: number): number[] {
  if (scale.kind === 'linear') {
    const power = 10 ** Math.floor(Math.log10((scale.high - scale.low) / 4));
    const step = power * ([1, 2, 2.5, 5].filter((part) => part * power * 4 <= (scale.high - scale.low) * 1.001).pop() ?? 1);
    const count = Math.floor((scale.high - scale.low) / step + 1e-9);
    return Array.from({ length: count + 1 }, (_, index) => scale.low + index * step);
  }
  const [first, last] = [Math.ceil(Math.log10(scale.low) - 1e-9), Math.floor(Math.log10(scale.high) + 1e-9)];
  if (scale.high / scale.low <= 50) {
    return [first - 1, first, first + 1].flatMap((power) => [1, 2, 5].map((part) => part * 10 ** power))
      .filter((value) => value >= scale.low * 0.999 && value <= scale.high * 1.001);
  }
  const step = Math.max(1, Math.ceil(((last - first) * 62) / Math.max(60, width)));
  const found: number[] = [];
  for (let power = first; power <= last; power += step) found.push(10 ** power);
  return found;
}

/** Truncates a text to `width` pixels. */
export function truncateToWidth(words: string, width: number): string {
  const letters = Math.max(4, Math.floor(width / LETTER));
  return words.length <= letters ? words : `${words.slice(0, letters - 1)}…`;
}

/** Minimum number of letters kept of a name next to long notes. */
const LEAST_NAME = 10;

/**
 * Name and notes in `width` pixels. The name is truncated before the notes, because they explain the look of
 * the bar.
 */
export function lineOf(bar: Pick<Bar, 'name' | 'notes'>, width: number): string {
  if (bar.notes.length === 0) return truncateToWidth(bar.name, width);
  const notes = ` · ${bar.notes.join(', ')}`;
  const room = Math.max(LEAST_NAME * LETTER, width - notes.length * LETTER);
  return truncateToWidth(`${truncateToWidth(bar.name, room)}${notes}`, width);
}

/** The text of a bar for screen readers. */
export function ariaLabel(bar: Bar): string {
  const notes = bar.notes.length > 0 ? ` (${bar.notes.join(', ')})` : '';
  return `${bar.name}${notes}${bar.group === '' ? '' : `, ${bar.group}`}: ${[bar.label, bar.more].filter((words) => words !== '').join(' ')}`;
}

export function drawBars(
  bars: readonly Bar[], references: readonly Reference[], scale: Scale, width: number, describe: string,
): SVGElement {
  const marginTop = TOP + references.length * REFERENCE;
  const inside = (value: number): number => Math.min(scale.high, Math.max(scale.low, value));
  const there = bars.filter((bar) => bar.value !== null);
  const ranged = there.filter((bar) => bar.low !== null && bar.high !== null);
  const groups = groupsOf(bars);
  const headings = groups.map((group) => ({ key: `heading ${group}`, group }));
  const rows = headings.length === 0 ? bars.map((bar) => bar.key)
    : headings.flatMap(({ key, group }) => [key, ...bars.filter((bar) => bar.group === group).map((bar) => bar.key)]);
  const hatch = hatches();
  const fill = (bar: Bar): string =>
    bar.look === 'hollow' ? 'var(--paper)' : bar.look === 'plain' ? bar.colour : hatch.of(bar.colour, bar.look);
  const middle = scale.kind === 'linear' ? (scale.low + scale.high) / 2 : Math.sqrt(scale.low * scale.high);
  const svg = plot({
    width,
    height: barsHeight(rows.length, references.length),
    marginTop,
    marginBottom: BOTTOM,
    marginLeft: SIDE,
    marginRight: SIDE,
    style: { fontSize: '12px', fontFamily: 'inherit', overflow: 'visible' },
    x: { type: scale.kind, domain: [scale.low, scale.high], label: null },
    y: { type: 'band', domain: rows, padding: 0, axis: null },
    color: { type: 'identity' },
    marks: [
      gridX(ticks(scale, width), { stroke: 'var(--line)', strokeOpacity: 1 }),
      axisX(ticks(scale, width), {
        text: (value: number) => tick(scale.format(value)), label: scale.title, labelAnchor: 'left',
        labelArrow: 'none', tickSize: 3, fill: 'var(--quiet)', stroke: 'var(--quiet)',
      }),
      ruleX(references, { x: (one: Reference) => inside(one.value), stroke: 'var(--ink)', strokeDasharray: '4 3', strokeOpacity: 0.75 }),
      ...references.map((one, index) => text([one], {
        x: (it: Reference) => inside(it.value),
        frameAnchor: 'top',
        text: (it: Reference) => `${it.name} ${it.label}`,
        textAnchor: one.value > middle ? 'end' : 'start',
        dx: one.value > middle ? -4 : 4,
        dy: -marginTop + 2 + index * REFERENCE,
        fill: 'var(--quiet)',
      })),
      barX(there, {
        x1: scale.low, x2: (bar: Bar) => inside(bar.value ?? scale.low), y: 'key', fill, insetTop: 18, insetBottom: 5,
        stroke: 'colour', strokeWidth: 1.2,
      }),
      // Marks the end of each bar, because a value at the start of the scale has a bar of zero length.
      tickX(there, { x: (bar: Bar) => inside(bar.value ?? scale.low), y: 'key', stroke: 'colour', strokeWidth: 3, insetTop: 18, insetBottom: 5 }),
      ruleY(ranged, {
        x1: (bar: Bar) => inside(bar.low ?? scale.low), x2: (bar: Bar) => inside(bar.high ?? scale.low), y: 'key', dy: 6.5,
        stroke: 'var(--paper)', strokeWidth: 4,
      }),
      ruleY(ranged, {
        x1: (bar: Bar) => inside(bar.low ?? scale.low), x2: (bar: Bar) => inside(bar.high ?? scale.low), y: 'key', dy: 6.5,
        stroke: 'var(--ink)', strokeWidth: 1.8,
      }),
      text(headings, {
        text: 'group', y: 'key', frameAnchor: 'left', dx: -SIDE, dy: 7, textAnchor: 'start', fill: 'var(--quiet)', fontWeight: 600, fontSize: 12.5,
        stroke: 'var(--paper)', strokeWidth: 3,
      }),
      text(bars, {
        text: (bar: Bar) => lineOf(bar, width - 12 - bar.label.length * LETTER), y: 'key', frameAnchor: 'left',
        dx: -SIDE, dy: -7, textAnchor: 'start', fill: 'var(--ink)', stroke: 'var(--paper)', strokeWidth: 3,
      }),
      text(bars, {
        text: 'label', y: 'key', frameAnchor: 'right', textAnchor: 'end', dx: SIDE, dy: -7, fontWeight: 600, fill: 'var(--ink)',
        stroke: 'var(--paper)', strokeWidth: 3, fontVariant: 'tabular-nums',
      }),
    ],
  }) as SVGSVGElement;
  applyAria(svg, 'group', describe);
  hatch.into(svg);
  for (const bar of bars) {
    if (bar.open !== null) {
      overlayButton(svg, { x: 0, y: marginTop + rows.indexOf(bar.key) * ROW, width, height: ROW }, ariaLabel(bar), bar.open);
    }
  }
  rovingTabIndex(svg);
  return svg;
}
