// Times by document size, one chart per test.

import { useMemo, useState } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Page } from '../../page.ts';
import type { Test } from '../../documents.ts';
import type { Table, TableCell } from '../common/table.tsx';
import { CURVES_HEIGHT, drawCurves } from '../../charts/curves.ts';
import { ChartFrame } from '../../charts/frame.tsx';
import { canBePublished, overSizes, publishedCurves, rowsOf, sizeLabel, sizesOf, testsOf } from '../../documents.ts';
import { interval, NONE, seconds } from '../../format.ts';
import { verdictLabel } from '../../labels.ts';
import { usePage } from '../../page.ts';
import { rankStatus } from '../../view.ts';
import { Section } from '../common/multiples.tsx';
import { Tables } from '../common/table.tsx';
import { drawn } from '../serving/throughput.tsx';

function tableOf(page: Page, test: Test): Table {
  const sizes = sizesOf(test.entries);
  const columns = sizes.flatMap((size) => [{ title: sizeLabel(size), numeric: true }, { title: `95 % interval, ${sizeLabel(size)}`, numeric: true }]);
  return {
    title: test.title,
    columns: [{ title: 'configuration', name: true }, ...columns, { title: 'remarks' }],
    rows: rowsOf(test.entries).map(({ name, bySize }): TableCell[] => {
      const cells = sizes.flatMap((size): TableCell[] => {
        const entry = bySize.get(size);
        if (entry === undefined) return [NONE, NONE];
        const { cell } = entry;
        const text = cell.median_s === null || rankStatus(page.view, entry).tier === 'none' ? verdictLabel(cell.verdict) : seconds(cell.median_s);
        return [{ text, open: () => page.open(entry) }, interval(cell.low_s, cell.high_s, seconds, cell.median_s)];
      });
      const notes = [...new Set([...bySize.values()].flatMap((entry) => rankStatus(page.view, entry).notes))];
      return [name, ...cells, notes.join(', ') || NONE];
    }),
  };
}

/** The published results as a table, with suspected errors. */
function publishedTable(page: Page): Table {
  return {
    title: 'Published results',
    columns: [
      { title: 'test', name: true }, { title: 'system', name: true }, { title: 'index' }, { title: 'documents', numeric: true }, { title: 'of', numeric: true },
      { title: 'mean', numeric: true }, { title: 'standard deviation', numeric: true }, { title: 'disk, without a unit', numeric: true }, { title: 'suspected, not confirmed' },
    ],
    rows: page.figures.published_documents.map((one): TableCell[] => [
      one.test, `${one.system} ${one.variant}`, one.index ?? NONE, String(one.documents), sizeLabel(2 ** (one.n + 4)),
      one.mean_s === null ? NONE : seconds(one.mean_s), one.sd_s === null ? NONE : seconds(one.sd_s), one.disk === null ? NONE : String(one.disk), one.suspected_errors.join('; ') || NONE,
    ]),
  };
}

export function BySize(): JSX.Element {
  const page = usePage();
  const { view } = page;
  const [published, setPublished] = useState(false);
  const others = page.figures.published_documents;
  const charts = useMemo(() => testsOf(view).map((test) => {
    const own = drawn(overSizes(view, test.entries), (point) => `${sizeLabel(point.x)}: ${seconds(point.y)}`);
    const shown = own.length > 0 && published && canBePublished(test) ? [...own, ...publishedCurves(others, test)] : own;
    const x = { title: 'size of a document, log scale', log: true, format: sizeLabel, ticks: sizesOf(test.entries) };
    const y = { title: 'time', log: true, format: seconds };
    return { test, has: shown.length > 0, draw: (width: number) => drawCurves(shown, x, y, width, `${test.title}: time over size of documents, a curve for each configuration`) };
  }), [view, published]);
  const there = charts.filter((one) => one.has);
  return (
    <Section id="by-size" title="Times over sizes of documents">
      <p>Each table holds as many bytes of documents, whatever their size. Times are of statements alone; less is better. Every answer was compared by value with what went in. Bars are 95 % intervals over rounds; hollow points are not ranked. Both scales are logarithmic.</p>
      {others.length > 0 && (
        <p>
          <label><input type="checkbox" name="published-documents" checked={published} onChange={(event) => setPublished(event.currentTarget.checked)} /> Published results</label>
          {published && ' Dashed: means of “JSON Showdown: Dolt vs Postgres” (DoltHub, 2024) on an Apple M2 Pro with 32 GB, which hold the start of a client, scaled from the bytes of their tables to those of this run’s. Nothing of them was repeated here; the table names what is suspected of them.'}
        </p>
      )}
      {there.length === 0 ? <p class="empty">No tests with a time match the filters.</p> : (
        <div class="multiples broad">
          {there.map(({ test, draw }) => <ChartFrame key={test.key} title={test.title} height={CURVES_HEIGHT} draw={draw} eager={test === there[0]?.test} />)}
        </div>
      )}
      {charts.length > 0 && <Tables title="Results as tables" tables={() => [...charts.map(({ test }) => tableOf(page, test)), ...(published ? [publishedTable(page)] : [])]} />}
    </Section>
  );
}
