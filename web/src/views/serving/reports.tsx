// Reports of the user's own beside the load: times at rest and beside each load, and what each load loses, as tables.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { MetricName } from '../../metrics.ts';
import type { Page } from '../../page.ts';
import type { LoadPair } from '../../reports.ts';
import type { Entry } from '../../view.ts';
import type { Table, TableCell } from '../common/table.tsx';
import { byName, count, counted, integer, interval, NONE, times } from '../../format.ts';
import { configurationName, stepTitle, verdictLabel } from '../../labels.ts';
import { measuredWord } from '../../metric.ts';
import { Metric } from '../../metrics.ts';
import { ALL_QUESTIONS } from '../../mixed.ts';
import { usePage } from '../../page.ts';
import { besideWords, loadPairs, lossOf, reportsOf, streamsOf, verdictWords } from '../../reports.ts';
import { rankStatus } from '../../view.ts';
import { Section } from '../common/multiples.tsx';
import { TableOf } from '../common/table.tsx';

function plain(entry: Entry | undefined, name: MetricName, format = (value: number): string => byName(name, value)): string {
  const value = entry?.cell.metrics[name];
  return value === undefined ? NONE : format(value);
}

function asAgreed({ cell: { metrics } }: Entry): string {
  const [exact, answers] = [metrics[Metric.Exact], metrics[Metric.Answers]];
  return exact === undefined || answers === undefined ? NONE : `${integer(exact)} of ${integer(answers)}`;
}

function timesTable(page: Page, entries: readonly Entry[]): Table {
  return {
    title: 'Times of reports',
    columns: [
      { title: 'configuration', name: true }, { title: 'report' }, { title: 'beside' }, { title: 'median', numeric: true }, { title: 'p95', numeric: true },
      { title: 'an hour', numeric: true }, { title: 'as agreed', numeric: true }, { title: 'verdict' }, { title: 'remarks' },
    ],
    severities: entries.map(({ cell }) => cell.severity),
    rows: entries.map((entry): TableCell[] => [
      configurationName(entry.configuration), entry.cell.step === ALL_QUESTIONS ? 'all, a whole set' : stepTitle(entry.cell.step), besideWords(entry.cell),
      measuredWord(Metric.QuestionP50Us, entry.cell), plain(entry, Metric.QuestionP95Us), plain(entry, Metric.QuestionsPerH, count), asAgreed(entry),
      { text: verdictWords(entry.cell), open: () => page.open(entry) }, rankStatus(page.view, entry).notes.join(', ') || NONE,
    ]),
  };
}

/** A ratio with its interval. */
function lossWord(page: Page, { beside }: LoadPair, name: MetricName): string {
  const loss = lossOf(page.view.run, beside, name);
  if (loss === undefined) return NONE;
  return `${times(loss.ratio)} (${interval(loss.low, loss.high, times, loss.ratio)})`;
}

function loadsTable(page: Page, pairs: readonly LoadPair[]): Table {
  const p99 = ({ open }: LoadPair): MetricName => (open ? Metric.ResponseP99Us : Metric.ServiceP99Us);
  return {
    title: 'Loads beside reports',
    columns: [
      { title: 'configuration', name: true }, { title: 'load' }, { title: 'operations/s alone', numeric: true }, { title: 'beside reports', numeric: true }, { title: 'ratio', numeric: true },
      { title: 'p99 alone', numeric: true }, { title: 'p99 beside reports', numeric: true }, { title: 'ratio', numeric: true }, { title: 'verdict' }, { title: 'remarks' },
    ],
    severities: pairs.map(({ beside }) => beside.cell.severity),
    rows: pairs.map((pair): TableCell[] => [
      configurationName(pair.beside.configuration), pair.title, plain(pair.alone, Metric.ThroughputOpsPerS, count), plain(pair.beside, Metric.ThroughputOpsPerS, count),
      lossWord(page, pair, Metric.ThroughputOpsPerS), plain(pair.alone, p99(pair)), plain(pair.beside, p99(pair)), lossWord(page, pair, p99(pair)),
      { text: verdictLabel(pair.beside.cell.verdict), open: () => page.open(pair.beside) }, rankStatus(page.view, pair.beside).notes.join(', ') || NONE,
    ]),
  };
}

export function Reports(): JSX.Element {
  const page = usePage();
  const { view } = page;
  const streams = streamsOf(view);
  const tables = useMemo(() => [timesTable(page, reportsOf(view)), loadsTable(page, loadPairs(view))], [view]);
  if (streams === null) return <></>;
  return (
    <Section id="reports" title="Reports beside the load">
      <p>
        {counted(streams, 'stream')} asked sets of all reports in a closed loop: at rest on the data as loaded, and once more beside each load. At rest and beside mixes that only read, every answer was compared with the agreed one;
        where clients change documents, no two systems hold the same ones, so the verdict is that of the statement before the trials (<em>exact at rest</em>), and answers are only checked to have its columns and types. Ratios are beside reports ÷ alone, paired by round. Reports beside a closed loop had another load next to them on each system and are not ranked.
      </p>
      {tables.map((table) => <TableOf key={table.title} table={table} />)}
    </Section>
  );
}
