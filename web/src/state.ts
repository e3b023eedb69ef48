// What the reader has chosen, and how it stands in the address, so that a link shows the same.
//
// Only what differs from the page's own choice is written. Systems are written as those shown or as those left out,
// whichever is shorter.

import type { Figures, Run } from './model.ts';
import { isQuestion } from './words.ts';

/** A cell that is opened. */
export interface Opened {
  run: number;
  cell: number;
}

export interface State {
  /** Index of the run that is shown. */
  run: number;
  /** Systems left out, by folder name. */
  withoutSystems: ReadonlySet<string>;
  withoutVariants: ReadonlySet<string>;
  withoutRankings: ReadonlySet<string>;
  withoutQuestions: ReadonlySet<string>;
  /** Name of a metric; see `metric.ts`. */
  metric: string;
  /** State of the data, `drained` or `compacted`. */
  data: string;
  /** `all`, or only systems that give back `bytes`, at least the `value`, or `changed` documents. */
  structure: Structures;
  /** Snapshot of the published results that is laid over the charts; none when empty. */
  published: string;
  opened: Opened | null;
}

const STRUCTURES = ['all', 'bytes', 'value', 'changed'] as const;
export type Structures = (typeof STRUCTURES)[number];

/** The words that a run has for each of the filters. */
export interface Choices {
  systems: string[];
  variants: string[];
  rankings: string[];
  questions: string[];
  states: string[];
}

function different(words: Iterable<string>): string[] {
  return [...new Set(words)];
}

/** What there is to choose from, over all runs, so that a filter survives a change of run. */
export function choices(runs: readonly Run[]): Choices {
  const configurations = runs.flatMap((run) => run.configurations);
  const cells = runs.flatMap((run) => run.cells);
  const order = (state: string): number => (state === 'drained' ? 0 : 1);
  return {
    systems: different(configurations.filter((one) => !one.reference).map((one) => one.system)),
    variants: different(configurations.filter((one) => !one.reference).map((one) => one.variant)),
    rankings: different(configurations.filter((one) => !one.reference).map((one) => one.ranks_with)),
    questions: different(cells.map((cell) => cell.step).filter(isQuestion)).sort((a, b) =>
      a.localeCompare(b, 'en', { numeric: true })),
    states: different(cells.flatMap((cell) => cell.state ?? [])).sort((a, b) => order(a) - order(b)),
  };
}

/** The page's own choice: the run with most documents, in the state in which most was asked. */
export function initial(figures: Figures): State {
  let run = 0;
  figures.runs.forEach((one, index) => {
    if (one.data.documents > (figures.runs[run]?.data.documents ?? 0)) run = index;
  });
  const asked = new Map<string, number>();
  for (const cell of figures.runs[run]?.cells ?? []) {
    if (cell.state !== null && isQuestion(cell.step)) asked.set(cell.state, (asked.get(cell.state) ?? 0) + 1);
  }
  const [data] = [...asked].sort((a, b) => b[1] - a[1] || (a[0] === 'drained' ? -1 : 1))[0] ?? ['drained'];
  const none: ReadonlySet<string> = new Set();
  return {
    run, data, metric: 'time', structure: 'all', published: '', opened: null,
    withoutSystems: none, withoutVariants: none, withoutRankings: none, withoutQuestions: none,
  };
}

const SETS = [
  ['systems', 'withoutSystems', 'systems'],
  ['variants', 'withoutVariants', 'variants'],
  ['rankings', 'withoutRankings', 'rankings'],
  ['questions', 'withoutQuestions', 'questions'],
] as const;

function listed(words: readonly string[]): string {
  return words.map((word) => encodeURIComponent(word).replaceAll('.', '%2E')).join('.');
}

function unlisted(text: string): string[] {
  if (text === '') return [];
  return text.split('.').map((word) => {
    try {
      return decodeURIComponent(word);
    } catch {
      return word;
    }
  });
}

/** The fragment of the address for a state, without `#`; empty for the page's own choice. */
export function toFragment(state: State, figures: Figures): string {
  const own = initial(figures);
  const all = choices(figures.runs);
  const parts: string[] = [];
  const put = (name: string, value: string): void => void parts.push(`${name}=${value}`);
  if (state.run !== own.run) put('run', encodeURIComponent(figures.runs[state.run]?.name ?? ''));
  for (const [name, key, choice] of SETS) {
    const without = state[key];
    if (without.size === 0) continue;
    const shown = all[choice].filter((word) => !without.has(word));
    if (shown.length <= without.size) put(name, listed(shown));
    else put(`no-${name}`, listed([...without]));
  }
  if (state.metric !== own.metric) put('metric', encodeURIComponent(state.metric));
  if (state.data !== own.data) put('state', encodeURIComponent(state.data));
  if (state.structure !== own.structure) put('structure', state.structure);
  if (state.published !== '') put('published', encodeURIComponent(state.published));
  if (state.opened !== null) {
    put('figure', `${encodeURIComponent(figures.runs[state.opened.run]?.name ?? '')}:${state.opened.cell}`);
  }
  return parts.join('&');
}

function runNamed(figures: Figures, name: string): number | null {
  const index = figures.runs.findIndex((run) => run.name === name);
  return index < 0 ? null : index;
}

/** The state that a fragment stands for. What is not understood is passed over. */
export function fromFragment(fragment: string, figures: Figures): State {
  const state = initial(figures);
  const all = choices(figures.runs);
  for (const part of fragment.replace(/^#/, '').split('&')) {
    const at = part.indexOf('=');
    if (at < 0) continue;
    const [name, text] = [part.slice(0, at), part.slice(at + 1)];
    const word = unlisted(text)[0] ?? '';
    for (const [set, key, choice] of SETS) {
      const words = unlisted(text);
      if (name === set) state[key] = new Set(all[choice].filter((one) => !words.includes(one)));
      if (name === `no-${set}`) state[key] = new Set(all[choice].filter((one) => words.includes(one)));
    }
    if (name === 'run') state.run = runNamed(figures, decoded(text)) ?? state.run;
    if (name === 'metric') state.metric = decoded(text);
    if (name === 'state' && all.states.includes(word)) state.data = word;
    if (name === 'structure') state.structure = STRUCTURES.find((one) => one === word) ?? state.structure;
    if (name === 'published') state.published = decoded(text);
    if (name === 'figure') state.opened = openedFrom(text, figures) ?? state.opened;
  }
  return state;
}

function decoded(text: string): string {
  return unlisted(text.replaceAll('.', '%2E'))[0] ?? '';
}

function openedFrom(text: string, figures: Figures): Opened | null {
  const at = text.lastIndexOf(':');
  const run = runNamed(figures, decoded(text.slice(0, at)));
  const cell = Number(text.slice(at + 1));
  if (run === null || !Number.isInteger(cell) || figures.runs[run]?.cells[cell] === undefined) return null;
  return { run, cell };
}
