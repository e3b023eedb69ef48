// Exports the data of a figure as CSV, by the same rules as the program's own export.

/** Data of a figure: column names, and a field for each column in every row. */
export interface FigureData {
  columns: readonly string[];
  rows: readonly (readonly (string | number | null)[])[];
}

function field(value: string | number | null): string {
  const text = value === null ? '' : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** CSV by RFC 4180 with `\n` line ends; missing values are empty. */
export function csv({ columns, rows }: FigureData): string {
  return [columns, ...rows].map((row) => `${row.map(field).join(',')}\n`).join('');
}
