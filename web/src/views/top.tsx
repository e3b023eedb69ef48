// The first screen: what was run, what came out, how sure, and what the catch is.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Finding } from '../findings.ts';
import type { View } from '../select.ts';
import type { Catch } from '../catches.ts';
import { catches, isUncompared } from '../catches.ts';
import { findingsOf, headline } from '../findings.ts';
import { bytes, counted, moment, seconds, whole } from '../format.ts';
import { usePage } from '../page.ts';
import { isQuestion } from '../words.ts';
import { Glance } from './scores.tsx';

const SURE: Record<Finding['difference'], string> = {
  shown: 'difference shown', 'not shown': 'no difference shown', once: 'measured once', alone: 'alone',
};

const EXPLAINED: ReadonlyMap<string, string> = new Map([
  ['Fastest hot', 'hot: asked again and again, everything warmed up'],
  ['Fastest cold', 'cold: the first question after a start with nothing in memory'],
  ['Fastest to load', 'until all documents are on disk and can be asked for'],
  ['Smallest', 'the same after background work had ended by itself and after being told to tidy up'],
  ['Smallest (drained)', 'drained: after background work had ended by itself'],
  ['Smallest (compacted)', 'compacted: after being told to tidy up'],
]);

/** What is said of answers: only what is true of all that are shown. */
function answersWords(from: View): string {
  if (!from.entries.some((entry) => isQuestion(entry.cell.step))) return '';
  const wrong = from.entries.filter((entry) => entry.cell.verdict === 'wrong').length;
  const rest = `wrong answers have no time, and ${wrong === 0 ? 'there are none here' : `${counted(wrong, 'figure')} ${wrong === 1 ? 'is' : 'are'} missing for that`}.`;
  return from.entries.some(isUncompared)
    ? `Answers were compared with the right ones where there was one to compare with; ${rest}` : `Every answer was compared with the right one; ${rest}`;
}

function Facts(): JSX.Element {
  const { from: { run }, figures } = usePage();
  const { machine, data } = run;
  const facts: [string, string][] = [
    ['Documents', `${whole(data.documents)}, ${bytes(data.bytes)} as text; ${data.source}`],
    ['Machine', `${counted(machine.cores, 'core')}, ${machine.processor}, ${bytes(machine.memory_bytes)} memory${run.disk_bytes_per_s === null ? '' : `, disk reads ${bytes(run.disk_bytes_per_s)}/s`}`],
    ['System', `${machine.os}, ${machine.kernel}, ${machine.architecture}${machine.file_system === null ? '' : `, ${machine.file_system}`}`],
    ['Begun', `${moment(run.started)}, ${run.rounds === null ? 'rounds not told' : `questions in ${counted(run.rounds, 'round')}, each system loaded once`}`],
    ['Program', `jsonathlon ${run.program}; page by ${figures.program}, ${moment(figures.made)}`],
  ];
  return <dl class="facts">{facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>;
}

/** What of the catch touches a finding itself, so that nobody quotes the card without it. */
function butOf({ first, difference }: Finding, differently: boolean): string {
  if (first === null || difference === 'alone') return '';
  const buts = [
    ...(differently ? ['set-ups differ'] : []),
    ...(first.structure?.retains === 'changed' ? ['it does not give documents back as they were'] : []),
  ];
  return buts.length === 0 ? '' : `But ${buts.join(', and ')}: see the catch.`;
}

function Card({ finding, differently }: { finding: Finding; differently: boolean }): JSX.Element {
  const { open } = usePage();
  const { entry } = finding;
  const explained = EXPLAINED.get(finding.about);
  return (
    <li class="finding">
      <h3>{finding.about}</h3>
      {explained !== undefined && <p class="explained">{explained}</p>}
      <p class="sentence">{finding.sentence} {finding.after}</p>
      {butOf(finding, differently) !== '' && <p class="but">{butOf(finding, differently)}</p>}
      {finding.first !== null && <p class={`sure ${finding.difference.replace(' ', '-')}`}><b>{SURE[finding.difference]}</b> {finding.sure}</p>}
      {entry !== null && <button type="button" class="quiet" onClick={() => open(entry)} aria-label={`See the trials behind: ${finding.about}`}>See the trials</button>}
    </li>
  );
}

/** What must be known beside the findings: next to them, where there is room. */
function Caught({ found }: { found: readonly Catch[] }): JSX.Element | null {
  if (found.length === 0) return null;
  return (
    <div class="caught">
      <h2>The catch</h2>
      <ul class="catches">{found.map((one) => <li key={one.title}><b>{one.title}.</b> {one.text}</li>)}</ul>
    </div>
  );
}

export function Top(): JSX.Element {
  const { from, figures } = usePage();
  const [first, ...apart] = from.rankings;
  const main = useMemo(() => (first === undefined ? [] : findingsOf(from, first)), [from]);
  const others = useMemo(() => apart.map((ranking) => ({ ranking, findings: findingsOf(from, ranking) })), [from]);
  const all = from.run.configurations.filter((one) => !one.reference).length;
  const caught = useMemo(() => catches(from), [from]);
  const differently = caught.some((one) => one.title === 'Prepared differently');
  const { machine, data } = from.run;
  return (
    <section class="part top" aria-labelledby="title-findings">
      <h1>jsonathlon: {whole(from.run.data.documents)} JSON documents{figures.runs.length > 1 ? `, run ${from.run.name}` : ''}</h1>
      <p class="what">
        jsonathlon loads the same documents into databases, asks them the same questions, checks every answer and measures. Here: {bytes(data.bytes)} of
        JSON, {counted(machine.cores, 'core')}, {bytes(machine.memory_bytes)} memory, {moment(from.run.started)}.
      </p>
      {headline(main) !== '' && <p class="lead">{headline(main)}{caught.length > 0 ? ' What must be known with it: see the catch.' : ''}</p>}
      <h2 id="title-findings" tabIndex={-1}>Findings</h2>
      <p>
        Among {counted(from.configurations.length, 'configuration')}{from.configurations.length < all ? ` of ${all} (others are filtered out)` : ''}
        {first === undefined ? '' : from.rankings.length > 1 ? `, of those ranked as “${first}”` : ''}. {answersWords(from)}
      </p>
      {main.length === 0 ? <p class="empty">Nothing is chosen that can be compared.</p>
        : (
          <div class="glance">
            <div class="glance-chart"><Glance /></div>
            <ul class="findings">{main.map((finding) => <Card key={finding.about} finding={finding} differently={differently} />)}</ul>
            <Caught found={caught} />
          </div>
        )}
      {others.filter((one) => one.findings.length > 0).map(({ ranking, findings }) => (
        <details key={ranking} class="apart">
          <summary>Ranked apart: “{ranking}”</summary>
          <ul class="findings">{findings.map((finding) => <Card key={finding.about} finding={finding} differently={differently} />)}</ul>
        </details>
      ))}
      <p class="method">
        The fastest over several questions has the smallest geometric mean of (10 ms + time) ÷ (10 ms + best time), over medians. The interval of the ratio to the second is a
        cautious one, made of those of the single questions as if all were disturbed at once. Yardstick: a hand-written program that can answer these questions and nothing else, never ranked.
      </p>
      {main.length === 0 && <Caught found={caught} />}
      <Yardstick />
      <h2>The run</h2>
      <Facts />
    </section>
  );
}

function Yardstick(): JSX.Element | null {
  const { from } = usePage();
  const slowest = from.entries.filter((entry) => entry.configuration.reference && entry.cell.phase === 'hot' && entry.cell.median_s !== null);
  const most = Math.max(0, ...slowest.map((entry) => entry.cell.median_s ?? 0));
  if (most === 0) return null;
  return <p class="method">For scale: the yardstick needs at most {seconds(most)} for any of the questions here.</p>;
}
