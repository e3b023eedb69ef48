// Findings of a run, one sentence each: which configuration is first, by how much, and how certain that is.
//
// Only configurations of one ranking that hold all documents are compared; reference configurations never
// are.

import type { Configuration } from './model.ts';
import type { Estimate } from './stats.ts';
import type { Entry, View } from './view.ts';
import { bytes, counted, list, seconds, threeDigits, times } from './format.ts';
import { COLD, configurationName, HOT, rankingSuffix, stepName } from './labels.ts';
import { isOfFiles, totalBytes, totalRange } from './metric.ts';
import { ADDED_S } from './score.ts';
import { differs, meanRatio, ratio } from './stats.ts';
import { cellsOf, questionsIn, rankStatus } from './view.ts';
import { DataState, MemoryProfile, Phase, PreparationClass, Verdict } from './vocabulary.ts';

/** What a finding compares. */
export type About = 'Fastest hot' | 'Fastest cold' | 'Fastest to load' | 'Smallest';

export interface Finding {
  about: About;
  ranking: string;
  /** The first configuration; null if no configuration is shown to differ from all others. */
  first: Configuration | null;
  /** If `first` is null: the configurations between which no difference is shown. */
  alike: readonly Configuration[];
  sentence: string;
  /**
   * Configurations after the second with their results, and how many are left out; empty if there are none.
   */
  runnersUp: string;
  /** The 95 % interval of the ratio as text, or why there is none. */
  confidence: string;
  /**
   * Whether the first differs from all others: shown by intervals, not shown, unknown after too few rounds,
   * counted rather than timed, or nothing to compare with.
   */
  difference: 'shown' | 'not shown' | 'once' | 'counted' | 'alone';
  /** A cell to open from the finding, or null. */
  entry: Entry | null;
}

/** Configurations named after the second one. */
const AFTER = 3;

const ONLY_ONE = { alike: [], difference: 'alone', confidence: 'Nothing to compare with.', runnersUp: '' } as const;
const NO_LEADER = { first: null, alike: [], difference: 'once', entry: null, confidence: '', runnersUp: '' } as const;

/** A configuration and its ratio to the one with the best median. */
interface Beside {
  configuration: Configuration;
  by: Estimate;
}

/**
 * The configuration with the best median leads if all others are shown to differ from it; otherwise those
 * that may be equally good are listed.
 */
function lead(best: Configuration, others: readonly Beside[], once: string): Pick<Finding, 'first' | 'alike' | 'confidence' | 'difference'> {
  const alike = others.filter(({ by }) => differs(by) !== true);
  const [nearest] = alike.length > 0 ? alike : others;
  if (nearest === undefined) return { ...ONLY_ONE, first: best };
  const sure = confidencePhrase(alike.find(({ by }) => differs(by) === null)?.by ?? nearest.by, once);
  return { first: alike.length === 0 ? best : null, alike: alike.length === 0 ? [] : [best, ...alike.map(({ configuration }) => configuration)], ...sure };
}

/** Introduces the configurations that may be equally good; empty if one of them leads. */
function nobodyLeads({ alike, difference }: Pick<Finding, 'alike' | 'difference'>): string {
  if (alike.length === 0) return '';
  return difference === 'once' ? 'Too few rounds to say which is first. ' : `No difference shown between ${list(alike.map(configurationName))}. `;
}

function runnersUp(others: readonly string[]): string {
  if (others.length === 0) return '';
  const more = others.length > AFTER ? ` and ${others.length - AFTER} more` : '';
  return `Then ${others.slice(0, AFTER).join(', ')}${more}.`;
}

/** A ratio as text: `3.10 times as long`, `12 % longer`, or `as long`. */
export function ratioPhrase(value: number, longer: string, asLong: string): string {
  const rounded = Math.round((value - 1) * 100);
  if (rounded < 1) return `as ${asLong}`;
  return value < 2 ? `${rounded} % ${longer}` : `${threeDigits(value)} times as ${asLong}`;
}

/** Certainty of a ratio: its 95 % interval as text, or `once` if there is none. */
export function confidencePhrase(one: Estimate, once: string): Pick<Finding, 'confidence' | 'difference'> {
  const shown = differs(one);
  if (shown === null || one.low === null || one.high === null) return { confidence: once, difference: 'once' };
  const range = `95 % interval of the ratio: ${threeDigits(one.low)} to ${threeDigits(one.high)}`;
  return shown
    ? { confidence: `${range}.`, difference: 'shown' }
    : { confidence: `${range}. It includes 1, so the order may be the other way round.`, difference: 'not shown' };
}

interface Place {
  configuration: number;
  /** Cell of each question, keyed by question name. */
  times: Map<string, Entry>;
  mean: number;
}

function timeOf(entry: Entry): Estimate | null {
  const { median_s: value, low_s: low, high_s: high } = entry.cell;
  return value === null ? null : { value, low, high };
}

interface Places {
  /** Questions asked of at least one configuration that is not a reference. */
  questions: string[];
  /** Configurations with a time for every question, smallest mean ratio to the best first. */
  places: Place[];
  /** Number of configurations of the ranking that were asked at least one question. */
  asked: number;
  /** Best time of each question, including configurations that lack the time of another question. */
  best: Map<string, number>;
}

function isOf(ranking: string): (entry: Entry) => boolean {
  return ({ configuration }) => !configuration.reference && configuration.ranking === ranking;
}

function placesOver(view: View, ranking: string, phases: readonly string[]): Places {
  const questions = questionsIn(view, phases);
  const found = new Map<number, Map<string, Entry>>();
  const asked = new Set<number>();
  const fastest = new Map<string, number>();
  for (const question of questions) {
    for (const entry of cellsOf(view, question, phases).filter(isOf(ranking))) {
      asked.add(entry.cell.configuration);
      if (entry.cell.median_s === null || rankStatus(view, entry).tier !== 'ranked') continue;
      const own = found.get(entry.cell.configuration) ?? new Map<string, Entry>();
      found.set(entry.cell.configuration, own.set(question, entry));
      fastest.set(question, Math.min(fastest.get(question) ?? Infinity, entry.cell.median_s));
    }
  }
  const whole = [...found].filter(([, own]) => own.size === questions.length);
  const best = questions.map((question) =>
    Math.min(...whole.map(([, own]) => own.get(question)?.cell.median_s ?? Infinity)));
  const places = whole.map(([configuration, own]) => {
    const sum = questions.reduce((before, question, index) =>
      before + Math.log((ADDED_S + (own.get(question)?.cell.median_s ?? 0)) / (ADDED_S + (best[index] ?? 0))), 0);
    return { configuration, times: own, mean: Math.exp(sum / Math.max(1, questions.length)) };
  });
  return { questions, places: places.sort((a, b) => a.mean - b.mean), asked: asked.size, best: fastest };
}

/**
 * Mean ratio of two configurations' times over all hot questions for which both are ranked; null if there is
 * none.
 */
export function hotRatio(view: View, configuration: number, other: number): Estimate | null {
  const pairs = questionsIn(view, HOT).flatMap((question) => {
    const [a, b] = [configuration, other].map((index) => {
      const entry = cellsOf(view, question, HOT).find(({ cell }) => cell.configuration === index);
      return entry !== undefined && rankStatus(view, entry).tier === 'ranked' ? timeOf(entry) : null;
    });
    return a && b ? [[a, b] as const] : [];
  });
  return meanRatio(pairs, ADDED_S);
}

/**
 * Number of questions on which no configuration of the ranking was faster, including those that lack other
 * times.
 */
function wins(first: Place, best: ReadonlyMap<string, number>): number {
  return [...first.times].filter(([question, entry]) => (entry.cell.median_s ?? Infinity) <= (best.get(question) ?? Infinity)).length;
}

function overQuestions(view: View, ranking: string, about: About, phases: readonly string[]): Finding | null {
  const { questions, places, asked, best } = placesOver(view, ranking, phases);
  const [first, second] = places;
  if (asked === 0) return null;
  const missing = asked - places.length;
  const left = missing > 0 ? ` Left out: ${counted(missing, 'configuration')} without a verified time for every question.` : '';
  const configuration = first && view.run.configurations[first.configuration];
  if (first === undefined || configuration === undefined) {
    return { ...NO_LEADER, about, ranking, sentence: 'No configuration has a verified time for every question.' };
  }
  const name = configurationName(configuration);
  const entry = [...first.times.values()][0] ?? null;
  const approximate = [...first.times].filter(([, one]) => one.cell.verdict === Verdict.Approximate).map(([step]) => stepName(step));
  const note = approximate.length > 0 ? ` Its answer to ${list(approximate)} is approximate.` : '';
  const other = second && view.run.configurations[second.configuration];
  if (second === undefined || other === undefined) {
    return { ...ONLY_ONE, about, ranking, first: configuration, entry, sentence: `${name} is the only one ranked.${note}${left}` };
  }
  const network = configuration.embedded && !other.embedded ? ' The first is embedded; the second is a server, with the network in its times.' : '';
  const besideFirst = (place: Place): Estimate => {
    const pairs = questions.flatMap((question) => {
      const [one, two] = [place.times.get(question), first.times.get(question)];
      const [a, b] = [one && timeOf(one), two && timeOf(two)];
      return a && b ? [[a, b] as const] : [];
    });
    return meanRatio(pairs, ADDED_S) ?? { value: place.mean / first.mean, low: null, high: null };
  };
  const by = besideFirst(second);
  const beside = places.slice(1).flatMap((place): Beside[] => {
    const configuration = view.run.configurations[place.configuration];
    return configuration === undefined ? [] : [{ configuration, by: besideFirst(place) }];
  });
  const leader = lead(configuration, beside, 'Too few rounds for an interval.');
  const sum = (place: Place): number => [...place.times.values()].reduce((before, { cell }) => before + (cell.median_s ?? 0), 0);
  const slow = Math.round((by.value - 1) * 100) < 1 ? 'as fast by score' : `${threeDigits(by.value)} times as slow by score`;
  const others = places.slice(2).flatMap((place) => {
    const third = view.run.configurations[place.configuration];
    return third === undefined ? [] : [`${configurationName(third)} ${times(place.mean / first.mean)}`];
  });
  return {
    about, ranking, ...leader, entry, runnersUp: `${runnersUp(others)}${left}`.trim(),
    sentence: `${nobodyLeads(leader)}${name}: fastest on ${wins(first, best)} of ${counted(questions.length, 'question')}, ${seconds(sum(first))} in total. Second: ${configurationName(other)}, ${seconds(sum(second))} in total, ${slow}.${network}${note}`,
  };
}

function load(view: View, ranking: string): Finding | null {
  const all = cellsOf(view, 'load', [Phase.Load], null).filter(isOf(ranking));
  if (all.length === 0) return null;
  const ranked = all.filter((entry) => entry.cell.median_s !== null && rankStatus(view, entry).tier === 'ranked')
    .sort((a, b) => (a.cell.median_s ?? 0) - (b.cell.median_s ?? 0));
  const [first, second] = ranked;
  const about: About = 'Fastest to load';
  const [one, other] = [first && timeOf(first), second && timeOf(second)];
  if (first === undefined || !one) return { ...NO_LEADER, about, ranking, sentence: 'No load is complete and verified.' };
  const named = { about, ranking, first: first.configuration, entry: first };
  const name = configurationName(first.configuration);
  if (second === undefined || !other) return { ...ONLY_ONE, ...named, sentence: `${name} took ${seconds(one.value)} and is the only one ranked.` };
  const by = ratio(other, one);
  const beside = ranked.slice(1).flatMap((entry): Beside[] => {
    const time = timeOf(entry);
    return time === null ? [] : [{ configuration: entry.configuration, by: ratio(time, one) }];
  });
  const leader = lead(first.configuration, beside, 'Too few loads for an interval.');
  const others = ranked.slice(2).map((entry) => `${configurationName(entry.configuration)} ${seconds(entry.cell.median_s ?? 0)}`);
  return {
    ...named, ...leader, runnersUp: runnersUp(others),
    sentence: `${nobodyLeads(leader)}${name}: ${seconds(one.value)}. Second: ${configurationName(second.configuration)}, ${seconds(other.value)}, ${ratioPhrase(by.value, 'longer', 'long')}.`,
  };
}

interface Sized {
  entry: Entry;
  total: number;
}

/** Configurations that can be ranked by size in a data state, smallest first. */
function bySize(view: View, ranking: string, state: string): Sized[] {
  return cellsOf(view, 'size', [Phase.Steady], state).filter(isOf(ranking))
    .filter((entry) => rankStatus(view, entry).tier === 'ranked')
    .flatMap((entry): Sized[] => {
      const total = totalBytes(entry.cell);
      return total === null || total <= 0 ? [] : [{ entry, total }];
    })
    .sort((a, b) => a.total - b.total);
}

/** The smallest compacted configuration; the drained one is added if it is another one. */
function smallest(view: View, ranking: string): Finding | null {
  const [compacted, drained] = [bySize(view, ranking, DataState.Compacted), bySize(view, ranking, DataState.Drained)];
  const all = compacted.length > 0 ? compacted : drained;
  const [first, second] = all;
  if (first === undefined) return null;
  const ofText = (total: number): string => (view.run.data.bytes > 0 ? `, ${threeDigits((total / view.run.data.bytes) * 100)} % of the documents as text` : '');
  const files = isOfFiles(first.entry.cell) ? ', counted as its files' : '';
  const name = configurationName(first.entry.configuration);
  const [other] = all === compacted ? drained : [];
  const same = other?.entry.configuration === first.entry.configuration;
  const before = other === undefined ? '' : same
    ? (bytes(other.total) === bytes(first.total) ? ' Drained: the same.' : ` Drained: also the smallest, ${bytes(other.total)}.`)
    : ` Drained: ${configurationName(other.entry.configuration)} is the smallest, ${bytes(other.total)}.`;
  const named = { about: 'Smallest' as const, ranking, first: first.entry.configuration, entry: first.entry };
  const state = all === compacted ? DataState.Compacted : DataState.Drained;
  const size = `${name}: ${bytes(first.total)} ${state}${ofText(first.total)}${files}.`;
  if (second === undefined) return { ...ONLY_ONE, ...named, sentence: `${size} It is the only one ranked.${before}` };
  // Sizes vary between loads: configurations with overlapping ranges are not shown to differ.
  const most = totalRange(first.entry.cell)?.high ?? first.total;
  const alike = all.slice(1).filter(({ entry, total }) => (totalRange(entry.cell)?.low ?? total) <= most).map(({ entry }) => entry.configuration);
  const leader = alike.length === 0 ? { first: named.first, alike: [], difference: 'counted' as const }
    : { first: null, alike: [named.first, ...alike], difference: 'not shown' as const };
  return {
    ...named, ...leader, confidence: countedSize(view, first, second),
    runnersUp: `${runnersUp(all.slice(2).map(({ entry, total }) => `${configurationName(entry.configuration)} ${bytes(total)}`))}${before}`.trim(),
    sentence: `${nobodyLeads(leader)}${size} Second: ${configurationName(second.entry.configuration)}, ${bytes(second.total)}, ${ratioPhrase(second.total / first.total, 'larger', 'large')}.`,
  };
}

/** The size ranges over all loads; a note if there was only one load. */
function countedSize(view: View, first: Sized, second: Sized): string {
  const range = ({ entry: { cell } }: Sized): string => {
    const { low, high } = totalRange(cell) ?? {};
    return low == null || high == null ? '' : bytes(low) === bytes(high) ? bytes(low) : `${bytes(low)} to ${bytes(high)}`;
  };
  const loads = view.loads.get(first.entry.cell.configuration)?.trials ?? 0;
  if (range(first) !== '' && range(second) !== '') return `Over ${counted(loads, 'load')}: ${range(first)}; the second ${range(second)}.`;
  // Data is compacted once but drained after every load, so only drained sizes have a range.
  const drained = [first, second].map((one) => {
    const own = cellsOf(view, 'size', [Phase.Steady], DataState.Drained).find((entry) => entry.configuration === one.entry.configuration);
    return own === undefined ? '' : range({ entry: own, total: one.total });
  });
  if (drained.includes('')) return 'Bytes are counted, not timed: no interval.';
  return `Drained, over ${counted(loads, 'load')}: ${drained[0] ?? ''}; the second ${drained[1] ?? ''}.`;
}

/** The findings of one ranking; none if the ranking is never ranked. */
export function findingsOf(view: View, ranking: string): Finding[] {
  if (view.kinds.get(ranking)?.ranked !== true) return [];
  return [
    overQuestions(view, ranking, 'Fastest hot', HOT),
    overQuestions(view, ranking, 'Fastest cold', COLD),
    load(view, ranking),
    smallest(view, ranking),
  ].filter((found) => found !== null);
}

/** The ranking shown first: that of the first preparation class with more than one configuration. */
export function leading(view: View): string | undefined {
  const size = (ranking: string): number => view.configurations.filter((index) => view.run.configurations[index]?.ranking === ranking).length;
  const ranked = view.rankings.filter((one) => view.kinds.get(one)?.ranked === true);
  return ranked.find((one) => size(one) > 1) ?? ranked[0];
}

const CONDITIONS: Record<PreparationClass, string> = {
  [PreparationClass.AsIs]: 'As-is', [PreparationClass.Prepared]: 'Prepared for these questions', [PreparationClass.Extracted]: 'With the questions’ paths extracted into columns',
  [PreparationClass.UserDefined]: 'Set up as the folder of questions says',
};

const DEEDS: readonly (readonly [About, string])[] = [
  ['Fastest hot', 'is the fastest hot'], ['Fastest cold', 'is the fastest cold'], ['Fastest to load', 'loads fastest'], ['Smallest', 'is the smallest'],
];

/** All findings of a ranking in one sentence that names its preparation class. */
export function headline(view: View, findings: readonly Finding[]): string {
  const deeds = new Map<Configuration, string[]>();
  const undecided = new Map<string, string[]>();
  const kind = view.kinds.get(findings[0]?.ranking ?? '');
  for (const [about, deed] of DEEDS) {
    const found = findings.find((one) => one.about === about);
    if (found === undefined || found.difference === 'alone') continue;
    if (found.first !== null) deeds.set(found.first, [...(deeds.get(found.first) ?? []), deed]);
    else if (found.alike.length > 0) {
      const who = found.difference === 'once' ? 'too few rounds to say which is first' : `no difference is shown between ${list(found.alike.map(({ title }) => title))}`;
      undecided.set(who, [...(undecided.get(who) ?? []), about.toLowerCase()]);
    }
  }
  const titles = [...deeds.keys()].map((one) => one.title);
  const words = [...deeds].map(([one, own]) => {
    const name = titles.filter((title) => title === one.title).length > 1 ? configurationName(one) : one.title;
    return `${name} ${list(own).replace(/is the fastest hot(,| and) is the fastest cold/, 'is the fastest hot and cold')}`;
  });
  words.push(...[...undecided].map(([who, what]) => `${who} (${list(what)})`));
  const alone = findings.find((one) => one.first !== null)?.first;
  if (words.length === 0 && alone == null) return '';
  if (words.length === 0) words.push(`only ${alone?.title ?? ''} is ranked`);
  const told = `${words.join('; ')}.`;
  if (kind === undefined) return told.replace(/^(only|too|no) /, (word) => word.charAt(0).toUpperCase() + word.slice(1));
  const condition = [CONDITIONS[kind.preparation], kind.profile === MemoryProfile.Stock ? 'with stock memory settings' : '', rankingSuffix(kind)];
  return `${condition.filter((word) => word !== '').join(', ')}, ${told}`;
}
