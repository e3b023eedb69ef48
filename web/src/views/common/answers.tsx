// Answers of the page’s runs: one line for each workload on the first screen, and all of them in the findings.

import type { JSX } from 'preact';

import type { AnswerLine, CaveatWords } from '../../answer-lines.ts';
import type { Answer } from '../../model.ts';
import { answerLines, answersOf, caveatsInOrder, caveatWords, fullSentence, noteOf, rankingPrefix, sharedCaveats } from '../../answer-lines.ts';
import { counted } from '../../format.ts';
import { rankingTitle, workloadTitle } from '../../labels.ts';
import { usePage } from '../../page.ts';
import { tabChoice, toFragment } from '../../state.ts';
import { Sign } from './sign.tsx';
import { SentenceWithTerms, Term } from './term.tsx';

/** Lines that are shown before the reader asks for those of further runs. */
const LINES = 6;

/** Comparisons of a line that are shown before the reader asks for all. */
const COMPARISONS = 12;

/** A caveat. Its sign is a part of the button, so that no line ends between the two. */
function CaveatText({ caveat: { words, term } }: { caveat: CaveatWords }): JSX.Element {
  return <span class="caveat"> <Term id={term}><span aria-hidden="true">⚠ </span>{words}</Term></span>;
}

/** The sentence of an answer behind its ranking, with these caveats. */
function AnswerText({ answer, prefix = '', caveats = caveatWords(answer) }: { answer: Answer; prefix?: string; caveats?: readonly CaveatWords[] }): JSX.Element {
  return (
    <>
      <Sign of={answer.severity} /><SentenceWithTerms text={`${prefix}${fullSentence(answer)}`} />
      {caveats.map((caveat) => <CaveatText key={caveat.term} caveat={caveat} />)}
    </>
  );
}

/** Name of a line: its workload as a link to the tab, and the run if there are several. */
function LineName({ line }: { line: AnswerLine }): JSX.Element | null {
  const { figures, view } = usePage();
  const lines = answerLines(figures);
  const isOnly = new Set(lines.map(({ workload }) => workload)).size < 2;
  const run = lines.filter(({ workload }) => workload === line.workload).length > 1 ? figures.runs[line.run]?.name ?? '' : '';
  if (isOnly) return run === '' ? null : <b>{run}: </b>;
  const address = toFragment({ ...view.state, ...tabChoice(figures, line.run, line.workload), opened: null }, figures);
  return <b><a href={`#${address}`}>{workloadTitle(line.workload)}{run === '' ? '' : `, ${run}`}</a>: </b>;
}

/** Further comparisons of a line as a list, the last of many on demand. */
function Comparisons({ answers, children }: { answers: readonly Answer[]; children: (answer: Answer) => JSX.Element }): JSX.Element | null {
  if (answers.length === 0) return null;
  const all = (some: readonly Answer[]): JSX.Element => (
    <ul class="answers">{some.map((one) => <li key={`${one.ranking} ${one.sentence}`} class={`answer ${one.severity}`}>{children(one)}</li>)}</ul>
  );
  const others = answers.slice(COMPARISONS);
  return (
    <>
      {all(answers.slice(0, COMPARISONS))}
      {others.length > 0 && <details><summary>{counted(others.length, 'comparison')} more</summary>{all(others)}</details>}
    </>
  );
}

function Line({ line }: { line: AnswerLine }): JSX.Element {
  const compared = [...line.answers, ...line.details].filter(({ severity }) => severity !== 'failed');
  const hasRankings = new Set(compared.map(({ ranking }) => ranking)).size > 1;
  const shared = sharedCaveats([...line.answers, ...line.details]);
  const caveats = caveatsInOrder([...line.answers, ...line.details], shared);
  const prefixOf = (answer: Answer): string => (hasRankings && compared.includes(answer) ? rankingPrefix(answer) : '');
  const note = noteOf(line);
  return (
    <>
      {line.answers.map((answer, place) => (
        <p key={`${place} ${answer.ranking} ${answer.sentence}`} class={`lead ${answer.severity}`}>
          {place === 0 && <LineName line={line} />}<AnswerText answer={answer} prefix={prefixOf(answer)} caveats={caveats.get(answer)} />
        </p>
      ))}
      <Comparisons answers={line.details}>{(answer) => <AnswerText answer={answer} prefix={prefixOf(answer)} caveats={caveats.get(answer)} />}</Comparisons>
      {shared.length > 0 && <p class="lead-more">{shared.map((caveat) => <CaveatText key={caveat.term} caveat={caveat} />)}</p>}
      {note !== '' && <p class="lead-note">{note}</p>}
      {line.more > 0 && <p class="lead-more failed">and {counted(line.more, 'failure')} more: see the findings.</p>}
    </>
  );
}

/** What all runs of the page have answered, whichever is shown. */
export function Headline(): JSX.Element | null {
  const { figures } = usePage();
  const lines = answerLines(figures);
  if (lines.length === 0) return null;
  const all = (some: readonly AnswerLine[]): JSX.Element[] => some.map((line) => <Line key={`${line.workload} ${line.run}`} line={line} />);
  return (
    <div class="headline" role="region" aria-label="Answers">
      {all(lines.slice(0, LINES))}
      {lines.length > LINES && <details><summary>{counted(lines.length - LINES, 'run')} more</summary>{all(lines.slice(LINES))}</details>}
    </div>
  );
}

/** All answers of the run about the workload shown, by ranking. They speak for the whole run, whatever the filters show. */
export function AnswerList(): JSX.Element {
  const { view } = usePage();
  const answers = answersOf(view.run, view.workload);
  if (answers.length === 0) return <p class="empty">This run has no comparable results yet.</p>;
  const rankings = [...new Set(answers.map(({ ranking }) => ranking))];
  return (
    <>
      {rankings.map((ranking) => (
        <section key={ranking}>
          {rankings.length > 1 && ranking !== '' && <h3 class="class">{rankingTitle(ranking)}</h3>}
          <ul class="answers">
            {answers.filter((one) => one.ranking === ranking).map((one) => (
              <li key={`${one.subject} ${one.conditions} ${one.sentence}`} class={`answer ${one.severity}`}><AnswerText answer={one} /></li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}
