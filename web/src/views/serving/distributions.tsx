// Time distributions on a percentile axis on which each further nine has equal width.

import { useMemo, useState } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Table } from '../common/table.tsx';
import type { ConditionGroup } from '../../serving.ts';
import type { Entry } from '../../view.ts';
import { CURVES_HEIGHT, drawCurves } from '../../charts/curves.ts';
import { colourOf } from '../../colours.ts';
import { curvesData } from '../../export/curves.ts';
import { microseconds, NONE } from '../../format.ts';
import { configurationName, dimensionsOf } from '../../labels.ts';
import { usePage } from '../../page.ts';
import { clientsOf, distributionOf, groupsOf, percentileName, timesOf } from '../../serving.ts';
import { rankStatus } from '../../view.ts';
import { Figure } from '../common/figure.tsx';
import { Section } from '../common/multiples.tsx';
import { Tables } from '../common/table.tsx';

/** Shares that the axis labels. */
const NAMED = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];

/** Name of a curve; in open loops with the rate, which distinguishes cells of one configuration. */
function nameOf(group: ConditionGroup, { configuration, cell }: Entry): string {
  const { rate_per_s: rate, rate_share: share } = cell.parameters;
  const words = dimensionsOf({ ...(rate === undefined ? {} : { rate_per_s: rate }), ...(share === undefined ? {} : { rate_share: share }) });
  return group.open && words !== '' ? `${configurationName(configuration)}, ${words}` : configurationName(configuration);
}

function tableOf(group: ConditionGroup, entries: readonly Entry[], title: string): Table {
  const { name } = timesOf(group);
  const shares = [...new Set(entries.flatMap(({ cell }) => (cell.distributions?.[name] ?? []).map(([share]) => share)))].sort((a, b) => a - b);
  return {
    title,
    columns: [{ title: 'configuration', name: true }, ...shares.map((share) => ({ title: share === 1 ? 'longest' : percentileName(share), numeric: true }))],
    rows: entries.map((entry) => [nameOf(group, entry), ...shares.map((share) => {
      const found = entry.cell.distributions?.[name]?.find(([one]) => one === share);
      return found === undefined ? NONE : microseconds(found[1]);
    })]),
  };
}

export function Distributions(): JSX.Element {
  const { view } = usePage();
  const groups = useMemo(() => groupsOf(view), [view]);
  const numbers = useMemo(() => [...new Set(groups.flatMap((group) => group.entries.map((entry) => clientsOf(entry.cell))))].sort((a, b) => a - b), [groups]);
  const [chosen, choose] = useState<number | null>(null);
  const clients = chosen !== null && numbers.includes(chosen) ? chosen : numbers[numbers.length - 1] ?? 0;
  const charts = useMemo(() => groups.map((group) => {
    const { name, words } = timesOf(group);
    const entries = group.entries.filter((entry) => clientsOf(entry.cell) === clients && rankStatus(view, entry).tier !== 'none' && distributionOf(entry.cell, name).length > 0);
    const curves = entries.map((entry) => ({
      name: nameOf(group, entry), colour: colourOf(entry.configuration.system),
      points: distributionOf(entry.cell, name).map((point) => ({
        x: point.at, y: point.us, low: null, high: null, ranked: rankStatus(view, entry).tier === 'ranked',
        title: `${nameOf(group, entry)}, ${percentileName(point.share)}: ${microseconds(point.us)}`,
      })),
    }));
    const title = `${group.title}, ${clients} ${clients === 1 ? 'client' : 'clients'}: ${words}`;
    const ticks = NAMED.map((share) => -Math.log10(1 - share));
    const most = Math.max(0, ...curves.flatMap((curve) => curve.points.map((point) => point.x)));
    const x = { title: 'percentile', log: false, ticks: ticks.filter((at) => at <= most + 1e-9), format: (at: number) => percentileName(1 - 10 ** -at) };
    const y = { title: words, log: true, format: microseconds };
    return { group, entries, title, has: curves.length > 0, data: () => curvesData(curves, 'nines', 'microseconds'), draw: (width: number) => drawCurves(curves, x, y, width, `${title}, by percentile, a curve for each configuration`) };
  }).filter((one) => one.has), [view, groups, clients]);
  return (
    <Section id="distributions" title="Distribution of times">
      <p>The time that so large a share of all operations does not exceed, over all rounds together. Each nine of the axis is as wide as the one before. A curve ends where no operation is beyond.</p>
      {numbers.length > 1 && (
        <p><label class="select">Clients
          <select name="clients" value={String(clients)} onChange={(event) => choose(Number(event.currentTarget.value))}>
            {numbers.map((one) => <option key={one} value={String(one)}>{one}</option>)}
          </select>
        </label></p>
      )}
      {charts.length === 0 ? <p class="empty">No histograms match the filters.</p> : (
        <>
          <div class="multiples broad">{charts.map((one) => <Figure key={one.group.key} title={one.title} height={CURVES_HEIGHT} draw={one.draw} data={one.data} />)}</div>
          <Tables title="Results as tables" tables={() => charts.map((one) => tableOf(one.group, one.entries, one.title))} />
        </>
      )}
    </Section>
  );
}
