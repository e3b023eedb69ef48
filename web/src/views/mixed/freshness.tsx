// How old what questions see is, beside writers: median, p95 and longest staleness of each configuration.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { MetricName } from '../../metrics.ts';
import type { MixedLoad } from '../../mixed.ts';
import type { Page } from '../../page.ts';
import type { Table, TableCell } from '../common/table.tsx';
import { placedBars } from '../../bars.ts';
import { byName, formatOr, integer } from '../../format.ts';
import { configurationName, verdictLabel } from '../../labels.ts';
import { measuredWord, metric } from '../../metric.ts';
import { Metric } from '../../metrics.ts';
import { ALL_QUESTIONS, entriesOf, loadsOf, loadSuffix } from '../../mixed.ts';
import { usePage } from '../../page.ts';
import { Phase } from '../../vocabulary.ts';
import { Multiples, Section } from '../common/multiples.tsx';
import { Term } from '../common/term.tsx';

const STALE: readonly (readonly [MetricName, string])[] = [[Metric.StaleP50Ms, 'median'], [Metric.StaleP95Ms, 'p95'], [Metric.StaleMaxMs, 'longest']];

/** Counts of answers by what they saw. */
const COUNTS: readonly (readonly [MetricName, string])[] = [
  [Metric.Exact, 'as expected'], [Metric.Bounded, 'bounded'], [Metric.Holes, 'not closed'], [Metric.Torn, 'within a batch'], [Metric.WentBack, 'went back'],
];

function milliseconds(value: number): string {
  return byName(Metric.StaleP50Ms, value);
}

function tableOf(page: Page, load: MixedLoad, suffix: string): Table {
  const entries = entriesOf(load, Phase.Both, ALL_QUESTIONS).filter(({ configuration }) => !configuration.reference);
  return {
    title: `Answers beside writers${suffix}`,
    columns: [
      { title: 'configuration', name: true }, ...STALE.map(([, word]) => ({ title: `stale, ${word}`, numeric: true })),
      ...COUNTS.map(([, title]) => ({ title, numeric: true })), { title: 'verdict' },
    ],
    severities: entries.map(({ cell }) => cell.severity),
    rows: entries.map((entry): TableCell[] => [
      configurationName(entry.configuration), ...STALE.map(([name]) => measuredWord(name, entry.cell)),
      ...COUNTS.map(([name]) => formatOr(entry.cell.metrics[name], integer)), { text: verdictLabel(entry.cell.verdict), open: () => page.open(entry) },
    ]),
  };
}

export function Freshness(): JSX.Element {
  const page = usePage();
  const { view } = page;
  const loads = useMemo(() => loadsOf(view), [view]);
  const charts = useMemo(() => loads.flatMap((load) => STALE.map(([name, word]) => ({
    key: `${load.key} ${name}`, title: `Stale, ${word}${loadSuffix(loads, load)}`, published: [], references: [],
    own: placedBars(view, entriesOf(load, Phase.Both, ALL_QUESTIONS), metric(name), page.open).map(({ bar, entry }) => ({ ...bar, name: configurationName(entry.configuration) })),
  }))).filter(({ own }) => own.length > 0), [view, loads]);
  return (
    <Section id="freshness" title="Freshness">
      <p>
        How <Term id="stale">stale</Term> what questions saw was while documents came in, over all questions beside writers. Less is better; 0 means that every question saw all that was acknowledged before it began.
        An answer that is not <Term id="closed" /> is at best <Term id="bounded" />.
      </p>
      <Multiples multiples={charts} format={milliseconds} axis="stale, less is better" kind="bars" empty="No questions beside writers match the filters."
        tables={() => loads.map((load) => tableOf(page, load, loadSuffix(loads, load)))} />
    </Section>
  );
}
