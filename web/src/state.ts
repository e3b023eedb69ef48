// The reader's choice and its encoding in the URL fragment, so that a link shows the same view.
//
// Only differences from the page's initial choice are written. Systems are written as those shown or as those
// left out, whichever is shorter.

import type { Cell, PageData, Run } from './model.ts';
import { CLASSES, isQuestion, PROFILES } from './labels.ts';
import { metricsOf } from './metric.ts';
import { hasWorkload, isAsking, rankingsOf, workloadsOf } from './view.ts';
import { ANALYTICS, DataState } from './vocabulary.ts';

/** The cell that is open in the dialog. */
export interface Opened {
  run: number;
  cell: number;
}

export interface State {
  /** Workload whose tab is open. */
  workload: string;
  /** Index of the run that is shown, which has the workload. */
  run: number;
  /** Systems left out, by folder name. */
  withoutSystems: ReadonlySet<string>;
  withoutVariants: ReadonlySet<string>;
  /** Preparation classes left out. */
  withoutClasses: ReadonlySet<string>;
  /** Memory profiles left out; the empty string stands for remote servers, which have none. */
  withoutProfiles: ReadonlySet<string>;
  withoutRankings: ReadonlySet<string>;
  withoutQuestions: ReadonlySet<string>;
  /** Name of the selected metric; see `metric.ts`. */
  metric: string;
  /** Data state, `drained` or `compacted`. */
  data: string;
  /**
   * `all`, or only systems that return the same `bytes`, at least the same `value`, or `changed` documents.
   */
  structure: Structures;
  /** Snapshot of published results that is drawn into the charts; empty for none. */
  published: string;
  /** Data that scores are computed from. */
  basis: Basis;
  /** Month shown in the published-results part; empty for the latest. */
  month: string;
  /** Document count shown in that part; null for that of the run. */
  scale: number | null;
  /** Filter of that part by whether a system is stated to keep the document structure. */
  kept: Kept;
  opened: Opened | null;
  /** Place of the page that a link leads to: a part, or a part and a figure in it; empty for none. */
  at: string;
}

const STRUCTURES = ['all', 'bytes', 'value', 'changed'] as const;
export type Structures = (typeof STRUCTURES)[number];
export const BASES = ['medians', 'round 1'] as const;
export type Basis = (typeof BASES)[number];
export const KEPT = ['yes', 'no', 'all'] as const;
export type Kept = (typeof KEPT)[number];

/** Filter values that the runs offer. */
export interface Choices {
  systems: string[];
  variants: string[];
  classes: string[];
  profiles: string[];
  rankings: string[];
  questions: string[];
  states: string[];
}

function different(words: Iterable<string>): string[] {
  return [...new Set(words)];
}

/**
 * Caches a value per object, because the data of a page never change while every filter change asks again.
 */
function once<Of extends object, Found>(find: (of: Of) => Found): (of: Of) => Found {
  const known = new WeakMap<Of, Found>();
  return (of) => {
    const before = known.get(of);
    if (before !== undefined) return before;
    const found = find(of);
    known.set(of, found);
    return found;
  };
}

/** Filter values over all runs, so that a filter survives a change of run. */
export const choices = once((runs: readonly Run[]): Choices => {
  const configurations = runs.flatMap((run) => run.configurations).filter((one) => !one.reference);
  const cells = runs.flatMap((run) => run.cells).filter((cell) => isAsking(cell.workload));
  const order = (state: string): number => (state === DataState.Drained ? 0 : 1);
  return {
    systems: different(configurations.map((one) => one.system)),
    variants: different(configurations.map((one) => one.variant)),
    classes: CLASSES.filter((word) => configurations.some((one) => one.preparation === word)),
    profiles: PROFILES.map((one) => one ?? '').filter((word) => configurations.some((one) => (one.profile ?? '') === word)),
    rankings: [...rankingsOf(configurations).keys()],
    questions: different(cells.map((cell) => cell.step).filter(isQuestion)).sort((a, b) =>
      a.localeCompare(b, 'en', { numeric: true })),
    states: different(cells.flatMap((cell) => cell.state ?? [])).sort((a, b) => order(a) - order(b)),
  };
});

/** The run with the most documents, among those that have the workload if one is given. */
export function largestRun(figures: PageData, workload: string | null = null): number {
  let found: number | null = null;
  for (const [index, run] of figures.runs.entries()) {
    if (workload !== null && !hasWorkload(run, workload)) continue;
    if (found === null || run.data.documents > (figures.runs[found]?.data.documents ?? 0)) found = index;
  }
  return found ?? 0;
}

/** The workload shown of a run: `wanted` if the run has it, else its first one. */
function workloadOf(run: Run | undefined, wanted: string): string {
  const all = run === undefined ? [] : workloadsOf([run]);
  return all.includes(wanted) ? wanted : all[0] ?? ANALYTICS;
}

/** The choice of a tab: the run of before if it has the workload, else the largest one that has it. */
export function tabChoice(figures: PageData, before: number, workload: string): Pick<State, 'workload' | 'run' | 'at'> {
  const run = figures.runs[before];
  return { workload, run: run !== undefined && hasWorkload(run, workload) ? before : largestRun(figures, workload), at: '' };
}

/**
 * The page's initial choice: the run with the most documents, in the data state with the most question cells.
 */
export const initial = once((figures: PageData): State => {
  const run = largestRun(figures);
  const asked = new Map<string, number>();
  for (const cell of figures.runs[run]?.cells ?? []) {
    if (cell.state !== null && isQuestion(cell.step)) asked.set(cell.state, (asked.get(cell.state) ?? 0) + 1);
  }
  const [data] = [...asked].sort((a, b) => b[1] - a[1] || (a[0] === DataState.Drained ? -1 : 1))[0] ?? [DataState.Drained];
  const none: ReadonlySet<string> = new Set();
  return {
    workload: workloadOf(figures.runs[run], ''), run, data, metric: 'time', structure: 'all', published: '', basis: 'medians', month: '', scale: null, kept: 'yes', opened: null, at: '',
    withoutSystems: none, withoutVariants: none, withoutClasses: none, withoutProfiles: none, withoutRankings: none, withoutQuestions: none,
  };
});

const SETS = [
  ['systems', 'withoutSystems', 'systems'],
  ['variants', 'withoutVariants', 'variants'],
  ['classes', 'withoutClasses', 'classes'],
  ['profiles', 'withoutProfiles', 'profiles'],
  ['rankings', 'withoutRankings', 'rankings'],
  ['questions', 'withoutQuestions', 'questions'],
] as const;

/** Single-valued choices: name in the URL and field of the state. */
const WORDS = [
  ['metric', 'metric'], ['state', 'data'], ['structure', 'structure'], ['published', 'published'], ['basis', 'basis'],
  ['month', 'month'], ['scale', 'scale'], ['kept', 'kept'],
] as const;

/** Encodes a word of a list. Full stops separate words; a tilde stands for the empty word. */
function written(word: string): string {
  return word === '' ? '~' : encodeURIComponent(word).replaceAll('.', '%2E').replaceAll('~', '%7E');
}

/** Decodes a word of a list; null if it is malformed. */
function read(text: string): string | null {
  if (text === '~') return '';
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function listed(words: readonly string[]): string {
  return words.map(written).join('.');
}

function unlisted(text: string): string[] {
  return text === '' ? [] : text.split('.').flatMap((word) => read(word) ?? []);
}

/** The URL fragment of a state, without `#`; empty for the initial choice. */
export function toFragment(state: State, figures: PageData): string {
  const own = initial(figures);
  const all = choices(figures.runs);
  const parts: string[] = [];
  const put = (name: string, value: string): void => void parts.push(`${name}=${value}`);
  if (state.workload !== own.workload) put('tab', written(state.workload));
  if (state.run !== largestRun(figures, state.workload)) put('run', written(figures.runs[state.run]?.name ?? ''));
  for (const [name, key, choice] of SETS) {
    const without = state[key];
    if (without.size === 0) continue;
    const shown = all[choice].filter((word) => !without.has(word));
    if (shown.length <= without.size) put(name, listed(shown));
    else put(`no-${name}`, listed([...without]));
  }
  for (const [name, key] of WORDS) {
    if (state[key] !== own[key]) put(name, written(String(state[key])));
  }
  const [run, cell] = state.opened === null ? [] : [figures.runs[state.opened.run], figures.runs[state.opened.run]?.cells[state.opened.cell]];
  if (run !== undefined && cell !== undefined) put('figure', `${written(run.name)}:${cellMark(run, cell)}`);
  if (state.at !== '') put('at', written(state.at));
  return parts.join('&');
}

/** Words that a list in the URL leaves out; null if the list names nothing that exists. */
function leftOut(text: string, all: readonly string[], isOfShown: boolean): ReadonlySet<string> | null {
  const words = unlisted(text);
  const known = all.filter((one) => words.includes(one));
  // An empty list of shown words is a valid choice; a list of only unknown words is ignored.
  if (known.length === 0 && !(isOfShown && text === '')) return null;
  return new Set(isOfShown ? all.filter((one) => !words.includes(one)) : known);
}

/** The allowed value that equals `word`; undefined if there is none. */
function among<Word>(all: readonly Word[], word: string): Word | undefined {
  return all.find((one) => String(one) === word);
}

/** Parses a fragment. Parts that are unknown or malformed are ignored. */
export function fromFragment(fragment: string, figures: PageData): State {
  const state = { ...initial(figures) };
  const all = choices(figures.runs);
  let run: number | null = null;
  for (const part of fragment.replace(/^#/, '').split('&')) {
    const at = part.indexOf('=');
    if (at < 0) continue;
    const [name, text] = [part.slice(0, at), part.slice(at + 1)];
    for (const [set, key, choice] of SETS) {
      if (name === set || name === `no-${set}`) state[key] = leftOut(text, all[choice], name === set) ?? state[key];
    }
    if (name === 'figure') state.opened = openedFrom(text, figures) ?? state.opened;
    const word = read(text);
    if (word === null) continue;
    switch (name) {
      case 'tab': state.workload = among(workloadsOf(figures.runs), word) ?? state.workload; break;
      case 'run': run = runNamed(figures, word) ?? run; break;
      case 'at': state.at = isPlace(word) ? word : state.at; break;
      case 'metric': state.metric = metricsOf(figures.runs).find((one) => one.name === word)?.name ?? state.metric; break;
      case 'state': state.data = among(all.states, word) ?? state.data; break;
      case 'structure': state.structure = among(STRUCTURES, word) ?? state.structure; break;
      case 'published': state.published = among(figures.published.map((one) => one.snapshot), word) ?? state.published; break;
      case 'basis': state.basis = among(BASES, word) ?? state.basis; break;
      case 'month': state.month = among(figures.published.map((one) => one.snapshot), word) ?? state.month; break;
      case 'scale': state.scale = among(figures.published.map((one) => one.scale), word) ?? state.scale; break;
      case 'kept': state.kept = among(KEPT, word) ?? state.kept; break;
    }
  }
  // A run that is named without its tab is shown by its own workload, and a tab without a run by its largest one.
  state.run = run ?? largestRun(figures, state.workload);
  state.workload = workloadOf(figures.runs[state.run], state.workload);
  return state;
}

/** Returns `true` for names of parts and figures; other words could be no ids of elements. */
function isPlace(word: string): boolean {
  return /^[\w-]+(:[\w-]+)?$/.test(word);
}

function runNamed(figures: PageData, name: string): number | null {
  const index = figures.runs.findIndex((run) => run.name === name);
  return index < 0 ? null : index;
}

function openedFrom(text: string, figures: PageData): Opened | null {
  const at = text.lastIndexOf(':');
  const index = runNamed(figures, read(text.slice(0, at)) ?? '');
  const run = index === null ? undefined : figures.runs[index];
  if (index === null || run === undefined) return null;
  const cell = run.cells.findIndex((one) => cellMark(run, one) === text.slice(at + 1));
  return cell < 0 ? null : { run: index, cell };
}

/**
 * Short hash (FNV-1a) of a cell's dimensions, so that a link stays valid if the page is regenerated from a
 * longer run.
 */
export function cellMark(run: Run, cell: Cell): string {
  const configuration = run.configurations[cell.configuration];
  const names = [
    configuration?.system, configuration?.version, configuration?.variant, configuration?.storage, configuration?.preparation,
    configuration?.profile, configuration?.memory_bytes, cell.workload, cell.step, cell.phase, cell.state, cell.parameters,
  ];
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(JSON.stringify(names))) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, '0');
}
