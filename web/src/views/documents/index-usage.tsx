// Index use in plans, one matrix per configuration.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Uses } from '../../documents.ts';
import type { Page } from '../../page.ts';
import type { Table, TableCell } from '../common/table.tsx';
import { indexUsageTables, NOT_TRIED, usedInstead, useWords } from '../../documents.ts';
import { list } from '../../format.ts';
import { usePage } from '../../page.ts';
import { Section } from '../common/multiples.tsx';
import { TableOf } from '../common/table.tsx';

/** Operators named in one field; more are counted. */
const NAMED = 2;

/** The operators that do use the index, as text behind the outcome; empty if there are none. */
function insteadText(operators: readonly string[]): string {
  if (operators.length === 0) return '';
  const more = operators.length > NAMED ? [`${operators.length - NAMED} more`] : [];
  return ` – used by ${list([...operators.slice(0, NAMED), ...more])}`;
}

function tableOf(page: Page, uses: Uses): Table {
  const { name, indexes, rows } = uses;
  return {
    title: name,
    columns: [{ title: 'query', name: true }, { title: 'form' }, ...indexes.map((title) => ({ title }))],
    rows: rows.map((row): TableCell[] => [
      row.operation, row.form,
      ...indexes.map((index): TableCell => {
        const entries = row.byIndex.get(index) ?? [];
        const [first] = entries;
        const instead = insteadText(usedInstead(uses, index, row));
        return first === undefined ? `${NOT_TRIED}${instead}` : { text: `${useWords(entries)}${instead}`, open: () => page.open(first) };
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
      <p>
        Read from plans. <b>✓ used</b>: the query finds by the index. <b>○ usable</b>: it does so when the system is forced to. <b>≈ in vain</b>: the index is in the plan, and every row or
        entry is visited. <b>✕ impossible</b>: it is not used even then, or the system refuses it. <b>· not tried</b>: the query was not asked with this index, which says nothing about the
        system. Behind an index that a query does not use stand the operators that do use it. The primary key’s index does not count.
      </p>
      {all.length === 0 ? <p class="empty">No plan was read.</p> : all.map((uses) => <TableOf key={uses.key} table={tableOf(page, uses)} />)}
    </Section>
  );
}
