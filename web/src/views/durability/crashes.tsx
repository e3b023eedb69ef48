// Outcome of the crash tests by tier and kind of crash, and evidence of every crash that lost data.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Field } from '../../charts/matrix.ts';
import type { FigureData } from '../../export/csv.ts';
import type { Table } from '../common/table.tsx';
import { drawMatrix, matrixHeight } from '../../charts/matrix.ts';
import { crashLabel, crashSetsOf, kindLabel, lossSeverity, lossyCrashes, survivalOf } from '../../durability.ts';
import { Metric } from '../../metrics.ts';
import { usePage } from '../../page.ts';
import { Figure } from '../common/figure.tsx';
import { Section } from '../common/multiples.tsx';
import { TableOf } from '../common/table.tsx';

const SURVIVAL_TITLE = 'Crashes after which a system had everything that its tier promises';

/** How often each configuration kept its promise: one field per tier and kind of crash. */
export function Survival(): JSX.Element {
  const page = usePage();
  const { view } = page;
  const all = useMemo(() => crashSetsOf(view), [view]);
  const names = useMemo(() => [...new Map(all.map((crashes) => [crashes.entry.cell.configuration, crashes.name]))], [all]);
  const draw = useMemo(() => {
    const columns = [...new Set(all.map(({ tier, kind }) => `${tier}, ${kindLabel(kind)}`))];
    const fields = all.map((crashes): Field => {
      const { text, short, kept } = survivalOf(crashes);
      return {
        row: String(crashes.entry.cell.configuration), column: `${crashes.tier}, ${kindLabel(crashes.kind)}`, word: text, short,
        colour: kept === null ? 'var(--line)' : kept ? 'var(--good)' : 'var(--bad)', ...(kept === false ? { ink: 'var(--bad)' } : {}), open: () => page.open(crashes.entry),
      };
    });
    const rows = names.map(([index, name]) => ({ key: String(index), name }));
    return (width: number) => drawMatrix(fields, rows, columns, width, SURVIVAL_TITLE);
  }, [all, names]);
  const data = (): FigureData => ({
    columns: ['configuration', 'tier', 'crash', 'crashes', 'as promised', 'without loss'],
    rows: all.map(({ name, tier, kind, entry: { cell: { metrics } } }) => [
      name, tier, kindLabel(kind), metrics[Metric.Crashes] ?? null, metrics[Metric.CrashesAsPromised] ?? null, metrics[Metric.CrashesWithoutLoss] ?? null,
    ]),
  });
  return (
    <Section id="survival" title="Promises kept">
      <p>Of all crashes of a kind, those after which everything that the tier promises was there. <b>✖</b>, in red: more was lost than the tier allows, or the system did not start again.</p>
      {all.length === 0 ? <p class="empty">No crash tests match the filters.</p> : <Figure title={SURVIVAL_TITLE} height={matrixHeight(names.length)} draw={draw} data={data} wide />}
    </Section>
  );
}

export function Broken(): JSX.Element {
  const { view } = usePage();
  const table = useMemo((): Table => ({
    title: 'Crashes that lost data',
    severities: crashSetsOf(view).flatMap((crashes) => lossyCrashes(crashes).map((one) => lossSeverity(crashes, one))),
    columns: [{ title: 'configuration', name: true }, { title: 'tier' }, { title: 'crash' }, { title: 'which', name: true }, { title: 'what was found' }],
    rows: crashSetsOf(view).flatMap((crashes) => lossyCrashes(crashes).map((one) => [crashes.name, crashes.tier, kindLabel(crashes.kind), one.subject, crashLabel(one)])),
  }), [view]);
  return (
    <Section id="crashes" title="Crashes that lost data">
      <p>With the first of what was missing, each with the version that was acknowledged and what is there instead; and the last messages of systems that did not start again.</p>
      {table.rows.length === 0 ? <p class="empty">No crash lost data.</p> : <TableOf table={table} />}
    </Section>
  );
}
