// Remarks on the answers of a workload that asks questions: how its answers are checked, and the hot scores.

import type { JSX } from 'preact';

import type { View } from '../../view.ts';
import { isUncompared } from '../../caveats.ts';
import { counted, seconds } from '../../format.ts';
import { isQuestion } from '../../labels.ts';
import { usePage } from '../../page.ts';
import { leading } from '../../view.ts';
import { Phase, QUESTIONS, Verdict } from '../../vocabulary.ts';
import { Term } from '../common/term.tsx';
import { ScorePreview } from './scores.tsx';

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

export function Findings(): JSX.Element {
  const { view } = usePage();
  const main = leading(view);
  return (
    <>
      <p>
        Configurations are ranked within their <Term id="class" /> of preparation and <Term id="profile" />. {answersWords(view)} Read the caveats before you quote a result.
      </p>
      {main !== undefined && <ScorePreview ranking={main} eager />}
      <Yardstick />
    </>
  );
}

function Yardstick(): JSX.Element | null {
  const { view } = usePage();
  const slowest = view.entries.filter((entry) => entry.configuration.reference && entry.cell.phase === Phase.Hot && entry.cell.median_s !== null);
  const most = Math.max(0, ...slowest.map((entry) => entry.cell.median_s ?? 0));
  if (most === 0) return null;
  return <p class="method">The <Term id="of-yardstick">yardstick</Term>, a hand-written program for exactly these questions, needs at most {seconds(most)} for any of them. It is never ranked.</p>;
}
