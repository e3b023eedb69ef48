// Lines of the first screen: what each workload of the page’s runs has answered. The program says who leads; the
// page only chooses which of its sentences stand first.

import type { Answer, AnswerCaveat, PageData, Run } from './model.ts';
import type { TermId } from './glossary.ts';
import { unbroken } from './format.ts';
import { rankingTitle } from './labels.ts';
import { hasWorkload, workloadsOf } from './view.ts';
import { ANALYTICS, DOCUMENTS, DURABILITY, MIXED, QUESTIONS } from './vocabulary.ts';

/** A caveat as words, and the term that defines them. */
export interface CaveatWords {
  words: string;
  term: TermId;
}

/** The terms that define caveats; their words are the program’s. */
const CAVEATS: Record<AnswerCaveat, TermId> = {
  end_of_life: 'end-of-life',
  embedded: 'in-process',
  one_round: 'round',
  few_rounds: 'no-difference',
  busy_machine: 'busy-machine',
  approximate: 'approximate',
  partial: 'incomplete',
};

/** The caveats of an answer as words, which name the systems. */
export function caveatWords({ caveats, caveat_texts: texts }: Answer): CaveatWords[] {
  return caveats.map((one, place) => ({ words: unbroken(texts[place] ?? ''), term: CAVEATS[one] }));
}

/** Caveats that several answers have in common; none of a single answer, which has its own. */
export function sharedCaveats(answers: readonly Answer[]): CaveatWords[] {
  const [first, ...others] = answers;
  if (first === undefined || others.length === 0) return [];
  return caveatWords(first).filter(({ words }) => others.every((other) => caveatWords(other).some((caveat) => caveat.words === words)));
}

/**
 * The caveats of each answer of a list that is read from its beginning: in full where one is said for the first time, and in few words
 * from then on. Those that are said elsewhere are left out.
 */
export function caveatsInOrder(answers: readonly Answer[], saidElsewhere: readonly CaveatWords[]): Map<Answer, CaveatWords[]> {
  const said = new Set<string>();
  const wordsOf = (answer: Answer): CaveatWords[] => caveatWords(answer).flatMap((caveat, place) => {
    if (saidElsewhere.some(({ words }) => words === caveat.words)) return [];
    const words = said.has(caveat.words) ? unbroken(answer.caveat_labels[place] ?? caveat.words) : caveat.words;
    said.add(caveat.words);
    return [{ ...caveat, words }];
  });
  return new Map(answers.map((answer) => [answer, wordsOf(answer)]));
}

/** What stands between a ranking and its sentence: one colon is enough where conditions begin the sentence. */
export function rankingPrefix({ ranking, conditions, sentence }: Answer): string {
  if (ranking === '') return '';
  const end = sentence.indexOf(': ');
  const head = end < 0 ? '' : sentence.slice(0, end);
  const hasConditions = conditions !== '' && head !== '' && (head.endsWith(conditions) || conditions.startsWith(head));
  return `${rankingTitle(ranking)}${hasConditions ? ', ' : ': '}`;
}

/** What readers must know about the sentences of a line and would not guess; empty if there is nothing. */
export function noteOf({ workload, answers: leading, details }: AnswerLine): string {
  const answers = [...leading, ...details];
  const asks = answers.some(({ subject, outcome }) => (subject === 'hot' || subject === 'cold') && (outcome.kind === 'leader' || outcome.kind === 'no_difference_shown'));
  const promises = answers.some(({ subject, severity }) => subject === 'durability' && severity !== 'failed');
  const operations = answers.some(({ subject }) => subject === 'operations');
  switch (workload) {
    case ANALYTICS: return asks ? 'Q1–Q5 are the questions of the published challenge, and the first factor is the geometric mean of theirs. Q6 is this program’s own question, about a path that nobody has prepared; it is not in the mean.' : '';
    case QUESTIONS: return asks ? 'The first factor is the geometric mean over all questions that are compared.' : '';
    case DOCUMENTS: return operations ? 'In parentheses are 95 % intervals. A factor of several sizes is the smallest one, with its interval. What shows no difference has the widest interval of its sizes.' : '';
    case MIXED: return answers.some(({ subject }) => subject === 'freshness') ? 'A question lags by the age of the oldest acknowledged batch that it does not see, by 0 if it sees all. At p95, 95 % of the questions lag no more.' : '';
    case DURABILITY: return promises ? 'Crashes without a loss are what was seen. They do not prove that no crash can lose anything.' : '';
    default: return '';
  }
}

/** The sentence of an answer with a full stop, so that caveats can follow it. */
export function fullSentence({ sentence }: Answer): string {
  return unbroken(/[.!?…]$/.test(sentence) ? sentence : `${sentence}.`);
}

/** Number of failures of a run and workload that the first screen names; the findings list all. */
const FAILURES = 3;

/** Number of rankings whose comparison the first screen names. */
const RANKINGS = 3;

/** Workloads of several comparisons, none of which stands for the others. */
const IN_PARTS: readonly string[] = [DOCUMENTS, MIXED];

/** What a run has answered about a workload, for the first screen. */
export interface AnswerLine {
  run: number;
  workload: string;
  /** Failures first, then the most important comparison, in each ranking that has it. */
  answers: Answer[];
  /** All further comparisons of a workload whose parts are equally important. */
  details: Answer[];
  /** Number of failures beyond those. */
  more: number;
}

/** The answers of a run about a workload, most important first. */
export function answersOf(run: Run, workload: string): Answer[] {
  return run.answers.filter((one) => one.workload === workload);
}

function lineOf(run: Run, index: number, workload: string): AnswerLine {
  const all = answersOf(run, workload);
  // Broken durability promises stand in a box of their own, with their details.
  const isTold = (one: Answer): boolean => one.subject === 'durability' && (run.headline ?? []).length > 0;
  const failed = all.filter((one) => one.severity === 'failed' && !isTold(one));
  const compared = all.filter((one) => one.severity !== 'failed');
  const isTheFirst = (one: Answer): boolean => one.subject === compared[0]?.subject && one.conditions === compared[0].conditions;
  const first = compared.filter(isTheFirst).slice(0, RANKINGS);
  const isComparison = ({ subject, outcome }: Answer): boolean => subject !== 'correctness' && subject !== 'durability' && outcome.kind !== 'only_one';
  const details = IN_PARTS.includes(workload) ? compared.filter((one) => !first.includes(one) && isComparison(one)) : [];
  return { run: index, workload, answers: [...failed.slice(0, FAILURES), ...first], details, more: Math.max(0, failed.length - FAILURES) };
}

/** The lines of all runs of the page, workload by workload; runs without any answer have none. */
export function answerLines(figures: PageData): AnswerLine[] {
  return workloadsOf(figures.runs).flatMap((workload) => figures.runs.flatMap((run, index) => {
    const line = hasWorkload(run, workload) ? lineOf(run, index, workload) : null;
    return line === null || line.answers.length === 0 ? [] : [line];
  }));
}
