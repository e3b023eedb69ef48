// Results of the crash tests, one row per configuration, tier and kind of crash.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { CrashSet } from '../../durability.ts';
import type { MetricName } from '../../metrics.ts';
import type { Table } from '../common/table.tsx';
import { crashSetsOf, kindLabel, outcomePhrase } from '../../durability.ts';
import { byName, formatOr, integer, NONE } from '../../format.ts';
import { Metric } from '../../metrics.ts';
import { usePage } from '../../page.ts';
import { TableOf } from '../common/table.tsx';

const COUNTS: readonly MetricName[] = [
  Metric.AcknowledgedWrites, Metric.LostWrites, Metric.TornDocuments, Metric.WritesOutOfOrder, Metric.WritesAcknowledgedAfterCrash,
];

function tableOf(all: readonly CrashSet[]): Table {
  return {
    title: 'Data after a crash',
    columns: [
      { title: 'configuration', name: true }, { title: 'tier' }, { title: 'crash' }, { title: 'may lose' }, { title: 'found', name: true },
      { title: 'as promised', numeric: true }, { title: 'acknowledged', numeric: true }, { title: 'lost', numeric: true }, { title: 'torn', numeric: true },
      { title: 'out of order', numeric: true }, { title: 'after the crash', numeric: true }, { title: 'oldest loss', numeric: true }, { title: 'recovery', numeric: true },
    ],
    severities: all.map(({ entry }) => entry.cell.severity),
    rows: all.map((crashes) => {
      const { metrics } = crashes.entry.cell;
      const count = (name: MetricName): string => {
        // Lost documents from before the clients started count as lost too.
        const loaded = name === Metric.LostWrites ? metrics[Metric.LostDocuments] ?? 0 : 0;
        return formatOr(metrics[name], (value) => integer(value + loaded));
      };
      return [
        crashes.name, crashes.tier, kindLabel(crashes.kind), crashes.promise ?? NONE, outcomePhrase(crashes),
        metrics[Metric.Crashes] === undefined ? NONE : `${metrics[Metric.CrashesAsPromised] ?? 0} of ${metrics[Metric.Crashes]}`,
        ...COUNTS.map(count), formatOr(metrics[Metric.OldestLossS], (value) => byName(Metric.OldestLossS, value)), formatOr(metrics[Metric.RecoveryS], (value) => byName(Metric.RecoveryS, value)),
      ];
    }),
  };
}

export function DurabilityFindings(): JSX.Element {
  const { view } = usePage();
  const all = useMemo(() => crashSetsOf(view), [view]);
  return (
    <>
      <p>
        Clients insert and update; at a random moment all processes of the system are killed, or the power of its disk is cut; it is started again, and
        everything that was acknowledged is looked for. What was under way may be there or not.
      </p>
      {all.length === 0 ? <p class="empty">No crash tests match the filters.</p> : <TableOf table={tableOf(all)} />}
    </>
  );
}
