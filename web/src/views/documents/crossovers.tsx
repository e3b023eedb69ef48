// Document sizes at which two configurations swap order.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Table, TableCell } from '../common/table.tsx';
import { TESTS } from '../../documents.ts';
import { NONE, threeDigits } from '../../format.ts';
import { configurationName } from '../../labels.ts';
import { usePage } from '../../page.ts';
import { Section } from '../common/multiples.tsx';
import { TableOf } from '../common/table.tsx';

function size(bytes: number): string {
  return bytes >= 1024 ** 2 ? `${threeDigits(bytes / 1024 ** 2)} MiB` : `${threeDigits(bytes / 1024)} KiB`;
}

export function Crossovers(): JSX.Element {
  const { view } = usePage();
  const table = useMemo((): Table => {
    const shown = new Set(view.entries.map(({ cell }) => cell.configuration));
    const name = (index: number): string => {
      const configuration = view.run.configurations[index];
      return configuration === undefined ? NONE : configurationName(configuration);
    };
    const limit = (bytes: number | null): string => (bytes === null ? '' : size(bytes));
    return {
      title: 'Crossovers by document size',
      columns: [
        { title: 'test', name: true }, { title: 'data' }, { title: 'faster with smaller documents', name: true }, { title: 'faster with larger ones', name: true },
        { title: 'from', numeric: true }, { title: '95 % interval', numeric: true },
      ],
      rows: view.run.crossovers.filter((one) => shown.has(one.faster_below) && shown.has(one.faster_above)).map((one): TableCell[] => [
        TESTS.find(([test]) => test === one.test)?.[0] ?? one.test, one.data, name(one.faster_below), name(one.faster_above), size(one.bytes),
        one.low === null && one.high === null ? NONE : `${limit(one.low)} … ${limit(one.high)}`.trim(),
      ]),
    };
  }, [view]);
  return (
    <Section id="crossovers" title="Crossovers by document size">
      <p>Sizes of documents at which two ranked configurations are equally fast in a test without an index. Between measured sizes, times are interpolated as straight lines on log scales; rounds are paired. A limit that is missing lies beyond all of these sizes.</p>
      {table.rows.length === 0 ? <p class="empty">No crossovers: the order is the same at all sizes.</p> : <TableOf table={table} head={false} />}
    </Section>
  );
}
