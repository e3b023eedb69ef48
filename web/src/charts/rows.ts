// Places the rows of a chart below each other: name and remarks in one or more lines with the value at their end, the mark below.

import { fittedNames, LINE, textWidth } from './text.ts';

/** Look of a row's mark: only `plain` rows can be ranked; the other looks signal a caveat. */
export type Look = 'plain' | 'hatched' | 'muted' | 'hollow';

/** One row of a chart: a value with its interval, drawn as a dot or as a bar. */
export interface Bar {
  /** Identifies the row within its chart. */
  key: string;
  name: string;
  /** Caveats, shown after the name. */
  notes: readonly string[];
  /** Heading above the row; empty if the chart has no headings. */
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

type RowText = Pick<Bar, 'name' | 'notes' | 'group' | 'label'>;

export interface TextLine {
  text: string;
  y: number;
}

/** A row with its place: all positions are pixels from the upper edge of the chart. */
export interface PlacedRow<Row> {
  row: Row;
  lines: readonly TextLine[];
  top: number;
  height: number;
  /** Middle of the value's text. */
  labelY: number;
  /** Middle of the mark. */
  markY: number;
}

export interface Layout<Row> {
  rows: readonly PlacedRow<Row>[];
  headings: readonly TextLine[];
  /** Lower edge of the last row. */
  end: number;
}

const ABOVE = 2;
const MARK = 16;
const HEADING = 26;
const GAP = 12;

/** Height of a row whose name has one line. */
const ROW = ABOVE + LINE + MARK;

/** Distinct headings in order; empty if all rows have the same one. */
export function groupsOf(rows: readonly Pick<Bar, 'group'>[]): string[] {
  const groups = [...new Set(rows.map((row) => row.group))];
  return groups.length > 1 ? groups : [];
}

/** Height of the rows before they are placed, if every name has one line. */
export function rowsHeight(rows: readonly Pick<Bar, 'group'>[]): number {
  return rows.length * ROW + groupsOf(rows).length * HEADING;
}

/** Places rows in `width` pixels, below `top`, under their headings. */
export function placeRows<Row extends RowText>(all: readonly Row[], width: number, top: number): Layout<Row> {
  const groups = groupsOf(all);
  const ordered = groups.length === 0 ? all : groups.flatMap((group) => all.filter((row) => row.group === group));
  const names = fittedNames(
    ordered.map(({ name, notes }) => ({ name, remarks: notes.length === 0 ? '' : `· ${notes.join(', ')}` })),
    (index) => {
      const row = ordered[index];
      const first = width - (row === undefined ? 0 : textWidth(row.label, true)) - GAP;
      return row !== undefined && row.notes.length > 0 ? [first, width, width] : [first, width];
    },
  );
  const headings: TextLine[] = [];
  let [y, group] = [top, ''];
  const rows = ordered.map((row, index): PlacedRow<Row> => {
    if (groups.length > 0 && (index === 0 || row.group !== group)) {
      headings.push({ text: row.group, y: y + HEADING - 10 });
      y += HEADING;
    }
    group = row.group;
    const own = names[index] ?? [];
    const height = ABOVE + Math.max(1, own.length) * LINE + MARK;
    const first = y + ABOVE + LINE / 2;
    const placed = {
      row, top: y, height, labelY: first, markY: y + height - MARK / 2,
      lines: own.map((text, place) => ({ text, y: first + place * LINE })).filter(({ text }) => text !== ''),
    };
    y += height;
    return placed;
  });
  return { rows, headings, end: y };
}

/** The text of a row for screen readers. */
export function ariaLabel(row: Bar): string {
  const notes = row.notes.length > 0 ? ` (${row.notes.join(', ')})` : '';
  return `${row.name}${notes}${row.group === '' ? '' : `, ${row.group}`}: ${[row.label, row.more].filter((words) => words !== '').join(' ')}`;
}
