// Runs side by side, and growth where their scales differ.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Grown } from '../charts/growth.ts';
import type { RatioDot } from '../charts/dots.ts';
import type { Entry, View } from '../select.ts';
import type { Estimate } from '../stats.ts';
import type { Table, TableCell } from './table.tsx';
import { DRAWN } from '../bars.ts';
import { dotsHeight, drawDots, ratioDomain } from '../charts/dots.ts';
import { Figure } from '../charts/figure.tsx';
import { drawGrowth, GROWTH_HEIGHT } from '../charts/growth.ts';
import { colourOf } from '../colours.ts';
import { count, interval, NONE, seconds, times, whole } from '../format.ts';
import { usePage } from '../page.ts';
import { cellsOf, standing, view } from '../select.ts';
import { differs, ratio } from '../stats.ts';
import { configurationKey, configurationName, stepTitle, verdictWord } from '../words.ts';
import { Section } from './multiples.tsx';
import { Tables } from './table.tsx';

interface Step {
  step: string;
  title: string;
  phases: readonly string[];
}

/** A configuration's cell in each run; null where it has none. */
interface Across {
  key: string;
  name: string;
  entries: (Entry | null)[];
}

const MOST_LINES = 8;

function stepsOf(views: readonly View[]): Step[] {
  const questions = [...new Set(views.flatMap((one) => one.questions))];
  return [{ step: 'load', title: 'Load', phases: ['load'] }, ...questions.map((step) => ({ step, title: `${stepTitle(step)}, hot`, phases: ['hot'] }))];
}

function across(views: readonly View[], step: Step): Across[] {
  const found = new Map<string, Across>();
  views.forEach((one, place) => {
    for (const entry of cellsOf(one, step.step, step.phases, step.step === 'load' ? null : one.state.data)) {
      if (entry.configuration.reference) continue;
      const key = configurationKey(entry.configuration);
      const row = found.get(key) ?? { key, name: configurationName(entry.configuration), entries: views.map(() => null) };
      row.entries[place] = entry;
      found.set(key, row);
    }
  });
  return [...found.values()];
}

/** A time that may be compared: of a verified answer over all documents. */
function comparable(from: View | undefined, entry: Entry | null | undefined): Estimate | null {
  if (!from || !entry || entry.cell.median_s === null || standing(from, entry).tier !== 'ranked') return null;
  return { value: entry.cell.median_s, low: entry.cell.low_s, high: entry.cell.high_s };
}

function verdictOn(one: Estimate): string {
  const shown = differs(one);
  if (shown === null) return 'no interval';
  return shown ? (one.value < 1 ? 'faster' : 'slower') : 'not shown';
}

function dotsOf(views: readonly View[], step: Step): RatioDot[] {
  return across(views, step).slice(0, DRAWN).flatMap((row) => {
    const first = comparable(views[0], row.entries[0]);
    return row.entries.slice(1).flatMap((entry, place) => {
      const other = comparable(views[place + 1], entry);
      if (first === null || other === null) return [];
      const by = ratio(other, first);
      return [{ key: row.key, name: row.name, run: place + 1, ratio: by.value, low: by.low, high: by.high, label: `${times(by.value)} ${verdictOn(by)}` }];
    });
  });
}

function tableOf(views: readonly View[], step: Step, open: (entry: Entry) => void): Table {
  const rows = across(views, step).map((row): TableCell[] => {
    const first = comparable(views[0], row.entries[0]);
    return [row.name, ...row.entries.flatMap((entry, place): TableCell[] => {
      const from = views[place];
      const there = entry !== null && from !== undefined && standing(from, entry).tier !== 'none' ? entry.cell.median_s : null;
      const time: TableCell = entry === null ? NONE : { text: there === null ? verdictWord(entry.cell.verdict) : seconds(there), open: () => open(entry) };
      if (place === 0) return [time];
      const other = comparable(from, entry);
      if (first === null || other === null) return [time, NONE];
      const by = ratio(other, first);
      return [time, `${times(by.value)}${by.low === null ? '' : ` (${interval(by.low, by.high, times)})`}, ${verdictOn(by)}`];
    })];
  });
  return {
    title: step.title,
    columns: [{ title: 'configuration' }, ...views.flatMap((one, place) => [
      { title: one.run.name, figure: true }, ...(place === 0 ? [] : [{ title: 'beside the first', figure: true }]),
    ])],
    rows,
  };
}

function SideBySide({ views }: { views: readonly View[] }): JSX.Element {
  const page = usePage();
  const steps = useMemo(() => stepsOf(views), [views]);
  const charts = useMemo(() => {
    const all = steps.map((step) => ({ step, dots: dotsOf(views, step) })).filter((one) => one.dots.length > 0);
    const domain = ratioDomain(all.flatMap((one) => one.dots));
    return all.map((one) => ({
      ...one, rows: new Set(one.dots.map((dot) => dot.key)).size,
      draw: (width: number) => drawDots(one.dots, domain, width, `${one.step.title}: ratio between runs`),
    }));
  }, [views, steps]);
  return (
    <>
      <p>
        The same configurations at {whole(views[0]?.run.data.documents ?? 0)} documents in {views.map((one) => one.run.name).join(', ')}: time in a later run ÷ time in the first. Left of 1 is faster.
        The line is the 95 % interval, made of those of both; where it holds 1, a difference is <em>not shown</em>. The machine may have been another: look above which.
      </p>
      {charts.length === 0 ? <p class="empty">No configuration has a verified time in more than one of them.</p> : (
        <div class="multiples">
          {charts.map((one) => <Figure key={one.step.step} title={one.step.title} height={dotsHeight(one.rows)} draw={one.draw} />)}
        </div>
      )}
      <Tables title="Figures as a table" tables={() => steps.map((step) => tableOf(views, step, page.open))} />
    </>
  );
}

function pointsOf(views: readonly View[], step: Step): Grown[] {
  const rows = across(views, step).map((row) => ({
    row, points: row.entries.flatMap((entry, place) => {
      const [from, time] = [views[place], comparable(views[place], entry)];
      return from === undefined || time === null || entry === null ? []
        : [{ name: row.name, colour: colourOf(entry.configuration.system), documents: from.run.data.documents, value: time.value }];
    }),
  })).filter((one) => one.points.length > 1);
  const largest = Math.max(0, ...rows.flatMap((one) => one.points.map((point) => point.documents)));
  const worth = (points: readonly Grown[]): number => points.find((point) => point.documents === largest)?.value ?? Infinity;
  return rows.sort((a, b) => worth(a.points) - worth(b.points)).slice(0, MOST_LINES).flatMap((one) => one.points.sort((a, b) => a.documents - b.documents));
}

function Growth({ views }: { views: readonly View[] }): JSX.Element {
  const page = usePage();
  const steps = useMemo(() => stepsOf(views), [views]);
  const charts = useMemo(() => steps.map((step) => ({ step, points: pointsOf(views, step) })).filter((one) => one.points.length > 0).map((one) => ({
    ...one, draw: (width: number) => drawGrowth(one.points, seconds, count, width, `${one.step.title}: time against documents`),
  })), [views, steps]);
  return (
    <>
      <h3>Growth with the documents</h3>
      <p>Time against documents; a line that rises as steeply as the grid’s diagonal grows in proportion. The {MOST_LINES} fastest at the largest scale are drawn, all are in the table. Nothing is extrapolated.</p>
      <div class="multiples broad">
        {charts.map((one) => <Figure key={one.step.step} title={`Growth: ${one.step.title}`} height={GROWTH_HEIGHT} draw={one.draw} />)}
      </div>
      <Tables title="Figures as a table" tables={() => steps.map((step) => tableOf(views, step, page.open))} />
    </>
  );
}

export function Runs(): JSX.Element | null {
  const { figures, from } = usePage();
  const views = useMemo(() => figures.runs.flatMap((_, index) => view(figures, from.state, index) ?? []), [from]);
  if (views.length < 2) return null;
  const same = views.filter((one) => one.run.data.documents === from.run.data.documents);
  const scales = new Map<number, View>();
  for (const one of views) if (!scales.has(one.run.data.documents)) scales.set(one.run.data.documents, one);
  const grown = [...scales.values()].sort((a, b) => a.run.data.documents - b.run.data.documents);
  return (
    <Section id="runs" title="Runs side by side">
      {same.length > 1 && <SideBySide views={same} />}
      {grown.length > 1 && <Growth views={grown} />}
    </Section>
  );
}
