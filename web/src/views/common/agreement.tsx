// Comparison of answers by question: which systems agree, which differ, and the rule that explains the
// difference.

import type { JSX } from 'preact';

import type { Row } from '../../answers.ts';
import type { Agreement as Found, ConfigurationAnswer } from '../../model.ts';
import { isEmpty, shown } from '../../answers.ts';
import { counted, list } from '../../format.ts';
import { stepTitle } from '../../labels.ts';
import { usePage } from '../../page.ts';
import { Section } from './multiples.tsx';

const BASES: Record<Found['basis'], string> = {
  agreed: 'agreed', disputed: 'disputed: no answer counts as right', unverified: 'unverified: one system alone, or no reference',
  other_documents: 'unverified: they hold other documents than each other, and could not be asked over the same ones',
  expected: 'compared with expected.json', reference: 'compared with the named reference', unanswered: 'unverified: no system answered',
};

function nameOf({ system, version, variant }: ConfigurationAnswer): string {
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

function Answer({ agreement }: { agreement: Found }): JSX.Element | null {
  if (agreement.first === undefined) return null;
  const { rows, count } = agreement.first;
  const columns = agreement.columns.join(', ');
  return (
    <>
      {rows.length === 0 ? <p>The answer ({columns}) has no rows.</p> : <Rows word={`The answer (${columns}):`} rows={rows} count={count} />}
      {isEmpty(agreement) && <p><b>The answer is empty</b>: no rows, or nothing but null and 0, in every answer that agrees. Check that the statements name what the documents have.</p>}
    </>
  );
}

function Statements({ agreement }: { agreement: Found }): JSX.Element | null {
  const asked = agreement.answers.filter((standing) => standing.statement !== undefined);
  if (asked.length === 0) return null;
  return (
    <details>
      <summary>What was asked</summary>
      {asked.map((standing) => <div key={nameOf(standing)}><p>{nameOf(standing)}, over {counted(standing.documents, 'document')}:</p><pre>{standing.statement}</pre></div>)}
    </details>
  );
}

function Different({ answer }: { answer: ConfigurationAnswer }): JSX.Element {
  return (
    <details>
      <summary><b>{nameOf(answer)}</b> differs: {answer.why ?? ''}{answer.rule === undefined ? '' : `; ${answer.rule}`}</summary>
      {answer.rows !== undefined && <>
        <Rows word="Missing:" rows={answer.rows.missing_rows} count={answer.rows.missing_count} />
        <Rows word="Has instead:" rows={answer.rows.extra_rows} count={answer.rows.extra_count} />
      </>}
    </details>
  );
}

function Question({ agreement, asks }: { agreement: Found; asks: string }): JSX.Element {
  const answersOf = (answer: ConfigurationAnswer['answer']): ConfigurationAnswer[] => agreement.answers.filter((standing) => standing.answer === answer);
  const [same, failed, not, others] = [answersOf('same'), answersOf('failed'), answersOf('not_asked'), answersOf('other_documents')];
  const more = [...same, ...answersOf('different')].filter((standing) => standing.documents !== agreement.documents);
  const holding = (standing: ConfigurationAnswer): string => `${nameOf(standing)} holds ${counted(standing.documents, 'document')}`;
  return (
    <li>
      <h3>{stepTitle(agreement.question)}</h3>
      {asks !== '' && <p class="explained">{asks}</p>}
      <p><b>{BASES[agreement.basis]}</b>{same.length > 0 && `: ${list(same.map(nameOf))}`}.</p>
      {more.length > 0 && (
        <p>Compared over the {counted(agreement.documents, 'document')} that all of them hold; {list(more.map(holding))}, and is compared with its own answer over these.</p>
      )}
      <Answer agreement={agreement} />
      <Statements agreement={agreement} />
      {answersOf('different').map((standing) => <Different key={nameOf(standing)} answer={standing} />)}
      {others.length > 0 && (
        <p><b>Not compared</b>, because the documents are others: {list(others.map(holding))}. Without a vote, and neither right nor wrong.</p>
      )}
      {failed.map((standing) => <p key={nameOf(standing)}><b>{nameOf(standing)}</b> failed: {standing.why ?? ''}</p>)}
      {not.length > 0 && <p>Not asked (no statement): {list(not.map(nameOf))}.</p>}
    </li>
  );
}

export function Agreement(): JSX.Element | null {
  const { view: { run } } = usePage();
  const all = run.agreements ?? [];
  if (all.length === 0) return null;
  const asks = new Map((run.questions ?? []).map((one) => [one.name, one.asks]));
  return (
    <Section id="agreement" title="Answers">
      <p>
        The right answers are not known beforehand: an answer is agreed when a strict majority of the systems, two at least, gives it over documents that all of them hold. Numbers are compared by value,
        with a fraction within 1e-9; strings by their bytes; rows that tie in the stated order as a set.
      </p>
      <ul class="agreements">{all.map((one) => <Question key={one.question} agreement={one} asks={asks.get(one.question) ?? ''} />)}</ul>
    </Section>
  );
}
