// Number formatting with three significant digits. The program's own tables follow the same rules.

import type { Better, Unit } from './metrics.ts';
import { METRICS } from './metrics.ts';

/** Placeholder for a missing value. */
export const NONE = '–';

/** Three significant digits below a thousand, whole numbers above. */
export function threeDigits(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

function scaled(value: number, units: readonly string[], space: string): string {
  if (!Number.isFinite(value)) return NONE;
  let unit = 0;
  while (Math.abs(value) >= 999.5 && unit + 1 < units.length) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 && Number.isInteger(value) ? value.toFixed(0) : threeDigits(value)}${space}${units[unit] ?? ''}`;
}

/** Seconds as `1.23 s`, `45.6 ms` or `789 µs`. No time at all is `0`: a unit would claim that so little was measured. */
export function seconds(value: number): string {
  if (!Number.isFinite(value)) return NONE;
  if (value === 0) return '0';
  if (value >= 0.9995) return `${threeDigits(value)} s`;
  return value >= 0.0009995 ? `${threeDigits(value * 1e3)} ms` : `${threeDigits(value * 1e6)} µs`;
}

/** Microseconds as `1.23 s`, `45.6 ms` or `789 µs`. */
export function microseconds(value: number): string {
  return seconds(value / 1e6);
}

/** Bytes in decimal units: `480 MB`. */
export function bytes(value: number): string {
  return scaled(Math.round(value), ['B', 'kB', 'MB', 'GB', 'TB', 'PB'], ' ');
}

/** A count: `1.23M`, `45.6k`, `789`. */
export function count(value: number): string {
  return scaled(value, ['', 'k', 'M', 'G', 'T'], '');
}

/** A ratio: `1.00 ×`, `12.3 ×`, `456 ×`. */
export function times(ratio: number): string {
  return Number.isFinite(ratio) ? `${threeDigits(ratio)} ×` : NONE;
}

/** The text with numbers joined to their signs, and intervals to their limits, by blanks at which no line ends. */
export function unbroken(text: string): string {
  return text.replace(/(\d) (?=[%×…])/g, '$1\u00a0').replace(/(… )(?=[\d−])/g, '…\u00a0');
}

/** A share as a percentage; a share below 1 is never written as 100 %. */
export function percent(share: number): string {
  if (!Number.isFinite(share)) return NONE;
  if (share < 1 && share > 0.9995) return `${(Math.floor(share * 1e4) / 1e2).toFixed(2)} %`;
  return `${threeDigits(share * 100)} %`;
}

/** A whole number in groups: `1,234,567`. */
export function integer(value: number): string {
  return Number.isFinite(value) ? Math.round(value).toLocaleString('en-US') : NONE;
}

/** How a registered metric is shown. */
interface RegisteredMetric {
  title: string;
  unit: Unit;
  better: Better;
  /** Whether the metric covers whole processes. */
  ofProcesses: boolean;
}

/**
 * The metrics of the registry, by name. Metrics of systems' own folders are not among them, so that any text
 * may be looked up.
 */
export const REGISTERED: ReadonlyMap<string, RegisteredMetric> = new Map<string, RegisteredMetric>(
  METRICS.map(([name, title, unit, better, ofProcesses]) => [name, { title, unit, better, ofProcesses }]),
);

/** Title of a metric; a metric that is not registered is titled by its name. */
export function metricTitle(name: string): string {
  return REGISTERED.get(name)?.title ?? nameInWords(name);
}

function byUnit(unit: Unit, value: number): string {
  switch (unit) {
    case 's': return seconds(value);
    case 'ms': return seconds(value / 1e3);
    case 'us': return microseconds(value);
    case 'us/op': return `${microseconds(value)}/op`;
    case 'B/op': return `${bytes(value)}/op`;
    case '/op': return `${threeDigits(value)}/op`;
    case 'B': return bytes(value);
    case 'B/s': return `${bytes(value)}/s`;
    case '/s': return `${count(value)}/s`;
    case '/h': return `${count(value)}/h`;
    case 'share': return percent(value);
    case 'count':
    case 'number': return Number.isInteger(value) ? integer(value) : threeDigits(value);
  }
}

/** Formats a metric in its unit; the unit of an unregistered metric is taken from the end of its name. */
export function byName(name: string, value: number): string {
  if (!Number.isFinite(value)) return NONE;
  const known = REGISTERED.get(name);
  if (known !== undefined) return byUnit(known.unit, value);
  if (name.endsWith('bytes_per_s')) return `${bytes(value)}/s`;
  if (name.endsWith('_per_s')) return `${count(value)}/s`;
  if (name.endsWith('_per_h')) return `${count(value)}/h`;
  if (name.endsWith('_bytes') || name === 'bytes') return bytes(value);
  if (name.endsWith('_ms')) return seconds(value / 1e3);
  if (name.endsWith('_us')) return seconds(value / 1e6);
  if (name.endsWith('_s')) return seconds(value);
  if (name.endsWith('_share') || name.endsWith('_error')) return percent(value);
  return Number.isInteger(value) ? integer(value) : threeDigits(value);
}

/** A metric with its interval in parentheses; without them if both limits are equal or missing. */
export function withInterval(name: string, value: number, limits: readonly [number, number] | undefined): string {
  const [low, high] = limits ?? [value, value];
  return low === high ? byName(name, value) : `${byName(name, value)} (${byName(name, low)} … ${byName(name, high)})`;
}

/** The formatted value, or `NONE` if there is no value. */
export function formatOr<Value>(value: Value | null | undefined, format: (value: Value) => string): string {
  return value === null || value === undefined ? NONE : format(value);
}

/** `documents_per_s` as words: `documents per s`. */
export function nameInWords(name: string): string {
  return name.replaceAll('_', ' ');
}

/** A time as `2026-11-22 02:27 UTC`, independent of the reader's time zone. */
export function timestamp(rfc3339: string): string {
  const time = Date.parse(rfc3339);
  return Number.isNaN(time) ? rfc3339 : `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** Shown instead of an interval after one round, or after rounds that differ too much. */
export const TOO_FEW_ROUNDS = 'too few rounds';

/**
 * An interval as `1.2 ms … 3.4 ms`. If it is missing, `TOO_FEW_ROUNDS` if there is a `value`, `NONE`
 * otherwise.
 */
export function interval(low: number | null, high: number | null, format: (value: number) => string, value: number | null = null): string {
  if (low === null || high === null) return value === null ? NONE : TOO_FEW_ROUNDS;
  return `${format(low)} … ${format(high)}`;
}

/** Joins words into an English list: `a, b and c`. */
export function list(words: readonly string[]): string {
  if (words.length < 2) return words[0] ?? '';
  return `${words.slice(0, -1).join(', ')} and ${words[words.length - 1] ?? ''}`;
}

/** Shortens a tick label: `10 ms` instead of `10.0 ms`. */
export function tick(text: string): string {
  return text.replace(/(\.\d*?)0+(?=\D|$)/, (_, kept: string) => (kept === '.' ? '' : kept));
}

/** A number with its noun: `1 trial`, `3 trials`. */
export function counted(number: number, noun: string, plural = `${noun}s`): string {
  return `${integer(number)} ${number === 1 ? noun : plural}`;
}
