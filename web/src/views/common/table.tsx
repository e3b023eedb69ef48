// Tables behind charts: built when they are opened, with their export.

import { useState } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Severity } from '../../model.ts';
import { copyOrDownload, markdown } from '../../export/markdown.ts';

export interface Column {
  title: string;
  /** Holds figures: to the right, one below the other. */
  figure?: boolean;
  /** Holds names that stay on one line. */
  name?: boolean;
}

/** A word or figure of a table; with `open`, it opens what stands behind it. */
export type TableCell = string | { text: string; open: () => void };

export interface Table {
  title: string;
  columns: readonly Column[];
  rows: readonly (readonly TableCell[])[];
  /** For each row, the heading under which it stands. */
  groups?: readonly string[];
  /** For each row, how much it is to be noticed; all are good where nothing is said. */
  severities?: readonly (Severity | undefined)[];
}

function wordOf(cell: TableCell): string {
  return typeof cell === 'string' ? cell : cell.text;
}

export function MarkdownButton({ title, table }: { title: string; table: () => Table }): JSX.Element {
  const [told, tell] = useState('');
  const copy = async (): Promise<void> => {
    const { columns, rows } = table();
    const text = markdown(title, columns.map((one) => one.title), rows.map((row) => row.map(wordOf)), columns.map((one) => one.figure === true));
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

/** What is to be noticed has a sign that needs no colour. */
function Sign({ of }: { of: Severity | undefined }): JSX.Element | null {
  if (of === 'failed') return <span class="sign" role="img" aria-label="failed">✖ </span>;
  return of === 'warning' ? <span class="sign" role="img" aria-label="with care">⚠ </span> : null;
}

/** A table that is there at once. */
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
            <tr>{table.columns.map((one) => <th scope="col" class={one.figure === true ? 'number' : ''}>{one.title}</th>)}</tr>
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
                  const numeric = column?.figure === true ? 'number' : column?.name === true ? 'name' : '';
                  const inside = typeof cell === 'string' ? cell
                    : <button type="button" class="figure" onClick={cell.open}>{cell.text}</button>;
                  return index === 0 ? <th scope="row" class={numeric}><Sign of={table.severities?.[place]} />{inside}</th> : <td class={numeric}>{inside}</td>;
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

/** Tables that are made when the reader opens them. */
export function Tables({ title, tables }: { title: string; tables: () => readonly Table[] }): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {open && tables().map((table) => <TableOf key={table.title} table={table} />)}
    </details>
  );
}
