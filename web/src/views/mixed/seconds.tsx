// Documents and questions in each second beside writers, which makes stalls visible.

import { useMemo, useState } from 'preact/hooks';
import type { JSX } from 'preact';

import type { SecondsLine } from '../../charts/seconds.ts';
import type { FigureData } from '../../export/csv.ts';
import type { MixedSeconds } from '../../mixed.ts';
import type { SecondColumns } from '../../model.ts';
import type { Table } from '../common/table.tsx';
import { drawSeconds, SECONDS_HEIGHT } from '../../charts/seconds.ts';
import { colourOf } from '../../colours.ts';
import { byName, count, integer, microseconds, NONE } from '../../format.ts';
import { Metric } from '../../metrics.ts';
import { loadsOf, secondsOf, wholeSeconds } from '../../mixed.ts';
import { usePage } from '../../page.ts';
import { Phase } from '../../vocabulary.ts';
import { Figure } from '../common/figure.tsx';
import { Section } from '../common/multiples.tsx';
import { Tables } from '../common/table.tsx';
import { Term } from '../common/term.tsx';

/** What is shown of each second of writers or of streams. */
interface Shown {
  name: string;
  /** Title of the values. */
  title: string;
  of: 'documents' | 'questions';
  /** Smallest upper end of the scale. */
  least: number;
  format: (value: number) => string;
  values: (trial: SecondColumns) => readonly (number | null)[];
  /** A further value of each second, for the table and the data. */
  beside: { title: string; name: string; format: (value: number) => string; values: (trial: SecondColumns) => readonly (number | null)[] };
}

const LONGEST: Shown['beside'] = { title: 'longest', name: 'longest_us', format: microseconds, values: (trial) => trial.longest_us };

const milliseconds = (value: number): string => byName(Metric.StaleMaxMs, value);

const SHOWN: readonly Shown[] = [
  { name: 'documents', title: 'documents acknowledged in each second', of: 'documents', least: 1, format: count, values: (trial) => trial.operations, beside: LONGEST },
  { name: 'questions', title: 'questions answered in each second', of: 'questions', least: 1, format: count, values: (trial) => trial.operations, beside: LONGEST },
  {
    name: 'stale', title: 'longest staleness in each second', of: 'questions', least: 1, format: milliseconds, values: (trial) => trial.stale_max_ms ?? [],
    beside: { title: 'p95', name: 'stale_p95_ms', format: milliseconds, values: (trial) => trial.stale_p95_ms ?? [] },
  },
];

/** Trials that have values of this kind. */
function trialsOf(one: MixedSeconds, { of, values }: Shown): readonly SecondColumns[] {
  return one[of].filter((trial) => values(trial).length > 0);
}

function lineOf(trial: SecondColumns, { values }: Shown): SecondsLine {
  return { round: trial.round, values: values(trial).slice(0, wholeSeconds(trial)), ramp: trial.ramp, checkpoints: trial.checkpoints ?? [] };
}

function remark(trial: SecondColumns, at: number): string {
  return at < trial.ramp ? 'not measured yet' : at >= wholeSeconds(trial) ? 'cut short' : NONE;
}

function tableOf(one: MixedSeconds, shown: Shown): Table {
  const text = (value: number | null | undefined, format: (value: number) => string): string => (value === null || value === undefined ? NONE : format(value));
  const exact = shown.name === 'stale' ? shown.format : integer;
  return {
    title: `${one.name}: ${shown.name}`,
    columns: [{ title: 'round', numeric: true }, { title: 'second', numeric: true }, { title: shown.name, numeric: true }, { title: shown.beside.title, numeric: true }, { title: 'remark' }],
    rows: trialsOf(one, shown).flatMap((trial) => shown.values(trial).map((value, at) => [
      String(trial.round), String(at + 1), text(value, exact), text(shown.beside.values(trial)[at], shown.beside.format), remark(trial, at),
    ])),
  };
}

function dataOf(one: MixedSeconds, shown: Shown): FigureData {
  return {
    columns: ['round', 'second', shown.name === 'stale' ? 'stale_max_ms' : shown.name, shown.beside.name, 'remark'],
    rows: trialsOf(one, shown).flatMap((trial) => shown.values(trial).map((value, at) => [trial.round, at + 1, value, shown.beside.values(trial)[at] ?? null, remark(trial, at)])),
  };
}

export function MixedSecondBySecond(): JSX.Element {
  const { view, evidence } = usePage();
  const loads = useMemo(() => loadsOf(view).filter(({ entries }) => entries.some(({ cell }) => cell.phase === Phase.Both)), [view]);
  const [chosen, choose] = useState('');
  const load = loads.find((one) => one.key === chosen) ?? loads[0];
  const shown = useMemo(() => (evidence === null || load === undefined ? [] : secondsOf(view, evidence, load)), [evidence, view, load]);
  const charts = useMemo(() => shown.flatMap((one) => SHOWN.filter((kind) => trialsOf(one, kind).length > 0).map((kind) => ({
    title: `${one.name}: ${kind.name}`, data: () => dataOf(one, kind),
    draw: (width: number) => drawSeconds(trialsOf(one, kind).map((trial) => lineOf(trial, kind)), colourOf(one.configuration.system), kind.format, { width, height: SECONDS_HEIGHT, least: kind.least, title: kind.title }, `${one.name}: ${kind.title}, a line for each round`),
  }))), [shown]);
  return (
    <Section id="mixed-seconds" title="Second by second beside writers">
      <p>Documents that were acknowledged and questions that were answered in each second while both went on, a line for each round: a stall of either side is a dip. <Term id="stale">Staleness</Term> is that of the questions which began in a second, 0 if they saw all that was acknowledged before. Nothing is normalised here. What is shaded is not measured; the last second of a phase is cut short and not drawn.</p>
      {loads.length > 1 && (
        <p><label class="select">Load
          <select name="mixed-load" value={load?.key ?? ''} onChange={(event) => choose(event.currentTarget.value)}>
            {loads.map((one) => <option key={one.key} value={one.key}>{one.title}</option>)}
          </select>
        </label></p>
      )}
      {evidence === null ? <p class="empty">Reading …</p> : charts.length === 0 ? <p class="empty">No seconds were kept.</p> : (
        <>
          <div class="multiples">{charts.map((one) => <Figure key={one.title} title={one.title} height={SECONDS_HEIGHT} draw={one.draw} data={one.data} />)}</div>
          <Tables title="Seconds as tables" tables={() => shown.flatMap((one) => SHOWN.filter((kind) => trialsOf(one, kind).length > 0).map((kind) => tableOf(one, kind)))} />
        </>
      )}
    </Section>
  );
}
