// Lines of the first screen: what each workload of the page’s runs has answered. The program says who leads; the
// page only chooses which of its sentences stand first.

import type { Answer, AnswerCaveat, PageData, Run } from './model.ts';
import type { TermId } from './glossary.ts';
import { hasWorkload, workloadsOf } from './view.ts';

/** A caveat as words, and the term that defines them. */
export interface CaveatWords {
  words: string;
  term: TermId;
}

/** The words are those of `AnswerCaveat::text` of the program. */
const CAVEATS: Record<AnswerCaveat, CaveatWords> = {
  end_of_life: { words: 'a version named here is no longer supported by its vendor', term: 'end-of-life' },
  embedded: { words: 'the first runs in the client’s process, the second is a server', term: 'in-process' },
  one_round: { words: 'one round only: repeat with more', term: 'round' },
  busy_machine: { words: 'other programs or virtual machines were running: repeat on a quiet machine', term: 'busy-machine' },
  approximate: { words: 'answers are approximate', term: 'approximate' },
  partial: { words: 'only a part of the results could be compared', term: 'incomplete' },
};

/** The caveats of an answer as words. */
export function caveatWords({ caveats }: Answer): CaveatWords[] {
  return caveats.map((one) => CAVEATS[one]);
}

/** Caveats that several answers have in common; none of a single answer, which has its own. */
export function sharedCaveats(answers: readonly Answer[]): CaveatWords[] {
  const [first, ...others] = answers;
  if (first === undefined || others.length === 0) return [];
  return caveatWords(first).filter(({ term }) => others.every((other) => caveatWords(other).some((caveat) => caveat.term === term)));
}

/** The sentence of an answer with a full stop, so that caveats can follow it. */
export function fullSentence({ sentence }: Answer): string {
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** Number of failures of a run and workload that the first screen names; the findings list all. */
const FAILURES = 3;

/** Number of rankings whose comparison the first screen names. */
const RANKINGS = 3;

/** What a run has answered about a workload, for the first screen. */
export interface AnswerLine {
  run: number;
  workload: string;
  /** Failures first, then the most important comparison, in each ranking that has it. */
  answers: Answer[];
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
  return { run: index, workload, answers: [...failed.slice(0, FAILURES), ...first], more: Math.max(0, failed.length - FAILURES) };
}

/** The lines of all runs of the page, workload by workload; runs without any answer have none. */
export function answerLines(figures: PageData): AnswerLine[] {
  return workloadsOf(figures.runs).flatMap((workload) => figures.runs.flatMap((run, index) => {
    const line = hasWorkload(run, workload) ? lineOf(run, index, workload) : null;
    return line === null || line.answers.length === 0 ? [] : [line];
  }));
}
