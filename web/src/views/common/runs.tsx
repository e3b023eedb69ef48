// Comparison of runs side by side, and scaling if their document counts differ.

import { useMemo, useState } from 'preact/hooks';
import type { JSX } from 'preact';

import type { DrawnCurve } from '../../charts/curves.ts';
import type { Bar } from '../../charts/rows.ts';
import type { Scale } from '../../charts/scale.ts';
import type { FigureData } from '../../export/csv.ts';
import type { Cell } from '../../model.ts';
import type { Estimate } from '../../stats.ts';
import type { Entry, View } from '../../view.ts';
import type { Table, TableCell } from './table.tsx';
import { DRAWN } from '../../bars.ts';
import { CURVES_HEIGHT, drawCurves } from '../../charts/curves.ts';
import { drawIntervals } from '../../charts/intervals.ts';
import { rowChartHeight } from '../../charts/row-chart.ts';
import { ratioScale } from '../../charts/scale.ts';
import { colourOf } from '../../colours.ts';
import { curvesData } from '../../export/curves.ts';
import { bytes, count, integer, interval, list, NONE, seconds, times, TOO_FEW_ROUNDS } from '../../format.ts';
import { cellName, configurationKey, HOT, parametersOf, phaseLabel, stepTitle, verdictLabel } from '../../labels.ts';
import { totalEstimate } from '../../metric.ts';
import { Metric } from '../../metrics.ts';
import { usePage } from '../../page.ts';
import { metricOf } from '../../serving.ts';
import { differs, ratio } from '../../stats.ts';
import { buildView, cellsOf, hasWorkload, isAsking, rankStatus } from '../../view.ts';
import { ANALYTICS, DataState, Phase, SERVING } from '../../vocabulary.ts';
import { Figure } from './figure.tsx';
import { Section } from './multiples.tsx';
import { Tables } from './table.tsx';

/** A metric of one step that is compared across runs, with the words for less and more of it. */
interface Step {
  workload: string;
  step: string;
  title: string;
  phases: readonly string[];
  /** Data state; null for any state, absent for the chosen one. */
  data?: string | null;
  of: (cell: Cell) => Estimate | null;
  format: (value: number) => string;
  axis: string;
  less: string;
  more: string;
  /** Text shown for a value without an interval. */
  single: string;
}

const TIME = {
  of: ({ median_s: value, low_s: low, high_s: high }: Cell): Estimate | null => (value === null ? null : { value, low, high }),
  format: seconds, axis: 'time', less: 'faster', more: 'slower', single: TOO_FEW_ROUNDS,
};

const SIZE = { of: totalEstimate, format: bytes, axis: 'bytes', less: 'smaller', more: 'larger', single: 'counted once' };

const THROUGHPUT = {
  of: (cell: Cell): Estimate | null => metricOf(cell, Metric.ThroughputOpsPerS),
  format: (value: number) => `${count(value)}/s`, axis: 'throughput', less: 'slower', more: 'faster', single: TOO_FEW_ROUNDS,
};

/** The cell of a configuration in each run; null for runs without it. */
interface CellAcrossRuns {
  key: string;
  name: string;
  entries: (Entry | null)[];
}

const MOST_LINES = 8;

function stepsOf(views: readonly View[]): Step[] {
  const questions = [...new Set(views.flatMap((one) => one.questions))];
  const asking = views[0]?.asking ?? ANALYTICS;
  return [
    { ...TIME, workload: asking, step: 'load', title: 'Load', phases: [Phase.Load], data: null },
    ...[DataState.Drained, DataState.Compacted].map((data) => ({ ...SIZE, workload: asking, step: 'size', title: `Size ${data}`, phases: [Phase.Steady], data })),
    ...questions.map((step) => ({ ...TIME, workload: asking, step, title: `${stepTitle(step)}, hot`, phases: HOT })),
    ...others(views),
  ];
}

/** Steps of other workloads: throughput of serving, and times of workloads without parts of their own. */
function others(views: readonly View[]): Step[] {
  const found = new Map<string, Step>();
  for (const { cell: { workload, step, phase } } of views.flatMap((one) => one.entries)) {
    if (isAsking(workload)) continue;
    const shown = workload !== SERVING ? TIME : phase === Phase.Steady ? SIZE : phase === Phase.Measured ? THROUGHPUT : TIME;
    const title = phase === Phase.Measured ? `mix ${step}, throughput` : `${workload}: ${step}, ${phaseLabel(phase)}`;
    found.set(JSON.stringify([workload, step, phase]), { ...shown, workload, step, title, phases: [phase] });
  }
  return [...found.values()];
}

/**
 * Configurations of which a run has several versions: these are matched by version, all others regardless of
 * it.
 */
function ambiguous(views: readonly View[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { run } of views) {
    const seen = new Set<string>();
    for (const key of run.configurations.map(configurationKey)) {
      if (seen.has(key)) found.add(key);
      seen.add(key);
    }
  }
  return found;
}

function across(views: readonly View[], step: Step): CellAcrossRuns[] {
  const found = new Map<string, CellAcrossRuns>();
  const byVersion = ambiguous(views);
  views.forEach((one, place) => {
    for (const entry of cellsOf(one, step.step, step.phases, step.data === undefined ? one.state.data : step.data, step.workload)) {
      if (entry.configuration.reference) continue;
      const { configuration } = entry;
      const base = configurationKey(configuration);
      const key = `${base} ${byVersion.has(base) ? configuration.version : ''} ${parametersOf(entry.cell)}`;
      const row = found.get(key) ?? { key, name: cellName(configuration, entry.cell), entries: views.map(() => null) };
      const first = row.entries.find((other) => other !== null);
      if (first && first.configuration.version !== configuration.version) row.name += ` (${configuration.version} in ${one.run.name})`;
      row.entries[place] = entry;
      found.set(key, row);
    }
  });
  return [...found.values()];
}

/** A comparable value: a ranked cell, i.e. verified and over all documents; null otherwise. */
function comparable(step: Step, view: View | undefined, entry: Entry | null | undefined): Estimate | null {
  const found = entry ? step.of(entry.cell) : null;
  return !view || !entry || found === null || found.value <= 0 || rankStatus(view, entry).tier !== 'ranked' ? null : found;
}

function verdictOn(step: Step, one: Estimate): string {
  const shown = differs(one);
  if (shown === null) return step.single;
  if (one.low === 1 && one.high === 1) return 'the same';
  return shown ? (one.value < 1 ? step.less : step.more) : 'not shown';
}

/** Symbols of the later runs in charts, each with the character that resembles it. */
const SYMBOLS = [['circle', '●'], ['square', '■'], ['triangle', '▲'], ['diamond', '◆']] as const;

function symbolOf(run: number): (typeof SYMBOLS)[number] {
  return SYMBOLS[(run - 1) % SYMBOLS.length] ?? SYMBOLS[0];
}

/** The ratio of a later run to the first one, of one configuration. */
interface RatioRow extends Bar {
  value: number;
  run: number;
}

/** One row per configuration and later run, largest change first. */
function dotsOf(views: readonly View[], step: Step): RatioRow[] {
  const dots = across(views, step).flatMap((row) => {
    const first = comparable(step, views[0], row.entries[0]);
    return row.entries.slice(1).flatMap((entry, place) => {
      const other = comparable(step, views[place + 1], entry);
      if (first === null || other === null) return [];
      const by = ratio(other, first);
      const name = views.length > 2 ? `${row.name}, ${views[place + 1]?.run.name ?? ''}` : row.name;
      return [{
        key: `${place} ${row.key}`, name, notes: [], group: '', colour: 'var(--accent)', look: 'plain' as const, run: place + 1, value: by.value, low: by.low, high: by.high,
        label: `${times(by.value)} ${verdictOn(step, by)}`, more: '', open: null,
      }];
    });
  });
  return dots.sort((a, b) => Math.abs(Math.log(b.value)) - Math.abs(Math.log(a.value)));
}

/** Draws the ratios of one step. */
function drawRatios(rows: readonly RatioRow[], scale: Scale, width: number, title: string): SVGElement {
  const runs = new Map(rows.map((row) => [row.key, row.run]));
  return drawIntervals(rows, [], scale, width, `${title}: ratio between runs`, (row) => symbolOf(runs.get(row.key) ?? 1)[0]);
}

function tableOf(views: readonly View[], step: Step, open: (entry: Entry) => void): Table {
  const rows = across(views, step).map((row): TableCell[] => {
    const first = comparable(step, views[0], row.entries[0]);
    return [row.name, ...row.entries.flatMap((entry, place): TableCell[] => {
      const view = views[place];
      const there = entry !== null && view !== undefined && rankStatus(view, entry).tier !== 'none' ? step.of(entry.cell)?.value ?? null : null;
      const time: TableCell = entry === null ? NONE : { text: there === null ? verdictLabel(entry.cell.verdict) : step.format(there), open: () => open(entry) };
      if (place === 0) return [time];
      const other = comparable(step, view, entry);
      if (first === null || other === null) return [time, NONE];
      const by = ratio(other, first);
      return [time, `${times(by.value)}${by.low === null ? '' : ` (${interval(by.low, by.high, times)})`}, ${verdictOn(step, by)}`];
    })];
  });
  return {
    title: step.title,
    columns: [{ title: 'configuration' }, ...views.flatMap((one, place) => [
      { title: one.run.name, numeric: true }, ...(place === 0 ? [] : [{ title: '÷ the first', numeric: true }]),
    ])],
    rows,
  };
}

function SideBySide({ views }: { views: readonly View[] }): JSX.Element {
  const page = usePage();
  const [all, setAll] = useState(false);
  const steps = useMemo(() => stepsOf(views), [views]);
  const found = useMemo(() => steps.map((step) => ({ step, dots: dotsOf(views, step) })).filter((one) => one.dots.length > 0), [views, steps]);
  const charts = useMemo(() => {
    const dots = found.flatMap((one) => one.dots);
    const limits = dots.flatMap(({ low, high }) => [low, high].filter((limit) => limit !== null));
    const scale = ratioScale(dots.map((one) => one.value), times, 'later run ÷ first run', limits);
    return found.map((one) => {
      const rows = all ? one.dots : one.dots.slice(0, DRAWN);
      return {
        step: one.step, rows, draw: (width: number) => drawRatios(rows, scale, width, one.step.title),
        data: (): FigureData => ({
          columns: ['configuration', 'later run', 'ratio', 'low', 'high', 'shown as'],
          rows: one.dots.map((row) => [row.name, views[row.run]?.run.name ?? '', row.value, row.low, row.high, row.label]),
        }),
      };
    });
  }, [found, all]);
  const most = Math.max(0, ...found.map((one) => one.dots.length));
  return (
    <>
      <p>
        The same configurations over the same {integer(views[0]?.run.data.documents ?? 0)} documents in {views.map((one) => one.run.name).join(', ')}: time, throughput or size in a later run ÷ that in the first. Left of 1 is less: faster of times, slower of throughput; greatest changes first.
        The line is the 95 % interval; where it includes 1, a difference is <em>not shown</em>. Runs may come from different machines, listed at the top.
      </p>
      {charts.length === 0 ? <p class="empty">No configuration has a verified result in more than one run.</p> : (
        <div class="multiples">
          {charts.map((one) => <Figure key={one.step.title} title={one.step.title} height={rowChartHeight(one.rows, 0)} draw={one.draw} data={one.data} />)}
        </div>
      )}
      <p class="legend">{views.slice(1).map((one, place) => `${symbolOf(place + 1)[1]} ${one.run.name} ÷ ${views[0]?.run.name ?? ''}`).join(', ')}</p>
      {most > DRAWN && (
        <p class="more">
          <button type="button" class="quiet" aria-pressed={all} onClick={() => setAll(!all)}>{all ? `Show the first ${DRAWN} only` : `Show all ${most}`}</button>
        </p>
      )}
      <Tables title="Results as a table" tables={() => steps.map((step) => tableOf(views, step, page.open))} />
    </>
  );
}

/** Values of a step by number of documents, one curve per configuration; the least at the largest number first. */
function growthOf(views: readonly View[], step: Step): DrawnCurve[] {
  const rows = across(views, step).map((row): DrawnCurve => {
    const system = row.entries.find((entry) => entry !== null)?.configuration.system ?? '';
    const points = row.entries.flatMap((entry, place) => {
      const [view, value] = [views[place], comparable(step, views[place], entry)];
      if (view === undefined || value === null) return [];
      const { documents } = view.run.data;
      return [{ x: documents, y: value.value, low: value.low, high: value.high, ranked: true, title: `${row.name}, ${count(documents)}: ${step.format(value.value)}` }];
    });
    return { name: row.name, colour: colourOf(system), points: points.sort((a, b) => a.x - b.x) };
  }).filter((one) => one.points.length > 1);
  const largest = Math.max(0, ...rows.flatMap((one) => one.points.map((point) => point.x)));
  const worth = ({ points }: DrawnCurve): number => points.find((point) => point.x === largest)?.y ?? Infinity;
  return rows.sort((a, b) => worth(a) - worth(b)).slice(0, MOST_LINES);
}

function Growth({ views }: { views: readonly View[] }): JSX.Element {
  const page = usePage();
  const steps = useMemo(() => stepsOf(views), [views]);
  const charts = useMemo(() => steps.map((step) => ({ step, curves: growthOf(views, step) })).filter((one) => one.curves.length > 0).map(({ step, curves }) => {
    const ticks = [...new Set(curves.flatMap((curve) => curve.points.map((point) => point.x)))].sort((a, b) => a - b);
    const [x, y] = [{ title: 'documents', log: true, format: count, ticks }, { title: step.axis, log: true, format: step.format }];
    return { step, curves, draw: (width: number) => drawCurves(curves, x, y, width, `${step.title}: ${step.axis} against documents`) };
  }), [views, steps]);
  return (
    <>
      <h3>Scaling with document count</h3>
      <p>Time and size against documents. Growth is in proportion where ten times the documents take ten times as much. The {MOST_LINES} least at the largest scale are drawn; the table has all. Nothing is extrapolated.</p>
      <div class="multiples broad">
        {charts.map((one) => (
          <Figure key={one.step.title} title={`Scaling: ${one.step.title}`} height={CURVES_HEIGHT} draw={one.draw} data={() => curvesData(one.curves, 'documents', one.step.axis)} />
        ))}
      </div>
      <Tables title="Results as a table" tables={() => steps.map((step) => tableOf(views, step, page.open))} />
    </>
  );
}

export function Runs(): JSX.Element | null {
  const { figures, view } = usePage();
  const views = useMemo(() => figures.runs.flatMap((run, index) => (hasWorkload(run, view.workload) ? buildView(figures, view.state, index) ?? [] : [])), [view]);
  if (views.length < 2) return null;
  const { documents, digest } = view.run.data;
  const same = views.filter((one) => one.run.data.documents === documents && one.run.data.digest === digest);
  const unlike = views.filter((one) => one.run.data.documents === documents && one.run.data.digest !== digest).map((one) => one.run.name);
  const scales = new Map<number, View>();
  // The run shown represents its document count, even if other runs have the same one.
  for (const one of [view, ...views]) if (!scales.has(one.run.data.documents)) scales.set(one.run.data.documents, one);
  const grown = [...scales.values()].sort((a, b) => a.run.data.documents - b.run.data.documents);
  return (
    <Section id="runs" title="Runs side by side" ofRun={false}>
      {unlike.length > 0 && <p>Not compared, because of other documents: {list(unlike)}.</p>}
      {same.length > 1 && <SideBySide views={same} />}
      {grown.length > 1 && <Growth views={grown} />}
    </Section>
  );
}
