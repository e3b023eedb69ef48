// The findings of a workload: all answers of the program, remarks of the workload, and the caveats.

import { useMemo } from 'preact/hooks';
import type { ComponentType, JSX } from 'preact';

import type { Caveat } from '../../caveats.ts';
import { findCaveats } from '../../caveats.ts';
import { usePage } from '../../page.ts';
import { caveats as servingCaveats } from '../../serving.ts';
import { SERVING } from '../../vocabulary.ts';
import { AnswerList } from './answers.tsx';
import { Section } from './multiples.tsx';

/** Caveats of the results shown, a line each with details on demand. */
function Caveats(): JSX.Element | null {
  const { view, evidence } = usePage();
  const found = useMemo((): Caveat[] => [
    ...findCaveats(view, evidence?.runs[view.runIndex] ?? null),
    ...(view.workload === SERVING ? servingCaveats(view, evidence).map((one) => ({ ...one, text: '' })) : []),
  ], [view, evidence]);
  if (found.length === 0) return null;
  return (
    <div class="caught">
      <h3>Caveats</h3>
      <ul class="catches">
        {found.map((one) => (
          <li key={`${one.title} ${one.line}`}>
            {one.text === '' ? <><b>{one.title}:</b> {one.line}</>
              : <details><summary><b>{one.title}:</b> {one.line}</summary><p>{one.text}</p></details>}
          </li>
        ))}
      </ul>
    </div>
  );
}

export function Findings({ remarks: Remarks }: { remarks: ComponentType | null }): JSX.Element {
  const { view } = usePage();
  const number = view.run.configurations.filter((one) => !one.reference).length;
  return (
    <Section id="findings" title="Findings">
      {view.configurations.length < number && <p class="explained">These sentences are about the whole run, also where configurations are filtered out.</p>}
      <AnswerList />
      {Remarks !== null && <Remarks />}
      <Caveats />
    </Section>
  );
}
