// Disk usage of the documents and of a copy of them.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Bar } from '../../charts/rows.ts';
import type { MetricName } from '../../metrics.ts';
import type { Page } from '../../page.ts';
import type { Entry } from '../../view.ts';
import type { Table, TableCell } from '../common/table.tsx';
import { placedBars } from '../../bars.ts';
import { disksOf, sizeLabel, sizeOf } from '../../documents.ts';
import { byName, bytes, formatOr, percent } from '../../format.ts';
import { configurationName, verdictLabel } from '../../labels.ts';
import { axisOf, metric } from '../../metric.ts';
import { Metric } from '../../metrics.ts';
import { usePage } from '../../page.ts';
import { Multiples, Section } from '../common/multiples.tsx';

const BYTES: readonly MetricName[] = [Metric.SourceBytes, Metric.FilesBytes, Metric.FilesWithCopyBytes, Metric.AddedBytes];

function dataOf({ cell }: Entry): string {
  return String(cell.parameters.data ?? '');
}

function tableOf(page: Page, entries: readonly Entry[]): Table {
  return {
    title: 'Disk usage after background work',
    columns: [
      { title: 'configuration', name: true }, { title: 'documents of', numeric: true }, { title: 'data' },
      { title: 'texts', numeric: true }, { title: 'files', numeric: true }, { title: 'with the copy', numeric: true }, { title: 'added', numeric: true }, { title: 'sharing', numeric: true }, { title: 'verdict' },
    ],
    rows: entries.map((entry): TableCell[] => [
      configurationName(entry.configuration), sizeLabel(sizeOf(entry.cell)), dataOf(entry),
      ...BYTES.map((name) => formatOr(entry.cell.metrics[name], bytes)), formatOr(entry.cell.metrics[Metric.AddedShare], percent),
      { text: verdictLabel(entry.cell.verdict), open: () => page.open(entry) },
    ]),
  };
}

const SHARED = metric(Metric.AddedShare);

/** Rows of one chart, whose title states size and data. */
function rowsOf(page: Page, entries: readonly Entry[]): Bar[] {
  return placedBars(page.view, entries, SHARED, page.open).map(({ bar, entry }) => ({ ...bar, name: configurationName(entry.configuration) }));
}

export function Disk(): JSX.Element {
  const page = usePage();
  const { view } = page;
  const entries = useMemo(() => disksOf(view), [view]);
  const multiples = useMemo(() => {
    const groups = new Map<string, Entry[]>();
    for (const entry of entries.filter(({ cell }) => (cell.metrics[Metric.AddedShare] ?? 0) > 0)) {
      const title = `sharing: documents of ${sizeLabel(sizeOf(entry.cell))}, ${dataOf(entry)}`;
      groups.set(title, [...groups.get(title) ?? [], entry]);
    }
    return [...groups].map(([title, group]) => ({ key: title, title, own: rowsOf(page, group), published: [], references: [] }));
  }, [entries]);
  return (
    <Section id="disk" title="Disk and sharing">
      <p>Sharing is what the copy added to the system’s files, logs apart and after background work, ÷ bytes of the documents’ texts. Of identical documents it says how alike they are as much as what the system shares.</p>
      <Multiples multiples={multiples} format={(value) => byName(Metric.AddedShare, value)} axis={axisOf(SHARED)} empty="No copy was measured." tables={() => [tableOf(page, entries)]} />
    </Section>
  );
}
