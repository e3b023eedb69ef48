// Evidence of every crash that lost data.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Table } from '../common/table.tsx';
import { kindTold, notKept, stopsOf, stopTold } from '../../durability.ts';
import { usePage } from '../../page.ts';
import { Section } from '../common/multiples.tsx';
import { TableOf } from '../common/table.tsx';

export function Broken(): JSX.Element {
  const { from } = usePage();
  const table = useMemo((): Table => ({
    title: 'Stops with losses',
    columns: [{ title: 'configuration', name: true }, { title: 'tier' }, { title: 'stopped by' }, { title: 'which', name: true }, { title: 'what was found' }],
    rows: stopsOf(from).flatMap((stops) => notKept(stops).map((one) => [stops.name, stops.tier, kindTold(stops.kind), one.of, stopTold(one)])),
  }), [from]);
  return (
    <Section id="stops" title="Stops after which something was not there">
      <p>With the first of what was missing, each with the version that was acknowledged and what is there instead; and the last words of systems that did not come up again.</p>
      {table.rows.length === 0 ? <p class="empty">After every stop everything was there.</p> : <TableOf table={table} />}
    </Section>
  );
}
