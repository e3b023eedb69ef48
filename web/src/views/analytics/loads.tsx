// Data quality: how many documents were accepted, and how they read back.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Scale } from '../../charts/scale.ts';
import type { Part, Stack } from '../../charts/stack.ts';
import type { FigureData } from '../../export/csv.ts';
import type { Configuration, Structure } from '../../model.ts';
import type { Page } from '../../page.ts';
import type { Table } from '../common/table.tsx';
import { drawStacks, stacksHeight } from '../../charts/stack.ts';
import { colourOf } from '../../colours.ts';
import { formatOr, integer, list, NONE, percent } from '../../format.ts';
import { configurationName, roundTripLabel, verdictLabel } from '../../labels.ts';
import { Metric } from '../../metrics.ts';
import { usePage } from '../../page.ts';
import { cellsOf } from '../../view.ts';
import { Phase, Verdict } from '../../vocabulary.ts';
import { Figure } from '../common/figure.tsx';
import { Multiples, Section } from '../common/multiples.tsx';
import { Tables } from '../common/table.tsx';

/** The share of documents loaded is a count of them, so its bars start at zero. */
const SHARES = (): Scale =>
  ({ kind: 'linear', low: 0, high: 1, format: (share) => `${Math.round(share * 1000) / 10} %`, title: 'share of documents loaded, from zero' });

function qualityTable(page: Page): Table {
  const rows = cellsOf(page.view, 'load', [Phase.Load], null).filter((entry) => !entry.configuration.reference).map((entry) => {
    const { [Metric.DocumentsLoaded]: loaded, [Metric.DocumentsOffered]: offered, [Metric.DocumentsRejected]: rejected } = entry.cell.metrics;
    return [
      configurationName(entry.configuration), formatOr(offered, integer), formatOr(loaded, integer), formatOr(rejected, integer),
      { text: loaded === undefined || offered === undefined ? NONE : percent(loaded / offered), open: () => page.open(entry) },
      verdictLabel(entry.cell.verdict),
      entry.configuration.rejects.map((one) => `${integer(one.documents)}: ${one.reason}`).join('; ') || NONE,
    ];
  });
  return {
    title: 'Documents loaded and rejected',
    columns: [
      { title: 'configuration' }, { title: 'offered', numeric: true }, { title: 'loaded', numeric: true }, { title: 'rejected', numeric: true },
      { title: 'share', numeric: true }, { title: 'verdict' }, { title: 'reasons (the system’s words)' },
    ],
    rows,
  };
}

export function Quality(): JSX.Element {
  const page = usePage();
  const { view } = page;
  const multiples = useMemo(() => {
    const own = cellsOf(view, 'load', [Phase.Load], null).filter((entry) => !entry.configuration.reference).map((entry) => {
      const { [Metric.DocumentsLoaded]: loaded, [Metric.DocumentsOffered]: offered } = entry.cell.metrics;
      const share = loaded === undefined || offered === undefined || offered <= 0 ? null : loaded / offered;
      return {
        key: String(entry.cell.configuration), name: configurationName(entry.configuration),
        notes: entry.cell.verdict === Verdict.Exact ? [] : [verdictLabel(entry.cell.verdict)], group: '', colour: colourOf(entry.configuration.system),
        look: entry.cell.verdict === Verdict.Exact ? 'plain' as const : 'muted' as const, value: share, low: null, high: null,
        label: share === null ? verdictLabel(entry.cell.verdict) : percent(share), more: '', open: () => page.open(entry),
      };
    }).sort((a, b) => (a.value ?? 2) - (b.value ?? 2));
    return [{ key: 'loaded', title: 'Share of documents loaded', own, published: [], references: [] }];
  }, [view]);
  const refused = view.configurations.flatMap((index) => view.run.configurations[index] ?? []).filter((one) => one.rejects.length > 0);
  return (
    <Section id="quality" title="Data quality">
      <p>Share of the offered documents that a system holds, lowest first, and what it rejected. Below 99.9 %, a system is not ranked anywhere on this page.{view.run.data.malformed > 0 ? ` ${integer(view.run.data.malformed)} of the offered lines are not JSON.` : ''}</p>
      {refused.length > 0 && (
        <ul class="rejects">
          {refused.slice(0, 12).map((one) => (
            <li key={configurationName(one)}>
              <b>{configurationName(one)}</b> rejected {list(one.rejects.map((reject) => `${integer(reject.documents)} (${reject.reason})`))}
            </li>
          ))}
        </ul>
      )}
      <Multiples multiples={multiples} format={percent} axis="share" kind="bars" scale={SHARES} tables={() => [qualityTable(page)]} empty="No loads match the filters." />
    </Section>
  );
}

const SAME = 'var(--same)';
const VALUE = 'var(--value)';
const CHANGED = 'var(--changed)';

function partsOf(one: Structure): Part[] {
  const compared = Math.max(1, one.compared);
  return [
    { name: 'same bytes', share: one.equal_bytes / compared, colour: SAME },
    { name: 'same values', share: Math.max(0, one.equal_value - one.equal_bytes) / compared, colour: VALUE },
    { name: 'changed', share: Math.max(0, one.compared - one.equal_value) / compared, colour: CHANGED },
  ];
}

function changesOf(one: Structure): string {
  const changes = Object.entries(one.changes).sort((a, b) => b[1] - a[1]);
  return changes.map(([change, documents]) => `${change} (${integer(documents)})`).join(', ') || NONE;
}

/** Round-trip results, most loss first. */
const WORST = ['changed', 'unknown', 'value', 'bytes'];

export function StructureKept(): JSX.Element {
  const page = usePage();
  const { view } = page;
  const all = useMemo(() => {
    const known: { configuration: Configuration; structure: Structure; index: number }[] = [];
    for (const index of view.configurations) {
      const configuration = view.run.configurations[index];
      if (configuration !== undefined && configuration.structure !== null) known.push({ configuration, structure: configuration.structure, index });
    }
    return known.sort((a, b) => WORST.indexOf(b.structure.retains) - WORST.indexOf(a.structure.retains) || a.configuration.title.localeCompare(b.configuration.title, 'en'));
  }, [view]);
  const stacks = useMemo((): Stack[] => all.map(({ configuration, structure, index }) => {
    const entry = cellsOf(view, 'load', [Phase.Load], null).find((it) => it.cell.configuration === index);
    return {
      key: String(index), name: configurationName(configuration), label: roundTripLabel(structure.retains),
      parts: partsOf(structure), open: entry === undefined ? null : () => page.open(entry),
    };
  }), [all]);
  const draw = useMemo(() => (width: number) => drawStacks(stacks, width, 'Round trip of documents'), [stacks]);
  const data = (): FigureData => ({
    columns: ['configuration', 'round trip', 'compared', 'same bytes', 'same values', 'changed'],
    rows: all.map(({ configuration, structure: { retains, compared, equal_bytes: same, equal_value: value } }) => [
      configurationName(configuration), roundTripLabel(retains), compared, same, value - same, compared - value,
    ]),
  });
  const table = (): Table => ({
    title: 'Round trip of documents',
    columns: [
      { title: 'configuration' }, { title: 'round trip' }, { title: 'compared', numeric: true }, { title: 'same bytes', numeric: true },
      { title: 'same values', numeric: true }, { title: 'changes (documents)' },
    ],
    rows: all.map(({ configuration, structure }) => [
      configurationName(configuration), roundTripLabel(structure.retains), integer(structure.compared), integer(structure.equal_bytes),
      integer(structure.equal_value), changesOf(structure),
    ]),
  });
  return (
    <Section id="structure" title="Structure">
      <p>Documents read back after loading, compared with the originals: same bytes, same values in other bytes, or changed.</p>
      {stacks.length === 0 ? <p class="empty">Not checked.</p> : (
        <>
          <p class="legend" aria-hidden="true">
            <span class="key same" /> same bytes <span class="key value" /> same values <span class="key changed" /> changed
          </p>
          <Figure title="Round trip of documents" height={stacksHeight(stacks.length)} draw={draw} data={data} />
          <Tables title="Results as a table" tables={() => [table()]} />
        </>
      )}
    </Section>
  );
}
