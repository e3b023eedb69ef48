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
import { count, integer, microseconds, NONE } from '../../format.ts';
import { loadsOf, secondsOf, wholeSeconds } from '../../mixed.ts';
import { usePage } from '../../page.ts';
import { Figure } from '../common/figure.tsx';
import { Section } from '../common/multiples.tsx';
import { Tables } from '../common/table.tsx';

/** What is counted in each second: of writers or of streams. */
type Counted = 'documents' | 'questions';

const COUNTED: readonly (readonly [Counted, string])[] = [['documents', 'documents acknowledged in each second'], ['questions', 'questions answered in each second']];

function lineOf(trial: SecondColumns): SecondsLine {
  return { round: trial.round, values: trial.operations.slice(0, wholeSeconds(trial)), ramp: trial.ramp, checkpoints: trial.checkpoints ?? [] };
}

function remark(trial: SecondColumns, at: number): string {
  return at < trial.ramp ? 'not measured yet' : at >= wholeSeconds(trial) ? 'cut short' : NONE;
}

function tableOf({ name, ...trials }: MixedSeconds, counted: Counted): Table {
  return {
    title: `${name}: ${counted}`,
    columns: [{ title: 'round', numeric: true }, { title: 'second', numeric: true }, { title: counted, numeric: true }, { title: 'longest', numeric: true }, { title: 'remark' }],
    rows: trials[counted].flatMap((trial) => trial.operations.map((operations, at) => [
      String(trial.round), String(at + 1), integer(operations), microseconds(trial.longest_us[at] ?? 0), remark(trial, at),
    ])),
  };
}

function dataOf(trials: readonly SecondColumns[], counted: Counted): FigureData {
  return {
    columns: ['round', 'second', counted, 'longest_us', 'remark'],
    rows: trials.flatMap((trial) => trial.operations.map((operations, at) => [trial.round, at + 1, operations, trial.longest_us[at] ?? null, remark(trial, at)])),
  };
}

export function MixedSecondBySecond(): JSX.Element {
  const { view, evidence } = usePage();
  const loads = useMemo(() => loadsOf(view), [view]);
  const [chosen, choose] = useState('');
  const load = loads.find((one) => one.key === chosen) ?? loads[0];
  const shown = useMemo(() => (evidence === null || load === undefined ? [] : secondsOf(view, evidence, load)), [evidence, view, load]);
  const charts = useMemo(() => shown.flatMap((one) => COUNTED.filter(([counted]) => one[counted].length > 0).map(([counted, words]) => {
    const title = `${one.name}: ${counted}`;
    return {
      title, data: () => dataOf(one[counted], counted),
      draw: (width: number) => drawSeconds(one[counted].map(lineOf), colourOf(one.configuration.system), count, { width, height: SECONDS_HEIGHT, least: 1, title: words }, `${one.name}: ${words}, a line for each round`),
    };
  })), [shown]);
  return (
    <Section id="mixed-seconds" title="Second by second beside writers">
      <p>Documents that were acknowledged and questions that were answered in each second while both went on, a line for each round: a stall of either side is a dip. Nothing is normalised here. What is shaded is not measured; the last second of a phase is cut short and not drawn.</p>
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
          <Tables title="Seconds as tables" tables={() => shown.flatMap((one) => COUNTED.map(([counted]) => tableOf(one, counted)))} />
        </>
      )}
    </Section>
  );
}
