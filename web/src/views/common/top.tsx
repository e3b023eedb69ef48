// The first screen: what was run and how. The workloads add their findings in between.

import type { ComponentChildren, JSX } from 'preact';

import type { Run } from '../../model.ts';
import type { View } from '../../select.ts';
import { DOCUMENTS } from '../../documents.ts';
import { DURABILITY } from '../../durability.ts';
import { FIDELITY } from '../../fidelity.ts';
import { bytes, counted, list, moment, whole } from '../../format.ts';
import { usePage } from '../../page.ts';
import { SERVING } from '../../serving.ts';

/** Loads per configuration: the largest number among all configurations. */
function loadsOf(from: View): number {
  return Math.max(1, ...[...from.loads.values()].map((cell) => cell.trials));
}

/** Returns `true` if the run asks questions; assumed for runs without any cell. */
function asks({ run: { cells } }: View): boolean {
  return cells.length === 0 || cells.some((cell) => cell.workload !== SERVING && cell.workload !== DOCUMENTS && cell.workload !== FIDELITY && cell.workload !== DURABILITY);
}

/** What the run does besides loading, as text. */
function deeds(from: View): string {
  const has = (name: string): boolean => from.run.cells.some((cell) => cell.workload === name);
  if (asks(from)) return 'asks the same questions';
  if (has(DOCUMENTS)) return 'copies and asks for them';
  if (has(DURABILITY)) return 'stops them the hard way while clients write';
  return has(FIDELITY) ? 'reads each back' : 'sends the same operations from many clients';
}

/** The memory budgets of the configurations shown, as text. */
function budgets(from: View): string {
  const all = from.configurations.flatMap((index) => from.run.configurations[index] ?? []);
  const sized = [...new Set(all.flatMap((one) => (one.profile === 'sized' && one.memory_bytes !== null ? bytes(one.memory_bytes) : [])))];
  const words = [
    ...(sized.length > 0 ? [`sized for ${list(sized)} of memory each`] : []),
    ...(all.some((one) => one.profile === 'stock') ? ['stock settings of the package'] : []),
  ];
  return words.length === 0 ? 'not stated' : words.join('; ');
}

function Facts(): JSX.Element {
  const { from, figures } = usePage();
  const { run } = from;
  const { machine, data } = run;
  const facts: [string, string][] = [
    ['Documents', `${whole(data.documents)}, ${bytes(data.bytes)} as text; ${data.source}`],
    ['Machine', `${counted(machine.cores, 'core')}, ${machine.processor}, ${bytes(machine.memory_bytes)} memory${run.disk_bytes_per_s === null ? '' : `, disk reads ${bytes(run.disk_bytes_per_s)}/s`}`],
    ['System', `${machine.os}, ${machine.kernel}, ${machine.architecture}${machine.file_system === null ? '' : `, ${machine.file_system}`}`],
    ['Memory profile', budgets(from)],
    ['Started', `${moment(run.started)}, ${run.rounds === null ? 'rounds not stated' : `${counted(run.rounds, 'round')}${asks(from) ? ' of questions' : ''}, ${counted(loadsOf(from), 'load')} per configuration`}`],
    ['Program', `jsonathlon ${run.program}; page by ${figures.program}, ${moment(figures.made)}`],
  ];
  return <dl class="facts">{facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>;
}

/** The titles of the user's own questions as a sentence, shown first; empty if there are none. */
function asked({ questions = [] }: Run): string {
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

export function Top({ children }: { children: ComponentChildren }): JSX.Element {
  const { from, figures } = usePage();
  const { machine, data } = from.run;
  return (
    <section class="part top" aria-labelledby="title-top">
      <h1 id="title-top">jsonathlon: {whole(data.documents)} JSON documents{figures.runs.length > 1 ? `, run ${from.run.name}` : ''}</h1>
      <Alarms />
      <p class="what">
        {asked(from.run)}jsonathlon loads the same documents into databases, {deeds(from)}, checks every answer and measures. This run: {bytes(data.bytes)} of
        JSON, {counted(machine.cores, 'core')}, {bytes(machine.memory_bytes)} memory, {moment(from.run.started)}.
      </p>
      {children}
      <h2>The run</h2>
      <Facts />
    </section>
  );
}
