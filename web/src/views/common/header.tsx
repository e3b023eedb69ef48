// The top of the page: title, broken promises, what each workload has answered; and the facts of a run.

import type { JSX } from 'preact';

import type { Run } from '../../model.ts';
import type { View } from '../../view.ts';
import { bytes, counted, integer, list, timestamp, unbroken } from '../../format.ts';
import { workloadTitle } from '../../labels.ts';
import { usePage } from '../../page.ts';
import { isAsking, workloadsOf } from '../../view.ts';
import { DOCUMENTS, DURABILITY, FIDELITY, MemoryProfile, SERVING } from '../../vocabulary.ts';
import { Headline } from './answers.tsx';
import { Section } from './multiples.tsx';

/** Loads per configuration: the largest number among all configurations. */
function loadsOf(view: View): number {
  return Math.max(1, ...[...view.loads.values()].map((cell) => cell.trials));
}

/** What the workload shown does in addition to loading, as text. */
function actionPhrase({ workload }: View): string {
  switch (workload) {
    case DOCUMENTS: return 'copies and asks for them';
    case DURABILITY: return 'crashes them while clients write';
    case FIDELITY: return 'reads each back';
    case SERVING: return 'sends the same operations from many clients';
    default: return 'asks the same questions';
  }
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

/** What was run and how, as a part of the page. */
export function RunFacts(): JSX.Element {
  const { view, figures } = usePage();
  const { run } = view;
  const { machine, data } = run;
  const facts: [string, string][] = [
    ['Documents', `${integer(data.documents)}, ${bytes(data.bytes)} as text; ${data.source}`],
    ['Machine', `${counted(machine.cores, 'core')}, ${machine.processor}, ${bytes(machine.memory_bytes)} memory${run.disk_bytes_per_s === null ? '' : `, disk reads ${bytes(run.disk_bytes_per_s)}/s`}`],
    ['System', `${machine.os}, ${machine.kernel_release}, ${machine.architecture}${machine.file_system === null ? '' : `, ${machine.file_system}`}`],
    ['Memory profile', budgets(view)],
    ['Started', `${timestamp(run.started)}, ${counted(run.rounds, 'round')}${isAsking(view.workload) ? ' of questions' : ''}, ${counted(loadsOf(view), 'load')} per configuration`],
    ['Program', `jsonathlon ${run.program}; page by ${figures.program}, ${timestamp(figures.created)}`],
  ];
  return (
    <Section id="run" title="The run" ofRun={false}>
      <dl class="facts">{facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
    </Section>
  );
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
  const broken = all.filter(({ severity }) => severity === 'failed').length;
  return (
    <div class="alarms" role="alert">
      <h2>Durability {broken === 1 ? 'promise' : 'promises'} broken</h2>
      <ul>{all.map(({ severity, text, run }, place) => <li key={`${place} ${text}`} class={severity}>{severity === 'failed' ? run : ''}{unbroken(text)}</li>)}</ul>
    </div>
  );
}

/** What the page holds: the workloads if there are several, else the workload with its documents and the run. */
function title({ figures, run }: View): string {
  const workloads = workloadsOf(figures.runs);
  if (workloads.length > 1) return `jsonathlon: ${list(workloads.map(workloadTitle))}`;
  return `${workloads.map(workloadTitle).join('')}: ${integer(run.data.documents)} JSON documents${figures.runs.length > 1 ? `, run ${run.name}` : ''}`;
}

export function Header(): JSX.Element {
  const { view } = usePage();
  const { machine, data } = view.run;
  return (
    <section class="part top" aria-labelledby="title-top">
      <h1 id="title-top">{title(view)}</h1>
      <Alarms />
      <Headline />
      <p class="what">
        {questionList(view.run)}jsonathlon loads the same documents into databases, {actionPhrase(view)}, checks every answer and measures. {workloadsOf(view.figures.runs).length > 1 ? `The run of ${workloadTitle(view.workload)}` : 'This run'}: {bytes(data.bytes)} of
        JSON, {counted(machine.cores, 'core')}, {bytes(machine.memory_bytes)} memory, {timestamp(view.run.started)}.
      </p>
    </section>
  );
}
