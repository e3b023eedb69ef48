// Questions per hour in each phase with the factors between phases, and the writers, as tables.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { MixedLoad } from '../../mixed.ts';
import type { MetricName } from '../../metrics.ts';
import type { Page } from '../../page.ts';
import type { Entry } from '../../view.ts';
import type { Table, TableCell } from '../common/table.tsx';
import { byName, count, integer, NONE, percent } from '../../format.ts';
import { configurationName, phaseLabel, verdictLabel } from '../../labels.ts';
import { measuredWord } from '../../metric.ts';
import { Metric } from '../../metrics.ts';
import { ALL_QUESTIONS, ASKING_PHASES, configurationsOf, entryOf, INGEST, loadsOf, loadSuffix } from '../../mixed.ts';
import { usePage } from '../../page.ts';
import { rankStatus, worstSeverity } from '../../view.ts';
import { Phase } from '../../vocabulary.ts';
import { TableOf } from '../common/table.tsx';
import { Term } from '../common/term.tsx';

/** A metric of a cell that opens its trials; the verdict replaces a value that must not be used. */
function opening(page: Page, entry: Entry | undefined, name: MetricName, format: (value: number) => string): TableCell {
  if (entry === undefined) return NONE;
  const value = entry.cell.metrics[name];
  return { text: value === undefined ? verdictLabel(entry.cell.verdict) : format(value), open: () => page.open(entry) };
}

/** A metric of a cell with its interval. */
function factor(entry: Entry | undefined, name: MetricName): string {
  return entry === undefined ? NONE : measuredWord(name, entry.cell);
}

function plain(entry: Entry | undefined, name: MetricName, format = (value: number): string => byName(name, value)): string {
  const value = entry?.cell.metrics[name];
  return value === undefined ? NONE : format(value);
}

/** Caveats of several cells, each once. */
function remarks(page: Page, entries: readonly (Entry | undefined)[]): string {
  const notes = entries.flatMap((entry) => (entry === undefined ? [] : rankStatus(page.view, entry).notes));
  return [...new Set(notes)].join(', ') || NONE;
}

function there(entries: readonly (Entry | undefined)[]): Entry[] {
  return entries.filter((entry) => entry !== undefined);
}

function nameOf(page: Page, configuration: number): string {
  const one = page.view.run.configurations[configuration];
  return one === undefined ? NONE : configurationName(one);
}

function questionsTable(page: Page, load: MixedLoad, suffix: string): Table {
  const rows = configurationsOf(load).map((index) => ({ index, cells: ASKING_PHASES.map((phase) => entryOf(load, index, phase, ALL_QUESTIONS)) }))
    .filter(({ cells }) => there(cells).length > 0);
  return {
    title: `Questions per hour${suffix}`,
    columns: [
      { title: 'configuration', name: true }, ...ASKING_PHASES.map((phase) => ({ title: phaseLabel(phase), numeric: true })),
      { title: 'interference', numeric: true }, { title: 'debt', numeric: true }, { title: 'disorder', numeric: true }, { title: 'cost of seen', numeric: true }, { title: 'remarks' },
    ],
    severities: rows.map(({ cells }) => worstSeverity(there(cells))),
    rows: rows.map(({ index, cells }): TableCell[] => {
      const [still, both, left, drained] = cells;
      return [
        nameOf(page, index), ...cells.map((entry) => opening(page, entry, Metric.QuestionsPerH, count)),
        factor(both, Metric.Interference), factor(left, Metric.Debt), factor(drained, Metric.Disorder), factor(still, Metric.SeenCost), remarks(page, cells),
      ];
    }),
  };
}

function writersTable(page: Page, load: MixedLoad, suffix: string): Table {
  const rows = configurationsOf(load).map((index) => {
    const [both, alone] = [Phase.Both, Phase.Alone].map((phase) => entryOf(load, index, phase, INGEST));
    return { index, both, alone };
  }).filter(({ both, alone }) => both !== undefined || alone !== undefined);
  return {
    title: `Writers${suffix}`,
    columns: [
      { title: 'configuration', name: true }, { title: 'documents/s beside questions', numeric: true }, { title: 'kept', numeric: true }, { title: 'backlog', numeric: true },
      { title: 'response p50', numeric: true }, { title: 'response p95', numeric: true }, { title: 'response max', numeric: true }, { title: 'retries', numeric: true },
      { title: 'documents/s alone', numeric: true }, { title: 'data grew by', numeric: true }, { title: 'remarks' },
    ],
    severities: rows.map(({ both, alone }) => worstSeverity(there([both, alone]))),
    rows: rows.map(({ index, both, alone }): TableCell[] => [
      nameOf(page, index), opening(page, both, Metric.DocumentsPerS, count), plain(both, Metric.KeptShare, percent), plain(both, Metric.BacklogDocuments, integer),
      plain(both, Metric.InsertResponseP50Us), plain(both, Metric.InsertResponseP95Us), plain(both, Metric.InsertResponseMaxUs), plain(both, Metric.Retries, integer),
      opening(page, alone, Metric.DocumentsPerS, count), plain(both, Metric.GrownShare, percent), remarks(page, [both, alone]),
    ]),
  };
}

export function MixedFindings(): JSX.Element {
  const page = usePage();
  const { view } = page;
  const tables = useMemo(() => {
    const loads = loadsOf(view);
    return loads.flatMap((load) => [questionsTable(page, load, loadSuffix(loads, load)), writersTable(page, load, loadSuffix(loads, load))]);
  }, [view]);
  return (
    <>
      <p>
        Streams ask Q1 to Q5 on data as loaded (still), beside writers, after the writers have gone, and on the grown data when it has <Term id="drained" />; then writers insert alone at full speed.
        Every answer was compared with the expected one over exactly the documents that it saw. Growth of the data is taken out of times and rates of questions.
        Between the phases: <Term id="interference" />, <Term id="debt" /> and <Term id="disorder" />; below 1 is a loss. Of the writers: <Term id="kept" /> and <Term id="backlog" />.
      </p>
      {tables.length === 0 ? <p class="empty">No mixed loads match the filters.</p> : tables.map((table) => <TableOf key={table.title} table={table} />)}
    </>
  );
}
