// Findings of the analytics workload by preparation class: the first, by how much, how certain, and the
// caveats.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Caveat } from '../../caveats.ts';
import type { Finding } from '../../findings.ts';
import type { View } from '../../view.ts';
import { findCaveats, isUncompared } from '../../caveats.ts';
import { findingsOf, headline, leading } from '../../findings.ts';
import { counted, seconds } from '../../format.ts';
import { classMeaning, isQuestion, rankingTitle } from '../../labels.ts';
import { usePage } from '../../page.ts';
import { Phase, QUESTIONS, Verdict } from '../../vocabulary.ts';
import { ScorePreview } from './scores.tsx';

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
function answersWords(view: View): string {
  if (!view.entries.some((entry) => isQuestion(entry.cell.step))) return '';
  const wrong = view.entries.filter((entry) => entry.cell.verdict === Verdict.Wrong).length;
  const rest = wrong === 0 ? 'none here is wrong' : `wrong ones have no time (${counted(wrong, 'result')})`;
  if (view.asking === QUESTIONS) {
    const doubted = view.entries.filter(({ cell }) => cell.verdict === Verdict.Disputed || cell.verdict === Verdict.Unverified).length;
    return `Every answer is compared with the one that systems agree on; ${rest}${doubted === 0 ? '' : `; ${counted(doubted, 'result')} of disputed or unverified answers, never ranked`}.`;
  }
  return `Every answer ${view.entries.some(isUncompared) ? 'with a reference ' : ''}is compared with the reference; ${rest}.`;
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
      <p class="sentence">{finding.sentence} {finding.runnersUp}</p>
      {changes && <p class="but">It changes documents: see the caveats.</p>}
      {finding.confidence !== '' && <p class={`sure ${finding.difference.replace(' ', '-')}`}><b>{SURE[finding.difference]}</b> {finding.confidence}</p>}
      {entry !== null && <button type="button" class="quiet" onClick={() => open(entry)} aria-label={`Trials of: ${finding.about}, ${rankingTitle(finding.ranking)}`}>Trials</button>}
    </li>
  );
}

/** Caveats of the findings, one line each; placed next to the findings if there is space. */
function Caveats({ found }: { found: readonly Caveat[] }): JSX.Element | null {
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
function OfClass({ ranked: { ranking, findings }, eager = false, children }: { ranked: Ranked; eager?: boolean; children?: JSX.Element }): JSX.Element {
  const { view } = usePage();
  const kind = view.kinds.get(ranking);
  const size = view.configurations.filter((index) => view.run.configurations[index]?.ranking === ranking).length;
  return (
    <>
      <h3 class="class">{rankingTitle(ranking)} <span class="count">{counted(size, 'configuration')}</span></h3>
      {kind !== undefined && <p class="explained">{classMeaning(kind.preparation)}</p>}
      <div class="glance">
        <div class="glance-chart"><ScorePreview ranking={ranking} eager={eager} /></div>
        <ul class="findings">{findings.map((finding) => <Card key={finding.about} finding={finding} />)}</ul>
        {children}
      </div>
    </>
  );
}

export function Findings(): JSX.Element {
  const { view, evidence } = usePage();
  const own = evidence?.runs[view.runIndex] ?? null;
  const all = useMemo(() => {
    const first = leading(view);
    const order = view.rankings.filter((one) => one !== first);
    return (first === undefined ? order : [first, ...order])
      .map((ranking): Ranked => ({ ranking, findings: findingsOf(view, ranking) })).filter((one) => one.findings.length > 0);
  }, [view]);
  const caught = useMemo(() => findCaveats(view, own), [view, own]);
  // The first ranking of each class is expanded; its other rankings, e.g. for another profile, are collapsed.
  const classes = new Set<string | null>();
  const [open, folded]: [Ranked[], Ranked[]] = [[], []];
  for (const one of all) {
    const preparation = view.kinds.get(one.ranking)?.preparation ?? null;
    (classes.has(preparation) ? folded : open).push(one);
    classes.add(preparation);
  }
  const lines = open.map((one) => headline(view, one.findings)).filter((line) => line !== '');
  const [main, ...others] = open;
  const number = view.run.configurations.filter((one) => !one.reference).length;
  return (
    <>
      {lines.length > 0 && <p class="lead">{lines[0]}</p>}
      {lines.slice(1).map((line) => <p key={line} class="second">{line}</p>)}
      <h2 id="title-findings" tabIndex={-1}>Findings</h2>
      <p>
        {counted(view.configurations.length, 'configuration')}{view.configurations.length < number ? ` of ${number} (others are filtered out)` : ''}
        {open.length > 1 ? ', ranked within their class of preparation' : ''}. {answersWords(view)} Read the caveats before you quote a result.
      </p>
      {main === undefined ? <p class="empty">No comparable results match the filters.</p> : <OfClass ranked={main} eager><Caveats found={caught} /></OfClass>}
      {others.map((one) => <OfClass key={one.ranking} ranked={one} />)}
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
  const { view } = usePage();
  const slowest = view.entries.filter((entry) => entry.configuration.reference && entry.cell.phase === Phase.Hot && entry.cell.median_s !== null);
  const most = Math.max(0, ...slowest.map((entry) => entry.cell.median_s ?? 0));
  if (most === 0) return null;
  return <p class="method">The yardstick, a hand-written program for exactly these questions, needs at most {seconds(most)} for any of them. It is never ranked.</p>;
}
