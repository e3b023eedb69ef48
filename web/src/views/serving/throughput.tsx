// Throughput by number of clients, one chart per mix.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Page } from '../../page.ts';
import type { ConditionGroup, Curve, CurvePoint } from '../../serving.ts';
import type { Table, TableCell } from '../common/table.tsx';
import { groupOf } from '../../bars.ts';
import { CURVES_HEIGHT, drawCurves } from '../../charts/curves.ts';
import type { DrawnCurve } from '../../charts/curves.ts';
import { colourOf } from '../../colours.ts';
import { curvesData } from '../../export/curves.ts';
import { count, interval, NONE } from '../../format.ts';
import { configurationName, verdictLabel } from '../../labels.ts';
import { Metric } from '../../metrics.ts';
import { usePage } from '../../page.ts';
import { clientsOf, groupsOf, isDriverBound, metricOf, overClients } from '../../serving.ts';
import { rankStatus, worstSeverity } from '../../view.ts';
import { Figure } from '../common/figure.tsx';
import { Section } from '../common/multiples.tsx';
import { Tables } from '../common/table.tsx';

/** Converts curves to drawable ones with colours, tooltips, and labels of points if wanted. */
export function drawn(curves: readonly Curve[], words: (point: CurvePoint) => string, label?: (point: CurvePoint) => string): DrawnCurve[] {
  return curves.map((curve) => ({
    name: curve.name, colour: colourOf(curve.configuration.system),
    points: curve.points.map((point) => ({ ...point, title: `${curve.name}, ${words(point)}`, ...(label === undefined ? {} : { label: label(point) }) })),
  }));
}

/** Distinct numbers of clients of a group, ascending. */
export function clientsIn(group: ConditionGroup): number[] {
  return [...new Set(group.entries.map((entry) => clientsOf(entry.cell)))].sort((a, b) => a - b);
}

function tableOf(page: Page, group: ConditionGroup): Table {
  const { view } = page;
  const numbers = clientsIn(group);
  const rows = new Map<number, typeof group.entries>();
  for (const entry of group.entries) rows.set(entry.cell.configuration, [...rows.get(entry.cell.configuration) ?? [], entry]);
  const ordered = [...rows.values()].sort(([a], [b]) =>
    view.rankings.indexOf(a?.configuration.ranking ?? '') - view.rankings.indexOf(b?.configuration.ranking ?? ''));
  const columns = numbers.flatMap((number) => {
    const clients = `${number} ${number === 1 ? 'client' : 'clients'}`;
    return [{ title: clients, numeric: true }, { title: `95 % interval, ${clients}`, numeric: true }];
  });
  return {
    title: `Operations per second: ${group.title}`,
    severities: ordered.map((entries) => worstSeverity(entries)),
    columns: [{ title: 'configuration', name: true }, ...columns, { title: 'remarks' }],
    rows: ordered.map((entries): TableCell[] => {
      const [first] = entries;
      const cells = numbers.flatMap((number): TableCell[] => {
        const entry = entries.find((one) => clientsOf(one.cell) === number);
        if (entry === undefined) return [NONE, NONE];
        const value = rankStatus(view, entry).tier === 'none' ? null : metricOf(entry.cell, Metric.ThroughputOpsPerS);
        return [
          { text: value === null ? verdictLabel(entry.cell.verdict) : count(value.value), open: () => page.open(entry) },
          value === null ? NONE : interval(value.low, value.high, count, value.value),
        ];
      });
      const notes = [...new Set(entries.flatMap((entry) => [...rankStatus(view, entry).notes, ...(isDriverBound(entry.cell) ? ['driver-bound'] : [])]))];
      return [first === undefined ? NONE : configurationName(first.configuration), ...cells, notes.join(', ') || NONE];
    }),
    groups: view.rankings.length < 2 ? [] : ordered.map(([first]) => groupOf(view, first?.configuration.ranking ?? '')),
  };
}

export function Throughput(): JSX.Element {
  const page = usePage();
  const { view } = page;
  const charts = useMemo(() => groupsOf(view).filter((group) => !group.open).map((group) => {
    const curves = overClients(view, group);
    const shown = drawn(curves, (point) => `${point.x} clients: ${count(point.y)} operations/s`);
    const x = { title: 'clients', log: true, format: String, ticks: clientsIn(group) };
    const y = { title: 'operations per second, more is better', log: true, format: count };
    return {
      group, has: shown.length > 0, data: () => curvesData(shown, 'clients', 'operations per second'),
      draw: (width: number) => drawCurves(shown, x, y, width, `${group.title}: operations per second over clients, a curve for each configuration`),
    };
  }), [view]);
  const there = charts.filter((one) => one.has);
  return (
    <Section id="throughput" title="Throughput over clients">
      <p>Operations that ended well, per second, in a closed loop: each client sends its next operation when the last one has ended. More is better. Vertical lines are 95 % intervals over rounds; hollow points are not ranked. Both scales are logarithmic.</p>
      {there.length === 0 ? <p class="empty">No closed-loop results match the filters.</p> : (
        <>
          <div class="multiples broad">
            {there.map(({ group, draw, data }) => (
              <Figure key={group.key} title={group.title} height={CURVES_HEIGHT} draw={draw} data={data} eager={group === there[0]?.group} />
            ))}
          </div>
          <Tables title="Results as tables" tables={() => charts.map(({ group }) => tableOf(page, group))} />
        </>
      )}
    </Section>
  );
}
