// Caveats: reasons why results on this page are not comparable or need care.

import type { Cell, Configuration, Failure, RunEvidence } from './model.ts';
import type { Entry, View } from './view.ts';
import { answersOf } from './answer-lines.ts';
import { bytes, counted, integer, list, percent } from './format.ts';
import { configurationName, isQuestion, rankingSuffix, rankingTitle, roundTripLabel, stepName } from './labels.ts';
import { documentsOf } from './metric.ts';
import { Metric } from './metrics.ts';
import { stealByCell } from './steal.ts';
import { hasBackgroundWork, isAsking, isReadFromDisk, leading } from './view.ts';
import { DURABILITY, FIDELITY, Phase, Verdict } from './vocabulary.ts';

export interface Caveat {
  title: string;
  /** The caveat in one line, with its count. */
  line: string;
  /** Affected configurations and the reason, shown on demand; empty if `line` says everything. */
  text: string;
}

const NAMED = 8;

/** Lists up to `NAMED` distinct names, followed by the number of the remaining ones. */
export function listSome(names: readonly string[]): string {
  const different = [...new Set(names)];
  if (different.length <= NAMED) return list(different);
  return `${different.slice(0, NAMED).join(', ')} and ${different.length - NAMED} more`;
}

/** Returns `true` if there was no other answer to compare this cell's answer with. */
export function isUncompared({ cell, configuration }: Entry): boolean {
  return cell.verdict === Verdict.Unverified && isQuestion(cell.step) && configuration.other_questions[cell.step] === undefined;
}

/** Lists each configuration once, followed by its affected steps or by whatever `word` returns per cell. */
function grouped(entries: readonly Entry[], word: (entry: Entry) => string = (entry) => stepName(entry.cell.step, entry.cell.phase)): string[] {
  const found = new Map<string, Set<string>>();
  for (const entry of entries) {
    const name = configurationName(entry.configuration);
    found.set(name, (found.get(name) ?? new Set()).add(word(entry)));
  }
  return [...found].map(([name, words]) => `${name} (${[...words].join(', ')})`);
}

/** The bytes that a trial of the cell read from the disk, as text. */
function bytesRead(cell: Cell): string {
  const read = cell.metrics[Metric.ReadBytes];
  return read === undefined ? 'unknown' : bytes(read);
}

/** All caveats of the results shown, most misleading first. */
export function findCaveats(view: View, evidence: RunEvidence | null = null): Caveat[] {
  const { run } = view;
  const all: Configuration[] = view.configurations.flatMap((index) => run.configurations[index] ?? []);
  const found: Caveat[] = [];
  const add = (title: string, line: string, text = ''): void => void found.push({ title, line, text });
  const namesOf = (which: (one: Configuration) => boolean): string[] => all.filter(which).map(configurationName);
  const number = (names: readonly string[]): string => counted(new Set(names).size, 'configuration');
  const isTimed = view.workload !== FIDELITY && view.workload !== DURABILITY;

  if (!run.complete) add('Run not complete', `${counted(run.open_trials, 'planned trial')} without a record`);
  const failures = run.failures.filter((one) => view.shown[one.configuration] === true);
  const failed = failures.filter((one) => one.kind !== 'plan');
  const broken = failures.filter((one) => one.kind === 'plan');
  const where = (one: Failure, rest = ''): string => {
    const configuration = run.configurations[one.configuration];
    return configuration === undefined ? '?' : `${configurationName(configuration)} (${stepName(one.step, one.phase)}${rest})`;
  };
  if (failed.length > 0) add('Failures', counted(failed.length, 'failure'), `${listSome(failed.map((one) => where(one, `: ${one.kind}`)))}. What failed has no time.`);
  if (broken.length > 0) add('Plan broken', `${counted(broken.length, 'plan')} other than promised; hatched and not ranked`, `${listSome(broken.map((one) => where(one)))}. The answers and times stand, but the query did not take the path that the configuration promises.`);
  const noted = (cell: Cell): boolean => failed.some((one) => one.configuration === cell.configuration && one.step === cell.step);
  const wrong = view.entries.filter(({ cell }) => (cell.verdict === Verdict.Wrong || cell.verdict === Verdict.Timeout) && !noted(cell));
  const disputed = view.entries.filter(({ cell }) => cell.verdict === Verdict.Disputed);
  if (disputed.length > 0) add('Answers in dispute', counted(new Set(disputed.map(({ cell }) => cell.step)).size, 'question'), `${listSome(disputed.map(({ cell }) => stepName(cell.step)))}: systems answer differently, and no majority of them says what is right. No system is ranked.`);
  if (wrong.length > 0) add('Wrong or late answers', counted(wrong.length, 'result'), `${listSome(grouped(wrong, ({ cell }) => `${stepName(cell.step, cell.phase)}: ${cell.verdict}`))}. They have no time.`);

  const warm = view.entries.filter(({ cell }) => isReadFromDisk(cell));
  if (warm.length > 0) {
    add('Hot, not in memory', `${counted(warm.length, 'result')} of trials that read from the disk; hatched and not ranked`,
      `Asked repeatedly, and read each time: ${listSome(grouped(warm, ({ cell }) => `${stepName(cell.step)} ${bytesRead(cell)}`))}.`);
  }
  const partial = view.configurations.flatMap((index) => {
    const own = view.loads.get(index);
    const configuration = run.configurations[index];
    if (own === undefined || configuration === undefined || own.verdict === Verdict.Exact) return [];
    const { [Metric.DocumentsLoaded]: loaded, [Metric.DocumentsOffered]: offered } = own.metrics;
    const share = loaded !== undefined && offered !== undefined && offered > 0 ? ` (${percent(loaded / offered)})` : ` (load ${own.verdict})`;
    return [`${configurationName(configuration)}${share}`];
  });
  if (partial.length > 0) add('Not all documents loaded', `${number(partial)}, not ranked`, `${listSome(partial)}. Fewer documents are less work.`);
  const small = !isAsking(view.workload) ? [] : view.configurations.flatMap((index) => {
    const configuration = run.configurations[index];
    const documents = documentsOf(run, index);
    if (configuration === undefined || configuration.parallel_unit === null || documents >= run.machine.cores * configuration.parallel_unit) return [];
    const units = Math.max(1, Math.ceil(documents / configuration.parallel_unit));
    return [`${configurationName(configuration)} (${counted(units, 'unit')} of ${integer(configuration.parallel_unit)} documents)`];
  });
  if (small.length > 0) {
    add('Too few documents for all cores', `${number(small)} cannot use all ${integer(run.machine.cores)} cores at this scale`,
      `A core takes a whole unit, such as a row group: ${listSome(small)}. Expect them relatively faster with more documents.`);
  }
  const first = leading(view);
  const extra = view.rankings.filter((one) => one !== first && view.kinds.get(one)?.ranked === true && rankingSuffix(view.kinds.get(one)) !== '');
  if (extra.length > 0) {
    add('Ranked apart', list(extra.map((one) => `“${rankingTitle(one)}”`)),
      `These follow further rules within their class, and only configurations of one ranking are compared: ${extra.map((one) => `${rankingTitle(one)}: ${listSome(namesOf((other) => other.ranking === one))}`).join('; ')}.`);
  }
  const unranked = namesOf((one) => !one.ranked);
  const others = all.flatMap((one) => Object.entries(one.other_questions)
    .filter(([step]) => view.questions.includes(step)).map(([step, why]) => `${configurationName(one)} ${stepName(step)}: ${why}`));
  if (unranked.length > 0) add('Statements as published', `${number(unranked)}, shown and never ranked`, `${listSome(unranked)}: published statements word for word, to compare ours with them.`);
  if (others.length > 0) add('Another question', `${counted(others.length, 'published statement')} ${others.length === 1 ? 'asks' : 'ask'} something else; timed, not verified`, `${others.join('; ')}.`);
  const embedded = namesOf((one) => one.embedded);
  if (isTimed && embedded.length > 0 && embedded.length < all.length) add('Embedded next to servers', 'embedded engines have no network in their times', `Embedded: ${listSome(embedded)}. The others are servers.`);
  const uncompared = view.entries.filter(isUncompared);
  if (uncompared.length > 0) add('Unverified answers', `${counted(uncompared.length, 'result')} without a reference; hatched and not ranked`, `${listSome(grouped(uncompared))}: no reference answer to compare with.`);
  const approximate = view.entries.filter((one) => one.cell.verdict === Verdict.Approximate);
  if (approximate.length > 0) add('Approximate answers', `${counted(approximate.length, 'result')}, declared and hatched`, `${listSome(grouped(approximate))}.`);
  const unverified = view.entries.filter((one) => one.cell.phase === Phase.ColdUnverified).map((one) => configurationName(one.configuration));
  if (unverified.length > 0) add('Not verified as cold', `${number(unverified)}, not ranked as cold`, `${listSome(unverified)}: files were, or may have been, in memory.`);
  const unsettled = view.entries.filter((one) => hasBackgroundWork(one.cell)).map((one) => configurationName(one.configuration));
  if (unsettled.length > 0) add('Background work not finished', `${number(unsettled)}, size not ranked`, `${listSome(unsettled)}: background work was still running at the time limit. The size is of that moment.`);
  const old = namesOf((one) => one.end_of_life);
  if (old.length > 0) add('End of life', list(old).length <= 60 ? list(old) : number(old), `${listSome(old)}: no longer supported by the vendor. Do not read it as the current version.`);
  const outdated = all.flatMap((one) => (one.outdated === null ? [] : [`${one.title} ${one.version} of ${one.outdated}`])).filter((one, place, them) => them.indexOf(one) === place);
  if (outdated.length > 0) add('Not the newest', list(outdated), `${listSome(outdated)}: newer versions were out. Do not read it as the current one.`);
  const changed = all.filter((one) => one.structure !== null && one.structure.retains !== 'bytes');
  const lost = changed.filter((one) => one.structure?.retains === 'changed');
  if (changed.length > 0) {
    add('Documents change in a round trip', list([
      ...(lost.length > 0 ? [`changed values: ${counted(lost.length, 'configuration')}`] : []),
      ...(changed.length > lost.length ? [`same values, other bytes: ${counted(changed.length - lost.length, 'configuration')}`] : []),
    ]),
      `${listSome(changed.map((one) => `${configurationName(one)} (${roundTripLabel(one.structure?.retains ?? 'unknown')}${one.structure?.retains === 'changed' ? `: ${list(Object.keys(one.structure.changes))}` : ''})`))}.`);
  }
  const steal = evidence === null ? [] : stealByCell(evidence, run.machine);
  const [high, known] = view.entries.reduce(([a, b], { index }) => [a + (steal[index]?.high ?? 0), b + (steal[index]?.known ?? 0)], [0, 0]);
  if (high > 0) {
    add('CPU steal', `${counted(high, 'trial')} of ${integer(known)} above 2 %`,
      'The hypervisor gave CPU time to other machines during these trials or their preparation. They count like all others; a result’s trials show the seconds.');
  }
  if (answersOf(run, view.workload).some(({ caveats }) => caveats.includes('busy_machine'))) {
    add('Busy machine', 'other programs or virtual machines were running: repeat on a quiet machine', 'In at least a tenth of the trials, other processes used the machine or the hypervisor took CPU time. Differences may be due to that.');
  }
  if (!isTimed) return found;
  if (run.rounds === 1) add('One round only', 'no intervals, so differences may not repeat');
  const { cores, memory_bytes: memory } = run.machine;
  add('One machine', `${counted(cores, 'core')}, ${bytes(memory)}${cores <= 4 ? ': a small one' : ''}`, 'Results are of this machine and these documents. They do not say how systems scale with cores, memory or documents.');
  return found;
}
