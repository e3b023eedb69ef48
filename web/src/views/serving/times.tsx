// Times by throughput: response times of open loops, service times of closed loops, labelled accordingly.

import { useMemo, useState } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Page } from '../../page.ts';
import type { ConditionGroup, Percentile } from '../../serving.ts';
import type { Table, TableCell } from '../common/table.tsx';
import { CURVES_HEIGHT, drawCurves } from '../../charts/curves.ts';
import { ChartFrame } from '../../charts/frame.tsx';
import { count, formatOr, integer, microseconds, NONE, withInterval } from '../../format.ts';
import { configurationName, dimensionsOf, verdictLabel } from '../../labels.ts';
import { Metric } from '../../metrics.ts';
import { usePage } from '../../page.ts';
import { clientsOf, groupsOf, groupsWithTimes, overThroughput, timeMetric, timesOf } from '../../serving.ts';
import { rankStatus } from '../../view.ts';
import { Section } from '../common/multiples.tsx';
import { Tables } from '../common/table.tsx';
import { drawn } from './throughput.tsx';

const PERCENTILES: readonly (readonly [Percentile, string])[] = [['p50', 'median'], ['p90', 'p90'], ['p99', 'p99'], ['p999', 'p99.9']];

function rate(entry: ConditionGroup['entries'][number]): string {
  const { clients: _, ...rest } = entry.cell.parameters;
  const words = dimensionsOf({ ...(rest.rate_per_s === undefined ? {} : { rate_per_s: rest.rate_per_s }), ...(rest.rate_share === undefined ? {} : { rate_share: rest.rate_share }) });
  return words === '' ? NONE : words;
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
    const shown = drawn(overThroughput(view, group, percentile), (point) => `${count(point.x)} operations/s: ${microseconds(point.y)}`);
    const x = { title: 'operations per second, log scale', log: true, format: count };
    const y = { title: words, log: true, format: microseconds };
    const title = `${group.title}: ${words}, ${word}`;
    return { group, title, has: shown.length > 0, draw: (width: number) => drawCurves(shown, x, y, width, `${title}, over operations per second, a curve for each configuration`) };
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
          <div class="multiples broad">{charts.map((one) => <ChartFrame key={one.group.key} title={one.title} height={CURVES_HEIGHT} draw={one.draw} />)}</div>
          <p class="legend">A percentile is that of all rounds’ histograms together. It has an interval where each round has ten operations beyond it.</p>
        </>
      )}
      <Tables title="Results as tables" tables={() => groupsOf(view).map((group) => percentileTable(page, group, group.entries, `${group.title}: ${timesOf(group).words}`))} />
      <Tables title="Operations one by one" tables={() => groupsOf(view).filter((group) => group.operations.length > 0).map((group) =>
        percentileTable(page, group, group.operations, `${group.title}, by operation: ${timesOf(group).words}`))} />
    </Section>
  );
}
