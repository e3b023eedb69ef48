// From cells to bars: order, looks, words in place of figures, and what of the published results stands beside.

import type { Published } from './model.ts';
import type { Bar, Look, Reference } from './charts/bars.ts';
import type { Metric } from './metric.ts';
import type { Entry, Tier, View } from './select.ts';
import { groupsOf } from './charts/bars.ts';
import { colourOf } from './colours.ts';
import { NONE, percent } from './format.ts';
import { standing, worstVerdict } from './select.ts';
import { besideWords, cellName, rankingTitle, verdictWord } from './words.ts';

/** Bars drawn of a chart until the reader asks for all. */
export const DRAWN = 12;

/** Bars drawn of each ranking where a chart has several. */
export const DRAWN_EACH = 7;

/** Published bars drawn of a chart until the reader asks for all. */
const PUBLISHED_DRAWN = 6;

export interface Placed {
  entry: Entry;
  bar: Bar;
  tier: Tier;
  ranking: string;
}

const TIERS: readonly Tier[] = ['ranked', 'apart', 'none'];

function look(tier: Tier, approximate: boolean): Look {
  return tier === 'apart' ? 'muted' : approximate ? 'hatched' : 'plain';
}

/** The heading of a ranking in charts; empty where there is one only. */
export function groupOf(from: View, ranking: string): string {
  return from.rankings.length > 1 ? rankingTitle(ranking) : '';
}

/** The heading of published results among others. */
export function publishedGroup(from: View): string {
  return from.rankings.length > 1 ? 'Published by others' : '';
}

/** The bar of a cell. */
function placed(from: View, entry: Entry, metric: Metric, open: (entry: Entry) => void): Placed {
  const { configuration, cell } = entry;
  const how = standing(from, entry);
  const estimate = how.tier === 'none' ? null : metric.of(cell, from.run);
  const notes = [...how.notes, ...metric.notes?.(cell, configuration) ?? []];
  const { ranking } = configuration;
  if (configuration.end_of_life) notes.push('end of life');
  if (configuration.outdated !== null) notes.push(`of ${configuration.outdated}, not the newest`);
  const verdict = worstVerdict(entry);
  const word = how.tier === 'none' || (metric.name === 'time' && verdict !== 'exact') ? verdictWord(verdict) : 'not measured';
  const against = estimate === null ? null : metric.beside?.(cell) ?? null;
  return {
    entry, ranking, tier: estimate === null ? 'none' : how.tier,
    bar: {
      key: `${cell.configuration}:${entry.index}`,
      name: cellName(configuration, cell),
      notes, group: groupOf(from, ranking), colour: colourOf(configuration.system), look: look(how.tier, how.approximate),
      value: estimate?.value ?? null, low: estimate?.low ?? null, high: estimate?.high ?? null,
      label: estimate === null ? word : metric.groups?.(cell) ?? metric.format(estimate.value),
      more: against === null ? '' : besideWords(from.run, cell, against),
      open: () => open(entry),
    },
  };
}

/** Cells as bars, rankings apart, in each the best first, then what is not ranked, last what has no figure. */
export function placedBars(from: View, entries: readonly Entry[], metric: Metric, open: (entry: Entry) => void): Placed[] {
  const worth = (one: Placed): number => (one.bar.value ?? Infinity) * (metric.better === 'higher' ? -1 : 1);
  return entries
    .filter((entry) => !entry.configuration.reference)
    .map((entry) => placed(from, entry, metric, open))
    .sort((a, b) =>
      from.rankings.indexOf(a.ranking) - from.rankings.indexOf(b.ranking)
      || TIERS.indexOf(a.tier) - TIERS.indexOf(b.tier)
      || (a.bar.value === null || b.bar.value === null ? 0 : worth(a) - worth(b))
      || (a.bar.name < b.bar.name ? -1 : 1));
}

/** Reference rows, such as the yardstick, as lines. */
export function references(from: View, entries: readonly Entry[], metric: Metric): Reference[] {
  return entries.filter((entry) => entry.configuration.reference).flatMap((entry) => {
    const estimate = metric.of(entry.cell, from.run);
    if (estimate === null || estimate.value <= 0) return [];
    const { title, variant } = entry.configuration;
    return [{ name: `${title} ${variant}`, value: estimate.value, label: metric.format(estimate.value) }];
  });
}

/** Published results of the snapshot that is chosen, at exactly the scale of the run. */
export function publishedHere(from: View): Published[] {
  const { published, structure } = from.state;
  return from.figures.published.filter((one) =>
    one.snapshot === published && one.scale === from.run.data.documents
    && (structure === 'all' || one.retains_structure === (structure !== 'changed')));
}

/** A published figure as a hollow bar, with its machine and date; `?` where an error is suspected. */
export function publishedBar(one: Published, value: number | null, format: (value: number) => string, group = ''): Bar {
  const when = one.date ?? one.snapshot;
  return {
    key: `published:${one.snapshot}:${one.source}`,
    name: `${one.system}${one.tags.length > 0 ? ` ${one.tags.join(' ')}` : ''}${one.suspected.length > 0 ? ' ?' : ''}`,
    notes: [...(one.loaded < one.scale ? [`${percent(one.loaded / one.scale)} loaded`] : []), `${one.machine} ${when}`], group,
    colour: colourOf(one.system), look: 'hollow', value, low: null, high: null,
    label: value === null ? NONE : format(value), more: '', open: null,
  };
}

/** The first bars of each ranking. */
export function firstOfEach<Grouped extends Pick<Bar, 'group'>>(bars: readonly Grouped[]): Grouped[] {
  const groups = groupsOf(bars);
  return groups.length === 0 ? bars.slice(0, DRAWN) : groups.flatMap((group) => bars.filter((bar) => bar.group === group).slice(0, DRAWN_EACH));
}

/** What is drawn of a chart: the first of its bars, then published ones, the best first. */
export function drawnBars(own: readonly Bar[], published: readonly Bar[], all: boolean): Bar[] {
  const sorted = [...published].sort((a, b) => (a.value ?? Infinity) - (b.value ?? Infinity));
  return all ? [...own, ...sorted] : [...firstOfEach(own), ...sorted.slice(0, PUBLISHED_DRAWN)];
}
