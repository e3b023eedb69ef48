// Highest throughput per mix, how certain it is, and the caveats.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Leader } from '../../serving.ts';
import { counted } from '../../format.ts';
import { rankingTitle } from '../../labels.ts';
import { usePage } from '../../page.ts';
import { caveats, leaders, leaderSentence } from '../../serving.ts';
import { Phase, Verdict } from '../../vocabulary.ts';

const SURE = { shown: 'significant', 'not shown': 'not significant', once: 'too few rounds', alone: 'only one' } as const;

function Card({ leader }: { leader: Leader }): JSX.Element {
  const { view, open } = usePage();
  const { text, sure } = leaderSentence(leader);
  const { entry } = leader.best;
  const title = leader.group.title.charAt(0).toUpperCase() + leader.group.title.slice(1);
  return (
    <li class="finding">
      <h3>{title}</h3>
      {view.rankings.length > 1 && <p class="explained">{rankingTitle(leader.ranking)}</p>}
      <p class="sentence">{text.slice(title.length + 2)}</p>
      <p class={`sure ${sure.replace(' ', '-')}`}><b>{SURE[sure]}</b> Ratios are paired by round; intervals are 95 %.</p>
      <button type="button" class="quiet" onClick={() => open(entry)} aria-label={`Trials of: ${title}, ${rankingTitle(leader.ranking)}`}>Trials</button>
    </li>
  );
}

export function ServingFindings(): JSX.Element {
  const { view, evidence } = usePage();
  const all = useMemo(() => leaders(view), [view]);
  const lines = useMemo(() => caveats(view, evidence), [view, evidence]);
  const wrong = view.entries.filter((entry) => entry.cell.phase === Phase.Measured && entry.cell.verdict === Verdict.Wrong).length;
  const [first] = all;
  return (
    <>
      {first !== undefined && <p class="lead">{leaderSentence(first).text}</p>}
      <h2 id="title-serving-findings" tabIndex={-1}>Throughput at the best number of clients</h2>
      <p>
        {counted(view.configurations.length, 'configuration')}, ranked only within a durability tier. Every answer is checked;
        {wrong === 0 ? ' none here is wrong' : ` wrong ones have no throughput (${counted(wrong, 'cell')})`}. Read the caveats before you quote a result.
      </p>
      {all.length === 0 ? <p class="empty">No comparable results match the filters.</p>
        : <ul class="findings">{all.map((one) => <Card key={`${one.group.key} ${one.ranking}`} leader={one} />)}</ul>}
      <div class="caught">
        <h3>Caveats</h3>
        <ul class="catches">{lines.map((one) => <li key={`${one.title} ${one.line}`}><b>{one.title}:</b> {one.line}</li>)}</ul>
      </div>
    </>
  );
}
