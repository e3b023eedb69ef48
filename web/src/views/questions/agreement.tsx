// Answers held against each other, question by question: who agrees, who differs, and the rule that explains it.

import type { JSX } from 'preact';

import type { Agreement as Found, Standing } from '../../model.ts';
import { counted, list } from '../../format.ts';
import { usePage } from '../../page.ts';
import { stepTitle } from '../../words.ts';
import { Section } from '../common/multiples.tsx';

const BASES: Record<Found['basis'], string> = {
  agreed: 'agreed', disputed: 'disputed: nobody is right', unverified: 'unverified: one system alone, or no reference',
  expected: 'compared with expected.json', reference: 'compared with the named reference', unanswered: 'unverified: nobody answered',
};

function nameOf({ system, version, variant }: Standing): string {
  return `${system} ${version} ${variant}`;
}

function Rows({ word, rows, count }: { word: string; rows: readonly (readonly unknown[])[]; count: number }): JSX.Element | null {
  if (rows.length === 0) return null;
  return (
    <p>{word} {count > rows.length ? `${counted(count, 'row')}, of which the first are ` : ''}
      {rows.map((row, index) => <><code key={index}>{JSON.stringify(row)}</code> </>)}
    </p>
  );
}

function Different({ of: one }: { of: Standing }): JSX.Element {
  return (
    <details>
      <summary><b>{nameOf(one)}</b> differs: {one.why ?? ''}{one.rule === undefined ? '' : `; ${one.rule}`}</summary>
      {one.rows !== undefined && <>
        <Rows word="It lacks" rows={one.rows.lacks} count={one.rows.lacking} />
        <Rows word="It has" rows={one.rows.has} count={one.rows.having} />
      </>}
    </details>
  );
}

function Question({ of: one, asks }: { of: Found; asks: string }): JSX.Element {
  const those = (answer: Standing['answer']): Standing[] => one.standings.filter((standing) => standing.answer === answer);
  const [same, failed, not] = [those('same'), those('failed'), those('not_asked')];
  return (
    <li>
      <h3>{stepTitle(one.question)}</h3>
      {asks !== '' && <p class="explained">{asks}</p>}
      <p><b>{BASES[one.basis]}</b>{same.length > 0 && `: ${list(same.map(nameOf))}`}.</p>
      {those('different').map((standing) => <Different key={nameOf(standing)} of={standing} />)}
      {failed.map((standing) => <p key={nameOf(standing)}><b>{nameOf(standing)}</b> failed: {standing.why ?? ''}</p>)}
      {not.length > 0 && <p>Not asked, for want of a statement: {list(not.map(nameOf))}.</p>}
    </li>
  );
}

export function Agreement(): JSX.Element | null {
  const { from: { run } } = usePage();
  const all = run.agreements ?? [];
  if (all.length === 0) return null;
  const asks = new Map((run.questions ?? []).map((one) => [one.name, one.asks]));
  return (
    <Section id="agreement" title="Answers">
      <p>
        Nobody knows the right answers beforehand: an answer is agreed when a strict majority of the systems, two at least, gives it. Numbers are compared by value,
        with a fraction within 1e-9; strings by their bytes; rows that tie in the stated order as a set.
      </p>
      <ul class="agreements">{all.map((one) => <Question key={one.question} of={one} asks={asks.get(one.question) ?? ''} />)}</ul>
    </Section>
  );
}
