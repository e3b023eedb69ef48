// Remarks on the answers of a documents run.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import { disksOf, testsOf } from '../../documents.ts';
import { counted } from '../../format.ts';
import { usePage } from '../../page.ts';
import { Verdict } from '../../vocabulary.ts';

export function DocumentsFindings(): JSX.Element {
  const { view } = usePage();
  const tests = useMemo(() => testsOf(view), [view]);
  const wrong = tests.reduce((sum, test) => sum + test.entries.filter(({ cell }) => cell.verdict === Verdict.Wrong).length, 0);
  const alike = disksOf(view).every(({ cell }) => cell.parameters.data === 'identical');
  return (
    <>
      <p>
        {counted(view.configurations.length, 'configuration')} with tables of large documents: export, import, copy with a small change, lookup of one number, indexes.
        Every answer is compared by value; {wrong === 0 ? 'none here is wrong.' : `wrong ones have no time (${counted(wrong, 'cell')}).`}
      </p>
      {alike && <p>The documents are copies of each other, which flatters systems that share structure or compress; distinct ones show the rest.</p>}
    </>
  );
}
