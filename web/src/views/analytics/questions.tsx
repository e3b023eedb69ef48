// Hot and cold times of the questions, one small chart per question.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { ShownMetric } from '../../metric.ts';
import type { Page } from '../../page.ts';
import type { Entry, View } from '../../view.ts';
import type { Multiple } from '../common/multiples.tsx';
import type { Table, TableCell } from '../common/table.tsx';
import { groupOf, placedBars, publishedBar, publishedGroup, publishedHere, references } from '../../bars.ts';
import { ratioScale } from '../../charts/scale.ts';
import { count, formatOr, interval, NONE, seconds, times } from '../../format.ts';
import { COLD, configurationName, HOT, parametersOf, profileLabel, stepTitle, verdictLabel } from '../../labels.ts';
import { axisOf, chartKind, documentsOf, isRatio, metric as metricNamed } from '../../metric.ts';
import { usePage } from '../../page.ts';
import { cellsOf, questionsIn, rankStatus, worstVerdict } from '../../view.ts';
import { Phase } from '../../vocabulary.ts';
import { Multiples, Section } from '../common/multiples.tsx';

interface Step {
  step: string;
  title: string;
  phases: readonly string[];
  data?: string | null;
}

/** Builds one chart per step for a metric. */
export function multiplesOf(page: Page, steps: readonly Step[], metric: ShownMetric): Multiple[] {
  const { view, open } = page;
  const others = metric.time ? publishedHere(view) : [];
  return steps.map(({ step, title, phases, data }) => {
    const entries = cellsOf(view, step, phases, data);
    const place = /^q[1-5]$/.test(step) ? Number(step.slice(1)) - 1 : -1;
    const cold = phases.includes(Phase.Cold);
    return {
      key: step,
      title,
      own: placedBars(view, entries, metric, open).map((one) => one.bar),
      published: place < 0 ? [] : others.map((one) => publishedBar(one, (cold ? one.cold : one.hot)[place] ?? null, seconds, publishedGroup(view))),
      references: references(view, entries, metric),
    };
  });
}

const COLUMNS = [
  { title: 'system', name: true }, { title: 'variant', name: true }, { title: 'storage' }, { title: 'median', numeric: true }, { title: '95 % interval', numeric: true },
  { title: '× of best', numeric: true }, { title: 'best', name: true }, { title: '× of yardstick', numeric: true }, { title: 'documents/s', numeric: true },
  { title: 'trials', numeric: true }, { title: 'verdict' }, { title: 'bound by' }, { title: 'ranking', name: true }, { title: 'profile', name: true },
];

function row(page: Page, entry: Entry, metric: ShownMetric): TableCell[] {
  const { cell, configuration } = entry;
  const beside = (one: typeof cell.ratio_to_best): string =>
    one === null ? NONE : `${times(one.ratio)}${one.low === null ? '' : ` (${interval(one.low, one.high, times)})`}`;
  const { notes, tier } = rankStatus(page.view, entry);
  const time = tier === 'none' ? null : cell.median_s;
  const verdict = verdictLabel(worstVerdict(entry));
  const best = cell.ratio_to_best === null ? undefined : page.view.run.configurations[cell.ratio_to_best.other];
  const parameters = parametersOf(cell);
  const base: TableCell[] = [
    `${configuration.title} ${configuration.version}${parameters === '' ? '' : `, ${parameters}`}`, configuration.variant, configuration.storage,
    { text: time === null ? verdict : seconds(time), open: () => page.open(entry) },
    interval(cell.low_s, cell.high_s, seconds, cell.median_s), beside(cell.ratio_to_best), best === undefined ? NONE : configurationName(best), beside(cell.ratio_to_yardstick),
    time !== null && time > 0 ? count(documentsOf(page.view.run, cell.configuration) / time) : NONE,
    String(cell.trials), [verdict, ...notes.filter((note) => note !== verdict)].join(', '),
    cell.bound_by ?? NONE, configuration.reference ? 'never ranked' : configuration.ranking, profileLabel(configuration),
  ];
  if (metric.time) return base;
  const estimate = tier === 'none' ? null : metric.of(cell, page.view.run);
  return [...base.slice(0, 3), { text: formatOr(estimate?.value, metric.format), open: () => page.open(entry) }, ...base.slice(3)];
}

/** Builds one table per step, in the order of its chart, reference configurations last. */
export function tablesOf(page: Page, steps: readonly Step[], metric: ShownMetric): Table[] {
  return steps.map(({ step, title, phases, data }) => {
    const entries = cellsOf(page.view, step, phases, data);
    const ordered = [
      ...placedBars(page.view, entries, metric, page.open).map((one) => one.entry),
      ...entries.filter((entry) => entry.configuration.reference),
    ];
    const columns = metric.time ? COLUMNS : [...COLUMNS.slice(0, 3), { title: metric.title, numeric: true }, ...COLUMNS.slice(3)];
    const published = metric.time && /^q[1-5]$/.test(step) ? publishedHere(page.view) : [];
    const place = Number(step.slice(1)) - 1;
    const rows: TableCell[][] = ordered.map((entry) => row(page, entry, metric));
    for (const one of published) {
      const time = (phases.includes(Phase.Cold) ? one.cold : one.hot)[place];
      rows.push([
        `${one.system} ${one.version}`, one.tags.join(' '), NONE, formatOr(time, seconds), NONE, NONE, NONE, NONE, NONE, NONE,
        `published${one.suspected_errors.length > 0 ? ', suspected error' : ''}`, NONE, `${one.machine}, ${one.date ?? one.snapshot}`, NONE,
      ]);
    }
    const groups = [
      ...ordered.map(({ configuration }) => (configuration.reference ? 'Never ranked' : groupOf(page.view, configuration.ranking))),
      ...published.map(() => 'Published by others'),
    ];
    return { title, columns, rows, groups: page.view.rankings.length > 1 ? groups : [] };
  });
}

/** Axis title of a metric, adapted to pages with several rankings. */
function axisIn(view: View, metric: ShownMetric): string {
  const own = metric.name === 'of_best' && view.rankings.length > 1 ? ' of the same ranking' : '';
  return axisOf({ ...metric, title: `${metric.title}${own}` });
}

/** Remark if the best of the run is filtered out: ratios always refer to the whole run. */
function remarkOf(view: View, steps: readonly Step[], metric: ShownMetric): string {
  const hidden = steps.flatMap(({ step, phases }) => cellsOf(view, step, phases)).some(({ cell }) => {
    const other = metric.beside?.(cell)?.other;
    return other !== undefined && view.shown[other] !== true;
  });
  return hidden ? `${metric.title}: the best of the whole run, filtered out or not.` : '';
}

interface Props {
  id: string;
  title: string;
  phases: readonly string[];
  children: JSX.Element;
}

function Questions({ id, title, phases, children }: Props): JSX.Element {
  const page = usePage();
  const metric = useMemo(() => metricNamed(page.view.state.metric), [page.view.state.metric]);
  const steps = useMemo(() => questionsIn(page.view, phases).map((step) => ({ step, title: stepTitle(step), phases })), [page.view, phases]);
  const multiples = useMemo(() => multiplesOf(page, steps, metric), [page.view, steps, metric]);
  const axis = axisIn(page.view, metric);
  const scale = useMemo(() => (isRatio(metric.name) ? (values: readonly number[], limits: readonly number[]) => ratioScale(values, metric.format, axis, limits) : undefined), [metric, axis]);
  return (
    <Section id={id} title={title}>
      {children}
      <Multiples multiples={multiples} format={metric.format} axis={axis} kind={chartKind(metric.name)} scale={scale} remark={remarkOf(page.view, steps, metric)}
        tables={() => tablesOf(page, steps, metric)} empty={`No questions asked ${id} in the ${page.view.state.data} state match the filters.`} />
    </Section>
  );
}

const COLD_OS = [Phase.ColdOs];

export function Hot(): JSX.Element {
  return (
    <Questions id="hot" title="Hot" phases={HOT}>
      <p>Each question asked repeatedly, with the data in memory. Dots are medians over all rounds. Where trials read from the disk, the dot is a ring, the row says how much they read, and it is not ranked: <em>hot, not in memory</em>. The dashed line is the yardstick, a hand-written program for exactly these questions; an arrow says that it lies beyond the chart.</p>
    </Questions>
  );
}

export function Cold(): JSX.Element {
  return (
    <Questions id="cold" title="Cold" phases={COLD}>
      <p>Each question asked once after a restart, with the files verified to be out of memory. Where they were not, the dot is a ring and not ranked.</p>
    </Questions>
  );
}

/** Cold times by the published definition (page cache dropped only), if the run has measured them. */
export function ColdOs(): JSX.Element | null {
  const { view } = usePage();
  if (!view.entries.some((entry) => entry.cell.phase === Phase.ColdOs)) return null;
  return (
    <Questions id="cold-os" title="Cold, page cache only" phases={COLD_OS}>
      <p>The engine keeps running with its own caches; only the operating system’s page cache is dropped. Published results call this cold.</p>
    </Questions>
  );
}
