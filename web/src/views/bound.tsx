// What the time went into: all cores, one core, the disk, or waiting.

import { useMemo, useState } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Field } from '../charts/matrix.ts';
import type { Entry } from '../select.ts';
import type { Table } from './table.tsx';
import { DRAWN } from '../bars.ts';
import { Figure } from '../charts/figure.tsx';
import { drawMatrix, matrixHeight } from '../charts/matrix.ts';
import { NONE } from '../format.ts';
import { usePage } from '../page.ts';
import { cellsOf, questionsIn } from '../select.ts';
import { configurationName, stepName } from '../words.ts';
import { Section } from './multiples.tsx';
import { Tables } from './table.tsx';

function colour(word: string): string {
  if (word.startsWith('cpu')) return 'var(--colour-1)';
  if (word.startsWith('one core')) return 'var(--colour-0)';
  if (word.startsWith('disk')) return 'var(--colour-2)';
  return word.startsWith('wait') ? 'var(--colour-5)' : 'var(--line)';
}

export function Bound(): JSX.Element {
  const page = usePage();
  const { from } = page;
  const [all, setAll] = useState(false);
  const entries = useMemo((): { column: string; entry: Entry }[] => [
    ...cellsOf(from, 'load', ['load'], null).map((entry) => ({ column: 'load', entry })),
    ...questionsIn(from, ['hot']).flatMap((step) => cellsOf(from, step, ['hot']).map((entry) => ({ column: stepName(step), entry }))),
  ].filter(({ entry }) => !entry.configuration.reference && entry.cell.bound_by !== null), [from]);
  const columns = useMemo(() => [...new Set(entries.map((one) => one.column))], [entries]);
  const those = useMemo(() => [...new Set(entries.map((one) => one.entry.cell.configuration))], [entries]);
  const drawn = all ? those : those.slice(0, DRAWN);
  const draw = useMemo(() => {
    const rows = drawn.map((index) => {
      const one = from.run.configurations[index];
      return { key: String(index), name: one === undefined ? NONE : configurationName(one) };
    });
    const fields: Field[] = entries.filter(({ entry }) => drawn.includes(entry.cell.configuration)).map(({ column, entry }) => ({
      row: String(entry.cell.configuration), column, word: entry.cell.bound_by ?? NONE, colour: colour(entry.cell.bound_by ?? ''),
      open: () => page.open(entry),
    }));
    return (width: number) => drawMatrix(fields, rows, columns, width, 'What each step was bound by');
  }, [entries, all]);
  const table = (): Table => ({
    title: 'Bound by',
    columns: [{ title: 'configuration' }, ...columns.map((title) => ({ title }))],
    rows: those.map((index) => {
      const one = from.run.configurations[index];
      return [
        one === undefined ? NONE : configurationName(one),
        ...columns.map((column) => {
          const found = entries.find((it) => it.column === column && it.entry.cell.configuration === index);
          return found === undefined ? NONE : { text: found.entry.cell.bound_by ?? NONE, open: () => page.open(found.entry) };
        }),
      ];
    }),
  });
  return (
    <Section id="bound" title="Bound by">
      <p>What the time went into: <em>cpu</em>, all cores busy; <em>one core</em>, the others idle; <em>cpu, part</em> (<em>cpu*</em> in narrow fields), more than one core and fewer than all; <em>disk</em>, reading as fast as the disk gives; <em>waiting</em>, none of these. Below 2 ms nobody can tell, and nothing is said.</p>
      {drawn.length === 0 ? <p class="empty">Not told for what is chosen.</p> : (
        <>
          <Figure title="What each step was bound by" height={matrixHeight(drawn.length)} draw={draw} wide />
          {those.length > DRAWN && (
            <p class="more">
              <button type="button" class="quiet" aria-pressed={all} onClick={() => setAll(!all)}>{all ? `Show the first ${DRAWN} only` : `Show all ${those.length}`}</button>
            </p>
          )}
          <Tables title="As a table" tables={() => [table()]} />
        </>
      )}
    </Section>
  );
}
