// Costs of the answers: loading, memory and CPU.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Bar } from '../../charts/rows.ts';
import type { ShownMetric } from '../../metric.ts';
import type { MetricName } from '../../metrics.ts';
import type { Page } from '../../page.ts';
import type { Table, TableCell } from '../common/table.tsx';
import { groupOf, placedBars } from '../../bars.ts';
import { bytes, count, formatOr, integer, interval, NONE, percent, seconds } from '../../format.ts';
import { HOT, stepTitle, verdictLabel } from '../../labels.ts';
import { axisOf, chartKind, metric } from '../../metric.ts';
import { Metric } from '../../metrics.ts';
import { usePage } from '../../page.ts';
import { cellsOf, hasBackgroundWork, questionsIn, rankStatus } from '../../view.ts';
import { DataState, Phase } from '../../vocabulary.ts';
import { Multiples, Section } from '../common/multiples.tsx';
import { multiplesOf, tablesOf } from './questions.tsx';

const LOADING = [{ step: 'load', title: 'Load, until durable and visible', phases: [Phase.Load], data: null }];
const SETTLING = [[DataState.Drained, Metric.DrainedS], [DataState.Compacted, Metric.CompactedS]] as const;

function loadTable(page: Page): Table {
  const { view } = page;
  const entries = cellsOf(view, 'load', [Phase.Load], null);
  const ordered = [
    ...placedBars(view, entries, metric('time'), page.open).map((one) => one.entry),
    ...entries.filter((entry) => entry.configuration.reference),
  ];
  const rows = ordered.map((entry): TableCell[] => {
    const { cell, configuration } = entry;
    const settled = (state: DataState, name: MetricName): string => {
      const size = cellsOf(view, 'size', [Phase.Steady], state).find((one) => one.cell.configuration === cell.configuration)?.cell;
      const time = formatOr(size?.metrics[name], seconds);
      return size !== undefined && hasBackgroundWork(size) ? `${time}, background work not finished` : time;
    };
    const { [Metric.DocumentsLoaded]: loaded, [Metric.DocumentsOffered]: offered } = cell.metrics;
    const time = rankStatus(view, entry).tier === 'none' ? null : cell.median_s;
    return [
      `${configuration.title} ${configuration.version}`, configuration.variant, configuration.storage,
      { text: time === null ? verdictLabel(cell.verdict) : seconds(time), open: () => page.open(entry) },
      interval(cell.low_s, cell.high_s, seconds, cell.median_s), String(cell.trials),
      loaded === undefined || offered === undefined ? NONE : percent(loaded / offered), formatOr(cell.metrics[Metric.DocumentsRejected], integer),
      formatOr(cell.metrics[Metric.DocumentsPerS], count), formatOr(cell.metrics[Metric.BytesPerS], (rate) => `${bytes(rate)}/s`),
      ...SETTLING.map(([state, name]) => settled(state, name)), formatOr(cell.metrics[Metric.PeakPssBytes], bytes),
      formatOr(cell.metrics[Metric.WrittenBytes], bytes), cell.bound_by ?? NONE, verdictLabel(cell.verdict),
    ];
  });
  return {
    title: 'Loading',
    columns: [
      { title: 'system', name: true }, { title: 'variant', name: true }, { title: 'storage' }, { title: 'time', numeric: true }, { title: '95 % interval', numeric: true },
      { title: 'loads', numeric: true }, { title: 'loaded', numeric: true },
      { title: 'rejected', numeric: true }, { title: 'documents/s', numeric: true }, { title: 'bytes/s', numeric: true },
      { title: 'drained after', numeric: true }, { title: 'compacted after', numeric: true }, { title: 'peak memory', numeric: true },
      { title: 'written', numeric: true }, { title: 'bound by' }, { title: 'verdict' },
    ],
    rows,
    groups: view.rankings.length < 2 ? [] : ordered.map(({ configuration }) => (configuration.reference ? 'Never ranked' : groupOf(view, configuration.ranking))),
  };
}

/** Time to settle per configuration; it is recorded with the size that is read afterwards. */
function settling(page: Page, state: DataState, name: MetricName): Bar[] {
  return placedBars(page.view, cellsOf(page.view, 'size', [Phase.Steady], state), metric(name), page.open).map((one) => one.bar);
}

export function Load(): JSX.Element {
  const page = usePage();
  const chosen = page.view.state.metric;
  const shown = useMemo(() => metric(chosen === Metric.DocumentsPerS ? chosen : 'time'), [chosen]);
  const multiples = useMemo(() => multiplesOf(page, LOADING, shown), [page.view, shown]);
  const after = useMemo(() => SETTLING.map(([state, name]) => ({
    key: state, title: `After the load, until ${state}`, own: settling(page, state, name), published: [], references: [],
  })), [page.view]);
  return (
    <Section id="load" title="Load">
      <p>From the first document sent until all are durable and visible to a query. Timed separately: draining, until background work ends by itself, and compacting on command. Where a system had <em>background work not finished</em> at the time limit, its mark is the limit, not a time.</p>
      <Multiples multiples={multiples} format={shown.format} axis={axisOf(shown)}
        tables={() => [loadTable(page)]} empty="No loads match the filters." />
      <Multiples multiples={after} format={seconds} axis="time, less is better" empty="Time to settle was not measured." />
    </Section>
  );
}

const CPU: ShownMetric = {
  ...metric(Metric.ServerCpuS),
  title: 'CPU seconds of all cores',
};

// Short trials are not sampled while they run, so peaks during questions are known for slow systems only.
// Memory held between trials is known for all systems.
const MEMORY: ShownMetric = {
  ...metric(Metric.PeakPssBytes),
  title: 'memory',
  of: (cell, run) => metric(cell.phase === Phase.Load ? Metric.PeakPssBytes : Metric.HeldPssBytes).of(cell, run),
};

const WORKER = 'An embedded engine shares its process with the worker of the harness, so client and decoding are included; a server’s result leaves the client out.';

function Cost({ id, title, shown, children }: { id: string; title: string; shown: ShownMetric; children: JSX.Element }): JSX.Element {
  const page = usePage();
  const steps = useMemo(() => [
    { step: 'load', title: 'Load', phases: [Phase.Load], data: null },
    ...questionsIn(page.view, HOT).map((step) => ({ step, title: `${stepTitle(step)}, hot`, phases: HOT })),
  ], [page.view]);
  const multiples = useMemo(() => multiplesOf(page, steps, shown).map((one) =>
    ({ ...one, own: one.own.some((bar) => bar.value !== null) ? one.own : [], references: one.references })), [page.view, steps, shown]);
  return (
    <Section id={id} title={title}>
      {children}
      <Multiples multiples={multiples} format={shown.format} axis={axisOf(shown)} kind={chartKind(shown.name)}
        tables={() => tablesOf(page, steps, shown)} empty="Not measured." />
    </Section>
  );
}

export function Memory(): JSX.Element {
  return (
    <Cost id="memory" title="Memory" shown={MEMORY}>
      <p>
        Held by all of the system’s processes; shared pages count once. Load: the peak. Questions: held between
        trials, because sampling during a short trial would add to its time. {WORKER}
      </p>
    </Cost>
  );
}

export function Cpu(): JSX.Element {
  return (
    <Cost id="cpu" title="CPU" shown={CPU}>
      <p>CPU seconds of the system per trial, summed over all cores. More than the trial’s time means that several cores worked. {WORKER}</p>
    </Cost>
  );
}
