// What keeps figures of a page from being compared, or from meaning more than they do.

import type { Cell, Configuration, Failure } from './model.ts';
import type { Entry, View } from './select.ts';
import { isUnsettled } from './select.ts';
import { configurationName, isQuestion, retainsWord, stepName } from './words.ts';
import { counted, list, percent } from './format.ts';

export interface Catch {
  title: string;
  text: string;
}

const NAMED = 8;

/** Names, and how many more there are. */
export function some(names: readonly string[]): string {
  const different = [...new Set(names)];
  if (different.length <= NAMED) return list(different);
  return `${different.slice(0, NAMED).join(', ')} and ${different.length - NAMED} more`;
}

/** There was nothing to compare the answer with. */
export function isUncompared({ cell }: Entry): boolean {
  return cell.verdict === 'unverified' && isQuestion(cell.step);
}

/** Every catch of what is shown, those that could mislead most first. */
export function catches(from: View): Catch[] {
  const { run } = from;
  const all: Configuration[] = from.configurations.flatMap((index) => run.configurations[index] ?? []);
  const found: Catch[] = [];
  const put = (title: string, text: string | null): void => {
    if (text !== null) found.push({ title, text });
  };
  const names = (which: (one: Configuration) => boolean): string | null => {
    const those = all.filter(which).map(configurationName);
    return those.length === 0 ? null : some(those);
  };
  const phrase = (which: string | null, rest: string): string | null => (which === null ? null : `${which}: ${rest}`);

  if (!run.complete) put('The run is not complete', `${counted(run.open, 'planned trial')} ${run.open === 1 ? 'has' : 'have'} no record.`);
  const failures = run.failures.filter((one) => from.shown[one.configuration] === true);
  const failed = failures.filter((one) => one.kind !== 'plan');
  const broken = failures.filter((one) => one.kind === 'plan');
  const where = (one: Failure, rest = ''): string => {
    const configuration = run.configurations[one.configuration];
    return configuration === undefined ? '?' : `${configurationName(configuration)} (${stepName(one.step)}${rest})`;
  };
  if (failed.length > 0) put('Failures', `${some(failed.map((one) => where(one, `: ${one.kind}`)))}. What failed has no time.`);
  if (broken.length > 0) {
    put('Not by the promised path', `${some(broken.map((one) => where(one)))}: the plan is not what the configuration promises. Answers and times stand, hatched and never ranked.`);
  }
  const noted = (cell: Cell): boolean => failed.some((one) => one.configuration === cell.configuration && one.step === cell.step);
  const wrong = from.entries.filter(({ cell }) => (cell.verdict === 'wrong' || cell.verdict === 'timeout') && !noted(cell))
    .map((one) => `${configurationName(one.configuration)} (${stepName(one.cell.step)}: ${one.cell.verdict})`);
  if (wrong.length > 0) put('Wrong or late answers', `${some(wrong)}.`);
  const partial = from.configurations.flatMap((index) => {
    const load = from.loads.get(index);
    const configuration = run.configurations[index];
    if (load === undefined || configuration === undefined || load.verdict === 'exact') return [];
    const { documents_loaded: loaded, documents_offered: offered } = load.metrics;
    const share = loaded !== undefined && offered !== undefined && offered > 0 ? ` (${percent(loaded / offered)})` : ` (load ${load.verdict})`;
    return [`${configurationName(configuration)}${share}`];
  });
  if (partial.length > 0) put('Not all documents loaded', `${some(partial)}: never ranked, for it works on less.`);
  if (from.rankings.length > 1) {
    const apart = from.rankings.slice(1).map((ranking) =>
      `“${ranking}” (${some(all.filter((one) => one.ranks_with === ranking).map(configurationName))})`);
    put('Ranked apart', `Configurations follow different rules, and only those of one ranking are compared. Beside “${from.rankings[0] ?? ''}” there ${apart.length === 1 ? 'is' : 'are'} ${list(apart)}.`);
  }
  const prepared = [...new Set(all.filter((one) => one.ranks_with === from.rankings[0])
    .map((one) => `${one.title}: ${one.variant_title}`))];
  if (new Set(all.map((one) => one.variant_title)).size > 1 && prepared.length > 1) {
    const more = prepared.length > NAMED ? `; and ${prepared.length - NAMED} more` : '';
    put('Prepared differently', `${prepared.slice(0, NAMED).join('; ')}${more}. So this says which of these set-ups is faster, not which engine is in itself.`);
  }
  if (all.some((one) => one.embedded) && all.some((one) => !one.embedded)) {
    put('Embedded beside servers', phrase(names((one) => one.embedded), 'inside a process of the harness, so no network is in these times; the others are servers.'));
  }
  const named = (entry: Entry): string => `${configurationName(entry.configuration)} (${stepName(entry.cell.step)})`;
  const uncompared = from.entries.filter(isUncompared).map(named);
  if (uncompared.length > 0) put('Answers compared with nothing', `${some(uncompared)}: nobody knows whether they are right. Hatched and never ranked.`);
  const approximate = from.entries.filter((one) => one.cell.verdict === 'approximate').map(named);
  if (approximate.length > 0) put('Approximate answers', `${some(approximate)}: declared, and shown hatched.`);
  const unverified = from.entries.filter((one) => one.cell.phase === 'cold-unverified').map((one) => configurationName(one.configuration));
  if (unverified.length > 0) put('Not verified as cold', `${some(unverified)}: files were, or may have been, still in memory. Never ranked as cold.`);
  const unsettled = from.entries.filter((one) => isUnsettled(one.cell)).map((one) => configurationName(one.configuration));
  if (unsettled.length > 0) put('Not settled', `${some(unsettled)}: still at work in the background when the time to settle was over. Sizes are of that moment, hatched and never ranked.`);
  put('End of life', phrase(names((one) => one.end_of_life), 'no longer supported by its makers; do not read it as that system of today.'));
  const changed = all.filter((one) => one.structure !== null && one.structure.retains !== 'bytes')
    .map((one) => `${configurationName(one)} (${retainsWord(one.structure?.retains ?? '')}${one.structure?.retains === 'changed' ? `: ${list(Object.keys(one.structure.changes))}` : ''})`);
  if (changed.length > 0) put('Documents do not come back as they were', `${some(changed)}.`);
  if (run.rounds === 1) put('One round only', 'No intervals: nobody can say whether a difference would show again.');
  const { cores } = run.machine;
  put(`${counted(cores, 'core')}`, `${cores <= 4 ? 'A small machine. ' : ''}Figures are of this machine and these documents; nothing here tells how they grow with more cores, memory or documents.`);
  return found;
}
