// Tables behind charts: built when opened, with a Markdown export.

import { useState } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Severity } from '../../model.ts';
import { copyOrDownload, markdown } from '../../export/markdown.ts';
import { Sign } from './sign.tsx';

export interface Column {
  title: string;
  /** Whether the column holds numbers, which are right-aligned. */
  numeric?: boolean;
  /** Whether the column holds names, which are not wrapped. */
  name?: boolean;
}

/** Text of a table cell; with `open`, a click opens the details behind it. */
export type TableCell = string | { text: string; open: () => void };

export interface Table {
  title: string;
  columns: readonly Column[];
  rows: readonly (readonly TableCell[])[];
  /** Heading of each row, if the table has headings. */
  groups?: readonly string[];
  /** Severity of each row; all rows are good if absent. */
  severities?: readonly (Severity | undefined)[];
}

function wordOf(cell: TableCell): string {
  return typeof cell === 'string' ? cell : cell.text;
}

export function MarkdownButton({ title, table }: { title: string; table: () => Table }): JSX.Element {
  const [told, tell] = useState('');
  const copy = async (): Promise<void> => {
    const { columns, rows } = table();
    const text = markdown(title, columns.map((one) => one.title), rows.map((row) => row.map(wordOf)), columns.map((one) => one.numeric === true));
    tell(await copyOrDownload(title, text));
    setTimeout(() => tell(''), 2000);
  };
  return (
    <>
      <button type="button" class="quiet export" aria-label={`Markdown of ${title}`} onClick={() => void copy()}>Markdown</button>
      <span class="told" role="status">{told}</span>
    </>
  );
}

/** A table that is rendered immediately. */
export function TableOf({ table, head = true }: { table: Table; head?: boolean }): JSX.Element {
  const several = new Set(table.groups).size > 1;
  return (
    <div class="table">
      <div class="table-head">
        {head && <h4>{table.title}</h4>}
        <MarkdownButton title={table.title} table={() => table} />
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label={table.title}>
        <table>
          <caption class="hidden">{table.title}</caption>
          <thead>
            <tr>{table.columns.map((one) => <th scope="col" class={one.numeric === true ? 'number' : ''}>{one.title}</th>)}</tr>
          </thead>
          <tbody>
            {table.rows.map((row, place) => (
              <>
              {several && table.groups?.[place] !== table.groups?.[place - 1] && (
                <tr class="group"><th scope="colgroup" colSpan={table.columns.length}><span>{table.groups?.[place] ?? ''}</span></th></tr>
              )}
              <tr class={table.severities?.[place] ?? 'good'}>
                {row.map((cell, index) => {
                  const column = table.columns[index];
                  const look = column?.numeric === true ? 'number' : column?.name === true ? 'name' : '';
                  const inside = typeof cell === 'string' ? cell
                    : <button type="button" class="figure" onClick={cell.open}>{cell.text}</button>;
                  return index === 0 ? <th scope="row" class={look}><Sign of={table.severities?.[place]} />{inside}</th> : <td class={look}>{inside}</td>;
                })}
              </tr>
              </>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** Tables that are built when the reader opens them. */
export function Tables({ title, tables }: { title: string; tables: () => readonly Table[] }): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {open && tables().map((table) => <TableOf key={table.title} table={table} />)}
    </details>
  );
}
