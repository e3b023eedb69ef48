// The words of the field: what steps, phases and verdicts are called on the page.

import type { Cell, Configuration, Ratio, Run, Verdict } from './model.ts';
import { nameInWords } from './format.ts';

const QUESTIONS: ReadonlyMap<string, string> = new Map([
  ['q1', 'top event types'],
  ['q2', 'top event types with unique users'],
  ['q3', 'when do people use it'],
  ['q4', 'top 3 post veterans'],
  ['q5', 'top 3 longest activity'],
  ['q6', 'posts by first language, a path nobody prepared for'],
]);

/** A question of the analytics workload; steps of other shapes are shown under their own names. */
export function isQuestion(step: string): boolean {
  return /^q\d+$/.test(step);
}

/** `q1` as `Q1`; other steps keep their names. */
export function stepName(step: string): string {
  return isQuestion(step) ? step.toUpperCase() : step;
}

/** `Q1 top event types`. */
export function stepTitle(step: string): string {
  const words = QUESTIONS.get(step);
  return words === undefined ? stepName(step) : `${stepName(step)} ${words}`;
}

/** What each verdict means, in one sentence. */
export const VERDICTS: Record<Verdict, string> = {
  exact: 'every answer equalled the reference',
  approximate: 'the answer is a declared approximation',
  unverified: 'there was nothing to compare the answer with',
  partial: 'fewer than 99.9 % of the documents were loaded, so the time is for less work',
  not_applicable: 'the system has no such thing',
  wrong: 'the answer was not the right one, so there is no time',
  timeout: 'no answer within the limit',
  failed: 'no answer at all',
};

/** A verdict as a word. */
export function verdictWord(verdict: Verdict): string {
  return verdict === 'not_applicable' ? 'not applicable' : verdict;
}

const PHASES: ReadonlyMap<string, string> = new Map([
  ['load', 'load'],
  ['cold', 'cold'],
  ['cold-unverified', 'cold, not verified'],
  ['cold-os', 'only the page cache dropped'],
  ['hot', 'hot'],
  ['steady', 'steady'],
]);

/** A phase in words. */
export function phaseWord(phase: string): string {
  return PHASES.get(phase) ?? phase;
}

/** A configuration's name, short enough for a bar: title, version, variant, and storage when not the default. */
export function configurationName(one: Configuration): string {
  const storage = one.storage === 'default' ? '' : ` ${one.storage}`;
  return `${one.title} ${one.version} ${one.variant}${storage}`;
}

/** Further dimensions of a cell in words; empty where it has none. */
export function parametersOf(cell: Cell): string {
  return Object.entries(cell.parameters).map(([name, value]) => `${nameInWords(name)} ${String(value)}`).join(', ');
}

/** The name of a cell's configuration, with what tells the cell from others of it. */
export function cellName(one: Configuration, cell: Cell): string {
  const parameters = parametersOf(cell);
  return parameters === '' ? configurationName(one) : `${configurationName(one)}, ${parameters}`;
}

/** What a ratio is held against: `of ClickHouse 26.7 challenge, slower`. */
export function besideWords(run: Run, cell: Cell, one: Ratio): string {
  if (one.other === cell.configuration) return 'the best itself';
  const other = run.configurations[one.other];
  return `of ${other === undefined ? 'another' : configurationName(other)}, ${one.difference}`;
}

/** What is the same configuration in another run, but for its version. */
export function configurationKey(one: Configuration): string {
  return JSON.stringify([one.system, one.variant, one.storage]);
}

/** What a system gives back of a document, in words. */
export function retainsWord(retains: string): string {
  switch (retains) {
    case 'bytes': return 'the same bytes';
    case 'value': return 'the same values, not the same bytes';
    case 'changed': return 'changed documents';
    default: return 'unknown';
  }
}
