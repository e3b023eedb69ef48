// Results of the crash tests, one row per configuration, tier and kind of crash.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { CrashSet } from '../../durability.ts';
import type { Table } from '../common/table.tsx';
import { crashSetsOf, kindLabel, outcomePhrase } from '../../durability.ts';
import { byName, formatOr, integer, NONE } from '../../format.ts';
import { usePage } from '../../page.ts';
import { TableOf } from '../common/table.tsx';

const COUNTS = ['acknowledged_writes', 'lost_writes', 'torn_documents', 'writes_out_of_order', 'writes_after_cut'] as const;

function tableOf(all: readonly CrashSet[]): Table {
  return {
    title: 'Data after a crash',
    columns: [
      { title: 'configuration', name: true }, { title: 'tier' }, { title: 'crash' }, { title: 'may lose' }, { title: 'found', name: true },
      { title: 'as promised', figure: true }, { title: 'acknowledged', figure: true }, { title: 'lost', figure: true }, { title: 'torn', figure: true },
      { title: 'out of order', figure: true }, { title: 'after the crash', figure: true }, { title: 'oldest loss', figure: true }, { title: 'recovery', figure: true },
    ],
    severities: all.map(({ entry }) => entry.cell.severity),
    rows: all.map((crashes) => {
      const { metrics } = crashes.entry.cell;
      const count = (name: (typeof COUNTS)[number]): string => {
        // Lost documents from before the clients started count as lost too.
        const loaded = name === 'lost_writes' ? metrics.lost_documents ?? 0 : 0;
        return formatOr(metrics[name], (value) => integer(value + loaded));
      };
      return [
        crashes.name, crashes.tier, kindLabel(crashes.kind), crashes.promise ?? NONE, outcomePhrase(crashes),
        metrics.stops === undefined ? NONE : `${metrics.stops_as_promised ?? 0} of ${metrics.stops}`,
        ...COUNTS.map(count), formatOr(metrics.oldest_loss_s, (value) => byName('oldest_loss_s', value)), formatOr(metrics.recovery_s, (value) => byName('recovery_s', value)),
      ];
    }),
  };
}

export function DurabilityFindings(): JSX.Element {
  const { view } = usePage();
  const all = useMemo(() => crashSetsOf(view), [view]);
  return (
    <>
      <h2 id="title-durability-findings" tabIndex={-1}>Durability</h2>
      <p>
        Clients insert and update; at a random moment all processes of the system are killed, or the power of its disk is cut; it is started again, and
        everything that was acknowledged is looked for. What was under way may be there or not.
      </p>
      {all.length === 0 ? <p class="empty">No crash tests match the filters.</p> : <TableOf table={tableOf(all)} />}
    </>
  );
}
