// Remarks on the answers of a serving run.

import type { JSX } from 'preact';

import { counted } from '../../format.ts';
import { usePage } from '../../page.ts';
import { Phase, Verdict } from '../../vocabulary.ts';
import { Term } from '../common/term.tsx';

export function ServingFindings(): JSX.Element {
  const { view } = usePage();
  const wrong = view.entries.filter((entry) => entry.cell.phase === Phase.Measured && entry.cell.verdict === Verdict.Wrong).length;
  return (
    <p>
      Configurations are ranked only within a durability <Term id="tier" />, each at its best number of clients. Every answer is checked;
      {wrong === 0 ? ' none here is wrong' : ` wrong ones have no throughput (${counted(wrong, 'cell')})`}. Ratios are paired by round. Read the caveats before you quote a result.
    </p>
  );
}
