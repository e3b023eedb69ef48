// Findings of the analytics workload by preparation class: the first, by how much, how certain, and the
// caveats.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Finding } from '../../findings.ts';
import type { View } from '../../select.ts';
import type { Catch } from '../../catches.ts';
import { catches, isUncompared } from '../../catches.ts';
import { findingsOf, headline, leading } from '../../findings.ts';
import { counted, seconds } from '../../format.ts';
import { usePage } from '../../page.ts';
import { QUESTIONS } from '../../select.ts';
import { classMeaning, isQuestion, rankingTitle } from '../../words.ts';
import { Glance } from './scores.tsx';

const SURE: Record<Finding['difference'], string> = {
  shown: 'significant', 'not shown': 'not significant', once: 'too few rounds', counted: 'counted', alone: 'only one',
};

const EXPLAINED: ReadonlyMap<string, string> = new Map([
  ['Fastest hot', 'asked repeatedly, data in memory'],
  ['Fastest cold', 'first question after a restart, files not in memory'],
  ['Fastest to load', 'until all documents are durable and visible'],
  ['Smallest', 'drained: background work done; compacted: after a command to compact'],
]);

/** A statement on the correctness of answers that holds for all cells shown. */
function answersWords(from: View): string {
  if (!from.entries.some((entry) => isQuestion(entry.cell.step))) return '';
  const wrong = from.entries.filter((entry) => entry.cell.verdict === 'wrong').length;
  const rest = wrong === 0 ? 'none here is wrong' : `wrong ones have no time (${counted(wrong, 'figure')})`;
  if (from.asking === QUESTIONS) {
    const doubted = from.entries.filter(({ cell }) => cell.verdict === 'disputed' || cell.verdict === 'unverified').length;
    return `Every answer is compared with the one that systems agree on; ${rest}${doubted === 0 ? '' : `; ${counted(doubted, 'figure')} of disputed or unverified answers, never ranked`}.`;
  }
  return `Every answer ${from.entries.some(isUncompared) ? 'with a reference ' : ''}is compared with the reference; ${rest}.`;
}

function Card({ finding }: { finding: Finding }): JSX.Element {
  const { open } = usePage();
  const { entry } = finding;
  const explained = EXPLAINED.get(finding.about);
  const changes = finding.first?.structure?.retains === 'changed' && finding.difference !== 'alone';
  return (
    <li class="finding">
      <h4>{finding.about}</h4>
      {explained !== undefined && <p class="explained">{explained}</p>}
      <p class="sentence">{finding.sentence} {finding.after}</p>
      {changes && <p class="but">It changes documents: see the caveats.</p>}
      {finding.sure !== '' && <p class={`sure ${finding.difference.replace(' ', '-')}`}><b>{SURE[finding.difference]}</b> {finding.sure}</p>}
      {entry !== null && <button type="button" class="quiet" onClick={() => open(entry)} aria-label={`Trials of: ${finding.about}, ${rankingTitle(finding.ranking)}`}>Trials</button>}
    </li>
  );
}

/** Caveats of the findings, one line each; placed next to the findings if there is space. */
function Caveats({ found }: { found: readonly Catch[] }): JSX.Element | null {
  if (found.length === 0) return null;
  return (
    <div class="caught">
      <h3>Caveats</h3>
      <ul class="catches">
        {found.map((one) => (
          <li key={one.title}>
            {one.text === '' ? <><b>{one.title}:</b> {one.line}</>
              : <details><summary><b>{one.title}:</b> {one.line}</summary><p>{one.text}</p></details>}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface Ranked {
  ranking: string;
  findings: Finding[];
}

/** The findings of a preparation class: its chart and cards. */
function OfClass({ of: { ranking, findings }, eager = false, children }: { of: Ranked; eager?: boolean; children?: JSX.Element }): JSX.Element {
  const { from } = usePage();
  const kind = from.kinds.get(ranking);
  const size = from.configurations.filter((index) => from.run.configurations[index]?.ranking === ranking).length;
  return (
    <>
      <h3 class="class">{rankingTitle(ranking)} <span class="count">{counted(size, 'configuration')}</span></h3>
      {kind !== undefined && <p class="explained">{classMeaning(kind.preparation)}</p>}
      <div class="glance">
        <div class="glance-chart"><Glance ranking={ranking} eager={eager} /></div>
        <ul class="findings">{findings.map((finding) => <Card key={finding.about} finding={finding} />)}</ul>
        {children}
      </div>
    </>
  );
}

export function Findings(): JSX.Element {
  const { from, evidence } = usePage();
  const own = evidence?.runs[from.runIndex] ?? null;
  const all = useMemo(() => {
    const first = leading(from);
    const order = from.rankings.filter((one) => one !== first);
    return (first === undefined ? order : [first, ...order])
      .map((ranking): Ranked => ({ ranking, findings: findingsOf(from, ranking) })).filter((one) => one.findings.length > 0);
  }, [from]);
  const caught = useMemo(() => catches(from, own), [from, own]);
  // The first ranking of each class is expanded; its other rankings, e.g. for another profile, are collapsed.
  const classes = new Set<string | null>();
  const [open, folded]: [Ranked[], Ranked[]] = [[], []];
  for (const one of all) {
    const preparation = from.kinds.get(one.ranking)?.preparation ?? null;
    (classes.has(preparation) ? folded : open).push(one);
    classes.add(preparation);
  }
  const lines = open.map((one) => headline(from, one.findings)).filter((line) => line !== '');
  const [main, ...others] = open;
  const number = from.run.configurations.filter((one) => !one.reference).length;
  return (
    <>
      {lines.length > 0 && <p class="lead">{lines[0]}</p>}
      {lines.slice(1).map((line) => <p key={line} class="second">{line}</p>)}
      <h2 id="title-findings" tabIndex={-1}>Findings</h2>
      <p>
        {counted(from.configurations.length, 'configuration')}{from.configurations.length < number ? ` of ${number} (others are filtered out)` : ''}
        {open.length > 1 ? ', ranked within their class of preparation' : ''}. {answersWords(from)} Read the caveats before you quote a figure.
      </p>
      {main === undefined ? <p class="empty">Nothing to compare in this choice.</p> : <OfClass of={main} eager><Caveats found={caught} /></OfClass>}
      {others.map((one) => <OfClass key={one.ranking} of={one} />)}
      {folded.map((one) => (
        <details key={one.ranking} class="apart">
          <summary>{rankingTitle(one.ranking)}</summary>
          <ul class="findings">{one.findings.map((finding) => <Card key={finding.about} finding={finding} />)}</ul>
        </details>
      ))}
      {main !== undefined && <p class="method">
        Over several questions, the score decides: the geometric mean of (10 ms + time) ÷ (10 ms + best time), over medians. It weighs all questions alike, and tiny differences
        hardly count. The interval of the ratio to the second is a cautious one: it combines those of the single questions as if all were disturbed at once.
      </p>}
      {main === undefined && <Caveats found={caught} />}
      <Yardstick />
    </>
  );
}

function Yardstick(): JSX.Element | null {
  const { from } = usePage();
  const slowest = from.entries.filter((entry) => entry.configuration.reference && entry.cell.phase === 'hot' && entry.cell.median_s !== null);
  const most = Math.max(0, ...slowest.map((entry) => entry.cell.median_s ?? 0));
  if (most === 0) return null;
  return <p class="method">The yardstick, a hand-written program for exactly these questions, needs at most {seconds(most)} for any of them. It is never ranked.</p>;
}
