// What a run shows, each in one sentence: which was first, by how much, and how sure that is.
//
// Only configurations of one ranking that hold all documents are compared; the reference rows never are.

import type { Configuration } from './model.ts';
import type { Entry, View } from './select.ts';
import type { Estimate } from './stats.ts';
import { ADDED_S } from './score.ts';
import { cellsOf, questionsIn, standing } from './select.ts';
import { configurationName, stepName } from './words.ts';
import { bytes, counted, list, seconds, three, times } from './format.ts';
import { differs, meanRatio, ratio } from './stats.ts';
import { isOfFiles, totalBytes } from './metric.ts';

export interface Finding {
  /** What is compared. */
  about: string;
  ranking: string;
  /** Who is first; null when nobody can be named. */
  first: Configuration | null;
  sentence: string;
  /** Who comes after the second, with their figures; empty where there is nobody. */
  after: string;
  /** How sure: the interval in words. */
  sure: string;
  /** `shown`, `not shown` or `once`: whether a difference to the second is shown. */
  difference: 'shown' | 'not shown' | 'once' | 'alone';
  /** A figure to open. */
  entry: Entry | null;
}

/** How many are named after the second. */
const AFTER = 3;

function afterwards(others: readonly string[]): string {
  if (others.length === 0) return '';
  const more = others.length > AFTER ? ` and ${others.length - AFTER} more` : '';
  return `Then ${others.slice(0, AFTER).join(', ')}${more}.`;
}

/** `3.10 times as long as`, `12 % longer than`, or `as long as`. */
export function byHowMuch(value: number, longer: string, asLong: string): string {
  const rounded = Math.round((value - 1) * 100);
  if (rounded < 1) return `as ${asLong} as`;
  return value < 2 ? `${rounded} % ${longer} than` : `${three(value)} times as ${asLong} as`;
}

/** How sure a ratio is, in words. */
export function howSure(one: Estimate, once: string): Pick<Finding, 'sure' | 'difference'> {
  const shown = differs(one);
  if (shown === null || one.low === null || one.high === null) return { sure: once, difference: 'once' };
  const range = `The 95 % interval of that ratio is ${three(one.low)} to ${three(one.high)}`;
  return shown
    ? { sure: `${range}, which excludes 1.`, difference: 'shown' }
    : { sure: `${range}. It holds 1, so the second may as well be the first.`, difference: 'not shown' };
}

interface Place {
  configuration: number;
  /** Question and time. */
  times: Map<string, Entry>;
  mean: number;
}

function timeOf(entry: Entry): Estimate | null {
  const { median_s: value, low_s: low, high_s: high } = entry.cell;
  return value === null ? null : { value, low, high };
}

interface Places {
  /** Questions that were asked of somebody of the ranking or of another one. */
  questions: string[];
  /** Configurations with a time for every question, the smallest mean ratio to the best first. */
  places: Place[];
  /** Configurations that were asked. */
  asked: number;
  /** The best time of each question, also of those who lack another one. */
  best: Map<string, number>;
}

function placesOver(from: View, ranking: string, phases: readonly string[]): Places {
  const questions = questionsIn(from, phases);
  const times = new Map<number, Map<string, Entry>>();
  const asked = new Set<number>();
  const fastest = new Map<string, number>();
  for (const question of questions) {
    for (const entry of cellsOf(from, question, phases)) {
      if (entry.configuration.reference || entry.configuration.ranks_with !== ranking) continue;
      asked.add(entry.cell.configuration);
      if (entry.cell.median_s === null || standing(from, entry).tier !== 'ranked') continue;
      const own = times.get(entry.cell.configuration) ?? new Map<string, Entry>();
      times.set(entry.cell.configuration, own.set(question, entry));
      fastest.set(question, Math.min(fastest.get(question) ?? Infinity, entry.cell.median_s));
    }
  }
  const whole = [...times].filter(([, own]) => own.size === questions.length);
  const best = questions.map((question) =>
    Math.min(...whole.map(([, own]) => own.get(question)?.cell.median_s ?? Infinity)));
  const places = whole.map(([configuration, own]) => {
    const sum = questions.reduce((before, question, index) =>
      before + Math.log((ADDED_S + (own.get(question)?.cell.median_s ?? 0)) / (ADDED_S + (best[index] ?? 0))), 0);
    return { configuration, times: own, mean: Math.exp(sum / Math.max(1, questions.length)) };
  });
  return { questions, places: places.sort((a, b) => a.mean - b.mean), asked: asked.size, best: fastest };
}

/** Questions to which nobody of the ranking was faster, whether or not it could answer all the others. */
function wins(first: Place, best: ReadonlyMap<string, number>): number {
  return [...first.times].filter(([question, entry]) => (entry.cell.median_s ?? Infinity) <= (best.get(question) ?? Infinity)).length;
}

function overQuestions(from: View, ranking: string, about: string, phases: readonly string[]): Finding | null {
  const { questions, places, asked, best } = placesOver(from, ranking, phases);
  const [first, second] = places;
  if (asked === 0) return null;
  const missing = asked - places.length;
  const left = missing > 0
    ? ` ${counted(missing, 'configuration')} without a verified time for every question ${missing === 1 ? 'is' : 'are'} left out.` : '';
  const configuration = first && from.run.configurations[first.configuration];
  if (first === undefined || configuration === undefined) {
    return {
      about, ranking, first: null, difference: 'once', entry: null, sure: '', after: '',
      sentence: `Nobody can be named: no configuration has a verified time for every question.${left}`,
    };
  }
  const name = configurationName(configuration);
  const approximate = [...first.times].filter(([, entry]) => entry.cell.verdict === 'approximate').map(([step]) => stepName(step));
  const told = approximate.length > 0 ? ` Its answer to ${list(approximate)} is approximate.` : '';
  const won = `the fastest on ${wins(first, best)} of ${counted(questions.length, 'question')}`;
  const other = second && from.run.configurations[second.configuration];
  if (second === undefined || other === undefined) {
    return {
      about, ranking, first: configuration, difference: 'alone', entry: [...first.times.values()][0] ?? null,
      sentence: `${name}, with nobody beside it.${told}${left}`, sure: 'Nothing to compare with.', after: '',
    };
  }
  const network = configuration.embedded && !other.embedded
    ? ' The first is embedded and the second a server: no network is in the times of the first.' : '';
  const pairs = questions.flatMap((question) => {
    const [one, two] = [second.times.get(question), first.times.get(question)];
    const [a, b] = [one && timeOf(one), two && timeOf(two)];
    return a && b ? [[a, b] as const] : [];
  });
  const by = meanRatio(pairs, ADDED_S) ?? { value: second.mean / first.mean, low: null, high: null };
  const sum = (place: Place): number => [...place.times.values()].reduce((before, { cell }) => before + (cell.median_s ?? 0), 0);
  const slow = Math.round((by.value - 1) * 100) < 1 ? 'as fast' : `${three(by.value)} times as slow`;
  const others = places.slice(2).flatMap((place) => {
    const third = from.run.configurations[place.configuration];
    return third === undefined ? [] : [`${configurationName(third)} ${times(place.mean / first.mean)}`];
  });
  return {
    about, ranking, first: configuration, entry: [...first.times.values()][0] ?? null, after: afterwards(others),
    sentence: `${name}: ${won}, ${seconds(sum(first))} for all of them. ${configurationName(other)}, the second: ${seconds(sum(second))}. By the score, which weighs all questions alike and adds 10 ms to each time so that tiny differences hardly count, it is ${slow}.${network}${told}${left}`,
    ...howSure(by, 'How sure is unknown: one round gives no interval.'),
  };
}

function load(from: View, ranking: string): Finding | null {
  const all = cellsOf(from, 'load', ['load'], null).filter((entry) =>
    !entry.configuration.reference && entry.configuration.ranks_with === ranking);
  if (all.length === 0) return null;
  const ranked = all.filter((entry) => entry.cell.median_s !== null && standing(from, entry).tier === 'ranked')
    .sort((a, b) => (a.cell.median_s ?? 0) - (b.cell.median_s ?? 0));
  const [first, second] = ranked;
  const about = 'Fastest to load';
  const [one, other] = [first && timeOf(first), second && timeOf(second)];
  if (first === undefined || !one) {
    return { about, ranking, first: null, difference: 'once', entry: null, sure: '', after: '', sentence: 'Nobody can be named: no load is complete and verified.' };
  }
  const name = `${configurationName(first.configuration)}: ${seconds(one.value)}`;
  if (second === undefined || !other) {
    return { about, ranking, first: first.configuration, difference: 'alone', entry: first, after: '', sentence: `${name}, with nobody beside it.`, sure: 'Nothing to compare with.' };
  }
  const by = ratio(other, one);
  const others = ranked.slice(2).map((entry) => `${configurationName(entry.configuration)} ${seconds(entry.cell.median_s ?? 0)}`);
  return {
    about, ranking, first: first.configuration, entry: first, after: afterwards(others),
    sentence: `${name}. ${configurationName(second.configuration)}, the second, took ${byHowMuch(by.value, 'longer', 'long')} it.`,
    ...howSure(by, 'How sure is unknown: each was loaded once, whatever the rounds.'),
  };
}

/** Who takes the least space in a state of the data. */
function smallest(from: View, ranking: string, state: string): Finding | null {
  const all = cellsOf(from, 'size', ['steady'], state)
    .filter((entry) => !entry.configuration.reference && entry.configuration.ranks_with === ranking)
    .filter((entry) => standing(from, entry).tier === 'ranked')
    .flatMap((entry) => {
      const total = totalBytes(entry.cell);
      return total === null || total <= 0 ? [] : [{ entry, total }];
    })
    .sort((a, b) => a.total - b.total);
  const [first, second] = all;
  if (first === undefined) return null;
  const raw = from.run.data.bytes > 0 ? `, ${three((first.total / from.run.data.bytes) * 100)} % of the documents as text` : '';
  const files = isOfFiles(first.entry.cell) ? ', counted as its files' : '';
  const name = `${configurationName(first.entry.configuration)}: ${bytes(first.total)}${raw}${files}`;
  const about = `Smallest (${state})`;
  if (second === undefined) {
    return { about, ranking, first: first.entry.configuration, difference: 'alone', entry: first.entry, after: '', sentence: `${name}, with nobody beside it.`, sure: 'Nothing to compare with.' };
  }
  return {
    about, ranking, first: first.entry.configuration, entry: first.entry, difference: 'once',
    after: afterwards(all.slice(2).map(({ entry, total }) => `${configurationName(entry.configuration)} ${bytes(total)}`)),
    sentence: `${name}. ${configurationName(second.entry.configuration)}, the second, is ${byHowMuch(second.total / first.total, 'larger', 'large')} it.`,
    sure: 'A size is counted, not timed: it has no interval.',
  };
}

/** The findings of one ranking. */
export function findingsOf(from: View, ranking: string): Finding[] {
  const states = from.state.data === 'compacted' ? ['compacted', 'drained'] : ['drained', 'compacted'];
  const sizes = states.map((state) => smallest(from, ranking, state));
  const [one, other] = sizes;
  // Two cards with the same words would make a reader look for a difference.
  const alike = one && other && one.sentence === other.sentence && one.after === other.after;
  return [
    overQuestions(from, ranking, 'Fastest hot', ['hot']),
    overQuestions(from, ranking, 'Fastest cold', ['cold', 'cold-unverified']),
    load(from, ranking),
    ...(alike ? [{ ...one, about: 'Smallest' }] : sizes),
  ].filter((found) => found !== null && found !== undefined);
}

const DEEDS: readonly (readonly [string, string])[] = [
  ['Fastest hot', 'answered fastest'], ['Fastest to load', 'loaded fastest'], ['Smallest', 'takes the least space'], ['Smallest (drained)', 'takes the least space'],
];

/** All findings of a ranking in one sentence: who was first at what. */
export function headline(findings: readonly Finding[]): string {
  const deeds = new Map<string, string[]>();
  for (const [about, deed] of DEEDS) {
    const found = findings.find((one) => one.about === about);
    if (found?.first == null) continue;
    const told = found.difference === 'not shown' ? `${deed} (no difference to the second shown)` : deed;
    deeds.set(found.first.title, [...(deeds.get(found.first.title) ?? []), told]);
  }
  const words = [...deeds].map(([title, those]) => `${title} ${list(those)}`);
  return words.length === 0 ? '' : `${words.join('; ')}.`;
}
