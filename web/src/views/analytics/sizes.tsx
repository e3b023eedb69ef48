// Disk space used by the documents.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Reference } from '../../charts/row-chart.ts';
import type { ShownMetric } from '../../metric.ts';
import type { Page } from '../../page.ts';
import type { Multiple } from '../common/multiples.tsx';
import type { Table } from '../common/table.tsx';
import type { Estimate } from '../../stats.ts';
import { groupOf, placedBars, publishedBar, publishedGroup, publishedHere, references } from '../../bars.ts';
import { bytes, formatOr, interval, NONE, percent, threeDigits } from '../../format.ts';
import { verdictLabel } from '../../labels.ts';
import { isOfFiles, totalBytes, totalRange } from '../../metric.ts';
import { Metric } from '../../metrics.ts';
import { usePage } from '../../page.ts';
import { cellsOf, rankStatus } from '../../view.ts';
import { DataState, Phase } from '../../vocabulary.ts';
import { Multiples, Section } from '../common/multiples.tsx';

const TOTAL: ShownMetric = {
  name: 'total', title: 'total bytes', better: 'lower', time: false, format: bytes,
  notes: (cell) => (isOfFiles(cell) ? ['files'] : []),
  of: totalRange,
};

function statesOf(page: Page): string[] {
  const states = new Set((page.view.bySteps.get('size') ?? []).flatMap((entry) => entry.cell.state ?? []));
  // Compacted first, because that is the lasting state.
  return [...states].sort((a, b) => (a < b ? -1 : 1));
}

function files(page: Page): Reference[] {
  return Object.entries(page.view.run.data.reference_sizes)
    .sort((a, b) => b[1] - a[1])
    .map(([name, value]) => ({ name, value, label: bytes(value) }));
}

function multiplesOf(page: Page): Multiple[] {
  const { view } = page;
  return statesOf(page).map((state) => {
    const entries = cellsOf(view, 'size', [Phase.Steady], state);
    return {
      key: state,
      title: `Size ${state}`,
      own: placedBars(view, entries, TOTAL, page.open).map((one) => one.bar),
      published: state !== DataState.Drained ? [] : publishedHere(view).map((one) => publishedBar(one, one.total_bytes, bytes, publishedGroup(view))),
      references: [...files(page), ...references(view, entries, TOTAL).slice(0, 1)],
    };
  });
}

function rangeOf(one: Estimate | null): string {
  return one === null ? NONE : interval(one.low, one.high, bytes);
}

function tableOf(page: Page, state: string): Table {
  const { view } = page;
  const documents = Math.max(1, view.run.data.documents);
  const raw = view.run.data.reference_sizes.raw ?? view.run.data.bytes;
  const entries = cellsOf(view, 'size', [Phase.Steady], state);
  const ordered = [
    ...placedBars(view, entries, TOTAL, page.open).map((one) => one.entry),
    ...entries.filter((entry) => entry.configuration.reference),
  ];
  const rows = ordered.map((entry) => {
    const { cell, configuration } = entry;
    const how = rankStatus(view, entry);
    const total = how.tier === 'none' ? null : totalBytes(cell);
    return [
      `${configuration.title} ${configuration.version}`, configuration.variant, configuration.storage,
      { text: total === null ? verdictLabel(cell.verdict) : bytes(total), open: () => page.open(entry) },
      total === null ? NONE : rangeOf(totalRange(cell)),
      formatOr(cell.metrics[Metric.DataBytes], bytes), formatOr(cell.metrics[Metric.IndexBytes], bytes), formatOr(cell.metrics[Metric.FilesBytes], bytes),
      formatOr(cell.metrics[Metric.LogBytes], bytes), total === null ? NONE : threeDigits(total / documents), total === null ? NONE : percent(total / raw),
      [verdictLabel(cell.verdict), ...how.notes, ...(isOfFiles(cell) ? ['files'] : [])].join(', '),
    ];
  });
  const plain = files(page).map((one) => [
    'files', one.name, NONE, one.label, NONE, NONE, NONE, NONE, NONE, threeDigits(one.value / documents), percent(one.value / raw), NONE,
  ]);
  return {
    title: `Size ${state}`,
    columns: [
      { title: 'system', name: true }, { title: 'variant', name: true }, { title: 'storage' }, { title: 'total', numeric: true }, { title: 'range over loads', numeric: true }, { title: 'data', numeric: true },
      { title: 'indexes', numeric: true }, { title: 'on disk', numeric: true }, { title: 'logs', numeric: true },
      { title: 'bytes/document', numeric: true }, { title: 'of raw', numeric: true }, { title: 'verdict' },
    ],
    rows: [...rows, ...plain],
    groups: view.rankings.length < 2 ? [] : [
      ...ordered.map(({ configuration }) => (configuration.reference ? 'Never ranked' : groupOf(view, configuration.ranking))), ...plain.map(() => 'Plain files'),
    ],
  };
}

export function Sizes(): JSX.Element {
  const page = usePage();
  const multiples = useMemo(() => multiplesOf(page), [page.view]);
  return (
    <Section id="size" title="Size">
      <p>
        Total bytes by the system’s own catalogue, or of its <em>files</em> where it reports no total. <em>Compacted</em>: after a command to compact.
        <em> Drained</em>: after background work ended by itself, or <em>background work not finished</em> where it did not within the limit.
        A line over a bar is the range over several loads. The dashed lines are the same documents as plain files, raw and compressed; one that is
        larger than all bars stands at the edge, with an arrow.
      </p>
      <Multiples multiples={multiples} format={bytes} axis="bytes, less is better" kind="bars"
        tables={() => statesOf(page).map((state) => tableOf(page, state))} empty="No sizes match the filters." />
    </Section>
  );
}
