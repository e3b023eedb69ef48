// The first screen: what was run and how. The workloads add their findings in between.

import type { ComponentChildren, JSX } from 'preact';

import type { Run } from '../../model.ts';
import type { View } from '../../view.ts';
import { bytes, counted, integer, list, timestamp } from '../../format.ts';
import { usePage } from '../../page.ts';
import { DOCUMENTS, DURABILITY, FIDELITY, MemoryProfile, SERVING } from '../../vocabulary.ts';

/** Loads per configuration: the largest number among all configurations. */
function loadsOf(view: View): number {
  return Math.max(1, ...[...view.loads.values()].map((cell) => cell.trials));
}

/** Returns `true` if the run asks questions; assumed for runs without any cell. */
function hasQuestions({ run: { cells } }: View): boolean {
  return cells.length === 0 || cells.some((cell) => cell.workload !== SERVING && cell.workload !== DOCUMENTS && cell.workload !== FIDELITY && cell.workload !== DURABILITY);
}

/** What the run does in addition to loading, as text. */
function actionPhrase(view: View): string {
  const has = (name: string): boolean => view.run.cells.some((cell) => cell.workload === name);
  if (hasQuestions(view)) return 'asks the same questions';
  if (has(DOCUMENTS)) return 'copies and asks for them';
  if (has(DURABILITY)) return 'crashes them while clients write';
  return has(FIDELITY) ? 'reads each back' : 'sends the same operations from many clients';
}

/** The memory budgets of the configurations shown, as text. */
function budgets(view: View): string {
  const all = view.configurations.flatMap((index) => view.run.configurations[index] ?? []);
  const sized = [...new Set(all.flatMap((one) => (one.profile === MemoryProfile.Sized && one.memory_bytes !== null ? bytes(one.memory_bytes) : [])))];
  const words = [
    ...(sized.length > 0 ? [`sized for ${list(sized)} of memory each`] : []),
    ...(all.some((one) => one.profile === MemoryProfile.Stock) ? ['stock settings of the package'] : []),
  ];
  return words.length === 0 ? 'not stated' : words.join('; ');
}

function Facts(): JSX.Element {
  const { view, figures } = usePage();
  const { run } = view;
  const { machine, data } = run;
  const facts: [string, string][] = [
    ['Documents', `${integer(data.documents)}, ${bytes(data.bytes)} as text; ${data.source}`],
    ['Machine', `${counted(machine.cores, 'core')}, ${machine.processor}, ${bytes(machine.memory_bytes)} memory${run.disk_bytes_per_s === null ? '' : `, disk reads ${bytes(run.disk_bytes_per_s)}/s`}`],
    ['System', `${machine.os}, ${machine.kernel_release}, ${machine.architecture}${machine.file_system === null ? '' : `, ${machine.file_system}`}`],
    ['Memory profile', budgets(view)],
    ['Started', `${timestamp(run.started)}, ${counted(run.rounds, 'round')}${hasQuestions(view) ? ' of questions' : ''}, ${counted(loadsOf(view), 'load')} per configuration`],
    ['Program', `jsonathlon ${run.program}; page by ${figures.program}, ${timestamp(figures.created)}`],
  ];
  return <dl class="facts">{facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>;
}

/** The titles of the user's own questions as a sentence, shown first; empty if there are none. */
function questionList({ questions = [] }: Run): string {
  return questions.length === 0 ? '' : `Which database answers ${list(questions.map(({ title }) => `“${title}”`))} best? `;
}

/** The alarms of all runs of the page, whichever run is shown. */
function Alarms(): JSX.Element | null {
  const { figures } = usePage();
  const all = figures.runs.flatMap(({ name, headline = [] }) => headline.map((one) => ({ ...one, run: figures.runs.length > 1 ? `${name}: ` : '' })));
  if (all.length === 0) return null;
  return (
    <div class="alarms" role="alert">
      <h2>Durability promises broken</h2>
      <ul>{all.map(({ severity, text, run }) => <li key={`${run}${text}`} class={severity}>{run}{text}</li>)}</ul>
    </div>
  );
}

export function Header({ children }: { children: ComponentChildren }): JSX.Element {
  const { view, figures } = usePage();
  const { machine, data } = view.run;
  return (
    <section class="part top" aria-labelledby="title-top">
      <h1 id="title-top">jsonathlon: {integer(data.documents)} JSON documents{figures.runs.length > 1 ? `, run ${view.run.name}` : ''}</h1>
      <Alarms />
      <p class="what">
        {questionList(view.run)}jsonathlon loads the same documents into databases, {actionPhrase(view)}, checks every answer and measures. This run: {bytes(data.bytes)} of
        JSON, {counted(machine.cores, 'core')}, {bytes(machine.memory_bytes)} memory, {timestamp(view.run.started)}.
      </p>
      {children}
      <h2>The run</h2>
      <Facts />
    </section>
  );
}
