// Telemetry charts of the machine and the system under test.

import { useMemo, useState } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Band, Point } from '../../charts/lines.ts';
import type { FigureData } from '../../export/csv.ts';
import type { RunEvidence, Series } from '../../model.ts';
import type { Table } from './table.tsx';
import { drawLines, LINES_HEIGHT } from '../../charts/lines.ts';
import { colourOf } from '../../colours.ts';
import { byName, counted, formatOr, nameInWords, NONE, seconds } from '../../format.ts';
import { usePage } from '../../page.ts';
import { Figure } from './figure.tsx';
import { Section } from './multiples.tsx';
import { Tables } from './table.tsx';

const TITLES: ReadonlyMap<string, string> = new Map([
  ['busy_cores', 'Busy cores of the machine'], ['subject_busy_cores', 'Busy cores of the system under test'],
  ['waiting_cores', 'Cores waiting for the disk'], ['stolen_cores', 'Stolen cores'], ['runnable', 'Runnable processes'],
  ['disk_busy_share', 'Disk busy'], ['disk_latency_ms', 'Disk latency'],
  ['disk_read_bytes_per_s', 'Read from disk'], ['disk_written_bytes_per_s', 'Written to disk'],
  ['subject_pss_bytes', 'Memory of the system under test'],
]);

function titleOf(name: string): string {
  return TITLES.get(name) ?? nameInWords(name);
}
const FIRST = ['subject_busy_cores', 'busy_cores', 'stolen_cores', 'subject_pss_bytes', 'disk_read_bytes_per_s', 'disk_written_bytes_per_s', 'disk_busy_share'];

/** Maximum number of points drawn per line; more do not fit into its width. */
const POINTS = 600;

/** Reduces a line to `most` points. Each point is the maximum of its samples, so that peaks are kept. */
export function thinned(at: readonly number[], values: readonly (number | null)[], most = POINTS): Point[] {
  const each = Math.max(1, Math.ceil(at.length / most));
  const points: Point[] = [];
  for (let start = 0; start < at.length; start += each) {
    const some = values.slice(start, start + each).filter((value) => value !== null);
    points.push({ at: at[start] ?? 0, value: some.length === 0 ? null : Math.max(...some) });
  }
  return points;
}

/** Colour of the system named in an activity text; grey if it names none. */
function bandColour(words: string, systems: readonly string[]): string {
  const named = words.split(/[^\w-]+/).find((word) => systems.includes(word));
  return named === undefined ? 'var(--edge)' : colourOf(named);
}

function bandsOf(series: Series, evidence: RunEvidence, systems: readonly string[]): Band[] {
  const bands: Band[] = [];
  let before: number | null = null;
  series.activity.forEach((activity, index) => {
    const at = series.elapsed_s[index] ?? 0;
    const next = series.elapsed_s[index + 1] ?? at + series.samples_per_point;
    const last = bands[bands.length - 1];
    if (activity !== null && activity === before && last !== undefined) last.to = next;
    else if (activity !== null) {
      const words = evidence.texts[activity] ?? '';
      bands.push({ from: at, to: next, what: words, colour: bandColour(words, systems) });
    }
    before = activity;
  });
  return bands;
}

function tableOf(series: Series, bands: readonly Band[], names: readonly string[]): Table {
  return {
    title: 'Steps, with the mean of each metric',
    columns: [{ title: 'step' }, { title: 'from', numeric: true }, { title: 'for', numeric: true }, ...names.map((name) => ({ title: titleOf(name), numeric: true }))],
    rows: bands.map((band) => {
      const places = series.elapsed_s.flatMap((at, index) => (at >= band.from && at < band.to ? [index] : []));
      return [band.what, seconds(band.from), seconds(band.to - band.from), ...names.map((name) => {
        const values = places.flatMap((place) => series.values[name]?.[place] ?? []);
        return values.length === 0 ? NONE : formatOr(values.reduce((a, b) => a + b, 0) / values.length, (value) => byName(name, Number(value.toPrecision(3))));
      })];
    }),
  };
}

function Lines({ series, evidence, systems }: { series: Series; evidence: RunEvidence; systems: readonly string[] }): JSX.Element {
  const [all, setAll] = useState(false);
  const bands = useMemo(() => bandsOf(series, evidence, systems), [series, evidence]);
  const names = useMemo(() => {
    const there = Object.keys(series.values).filter((name) => series.values[name]?.some((value) => value !== null));
    return [...FIRST.filter((name) => there.includes(name)), ...there.filter((name) => !FIRST.includes(name)).sort()];
  }, [series]);
  const charts = useMemo(() => (all ? names : names.slice(0, FIRST.length)).map((name) => {
    const points = thinned(series.elapsed_s, series.values[name] ?? []);
    const title = titleOf(name);
    const format = (value: number): string => byName(name, Number(value.toPrecision(3)));
    return {
      name, title, data: (): FigureData => ({ columns: ['second', name], rows: series.elapsed_s.map((at, index) => [at, series.values[name]?.[index] ?? null]) }),
      draw: (width: number) => drawLines(points, bands, { title, format }, width, `${title} over the run`),
    };
  }), [series, bands, names, all]);
  return (
    <>
      <p>Sampled once a second{series.samples_per_point > 1 ? `; each point is the mean of ${series.samples_per_point} samples, so peaks may have been higher` : ''}. Where points are denser than the line is wide, the highest is drawn. Bands in the colours of the systems show the step; hover to read it, or open the table.</p>
      <div class="multiples broad">
        {charts.map((one) => <Figure key={one.name} title={one.title} height={LINES_HEIGHT} draw={one.draw} data={one.data} />)}
      </div>
      {names.length > FIRST.length && <p class="more"><button type="button" class="quiet" aria-pressed={all} onClick={() => setAll(!all)}>{all ? 'Show fewer' : `Show all ${names.length}`}</button></p>}
      <Tables title={`Steps (${counted(bands.length, 'band')})`} tables={() => [tableOf(series, bands, names)]} />
    </>
  );
}

export function RunSeries(): JSX.Element {
  const { evidence, view } = usePage();
  const own = evidence?.runs[view.runIndex];
  return (
    <Section id="series" title="The run, second by second">
      {own === undefined ? <p class="empty">Reading …</p>
        : own.series === null || own.series.elapsed_s.length === 0 ? <p class="empty">This run has no series.</p>
          : <Lines key={view.runIndex} series={own.series} evidence={own} systems={view.run.configurations.map((one) => one.system)} />}
    </Section>
  );
}
