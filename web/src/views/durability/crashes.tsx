// Evidence of every crash that lost data.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Table } from '../common/table.tsx';
import { crashLabel, crashSetsOf, kindLabel, lossyCrashes } from '../../durability.ts';
import { usePage } from '../../page.ts';
import { Section } from '../common/multiples.tsx';
import { TableOf } from '../common/table.tsx';

export function Broken(): JSX.Element {
  const { view } = usePage();
  const table = useMemo((): Table => ({
    title: 'Crashes that lost data',
    columns: [{ title: 'configuration', name: true }, { title: 'tier' }, { title: 'crash' }, { title: 'which', name: true }, { title: 'what was found' }],
    rows: crashSetsOf(view).flatMap((crashes) => lossyCrashes(crashes).map((one) => [crashes.name, crashes.tier, kindLabel(crashes.kind), one.subject, crashLabel(one)])),
  }), [view]);
  return (
    <Section id="crashes" title="Crashes that lost data">
      <p>With the first of what was missing, each with the version that was acknowledged and what is there instead; and the last messages of systems that did not start again.</p>
      {table.rows.length === 0 ? <p class="empty">No crash lost data.</p> : <TableOf table={table} />}
    </Section>
  );
}
