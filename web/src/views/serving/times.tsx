// Times by throughput: response times of open loops, service times of closed loops, labelled accordingly.

import { useMemo, useState } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Page } from '../../page.ts';
import type { ConditionGroup, CurvePoint, Percentile } from '../../serving.ts';
import type { Table, TableCell } from '../common/table.tsx';
import { CURVES_HEIGHT, drawCurves } from '../../charts/curves.ts';
import { curvesData } from '../../export/curves.ts';
import { count, formatOr, integer, microseconds, NONE, percent, tick, withInterval } from '../../format.ts';
import { configurationName, dimensionsOf, verdictLabel } from '../../labels.ts';
import { Metric } from '../../metrics.ts';
import { usePage } from '../../page.ts';
import { clientsOf, groupsOf, groupsWithTimes, isOpenLoop, overThroughput, timeMetric, timesOf } from '../../serving.ts';
import { rankStatus } from '../../view.ts';
import { Figure } from '../common/figure.tsx';
import { Section } from '../common/multiples.tsx';
import { Tables } from '../common/table.tsx';
import { drawn } from './throughput.tsx';

const PERCENTILES: readonly (readonly [Percentile, string])[] = [['p50', 'median'], ['p90', 'p90'], ['p99', 'p99'], ['p999', 'p99.9']];

function rate(entry: ConditionGroup['entries'][number]): string {
  const { clients: _, ...rest } = entry.cell.parameters;
  const words = dimensionsOf({ ...(rest.rate_per_s === undefined ? {} : { rate_per_s: rest.rate_per_s }), ...(rest.rate_share === undefined ? {} : { rate_share: rest.rate_share }) });
  return words === '' ? NONE : words;
}

/** The load behind a point: the number of clients in a closed loop, the rate or its share of the capacity in an open one. */
function loadOf({ entry }: CurvePoint): string {
  const { rate_share: share, rate_per_s: perSecond } = entry.cell.parameters;
  if (!isOpenLoop(entry.cell)) return String(clientsOf(entry.cell));
  if (share !== undefined) return percent(Number(share)).replace('.0 %', ' %');
  return perSecond === undefined ? '' : `${tick(count(Number(perSecond)))}/s`;
}

/** A table with the percentiles of every cell of a group. */
export function percentileTable(page: Page, group: ConditionGroup, entries: ConditionGroup['entries'], title: string): Table {
  const { name } = timesOf(group);
  const operations = entries.some((entry) => entry.cell.parameters.operation !== undefined);
  return {
    title,
    columns: [
      { title: 'configuration', name: true }, ...(operations ? [{ title: 'operation', name: true }] : []), { title: 'clients', numeric: true }, ...(group.open ? [{ title: 'rate', numeric: true }] : []),
      { title: 'operations/s', numeric: true }, ...PERCENTILES.map(([, words]) => ({ title: words, numeric: true })), { title: 'longest', numeric: true },
      { title: 'errors', numeric: true }, { title: 'verdict' },
    ],
    rows: entries.map((entry): TableCell[] => {
      const { cell } = entry;
      const shown = rankStatus(page.view, entry).tier !== 'none';
      const time = (percentile: Percentile): string => {
        const metric = timeMetric(name, percentile);
        return formatOr(shown ? cell.metrics[metric] : null, (value) => withInterval(metric, value, cell.intervals[metric]));
      };
      return [
        configurationName(entry.configuration), ...(operations ? [String(cell.parameters.operation ?? 'all')] : []), integer(clientsOf(cell)), ...(group.open ? [rate(entry)] : []),
        { text: formatOr(shown ? cell.metrics[Metric.ThroughputOpsPerS] : null, count), open: () => page.open(entry) },
        ...PERCENTILES.map(([percentile]) => time(percentile)), time('max'), formatOr(cell.metrics[Metric.Errors], integer), verdictLabel(cell.verdict),
      ];
    }),
  };
}

export function Times(): JSX.Element {
  const page = usePage();
  const { view } = page;
  const [percentile, choose] = useState<Percentile>('p99');
  const word = PERCENTILES.find(([name]) => name === percentile)?.[1] ?? percentile;
  const groups = useMemo(() => groupsWithTimes(groupsOf(view)), [view]);
  const charts = useMemo(() => groups.map((group) => {
    const { words } = timesOf(group);
    const shown = drawn(overThroughput(view, group, percentile), (point) => `${count(point.x)} operations/s, ${loadOf(point)}: ${microseconds(point.y)}`, loadOf);
    const x = { title: 'operations per second', log: true, format: count };
    const y = { title: `${words}, ${word}, less is better`, log: true, format: microseconds };
    const title = `${group.title}: ${words}, ${word}`;
    return { group, title, has: shown.length > 0, data: () => curvesData(shown, 'operations per second', 'microseconds'), draw: (width: number) => drawCurves(shown, x, y, width, `${title}, over operations per second, a curve for each configuration`) };
  }).filter((one) => one.has), [view, groups, percentile]);
  return (
    <Section id="times" title="Latency over throughput">
      <p>
        <b>Response time</b> runs from when an operation was to begin by its schedule, so that a stall is charged to all that it delayed. <b>Service time</b> runs from
        sending to the last byte decoded; in a closed loop a stall delays one operation of each client, so it is no latency under load, and not ranked. Less is better. Both scales are logarithmic.
      </p>
      <p>
        <label class="select">Percentile
          <select name="percentile" value={percentile} onChange={(event) => choose(PERCENTILES.find(([name]) => name === event.currentTarget.value)?.[0] ?? percentile)}>
            {PERCENTILES.map(([name, words]) => <option key={name} value={name}>{words}</option>)}
          </select>
        </label>
      </p>
      {charts.length === 0 ? <p class="empty">No times match the filters.</p> : (
        <>
          <div class="multiples broad">{charts.map((one) => <Figure key={one.group.key} title={one.title} height={CURVES_HEIGHT} draw={one.draw} data={one.data} />)}</div>
          <p class="legend">Points are labelled with the number of clients in closed loops, and with the rate of arrivals in open ones. A percentile is that of all rounds’ histograms together. It has an interval where each round has ten operations beyond it.</p>
        </>
      )}
      <Tables title="Results as tables" tables={() => groupsOf(view).map((group) => percentileTable(page, group, group.entries, `${group.title}: ${timesOf(group).words}`))} />
      <Tables title="Operations one by one" tables={() => groupsOf(view).filter((group) => group.operations.length > 0).map((group) =>
        percentileTable(page, group, group.operations, `${group.title}, by operation: ${timesOf(group).words}`))} />
    </Section>
  );
}
