// Comparison of answers by question: which systems agree, which differ, and the rule that explains the
// difference.

import type { JSX } from 'preact';

import type { Agreement as Found, Row, Standing } from '../../model.ts';
import { isEmpty, shown } from '../../answers.ts';
import { counted, list } from '../../format.ts';
import { usePage } from '../../page.ts';
import { stepTitle } from '../../words.ts';
import { Section } from '../common/multiples.tsx';

const BASES: Record<Found['basis'], string> = {
  agreed: 'agreed', disputed: 'disputed: nobody is right', unverified: 'unverified: one system alone, or no reference',
  other_documents: 'unverified: they hold other documents than each other, and could not be asked over the same ones',
  expected: 'compared with expected.json', reference: 'compared with the named reference', unanswered: 'unverified: nobody answered',
};

function nameOf({ system, version, variant }: Standing): string {
  return `${system} ${version} ${variant}`;
}

function Rows({ word, rows, count }: { word: string; rows: readonly Row[]; count: number }): JSX.Element | null {
  if (rows.length === 0) return null;
  return (
    <p>{word} {count > rows.length ? `${counted(count, 'row')}, of which the first are ` : ''}
      {rows.map((row, index) => <><code key={index}>{shown(row)}</code> </>)}
    </p>
  );
}

function Answer({ of: one }: { of: Found }): JSX.Element | null {
  if (one.first === undefined) return null;
  const { rows, count } = one.first;
  const columns = one.columns.join(', ');
  return (
    <>
      {rows.length === 0 ? <p>The answer ({columns}) has no rows.</p> : <Rows word={`The answer (${columns}):`} rows={rows} count={count} />}
      {isEmpty(one) && <p><b>The answer is empty</b>: no rows, or nothing but null and 0, in whoever agrees. Look whether the statements name what the documents have.</p>}
    </>
  );
}

function Statements({ of: one }: { of: Found }): JSX.Element | null {
  const asked = one.standings.filter((standing) => standing.statement !== undefined);
  if (asked.length === 0) return null;
  return (
    <details>
      <summary>What was asked</summary>
      {asked.map((standing) => <div key={nameOf(standing)}><p>{nameOf(standing)}, over {counted(standing.documents, 'document')}:</p><pre>{standing.statement}</pre></div>)}
    </details>
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
  const [same, failed, not, others] = [those('same'), those('failed'), those('not_asked'), those('other_documents')];
  const more = [...same, ...those('different')].filter((standing) => standing.documents !== one.documents);
  const holding = (standing: Standing): string => `${nameOf(standing)} holds ${counted(standing.documents, 'document')}`;
  return (
    <li>
      <h3>{stepTitle(one.question)}</h3>
      {asks !== '' && <p class="explained">{asks}</p>}
      <p><b>{BASES[one.basis]}</b>{same.length > 0 && `: ${list(same.map(nameOf))}`}.</p>
      {more.length > 0 && (
        <p>Compared over the {counted(one.documents, 'document')} that all of them hold; {list(more.map(holding))}, and is held against its own answer over these.</p>
      )}
      <Answer of={one} />
      <Statements of={one} />
      {those('different').map((standing) => <Different key={nameOf(standing)} of={standing} />)}
      {others.length > 0 && (
        <p><b>Not compared</b>, because the documents are others: {list(others.map(holding))}. Without a vote, and neither right nor wrong.</p>
      )}
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
        Nobody knows the right answers beforehand: an answer is agreed when a strict majority of the systems, two at least, gives it over documents that all of them hold. Numbers are compared by value,
        with a fraction within 1e-9; strings by their bytes; rows that tie in the stated order as a set.
      </p>
      <ul class="agreements">{all.map((one) => <Question key={one.question} of={one} asks={asks.get(one.question) ?? ''} />)}</ul>
    </Section>
  );
}
