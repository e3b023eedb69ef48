// Display names of steps, phases, verdicts and other terms.

import type { Cell, Configuration, PageData, Ratio, RoundTripOutcome, Run } from './model.ts';
import { bytes, count, nameInWords, percent } from './format.ts';
import { ANALYTICS, DOCUMENTS, DURABILITY, FIDELITY, MemoryProfile, MIXED, Phase, PreparationClass, QUESTIONS as QUESTIONS_WORKLOAD, SERVING, Verdict } from './vocabulary.ts';

const QUESTIONS: ReadonlyMap<string, string> = new Map([
  ['q1', 'top event types'],
  ['q2', 'top event types with unique users'],
  ['q3', 'when do people use it'],
  ['q4', 'top 3 post veterans'],
  ['q5', 'top 3 longest activity'],
  ['q6', 'posts by first language, an unprepared path'],
]);

/** Titles of users' own questions, by question name. */
const QUESTION_TITLES = new Map<string, string>();

/** Registers the users' question titles; call once before the first render. */
export function registerQuestions(figures: PageData): void {
  for (const { name, title } of figures.runs.flatMap((run) => run.questions ?? [])) QUESTION_TITLES.set(name, title);
}

/** Returns `true` for a question of the analytics workload (`q1` …) or a user's own question. */
export function isQuestion(step: string): boolean {
  return QUESTION_TITLES.has(step) || /^q\d+$/.test(step);
}

/** Steps of mixed loads that are no questions, in the words of the tables. */
const MIXED_STEPS: ReadonlyMap<string, string> = new Map([['all', 'all questions'], ['ingest', 'writers']]);

/** Phases that only mixed loads have. */
const MIXED_PHASES: readonly string[] = [Phase.Still, Phase.Both, Phase.Left, Phase.Drained, Phase.Alone];

/** Display name of a step: `q1` becomes `Q1`, `all` in a phase of a mixed load `all questions`; others keep their names. */
export function stepName(step: string, phase = ''): string {
  const words = MIXED_PHASES.includes(phase) ? MIXED_STEPS.get(step) : undefined;
  if (words !== undefined) return words;
  return isQuestion(step) && !QUESTION_TITLES.has(step) ? step.toUpperCase() : step;
}

/** Step name with the question's title: `Q1 top event types`. */
export function stepTitle(step: string, phase = ''): string {
  const own = QUESTION_TITLES.get(step);
  if (own !== undefined) return own;
  const words = QUESTIONS.get(step);
  return words === undefined ? stepName(step, phase) : `${stepName(step)} ${words}`;
}

const WORKLOADS: ReadonlyMap<string, string> = new Map([
  [ANALYTICS, 'Analytics'], [SERVING, 'Serving'], [MIXED, 'Mixed load'], [DOCUMENTS, 'Large documents'], [QUESTIONS_WORKLOAD, 'Your questions'], [FIDELITY, 'Fidelity'], [DURABILITY, 'Durability'],
]);

/** Display name of a workload; its own name if the page does not know it. */
export function workloadTitle(workload: string): string {
  return WORKLOADS.get(workload) ?? workload;
}

/** Meaning of each verdict, one sentence each. */
export const VERDICTS: Record<Verdict, string> = {
  exact: 'every answer equals the reference',
  approximate: 'the answer is a declared approximation',
  unverified: 'there is no reference to compare the answer with',
  disputed: 'systems answer differently, and no majority of them says what is right',
  partial: 'fewer than 99.9 % of the documents were loaded, so the time is for less work',
  not_applicable: 'the system has no such thing',
  wrong: 'the answer differs from the reference, so there is no time',
  timeout: 'no answer within the limit',
  failed: 'no answer',
};

/** The display word of a verdict. */
export function verdictLabel(verdict: Verdict): string {
  return verdict === Verdict.NotApplicable ? 'not applicable' : verdict;
}

const PHASES: ReadonlyMap<string, string> = new Map([
  [Phase.Load, 'load'],
  [Phase.Cold, 'cold'],
  [Phase.ColdUnverified, 'cold, not verified'],
  [Phase.ColdOs, 'page cache dropped'],
  [Phase.Hot, 'hot'],
  [Phase.HotNotInMemory, 'hot, not in memory'],
  [Phase.Steady, 'steady'],
  [Phase.Measured, 'measured'],
  [Phase.Still, 'still'],
  [Phase.Both, 'beside writers'],
  [Phase.Left, 'writers gone'],
  [Phase.Drained, 'drained'],
  [Phase.Alone, 'writers alone'],
]);

/** Phases of repeated questions. Cells that still read from disk are shown among them and never ranked. */
export const HOT: readonly string[] = [Phase.Hot, Phase.HotNotInMemory];

/** Phases of questions asked once after a restart. */
export const COLD: readonly string[] = [Phase.Cold, Phase.ColdUnverified];

/** All phases of questions, including those asked after only the page cache was dropped. */
export const ASKED: readonly string[] = [...HOT, ...COLD, Phase.ColdOs];

/** The display word of a phase. */
export function phaseLabel(phase: string): string {
  return PHASES.get(phase) ?? phase;
}

/** Short name of a configuration: title, version, variant, and everything that is not the default. */
export function configurationName(configuration: Configuration): string {
  const storage = configuration.storage === 'default' ? '' : ` ${configuration.storage}`;
  return `${configuration.title} ${configuration.version} ${configuration.variant}${storage}${configuration.profile === MemoryProfile.Stock ? ' stock' : ''}`;
}

/** Preparation classes in page order. */
export const CLASSES: readonly PreparationClass[] = Object.values(PreparationClass);

/** Memory profiles in page order; null stands for a remote server, whose operator sets its memory. */
export const PROFILES: readonly (MemoryProfile | null)[] = [...Object.values(MemoryProfile), null];

/** Explains what systems of a preparation class know about the documents. */
export function classMeaning(preparation: PreparationClass): string {
  switch (preparation) {
    case PreparationClass.AsIs: return 'Nothing about the documents was configured: no index, hint, sort key or column on any path.';
    case PreparationClass.Prepared: return 'The paths of Q1 to Q5 were declared before loading, as an index, type hints or a sort key. Documents stay whole, and Q6 asks for a path that was not declared.';
    case PreparationClass.Extracted: return 'The paths of Q1 to Q5 are columns next to the document, and questions name the columns.';
    case PreparationClass.UserDefined: return 'Systems are set up as the folder of questions says; all are ranked together.';
  }
}

/** A ranking as a heading: `As-is`, `Prepared, stock`. */
export function rankingTitle(ranking: string): string {
  return ranking.charAt(0).toUpperCase() + ranking.slice(1);
}

/** Dimensions listed before all others. */
const FIRST: readonly string[] = ['operation', 'clients', 'durability', 'arrival'];

/** A dimension as text; empty for default values. */
function dimension(name: string, value: string | number | boolean): string {
  if ((name === 'arrival' && value === 'closed') || (name === 'documents' && value === 'flat') || (name === 'values' && value === 'text')) return '';
  switch (name) {
    case 'clients': return value === 1 ? '1 client' : `${String(value)} clients`;
    case 'documents': case 'values': return `${String(value)} ${name}`;
    case 'operation': case 'arrival': case 'durability': case 'slo': return String(value);
    case 'rate_per_s': return `${count(Number(value))}/s`;
    case 'rate_share': return `${percent(Number(value))} of capacity`;
    default: return `${nameInWords(name)} ${String(value)}`;
  }
}

/** Dimensions as text, written as in the program's own tables. */
export function dimensionsOf(parameters: Cell['parameters']): string {
  const names = [...FIRST.filter((name) => name in parameters), ...Object.keys(parameters).filter((name) => !FIRST.includes(name))];
  return names.map((name) => dimension(name, parameters[name] ?? '')).filter((word) => word !== '').join(', ');
}

/** Further dimensions of a cell as text; empty if it has none. */
export function parametersOf(cell: Cell): string {
  return dimensionsOf(cell.parameters);
}

/** Name of a cell's configuration, followed by the dimensions that distinguish the cell. */
export function cellName(configuration: Configuration, cell: Cell): string {
  const parameters = parametersOf(cell);
  return parameters === '' ? configurationName(configuration) : `${configurationName(configuration)}, ${parameters}`;
}

/** What a ratio refers to: `of ClickHouse 26.7 challenge, slower`. */
export function ratioLabel(run: Run, cell: Cell, one: Ratio): string {
  if (one.other === cell.configuration) return 'the best';
  const other = run.configurations[one.other];
  return `of ${other === undefined ? 'another' : configurationName(other)}, ${one.difference}`;
}

/** Key of a configuration without its version, to match configurations of different runs. */
export function configurationKey(configuration: Configuration): string {
  return JSON.stringify([configuration.system, configuration.variant, configuration.storage, configuration.preparation, configuration.profile, configuration.memory_bytes]);
}

/** How documents come back from a round trip, as words. */
export function roundTripLabel(retains: RoundTripOutcome): string {
  switch (retains) {
    case 'bytes': return 'same bytes';
    case 'value': return 'same values';
    case 'changed': return 'changed';
    case 'unknown': return 'unknown';
  }
}

/** The part of a ranking beyond class and profile; empty if there is none. */
export function rankingSuffix(configuration: Configuration | undefined): string {
  const known: (string | null | undefined)[] = [configuration?.preparation, configuration?.profile];
  return (configuration?.ranking ?? '').split(', ').filter((word) => word !== '' && !known.includes(word)).join(', ');
}

/** Memory profile of a configuration as text: `sized for 12.6 GB`. */
export function profileLabel(configuration: Configuration): string {
  if (configuration.profile === null) return 'not stated';
  return configuration.memory_bytes === null ? configuration.profile : `${configuration.profile} for ${bytes(configuration.memory_bytes)}`;
}
