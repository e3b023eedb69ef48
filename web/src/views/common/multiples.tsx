// Small charts side by side on a common scale, with a limit on rows, a table and exports.

import { useMemo, useState } from 'preact/hooks';
import type { ComponentChildren, JSX } from 'preact';

import type { Bar, Look } from '../../charts/rows.ts';
import type { Reference } from '../../charts/row-chart.ts';
import type { Scale } from '../../charts/scale.ts';
import type { FigureData } from '../../export/csv.ts';
import type { Table } from './table.tsx';
import { DRAWN, DRAWN_EACH, drawnBars } from '../../bars.ts';
import { drawBars } from '../../charts/bars.ts';
import { drawIntervals } from '../../charts/intervals.ts';
import { rowChartHeight } from '../../charts/row-chart.ts';
import { groupsOf } from '../../charts/rows.ts';
import { logScale, zeroScale } from '../../charts/scale.ts';
import { counted } from '../../format.ts';
import { usePage } from '../../page.ts';
import { Anchor, PartContext } from './anchor.tsx';
import { Figure } from './figure.tsx';
import { Tables } from './table.tsx';

/** One small chart of the group. */
export interface Multiple {
  key: string;
  title: string;
  own: readonly Bar[];
  published: readonly Bar[];
  references: readonly Reference[];
}

interface Props {
  multiples: readonly Multiple[];
  format: (value: number) => string;
  /** Title of the common axis. */
  axis: string;
  /** `dots` on a log scale for times, rates and ratios, which is the default; `bars` from zero for counts and bytes. */
  kind?: 'dots' | 'bars';
  /** Chooses the scale from the drawn values; without it, the kind decides. */
  scale?: ((values: readonly number[], limits: readonly number[]) => Scale) | undefined;
  /** Absent if the table of another chart contains the values. */
  tables?: () => readonly Table[];
  /** Remark on all values, added to the legend. */
  remark?: string;
  /** Text shown if there is nothing to draw. */
  empty: string;
}

/** How the looks are drawn, by kind of chart. */
const LOOKS = {
  dots: { hatched: 'Hatched diamonds', muted: 'Rings', hollow: 'Hollow squares' },
  bars: { hatched: 'Hatched densely', muted: 'Hatched sparsely', hollow: 'Hollow' },
} as const;

/** Legend of the looks that occur in the charts. */
function legendOf(bars: readonly Bar[], kind: keyof typeof LOOKS): string {
  const there = (look: Look): boolean => bars.some((bar) => bar.look === look);
  const words = LOOKS[kind];
  return [
    kind === 'dots' && bars.some((bar) => bar.low !== null) ? 'The line through a dot is its 95 % interval; an arrowhead says that it goes on.' : '',
    there('hatched') ? `${words.hatched}: approximate answers.` : '',
    there('muted') ? `${words.muted}: not ranked; the reason follows the name.` : '',
    groupsOf(bars).length > 0 ? 'Ranked under each heading only.' : '',
    there('hollow') ? `${words.hollow}: published by others, on another machine by another method; “?” marks a suspected error (see Published results).` : '',
  ].filter((text) => text !== '').join(' ');
}

/** The data of a chart: all its rows and its reference lines. */
function dataOf({ own, published, references }: Multiple): FigureData {
  return {
    columns: ['ranking', 'name', 'notes', 'value', 'low', 'high', 'shown as'],
    rows: [
      ...[...own, ...published].map((row) => [row.group, row.name, row.notes.join(', '), row.value, row.low, row.high, row.label]),
      ...references.map((one) => ['reference', one.name, '', one.value, null, null, one.label]),
    ],
  };
}

export function Multiples({ multiples, format, axis, kind = 'dots', scale, tables, remark = '', empty }: Props): JSX.Element {
  const [all, setAll] = useState(false);
  const drawn = useMemo(() => {
    const charts = multiples.map((one) => ({ ...one, bars: drawnBars(one.own, one.published, all) })).filter((one) => one.bars.length > 0);
    // References, such as the yardstick, do not set the scale: they would press the values together.
    const values = charts.flatMap((one) => one.bars.flatMap((bar) => bar.value ?? []));
    const limits = charts.flatMap((one) => one.bars.flatMap((bar) => [bar.low, bar.high].filter((limit) => limit !== null)));
    const common = scale !== undefined ? scale(values, limits) : (kind === 'bars' ? zeroScale : logScale)(values, format, axis, limits);
    const draw = kind === 'bars' ? drawBars : drawIntervals;
    return charts.map((one) => ({
      ...one,
      draw: (width: number): Element => draw(one.bars, one.references, common, width, `${one.title}: ${kind}, ${common.title}`),
    }));
  }, [multiples, all, format, axis, kind, scale]);
  const most = Math.max(0, ...multiples.map((one) => one.own.length + one.published.length));
  const each = multiples.some((one) => groupsOf(one.own).length > 0) ? `${DRAWN_EACH} under each heading` : String(DRAWN);
  const limited = multiples.some((one) => drawnBars(one.own, one.published, false).length < one.own.length + one.published.length);
  if (drawn.length === 0) return <p class="empty">{empty}</p>;
  return (
    <>
      <div class="multiples">
        {drawn.map((one) => (
          <Figure key={one.key} title={one.title} height={rowChartHeight(one.bars, one.references.length)} draw={one.draw} data={() => dataOf(one)} />
        ))}
      </div>
      <p class="legend">{[legendOf(drawn.flatMap((one) => one.bars), kind), remark].filter((words) => words !== '').join(' ')}</p>
      {limited && (
        <p class="more">
          <button type="button" class="quiet" aria-pressed={all} onClick={() => setAll(!all)}>
            {all ? `Show the first ${each} only` : `Show all ${most}`}
          </button>
          {!all && <span> Each chart shows the first {each} of {counted(most, 'row')}.</span>}
        </p>
      )}
      {tables !== undefined && <Tables title="Results as a table" tables={tables} />}
    </>
  );
}

interface SectionProps {
  id: string;
  title: string;
  /** False if the part shows no results of the run, so that its data and date are not stated. */
  ofRun?: boolean;
  children: ComponentChildren;
}

/** A part of the page with its heading, a link to it, and the data and date of its figures. */
export function Section({ id, title, ofRun = true, children }: SectionProps): JSX.Element {
  const { view: { run } } = usePage();
  return (
    <PartContext.Provider value={id}>
      <section id={`part-${id}`} class="part" aria-labelledby={`title-${id}`}>
        <div class="heading"><h2 id={`title-${id}`} tabIndex={-1}>{title}</h2><Anchor at={id} title={title} /></div>
        {ofRun && <p class="source">{counted(run.data.documents, 'document')}, run {run.name}, {run.started.slice(0, 10)}</p>}
        {children}
      </section>
    </PartContext.Provider>
  );
}
