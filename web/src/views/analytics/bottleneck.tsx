// Bottleneck of each question: all cores, one core, the disk, or waiting.

import { useMemo, useState } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Field } from '../../charts/matrix.ts';
import type { FigureData } from '../../export/csv.ts';
import type { Bottleneck } from '../../model.ts';
import type { Entry } from '../../view.ts';
import type { Table } from '../common/table.tsx';
import { DRAWN, groupOf } from '../../bars.ts';
import { drawMatrix, matrixHeight } from '../../charts/matrix.ts';
import { NONE } from '../../format.ts';
import { configurationName, HOT, stepName } from '../../labels.ts';
import { usePage } from '../../page.ts';
import { cellsOf, questionsIn } from '../../view.ts';
import { Phase } from '../../vocabulary.ts';
import { Figure } from '../common/figure.tsx';
import { Section } from '../common/multiples.tsx';
import { Tables } from '../common/table.tsx';

function colour(bottleneck: Bottleneck | null): string {
  switch (bottleneck) {
    case 'cpu': case 'cpu, part': return 'var(--colour-1)';
    case 'one core': return 'var(--colour-0)';
    case 'disk': return 'var(--colour-2)';
    case 'waiting': return 'var(--colour-5)';
    case null: return 'var(--line)';
  }
}

const TITLE = 'What each step was bound by';

/** Columns of one chart; more would leave no room for words on a phone. */
const COLUMNS = 8;

/** The columns of each chart. */
function chunks(columns: readonly string[]): string[][] {
  const number = Math.ceil(columns.length / COLUMNS);
  return Array.from({ length: number }, (_, index) => columns.slice(index * COLUMNS, (index + 1) * COLUMNS));
}

/** The word for narrow fields. */
function shortWord(bottleneck: Bottleneck | null): string {
  return (bottleneck ?? NONE).replace('one core', '1 core').replace('waiting', 'wait').replace(', part', '*');
}

export function Bottlenecks(): JSX.Element {
  const page = usePage();
  const { view } = page;
  const [all, setAll] = useState(false);
  const entries = useMemo((): { column: string; entry: Entry }[] => [
    ...cellsOf(view, 'load', [Phase.Load], null).map((entry) => ({ column: 'load', entry })),
    ...questionsIn(view, HOT).flatMap((step) => cellsOf(view, step, HOT).map((entry) => ({ column: stepName(step), entry }))),
  ].filter(({ entry }) => !entry.configuration.reference && entry.cell.bound_by !== null), [view]);
  const columns = useMemo(() => [...new Set(entries.map((one) => one.column))], [entries]);
  const configurations = useMemo(() => {
    const place = (index: number): number => view.rankings.indexOf(view.run.configurations[index]?.ranking ?? '');
    return [...new Set(entries.map((one) => one.entry.cell.configuration))].sort((a, b) => place(a) - place(b));
  }, [entries]);
  const drawn = all ? configurations : configurations.slice(0, DRAWN);
  const charts = useMemo(() => {
    const rows = drawn.map((index) => {
      const configuration = view.run.configurations[index];
      return { key: String(index), name: configuration === undefined ? NONE : configurationName(configuration) };
    });
    const fields: Field[] = entries.filter(({ entry }) => drawn.includes(entry.cell.configuration)).map(({ column, entry }) => ({
      row: String(entry.cell.configuration), column, word: entry.cell.bound_by ?? NONE, short: shortWord(entry.cell.bound_by), colour: colour(entry.cell.bound_by),
      open: () => page.open(entry),
    }));
    return chunks(columns).map((some) => {
      const title = some.length === columns.length ? TITLE : `${TITLE}: ${some[0] ?? ''} to ${some[some.length - 1] ?? ''}`;
      const own = fields.filter(({ column }) => some.includes(column));
      return { title, draw: (width: number) => drawMatrix(own, rows, some, width, title) };
    });
  }, [entries, all]);
  const data = (): FigureData => ({
    columns: ['configuration', 'step', 'bound by'],
    rows: entries.map(({ column, entry }) => [configurationName(entry.configuration), column, entry.cell.bound_by]),
  });
  const table = (): Table => ({
    title: 'Bound by',
    columns: [{ title: 'configuration' }, ...columns.map((title) => ({ title }))],
    rows: configurations.map((index) => {
      const configuration = view.run.configurations[index];
      return [
        configuration === undefined ? NONE : configurationName(configuration),
        ...columns.map((column) => {
          const found = entries.find((it) => it.column === column && it.entry.cell.configuration === index);
          return found === undefined ? NONE : { text: found.entry.cell.bound_by ?? NONE, open: () => page.open(found.entry) };
        }),
      ];
    }),
    groups: configurations.map((index) => groupOf(view, view.run.configurations[index]?.ranking ?? '')),
  });
  return (
    <Section id="bound" title="Bound by">
      <p>What limits each step: <em>cpu</em>, all cores busy; <em>one core</em>, the others idle; <em>cpu, part</em> (<em>cpu*</em> in narrow fields), more than one core but not all; <em>disk</em>, reading at the disk’s speed; <em>waiting</em>, none of these. Steps below 2 ms are too short to tell.</p>
      {drawn.length === 0 ? <p class="empty">Not known for what the filters show.</p> : (
        <>
          {charts.map((one) => <Figure key={one.title} title={one.title} height={matrixHeight(drawn.length)} draw={one.draw} data={data} wide />)}
          {configurations.length > DRAWN && (
            <p class="more">
              <button type="button" class="quiet" aria-pressed={all} onClick={() => setAll(!all)}>{all ? `Show the first ${DRAWN} only` : `Show all ${configurations.length}`}</button>
            </p>
          )}
          <Tables title="As a table" tables={() => [table()]} />
        </>
      )}
    </Section>
  );
}
