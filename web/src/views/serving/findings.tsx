// Highest throughput per mix, how certain it is, and the caveats.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Leading } from '../../serving.ts';
import { counted } from '../../format.ts';
import { usePage } from '../../page.ts';
import { caveats, leading, sentence } from '../../serving.ts';
import { rankingTitle } from '../../words.ts';

const SURE = { shown: 'significant', 'not shown': 'not significant', once: 'too few rounds', alone: 'only one' } as const;

function Card({ of }: { of: Leading }): JSX.Element {
  const { from, open } = usePage();
  const { text, sure } = sentence(of);
  const { entry } = of.best;
  const title = of.group.title.charAt(0).toUpperCase() + of.group.title.slice(1);
  return (
    <li class="finding">
      <h3>{title}</h3>
      {from.rankings.length > 1 && <p class="explained">{rankingTitle(of.ranking)}</p>}
      <p class="sentence">{text.slice(title.length + 2)}</p>
      <p class={`sure ${sure.replace(' ', '-')}`}><b>{SURE[sure]}</b> Ratios are paired by round; intervals are 95 %.</p>
      <button type="button" class="quiet" onClick={() => open(entry)} aria-label={`Trials of: ${title}, ${rankingTitle(of.ranking)}`}>Trials</button>
    </li>
  );
}

export function ServingFindings(): JSX.Element {
  const { from, evidence } = usePage();
  const all = useMemo(() => leading(from), [from]);
  const lines = useMemo(() => caveats(from, evidence), [from, evidence]);
  const wrong = from.entries.filter((entry) => entry.cell.phase === 'measured' && entry.cell.verdict === 'wrong').length;
  const [first] = all;
  return (
    <>
      {first !== undefined && <p class="lead">{sentence(first).text}</p>}
      <h2 id="title-serving-findings" tabIndex={-1}>Throughput at the best number of clients</h2>
      <p>
        {counted(from.configurations.length, 'configuration')}, ranked only within a durability tier. Every answer is checked;
        {wrong === 0 ? ' none here is wrong' : ` wrong ones have no throughput (${counted(wrong, 'cell')})`}. Read the caveats before you quote a figure.
      </p>
      {all.length === 0 ? <p class="empty">Nothing to compare in this choice.</p>
        : <ul class="findings">{all.map((one) => <Card key={`${one.group.key} ${one.ranking}`} of={one} />)}</ul>}
      <div class="caught">
        <h3>Caveats</h3>
        <ul class="catches">{lines.map((one) => <li key={`${one.title} ${one.line}`}><b>{one.title}:</b> {one.line}</li>)}</ul>
      </div>
    </>
  );
}
