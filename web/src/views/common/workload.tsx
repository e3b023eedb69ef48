// Steps and workloads that this page has no part of its own for: still shown, one chart each.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Entry } from '../../select.ts';
import type { Table } from './table.tsx';
import { placedBars } from '../../bars.ts';
import { byName, interval, nameInWords, or, seconds } from '../../format.ts';
import { metric } from '../../metric.ts';
import { usePage } from '../../page.ts';
import { COLD, configurationName, HOT, isQuestion, parametersOf, phaseWord, stepTitle, verdictWord } from '../../words.ts';
import { Multiples, Section } from './multiples.tsx';

/** Phases of questions that have a part of their own. */
const ASKED: readonly string[] = [...HOT, ...COLD, 'cold-os'];

function known(entry: Entry): boolean {
  const { workload, step, phase } = entry.cell;
  if (workload !== 'analytics') return false;
  if (isQuestion(step)) return ASKED.includes(phase);
  return (step === 'load' && phase === 'load') || (step === 'size' && phase === 'steady');
}

/** A name that an element may have, whatever a workload is called. */
function elementId(name: string): string {
  return `workload-${encodeURIComponent(name)}`;
}

function groupOf(entry: Entry): string {
  const { step, phase, state } = entry.cell;
  return [stepTitle(step), phaseWord(phase), state ?? '', parametersOf(entry.cell)].filter((word) => word !== '').join(', ');
}

function tableOf(title: string, entries: readonly Entry[], open: (entry: Entry) => void): Table {
  const metrics = [...new Set(entries.flatMap((entry) => Object.keys(entry.cell.metrics)))].sort();
  return {
    title,
    columns: [
      { title: 'configuration' }, { title: 'median', figure: true }, { title: '95 % interval', figure: true }, { title: 'verdict' },
      ...metrics.map((name) => ({ title: nameInWords(name), figure: true })),
    ],
    rows: entries.map((entry) => [
      configurationName(entry.configuration), { text: or(entry.cell.median_s, seconds), open: () => open(entry) },
      interval(entry.cell.low_s, entry.cell.high_s, seconds), verdictWord(entry.cell.verdict),
      ...metrics.map((name) => or(entry.cell.metrics[name], (value) => byName(name, value))),
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
  const multiples = useMemo(() => groups.map(([title, those]) => ({
    key: title, title, own: placedBars(page.from, those, metric('time'), page.open).map((one) => one.bar), published: [], references: [],
  })), [groups]);
  return (
    <Section id={elementId(name)} title={name === 'analytics' ? 'Further figures' : `Workload: ${name}`}>
      <Multiples multiples={multiples} format={seconds} axis="time, less is better"
        tables={() => groups.map(([title, those]) => tableOf(title, those, page.open))} empty="No figure in this choice." />
    </Section>
  );
}

export function Others(): JSX.Element {
  const { from } = usePage();
  const workloads = useMemo(() => {
    const found = new Map<string, Entry[]>();
    for (const entry of from.entries) {
      if (!known(entry)) found.set(entry.cell.workload, [...(found.get(entry.cell.workload) ?? []), entry]);
    }
    return [...found];
  }, [from]);
  return <>{workloads.map(([name, entries]) => <Workload key={name} name={name} entries={entries} />)}</>;
}
