// Cost per operation (CPU of clients and system, WAL, disk writes), errors and wrong answers.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Page } from '../../page.ts';
import type { ConditionGroup } from '../../serving.ts';
import type { Table, TableCell } from '../common/table.tsx';
import { placedBars } from '../../bars.ts';
import { byName, figureTitle, integer, NONE } from '../../format.ts';
import { configurationName, verdictLabel } from '../../labels.ts';
import { axisOf, measuredWord, metric } from '../../metric.ts';
import { usePage } from '../../page.ts';
import { clientsOf, groupsOf, isDriverBound } from '../../serving.ts';
import { Multiples, Section } from '../common/multiples.tsx';

const COSTS = [
  'server_cpu_us_per_op', 'client_cpu_us_per_op', 'journal_bytes_per_op', 'journal_record_bytes_per_op', 'journal_image_bytes_per_op', 'disk_written_bytes_per_op',
] as const;
const COUNTED = ['errors', 'timeouts', 'wrong_answers', 'stale_answers', 'retries', 'lost_updates', 'unknown_writes', 'reconnects', 'missed_arrivals', 'unfinished_arrivals', 'backlog_max'] as const;
const ALSO = ['driver_share', 'context_switches_per_op', 'cpu_migrations_per_op', 'idle_journal_bytes', 'lateness_p99_us'] as const;

function tableOf(page: Page, group: ConditionGroup): Table {
  const there = (names: readonly string[]): string[] => names.filter((name) => group.entries.some(({ cell }) => cell.metrics[name] !== undefined));
  // Counters that are zero everywhere are left out, except errors, wrong answers and lost updates.
  const counts = there(COUNTED).filter((name) => ['errors', 'wrong_answers', 'lost_updates'].includes(name) || group.entries.some(({ cell }) => (cell.metrics[name] ?? 0) !== 0));
  const names = [...there(COSTS), ...there(ALSO), ...counts];
  return {
    title: `What operations cost: ${group.title}`,
    columns: [{ title: 'configuration', name: true }, { title: 'clients', figure: true }, ...names.map((name) => ({ title: figureTitle(name), figure: true })), { title: 'verdict' }, { title: 'remarks' }],
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
        return own.some((bar) => bar.value !== null && bar.value > 0) ? [{ key: `${name} ${group.key}`, title: `${figureTitle(name)}: ${group.title}`, own, published: [], references: [] }] : [];
      }),
    };
  }).filter((one) => one.multiples.length > 0), [view, groups]);
  return (
    <Section id="operations" title="What an operation costs">
      <p>At the largest number of clients. An embedded engine shares its process with the clients, so its CPU time is theirs too. WAL bytes have those of an idle interval subtracted. Where a system reports them separately, images of whole pages are shown next to records of changes: an image is written when a page is changed for the first time after a checkpoint, so that what one trial writes depends on what came before it. Where trials fall into two groups, both are shown: a median over both would be of neither.</p>
      {charts.length === 0 ? <p class="empty">Not measured.</p> : charts.map(({ name, shown, multiples }) => (
        <Multiples key={name} multiples={multiples} format={(value) => byName(name, value)} axis={axisOf(shown)} empty="Not measured."
          {...(name === charts[charts.length - 1]?.name ? { tables: () => groups.map((group) => tableOf(page, group)) } : {})} />
      ))}
    </Section>
  );
}
