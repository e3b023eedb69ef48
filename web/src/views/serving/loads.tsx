// Loads of a serving run and the disk space of its documents.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import { placedBars } from '../../bars.ts';
import { bytes, interval, NONE, or, seconds, whole } from '../../format.ts';
import { axisOf, metric } from '../../metric.ts';
import { usePage } from '../../page.ts';
import { cellsOf } from '../../select.ts';
import { SERVING } from '../../serving.ts';
import { cellName, verdictWord } from '../../words.ts';
import { Multiples, Section } from '../common/multiples.tsx';

export function Loads(): JSX.Element {
  const page = usePage();
  const { from } = page;
  const loads = useMemo(() => cellsOf(from, 'load', ['load'], null, SERVING), [from]);
  const sizes = useMemo(() => cellsOf(from, 'size', ['steady'], 'drained', SERVING), [from]);
  const bars = (entries: typeof loads, name: string) => placedBars(from, entries, metric(name), page.open).map((one) => one.bar);
  const charts = useMemo(() => [
    { key: 'time', title: 'Load and index, until durable and visible', own: bars(loads, 'time'), published: [], references: [] },
  ], [from, loads]);
  const taken = useMemo(() => [{ key: 'size', title: 'Size, drained', own: bars(sizes, 'total_bytes'), published: [], references: [] }], [from, sizes]);
  return (
    <Section id="serving-loads" title="Loads and sizes">
      <Multiples multiples={charts} format={seconds} axis={axisOf(metric('time'))} empty="No load in this choice."
        tables={() => [{
          title: 'Loads',
          columns: [{ title: 'configuration', name: true }, { title: 'time', figure: true }, { title: '95 % interval', figure: true }, { title: 'documents loaded', figure: true }, { title: 'size', figure: true }, { title: 'verdict' }],
          rows: loads.map((entry) => {
            const size = sizes.find((one) => one.cell.configuration === entry.cell.configuration)?.cell.metrics.total_bytes;
            return [
              cellName(entry.configuration, entry.cell), { text: or(entry.cell.median_s, seconds), open: () => page.open(entry) },
              interval(entry.cell.low_s, entry.cell.high_s, seconds, entry.cell.median_s), or(entry.cell.metrics.documents_loaded, whole), size === undefined ? NONE : bytes(size), verdictWord(entry.cell.verdict),
            ];
          }),
        }]} />
      <Multiples multiples={taken} format={bytes} axis="bytes, less is better" empty="No size in this choice." />
    </Section>
  );
}
