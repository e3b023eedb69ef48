// Cells that no part of the page shows, e.g. of workloads without parts: a plain table per kind of cell, with
// a chart if there are times.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Cell } from '../../model.ts';
import type { Entry } from '../../select.ts';
import type { Table } from './table.tsx';
import { placedBars } from '../../bars.ts';
import { figureTitle, interval, or, seconds } from '../../format.ts';
import { measuredWord, metric } from '../../metric.ts';
import { usePage } from '../../page.ts';
import { isAsking } from '../../select.ts';
import { configurationName, parametersOf, phaseWord, stepTitle, verdictWord } from '../../words.ts';
import { Multiples, Section } from './multiples.tsx';
import { TableOf } from './table.tsx';

/** A valid element id for any workload name. */
function elementId(name: string): string {
  return `workload-${encodeURIComponent(name)}`;
}

function groupOf(entry: Entry): string {
  const { step, phase, state } = entry.cell;
  return [stepTitle(step), phaseWord(phase), state ?? '', parametersOf(entry.cell)].filter((word) => word !== '').join(', ');
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
      ...(timed ? [{ title: 'median', figure: true }, { title: '95 % interval', figure: true }] : []),
      ...metrics.map((name) => ({ title: figureTitle(name), figure: true })),
    ],
    severities: entries.map(({ cell }) => cell.severity),
    rows: entries.map((entry) => [
      configurationName(entry.configuration), { text: verdictWord(entry.cell.verdict), open: () => open(entry) },
      ...(timed ? [or(entry.cell.median_s, seconds), interval(entry.cell.low_s, entry.cell.high_s, seconds, entry.cell.median_s)] : []),
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
  const multiples = useMemo(() => groups.filter(([, those]) => those.some((entry) => entry.cell.median_s !== null)).map(([title, those]) => ({
    key: title, title, own: placedBars(page.from, those, metric('time'), page.open).map((one) => one.bar), published: [], references: [],
  })), [groups]);
  return (
    <Section id={elementId(name)} title={isAsking(name) ? 'Further figures' : `Workload: ${name}`}>
      {multiples.length > 0 && <Multiples multiples={multiples} format={seconds} axis="time, less is better" empty="" />}
      {groups.map(([title, those]) => <TableOf key={title} table={tableOf(title, those, page.open)} />)}
    </Section>
  );
}

/** The cells that no other part of the page shows. */
export function CellsOfOthers({ isShown }: { isShown: (entry: Entry) => boolean }): JSX.Element {
  const { from } = usePage();
  const workloads = useMemo(() => {
    const found = new Map<string, Entry[]>();
    for (const entry of from.entries) {
      if (!isShown(entry)) found.set(entry.cell.workload, [...(found.get(entry.cell.workload) ?? []), entry]);
    }
    return [...found];
  }, [from]);
  return <>{workloads.map(([name, entries]) => <Workload key={name} name={name} entries={entries} />)}</>;
}
