// Measures, wraps and shortens the text of charts, so that no label is cut off or covers another.

/** Font of the page, as the style sheet states it. */
export const FONT = 'system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

/** Size of chart text in pixels. */
const SIZE = 12;

/** Distance between two lines of chart text in pixels. */
export const LINE = 15;

/** Style of all charts; text is measured in the same font. */
export const STYLE = { fontSize: `${SIZE}px`, fontFamily: 'inherit', overflow: 'visible' };

/** Style of tick marks and tick labels, and of grid lines. */
export const QUIET = { fill: 'var(--quiet)', stroke: 'var(--quiet)', tickSize: 3 } as const;
export const GRID = { stroke: 'var(--line)', strokeOpacity: 1 } as const;

/** Outline that keeps text legible on top of lines. */
export const HALO = { stroke: 'var(--paper)', strokeWidth: 3 } as const;

/** Upper limits of letter widths in ems, used where nothing can be measured. */
const WIDTHS: readonly (readonly [RegExp, number])[] = [
  [/[ .,:;'!|ijl]/, 0.36], [/[-()[\]/ft"r]/, 0.46], [/[mwMW%@…—÷×+<=>~#]/, 1], [/[A-Z&]/, 0.8], [/[\x20-\x7e]/, 0.66],
];

function estimatedWidth(text: string, bold: boolean): number {
  const ems = [...text].reduce((sum, letter) => sum + (WIDTHS.find(([letters]) => letters.test(letter))?.[1] ?? 1), 0);
  return ems * SIZE * (bold ? 1.1 : 1);
}

let canvas: CanvasRenderingContext2D | null | undefined;
const measured = new Map<string, number>();

/** Number of widths that are remembered. */
const REMEMBERED = 20_000;

/** Width of chart text in pixels. */
export function textWidth(text: string, bold = false): number {
  if (canvas === undefined) canvas = typeof document === 'undefined' ? null : document.createElement('canvas').getContext('2d');
  if (canvas === null) return estimatedWidth(text, bold);
  const key = `${bold ? 'bold' : 'plain'} ${text}`;
  const known = measured.get(key);
  if (known !== undefined) return known;
  canvas.font = `${bold ? 600 : 400} ${SIZE}px ${FONT}`;
  const { width } = canvas.measureText(text);
  if (measured.size >= REMEMBERED) measured.clear();
  measured.set(key, width);
  return width;
}

/** The text, or as much of its beginning as fits into `width` pixels. */
export function cut(text: string, width: number, bold = false): string {
  if (textWidth(text, bold) <= width) return text;
  const letters = [...text];
  let [fits, over] = [0, letters.length];
  while (over - fits > 1) {
    const middle = Math.floor((fits + over) / 2);
    if (textWidth(`${letters.slice(0, middle).join('')}…`, bold) <= width) fits = middle;
    else over = middle;
  }
  return `${letters.slice(0, fits).join('').trimEnd()}…`;
}

/** Breaks a text between words into lines of these widths; null if it does not fit. */
export function wrapped(text: string, widths: readonly number[], bold = false): string[] | null {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/).filter((one) => one !== '')) {
    let longer = line === '' ? word : `${line} ${word}`;
    while (textWidth(longer, bold) > (widths[lines.length] ?? 0)) {
      if (lines.length + 1 >= widths.length) return null;
      lines.push(line);
      line = '';
      longer = word;
    }
    line = longer;
  }
  return line === '' ? lines : [...lines, line];
}

/** A title in as many lines as it needs, three at most. */
export function titleLines(title: string, width: number): string[] {
  return wrapped(title, [width, width, width]) ?? [cut(title, width)];
}

/** Words in place of those left out. */
const LEFT_OUT = '…';

/** Joins the words that are kept; runs of words left out become one ellipsis. */
function joined(words: readonly string[], kept: readonly boolean[]): string {
  const parts: string[] = [];
  words.forEach((word, index) => {
    if (kept[index] === true) parts.push(word);
    else if (parts[parts.length - 1] !== LEFT_OUT) parts.push(LEFT_OUT);
  });
  return parts.join(' ');
}

/** Replaces the middle of a long word, so that its beginning and end stay. */
function narrowed(word: string, length: number): string {
  const letters = [...word];
  if (letters.length <= length) return word;
  const end = Math.floor((length - 1) / 2);
  return `${letters.slice(0, length - 1 - end).join('')}…${letters.slice(letters.length - end).join('')}`;
}

/** Minimum length of a word that has been shortened. */
const SHORTEST = 5;

/**
 * The texts from a name that lose more and more of it: first the words that most other names have too, then the middle of long
 * words.
 */
function* shorter(name: string, shared: (word: string) => number): Generator<string> {
  const words = name.split(/\s+/).filter((word) => word !== '');
  const kept = words.map(() => true);
  const order = words.map((_, index) => index).filter((index) => shared(words[index] ?? '') > 0)
    .sort((a, b) => shared(words[b] ?? '') - shared(words[a] ?? '') || b - a);
  for (const index of order) {
    kept[index] = false;
    yield joined(words, kept);
  }
  const longest = Math.max(SHORTEST, ...words.map((word) => [...word].length));
  for (let length = longest - 1; length >= SHORTEST; length -= 1) yield joined(words.map((word) => narrowed(word, length)), kept);
}

/** The name of a row, and the remarks that follow it and are never shortened. */
export interface NameText {
  name: string;
  remarks: string;
}

/**
 * The names of one chart, each in lines of the given widths. A name that is too long loses what it shares with other names; what
 * distinguishes it stays. Equal results are avoided where the names differ.
 */
export function fittedNames(texts: readonly NameText[], widths: (index: number) => readonly number[]): string[][] {
  const uses = new Map<string, number>();
  for (const { name } of texts) for (const word of new Set(name.split(/\s+/))) uses.set(word, (uses.get(word) ?? 0) + 1);
  const shared = (word: string): number => (uses.get(word) ?? 1) - 1;
  const taken = new Map<string, string>(texts.map(({ name }) => [name, name]));
  return texts.map(({ name, remarks }, index) => {
    const room = widths(index);
    const lines = (text: string): string[] | null => wrapped(remarks === '' ? text : `${text} ${remarks}`, room);
    const whole = lines(name);
    if (whole !== null) return whole;
    for (const text of shorter(name, shared)) {
      const fitted = (taken.get(text) ?? name) === name ? lines(text) : null;
      if (fitted !== null) {
        taken.set(text, name);
        return fitted;
      }
    }
    return [cut(remarks === '' ? name : `${name} ${remarks}`, room[0] ?? 0)];
  });
}
