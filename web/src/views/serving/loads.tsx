// Loads of a serving run and the disk space of its documents.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import { placedBars } from '../../bars.ts';
import { bytes, formatOr, integer, interval, NONE, seconds } from '../../format.ts';
import { cellName, verdictLabel } from '../../labels.ts';
import { axisOf, metric } from '../../metric.ts';
import { Metric } from '../../metrics.ts';
import { usePage } from '../../page.ts';
import { cellsOf } from '../../view.ts';
import { DataState, Phase, SERVING } from '../../vocabulary.ts';
import { Multiples, Section } from '../common/multiples.tsx';

export function Loads(): JSX.Element {
  const page = usePage();
  const { view } = page;
  const loads = useMemo(() => cellsOf(view, 'load', [Phase.Load], null, SERVING), [view]);
  const sizes = useMemo(() => cellsOf(view, 'size', [Phase.Steady], DataState.Drained, SERVING), [view]);
  const bars = (entries: typeof loads, name: string) => placedBars(view, entries, metric(name), page.open).map((one) => one.bar);
  const charts = useMemo(() => [
    { key: 'time', title: 'Load and index, until durable and visible', own: bars(loads, 'time'), published: [], references: [] },
  ], [view, loads]);
  const taken = useMemo(() => [{ key: 'size', title: 'Size, drained', own: bars(sizes, Metric.TotalBytes), published: [], references: [] }], [view, sizes]);
  return (
    <Section id="serving-loads" title="Loads and sizes">
      <Multiples multiples={charts} format={seconds} axis={axisOf(metric('time'))} empty="No loads match the filters."
        tables={() => [{
          title: 'Loads',
          columns: [{ title: 'configuration', name: true }, { title: 'time', numeric: true }, { title: '95 % interval', numeric: true }, { title: 'documents loaded', numeric: true }, { title: 'size', numeric: true }, { title: 'verdict' }],
          rows: loads.map((entry) => {
            const size = sizes.find((one) => one.cell.configuration === entry.cell.configuration)?.cell.metrics[Metric.TotalBytes];
            return [
              cellName(entry.configuration, entry.cell), { text: formatOr(entry.cell.median_s, seconds), open: () => page.open(entry) },
              interval(entry.cell.low_s, entry.cell.high_s, seconds, entry.cell.median_s), formatOr(entry.cell.metrics[Metric.DocumentsLoaded], integer), size === undefined ? NONE : bytes(size), verdictLabel(entry.cell.verdict),
            ];
          }),
        }]} />
      <Multiples multiples={taken} format={bytes} axis="bytes, less is better" kind="bars" empty="No sizes match the filters." />
    </Section>
  );
}
