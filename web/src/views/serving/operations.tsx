// Cost per operation (CPU of clients and system, WAL, disk writes), errors and wrong answers.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { MetricName } from '../../metrics.ts';
import type { Page } from '../../page.ts';
import type { ConditionGroup } from '../../serving.ts';
import type { Table, TableCell } from '../common/table.tsx';
import { placedBars } from '../../bars.ts';
import { byName, integer, metricTitle, NONE } from '../../format.ts';
import { configurationName, verdictLabel } from '../../labels.ts';
import { axisOf, chartKind, measuredWord, metric } from '../../metric.ts';
import { Metric } from '../../metrics.ts';
import { usePage } from '../../page.ts';
import { clientsOf, groupsOf, isDriverBound } from '../../serving.ts';
import { Multiples, Section } from '../common/multiples.tsx';

/** Costs that are drawn. */
const COSTS: readonly MetricName[] = [
  Metric.ServerCpuUsPerOp, Metric.ClientCpuUsPerOp, Metric.WalBytesPerOp, Metric.WalRecordBytesPerOp, Metric.WalImageBytesPerOp, Metric.DiskWrittenBytesPerOp,
];

/** Further costs of the table. */
const ALSO: readonly MetricName[] = [Metric.ClientCpuShare, Metric.ContextSwitchesPerOp, Metric.CpuMigrationsPerOp, Metric.IdleWalBytes, Metric.LatenessP99Us];

/** Counters that are shown even if they are zero everywhere. */
const ALWAYS: readonly MetricName[] = [Metric.Errors, Metric.WrongAnswers, Metric.LostUpdates];

const COUNTED: readonly MetricName[] = [
  Metric.Errors, Metric.Timeouts, Metric.WrongAnswers, Metric.StaleAnswers, Metric.Retries, Metric.LostUpdates, Metric.UnknownWrites, Metric.Reconnects,
  Metric.MissedArrivals, Metric.UnfinishedArrivals, Metric.BacklogMax,
];

function tableOf(page: Page, group: ConditionGroup): Table {
  const there = (names: readonly MetricName[]): MetricName[] => names.filter((name) => group.entries.some(({ cell }) => cell.metrics[name] !== undefined));
  const counts = there(COUNTED).filter((name) => ALWAYS.includes(name) || group.entries.some(({ cell }) => (cell.metrics[name] ?? 0) !== 0));
  const names = [...there(COSTS), ...there(ALSO), ...counts];
  return {
    title: `What operations cost: ${group.title}`,
    columns: [{ title: 'configuration', name: true }, { title: 'clients', numeric: true }, ...names.map((name) => ({ title: metricTitle(name), numeric: true })), { title: 'verdict' }, { title: 'remarks' }],
    severities: group.entries.map(({ cell }) => cell.severity),
    rows: group.entries.map((entry): TableCell[] => [
      configurationName(entry.configuration), integer(clientsOf(entry.cell)),
      ...names.map((name) => measuredWord(name, entry.cell)),
      { text: verdictLabel(entry.cell.verdict), open: () => page.open(entry) }, isDriverBound(entry.cell) ? 'driver-bound' : NONE,
    ]),
  };
}

export function Operations(): JSX.Element {
  const page = usePage();
  const { view } = page;
  const groups = useMemo(() => groupsOf(view), [view]);
  const charts = useMemo(() => COSTS.map((name) => {
    const shown = metric(name);
    return {
      name, shown,
      multiples: groups.filter((group) => !group.open).flatMap((group) => {
        const most = Math.max(0, ...group.entries.map((entry) => clientsOf(entry.cell)));
        const entries = group.entries.filter((entry) => clientsOf(entry.cell) === most && entry.cell.metrics[name] !== undefined);
        const own = placedBars(view, entries, shown, page.open).map((one) => one.bar);
        return own.some((bar) => bar.value !== null && bar.value > 0) ? [{ key: `${name} ${group.key}`, title: `${metricTitle(name)}: ${group.title}`, own, published: [], references: [] }] : [];
      }),
    };
  }).filter((one) => one.multiples.length > 0), [view, groups]);
  return (
    <Section id="operations" title="What an operation costs">
      <p>At the largest number of clients. An embedded engine shares its process with the clients, so its CPU time is theirs too. WAL bytes have those of an idle interval subtracted. Where a system reports them separately, images of whole pages are shown next to records of changes: an image is written when a page is changed for the first time after a checkpoint, so that what one trial writes depends on what came before it. Where trials fall into two groups, both are shown: a median over both would be of neither.</p>
      {charts.length === 0 ? <p class="empty">Not measured.</p> : charts.map(({ name, shown, multiples }) => (
        <Multiples key={name} multiples={multiples} format={(value) => byName(name, value)} axis={axisOf(shown)} kind={chartKind(name)} empty="Not measured."
          {...(name === charts[charts.length - 1]?.name ? { tables: () => groups.map((group) => tableOf(page, group)) } : {})} />
      ))}
    </Section>
  );
}
