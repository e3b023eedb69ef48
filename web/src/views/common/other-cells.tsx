// Cells that no part of the page shows, e.g. of workloads without parts: a plain table per kind of cell, with
// a chart if there are times.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Cell } from '../../model.ts';
import type { Entry } from '../../view.ts';
import type { Table } from './table.tsx';
import { placedBars } from '../../bars.ts';
import { formatOr, interval, metricTitle, seconds } from '../../format.ts';
import { configurationName, parametersOf, phaseLabel, stepTitle, verdictLabel } from '../../labels.ts';
import { measuredWord, metric } from '../../metric.ts';
import { usePage } from '../../page.ts';
import { isAsking } from '../../view.ts';
import { Multiples, Section } from './multiples.tsx';
import { TableOf } from './table.tsx';

/** A valid element id for any workload name. */
function elementId(name: string): string {
  return `workload-${encodeURIComponent(name)}`;
}

function groupOf(entry: Entry): string {
  const { step, phase, state } = entry.cell;
  return [stepTitle(step, phase), phaseLabel(phase), state ?? '', parametersOf(entry.cell)].filter((word) => word !== '').join(', ');
}

function valueOf(name: string, cell: Cell): string {
  return measuredWord(name, cell);
}

/** A table of all cells of a kind with every measured metric. */
function tableOf(title: string, entries: readonly Entry[], open: (entry: Entry) => void): Table {
  const metrics = [...new Set(entries.flatMap((entry) => Object.keys(entry.cell.metrics)))].sort();
  const timed = entries.some((entry) => entry.cell.median_s !== null);
  return {
    title,
    columns: [
      { title: 'configuration', name: true }, { title: 'verdict' },
      ...(timed ? [{ title: 'median', numeric: true }, { title: '95 % interval', numeric: true }] : []),
      ...metrics.map((name) => ({ title: metricTitle(name), numeric: true })),
    ],
    severities: entries.map(({ cell }) => cell.severity),
    rows: entries.map((entry) => [
      configurationName(entry.configuration), { text: verdictLabel(entry.cell.verdict), open: () => open(entry) },
      ...(timed ? [formatOr(entry.cell.median_s, seconds), interval(entry.cell.low_s, entry.cell.high_s, seconds, entry.cell.median_s)] : []),
      ...metrics.map((name) => valueOf(name, entry.cell)),
    ]),
  };
}

function Workload({ name, entries }: { name: string; entries: readonly Entry[] }): JSX.Element {
  const page = usePage();
  const groups = useMemo(() => {
    const found = new Map<string, Entry[]>();
    for (const entry of entries) found.set(groupOf(entry), [...(found.get(groupOf(entry)) ?? []), entry]);
    return [...found];
  }, [entries]);
  const multiples = useMemo(() => groups.filter(([, cells]) => cells.some((entry) => entry.cell.median_s !== null)).map(([title, cells]) => ({
    key: title, title, own: placedBars(page.view, cells, metric('time'), page.open).map((one) => one.bar), published: [], references: [],
  })), [groups]);
  return (
    <Section id={elementId(name)} title={isAsking(name) ? 'Further results' : `Workload: ${name}`}>
      {multiples.length > 0 && <Multiples multiples={multiples} format={seconds} axis="time, less is better" empty="" />}
      {groups.map(([title, cells]) => <TableOf key={title} table={tableOf(title, cells, page.open)} />)}
    </Section>
  );
}

/** The cells that no other part of the page shows. */
export function OtherCells({ isShown }: { isShown: (entry: Entry) => boolean }): JSX.Element {
  const { view } = usePage();
  const workloads = useMemo(() => {
    const found = new Map<string, Entry[]>();
    for (const entry of view.entries) {
      if (!isShown(entry)) found.set(entry.cell.workload, [...(found.get(entry.cell.workload) ?? []), entry]);
    }
    return [...found];
  }, [view]);
  return <>{workloads.map(([name, entries]) => <Workload key={name} name={name} entries={entries} />)}</>;
}
