// Converts cells to rows of charts: order, look, replacement words for missing values, and published results.

import type { PublishedResult } from './model.ts';
import type { Bar, Look } from './charts/rows.ts';
import type { Reference } from './charts/row-chart.ts';
import type { ShownMetric } from './metric.ts';
import type { Entry, RankTier, View } from './view.ts';
import { groupsOf } from './charts/rows.ts';
import { colourOf } from './colours.ts';
import { NONE, percent } from './format.ts';
import { cellName, rankingTitle, ratioLabel, verdictLabel } from './labels.ts';
import { rankStatus, worstVerdict } from './view.ts';
import { Verdict } from './vocabulary.ts';

/** Bars drawn in a chart without rankings before the reader asks for all of them. */
export const DRAWN = 12;

/** Bars drawn per ranking in a chart with several rankings, before the reader asks for all of them. */
export const DRAWN_EACH = 7;

/** Published bars drawn in a chart before the reader asks for all of them. */
const PUBLISHED_DRAWN = 6;

export interface Placed {
  entry: Entry;
  bar: Bar;
  tier: RankTier;
  ranking: string;
}

const TIERS: readonly RankTier[] = ['ranked', 'apart', 'none'];

function look(tier: RankTier, approximate: boolean): Look {
  return tier === 'apart' ? 'muted' : approximate ? 'hatched' : 'plain';
}

/** Heading of a ranking in charts; empty if the page shows only one ranking. */
export function groupOf(view: View, ranking: string): string {
  return view.rankings.length > 1 ? rankingTitle(ranking) : '';
}

/** Heading of the published results in charts; empty if the page shows only one ranking. */
export function publishedGroup(view: View): string {
  return view.rankings.length > 1 ? 'Published by others' : '';
}

/** Builds the bar of one cell, with its tier and ranking. */
function placed(view: View, entry: Entry, metric: ShownMetric, open: (entry: Entry) => void): Placed {
  const { configuration, cell } = entry;
  const how = rankStatus(view, entry);
  const estimate = how.tier === 'none' ? null : metric.of(cell, view.run);
  const notes = [...how.notes, ...metric.notes?.(cell, configuration) ?? []];
  const { ranking } = configuration;
  if (configuration.end_of_life) notes.push('end of life');
  if (configuration.outdated !== null) notes.push(`of ${configuration.outdated}, not the newest`);
  const verdict = worstVerdict(entry);
  const word = how.tier === 'none' || (metric.name === 'time' && verdict !== Verdict.Exact) ? verdictLabel(verdict) : 'not measured';
  const against = estimate === null ? null : metric.beside?.(cell) ?? null;
  return {
    entry, ranking, tier: estimate === null ? 'none' : how.tier,
    bar: {
      key: `${cell.configuration}:${entry.index}`,
      name: cellName(configuration, cell),
      notes, group: groupOf(view, ranking), colour: colourOf(configuration.system), look: look(how.tier, how.approximate),
      value: estimate?.value ?? null, low: estimate?.low ?? null, high: estimate?.high ?? null,
      label: estimate === null ? word : metric.groups?.(cell) ?? metric.format(estimate.value),
      more: against === null ? '' : ratioLabel(view.run, cell, against),
      open: () => open(entry),
    },
  };
}

/**
 * Builds the bars of cells, grouped by ranking. Within a ranking: ranked cells first, best first; then cells
 * that are not ranked; last cells without a value.
 */
export function placedBars(view: View, entries: readonly Entry[], metric: ShownMetric, open: (entry: Entry) => void): Placed[] {
  const worth = (one: Placed): number => (one.bar.value ?? Infinity) * (metric.better === 'higher' ? -1 : 1);
  return entries
    .filter((entry) => !entry.configuration.reference)
    .map((entry) => placed(view, entry, metric, open))
    .sort((a, b) =>
      view.rankings.indexOf(a.ranking) - view.rankings.indexOf(b.ranking)
      || TIERS.indexOf(a.tier) - TIERS.indexOf(b.tier)
      || (a.bar.value === null || b.bar.value === null ? 0 : worth(a) - worth(b))
      || (a.bar.name < b.bar.name ? -1 : 1));
}

/** Reference lines for reference configurations, such as the yardstick. */
export function references(view: View, entries: readonly Entry[], metric: ShownMetric): Reference[] {
  return entries.filter((entry) => entry.configuration.reference).flatMap((entry) => {
    const estimate = metric.of(entry.cell, view.run);
    if (estimate === null || estimate.value <= 0) return [];
    const { title, variant } = entry.configuration;
    return [{ name: `${title} ${variant}`, value: estimate.value, label: metric.format(estimate.value) }];
  });
}

/**
 * Published results of the chosen snapshot, restricted to the run's document count and the structure filter.
 */
export function publishedHere(view: View): PublishedResult[] {
  const { published, structure } = view.state;
  return view.figures.published.filter((one) =>
    one.snapshot === published && one.scale === view.run.data.documents
    && (structure === 'all' || one.retains_structure === (structure !== 'changed')));
}

/**
 * Builds the hollow bar of a published result, with its machine and date; the name ends in `?` if an error is
 * suspected.
 */
export function publishedBar(one: PublishedResult, value: number | null, format: (value: number) => string, group = ''): Bar {
  const when = one.date ?? one.snapshot;
  return {
    key: `published:${one.snapshot}:${one.source}`,
    name: `${one.system}${one.tags.length > 0 ? ` ${one.tags.join(' ')}` : ''}${one.suspected_errors.length > 0 ? ' ?' : ''}`,
    notes: [...(one.loaded_documents < one.scale ? [`${percent(one.loaded_documents / one.scale)} loaded`] : []), `${one.machine} ${when}`], group,
    colour: colourOf(one.system), look: 'hollow', value, low: null, high: null,
    label: value === null ? NONE : format(value), more: '', open: null,
  };
}

/** The first `DRAWN_EACH` bars of each ranking, or the first `DRAWN` bars if there is only one ranking. */
export function firstOfEach<Grouped extends Pick<Bar, 'group'>>(bars: readonly Grouped[]): Grouped[] {
  const groups = groupsOf(bars);
  return groups.length === 0 ? bars.slice(0, DRAWN) : groups.flatMap((group) => bars.filter((bar) => bar.group === group).slice(0, DRAWN_EACH));
}

/**
 * Bars to draw: those of the run first, then the published ones, best first. Both are limited unless `all` is
 * set.
 */
export function drawnBars(own: readonly Bar[], published: readonly Bar[], all: boolean): Bar[] {
  const sorted = [...published].sort((a, b) => (a.value ?? Infinity) - (b.value ?? Infinity));
  return all ? [...own, ...sorted] : [...firstOfEach(own), ...sorted.slice(0, PUBLISHED_DRAWN)];
}
