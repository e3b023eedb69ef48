// Index use in plans, one matrix per configuration.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Uses } from '../../documents.ts';
import type { Page } from '../../page.ts';
import type { Table, TableCell } from '../common/table.tsx';
import { indexUsageTables, useWords } from '../../documents.ts';
import { NONE } from '../../format.ts';
import { usePage } from '../../page.ts';
import { Section } from '../common/multiples.tsx';
import { TableOf } from '../common/table.tsx';

function tableOf(page: Page, { name, indexes, rows }: Uses): Table {
  return {
    title: name,
    columns: [{ title: 'query', name: true }, { title: 'form' }, ...indexes.map((title) => ({ title }))],
    rows: rows.map(({ operation, form, byIndex }): TableCell[] => [
      operation, form,
      ...indexes.map((index): TableCell => {
        const entries = byIndex.get(index) ?? [];
        const [first] = entries;
        return first === undefined ? NONE : { text: useWords(entries), open: () => page.open(first) };
      }),
    ]),
  };
}

export function IndexUsage(): JSX.Element {
  const page = usePage();
  const { view } = page;
  const all = useMemo(() => indexUsageTables(view), [view]);
  return (
    <Section id="index-use" title="Use of indexes">
      <p>Read from plans. Used: the query finds by the index. Usable: it does so when the system is forced to. In vain: the index is in the plan, and every row or entry is visited. Impossible: it is not used, or the system refuses it. The primary key’s index does not count.</p>
      {all.length === 0 ? <p class="empty">No plan was read.</p> : all.map((uses) => <TableOf key={uses.key} table={tableOf(page, uses)} />)}
    </Section>
  );
}
