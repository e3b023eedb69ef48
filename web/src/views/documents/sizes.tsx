// Times by document size, one chart per test: curves over several sizes, rows for a single one.

import { useMemo, useState } from 'preact/hooks';
import type { JSX } from 'preact';

import type { DrawnCurve } from '../../charts/curves.ts';
import type { Bar } from '../../charts/rows.ts';
import type { Facet, Test } from '../../documents.ts';
import type { FigureData } from '../../export/csv.ts';
import type { Page } from '../../page.ts';
import type { Multiple } from '../common/multiples.tsx';
import type { Table, TableCell } from '../common/table.tsx';
import { placedBars, publishedGroup } from '../../bars.ts';
import { CURVES_HEIGHT, drawCurves } from '../../charts/curves.ts';
import { canBePublished, facetsOf, indexFacetsOf, overSizes, publishedCurves, rowsOf, sizeLabel, sizesOf, testsOf } from '../../documents.ts';
import { curvesData } from '../../export/curves.ts';
import { interval, NONE, seconds } from '../../format.ts';
import { verdictLabel } from '../../labels.ts';
import { metric } from '../../metric.ts';
import { usePage } from '../../page.ts';
import { rankStatus } from '../../view.ts';
import { Figure } from '../common/figure.tsx';
import { Multiples, Section } from '../common/multiples.tsx';
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

/** Published results in the charts of a test. */
function publishedOf(page: Page, test: Test): DrawnCurve[] {
  return canBePublished(test) ? publishedCurves(page.figures.published_documents, test) : [];
}

/** A row for each published result of a test, next to those of a run with one size. */
function publishedRows(page: Page, curves: readonly DrawnCurve[]): Bar[] {
  return curves.flatMap(({ name, colour, points }) => points.map((point): Bar => ({
    key: `published ${name} ${point.x}`, name, notes: [], group: publishedGroup(page.view), colour, look: 'hollow', value: point.y, low: null, high: null, label: seconds(point.y), more: '', open: null,
  })));
}

interface CurveChart {
  key: string;
  title: string;
  draw: (width: number) => SVGElement;
  data: () => FigureData;
}

/** A chart of several sizes, as curves over them; null if no size has a time. */
function curveChart(page: Page, facet: Facet, published: readonly DrawnCurve[]): CurveChart | null {
  const own = drawn(overSizes(page.view, facet), (point) => `${sizeLabel(point.x)}: ${seconds(point.y)}`);
  if (own.length === 0) return null;
  const shown = [...own, ...published];
  const x = { title: 'size of a document', log: true, format: sizeLabel, ticks: sizesOf(facet.entries) };
  const y = { title: 'time, less is better', log: true, format: seconds };
  return {
    key: facet.key, title: facet.title, data: () => curvesData(shown, 'bytes of a document', 'seconds'),
    draw: (width) => drawCurves(shown, x, y, width, `${facet.title}: time over size of documents, a curve for each configuration`),
  };
}

/** A chart of one size, as a row for each configuration: a line through one point would show nothing. */
function rowChart(page: Page, facet: Facet, published: readonly DrawnCurve[]): Multiple {
  const size = sizesOf(facet.entries).map(sizeLabel).join(', ');
  const own = placedBars(page.view, facet.entries, metric('time'), page.open).map(({ bar, entry }) => ({ ...bar, name: facet.nameOf(entry) }));
  return { key: facet.key, title: `${facet.title}, ${size}`, own, published: publishedRows(page, published), references: [] };
}

/** The charts of some facets: curves where there are several sizes, else rows on one scale. */
function Facets({ facets, published, eager = false }: { facets: readonly Facet[]; published: (facet: Facet) => readonly DrawnCurve[]; eager?: boolean }): JSX.Element {
  const page = usePage();
  const { several, single } = useMemo(() => {
    const isSingle = (facet: Facet): boolean => sizesOf(facet.entries).length < 2;
    return {
      several: facets.filter((facet) => !isSingle(facet)).flatMap((facet) => curveChart(page, facet, published(facet)) ?? []),
      single: facets.filter(isSingle).map((facet) => rowChart(page, facet, published(facet))),
    };
  }, [page.view, facets, published]);
  return (
    <>
      {several.length > 0 && (
        <div class="multiples broad">
          {several.map((one) => <Figure key={one.key} title={one.title} height={CURVES_HEIGHT} draw={one.draw} data={one.data} eager={eager && one === several[0]} />)}
        </div>
      )}
      {single.length > 0 && <Multiples multiples={single} format={seconds} axis="time, less is better" empty="" />}
    </>
  );
}

const NO_CURVES = (): readonly DrawnCurve[] => [];

/** Tests by step, because the times of different tests do not share a scale. */
function byStep(tests: readonly Test[]): { step: string; facets: Facet[] }[] {
  const steps = [...new Set(tests.map(({ step }) => step))];
  return steps.map((step) => ({ step, facets: tests.filter((test) => test.step === step).flatMap(facetsOf) })).filter(({ facets }) => facets.length > 0);
}

export function BySize(): JSX.Element {
  const page = usePage();
  const { view } = page;
  const [published, setPublished] = useState(false);
  const others = page.figures.published_documents;
  const tests = useMemo(() => testsOf(view), [view]);
  const steps = useMemo(() => byStep(tests), [tests]);
  // Published results lie over the first chart of their test.
  const overlay = useMemo(() => {
    const first = new Map(tests.flatMap((test): [string, Test][] => facetsOf(test).slice(0, 1).map(({ key }) => [key, test])));
    if (!published) return NO_CURVES;
    return (facet: Facet): readonly DrawnCurve[] => {
      const test = first.get(facet.key);
      return test === undefined ? [] : publishedOf(page, test);
    };
  }, [tests, published]);
  const hasOneSize = sizesOf(tests.flatMap((test) => test.entries)).length < 2;
  return (
    <Section id="by-size" title={hasOneSize ? 'Times' : 'Times over sizes of documents'}>
      <p>Each table holds as many bytes of documents, whatever their size. Times are of statements alone; less is better. Every answer was compared by value with what went in. Lines through points are 95 % intervals over rounds; hollow points are not ranked. Scales are logarithmic.</p>
      {others.length > 0 && (
        <p>
          <label><input type="checkbox" name="published-documents" checked={published} onChange={(event) => setPublished(event.currentTarget.checked)} /> Published results</label>
          {published && ' Dashed or hollow: means of “JSON Showdown: Dolt vs Postgres” (DoltHub, 2024) on an Apple M2 Pro with 32 GB, which hold the start of a client, scaled from the bytes of their tables to those of this run’s. Nothing of them was repeated here; the table names what is suspected of them.'}
        </p>
      )}
      {steps.length === 0 ? <p class="empty">No tests with a time match the filters.</p>
        : steps.map(({ step, facets }, index) => <Facets key={step} facets={facets} published={overlay} eager={index === 0} />)}
      {tests.length > 0 && <Tables title="Results as tables" tables={() => [...tests.map((test) => tableOf(page, test)), ...(published ? [publishedTable(page)] : [])]} />}
    </Section>
  );
}

/** Times of the tests with each index, one chart per configuration. */
export function WithIndexes(): JSX.Element {
  const { view } = usePage();
  const [chosen, choose] = useState('');
  const tests = useMemo(() => testsOf(view).map((test) => ({ test, facets: indexFacetsOf(test) })).filter(({ facets }) => facets.length > 0), [view]);
  const steps = [...new Set(tests.map(({ test }) => test.step))];
  const step = steps.includes(chosen) ? chosen : steps[0] ?? '';
  const facets = useMemo(() => tests.filter(({ test }) => test.step === step).flatMap((one) => one.facets), [tests, step]);
  return (
    <Section id="with-indexes" title="Times with indexes">
      <p>The same test with each of a system’s indexes, and without one. Whether a plan uses the index is in the table of <em>Use of indexes</em>.</p>
      {steps.length > 1 && (
        <p><label class="select">Test
          <select name="indexed-test" value={step} onChange={(event) => choose(event.currentTarget.value)}>
            {steps.map((one) => <option key={one} value={one}>{one.replace('_', ' ')}</option>)}
          </select>
        </label></p>
      )}
      {steps.length === 0 ? <p class="empty">No test ran with an index.</p> : <Facets facets={facets} published={NO_CURVES} />}
    </Section>
  );
}
