// Small charts side by side on a common scale, with a limit on bars, a table and an export.

import { useMemo, useState } from 'preact/hooks';
import type { ComponentChildren, JSX } from 'preact';

import type { Bar, Look, Reference, Scale } from '../../charts/bars.ts';
import { DRAWN, DRAWN_EACH, drawnBars } from '../../bars.ts';
import { barsHeight, drawBars, groupsOf, logScale } from '../../charts/bars.ts';
import { ChartFrame } from '../../charts/frame.tsx';
import type { Table } from './table.tsx';
import { Tables } from './table.tsx';
import { counted } from '../../format.ts';

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
  /** Chooses the scale from the drawn values; a log scale if absent. */
  scale?: (values: readonly number[]) => Scale;
  /** Absent if the table of another chart contains the values. */
  tables?: () => readonly Table[];
  /** Remark on all values, added to the legend. */
  remark?: string;
  /** Text shown if there is nothing to draw. */
  empty: string;
}

function valuesOf(bars: readonly Bar[], references: readonly Reference[]): number[] {
  return [...bars.flatMap((bar) => bar.value ?? []), ...references.map((one) => one.value)];
}

/** Legend of the bar looks that occur in the charts. */
function legendOf(bars: readonly Bar[]): string {
  const there = (look: Look): boolean => bars.some((bar) => bar.look === look);
  return [
    there('hatched') ? 'Hatched densely: approximate answers.' : '',
    there('muted') ? 'Hatched sparsely: not ranked; the reason follows the name.' : '',
    groupsOf(bars).length > 0 ? 'Ranked under each heading only.' : '',
    there('hollow') ? 'Hollow: published by others, on another machine by another method; “?” marks a suspected error (see Published results).' : '',
  ].filter((words) => words !== '').join(' ');
}

export function Multiples({ multiples, format, axis, scale, tables, remark = '', empty }: Props): JSX.Element {
  const [all, setAll] = useState(false);
  const drawn = useMemo(() => {
    const charts = multiples.map((one) => ({ ...one, bars: drawnBars(one.own, one.published, all) })).filter((one) => one.bars.length > 0);
    const values = charts.flatMap((one) => valuesOf(one.bars, one.references));
    const common = scale === undefined ? logScale(values, format, axis) : scale(values);
    return charts.map((one) => ({
      ...one,
      draw: (width: number): Element => drawBars(one.bars, one.references, common, width, `${one.title}: bars, ${common.title}`),
    }));
  }, [multiples, all, format, axis, scale]);
  const most = Math.max(0, ...multiples.map((one) => one.own.length + one.published.length));
  const each = multiples.some((one) => groupsOf(one.own).length > 0) ? `${DRAWN_EACH} under each heading` : String(DRAWN);
  const limited = multiples.some((one) => drawnBars(one.own, one.published, false).length < one.own.length + one.published.length);
  if (drawn.length === 0) return <p class="empty">{empty}</p>;
  return (
    <>
      <div class="multiples">
        {drawn.map((one) => (
          <ChartFrame key={one.key} title={one.title} height={barsHeight(one.bars.length + groupsOf(one.bars).length, one.references.length)} draw={one.draw} />
        ))}
      </div>
      <p class="legend">{[legendOf(drawn.flatMap((one) => one.bars)), remark].filter((words) => words !== '').join(' ')}</p>
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

/** A part of the page with its heading. */
export function Section({ id, title, children }: { id: string; title: string; children: ComponentChildren }): JSX.Element {
  return (
    <section id={`part-${id}`} class="part" aria-labelledby={`title-${id}`}>
      <h2 id={`title-${id}`} tabIndex={-1}>{title}</h2>
      {children}
    </section>
  );
}
