// Every document of a fidelity run by kind, with its outcome in every configuration.

import { useMemo, useState } from 'preact/hooks';
import type { JSX } from 'preact';

import type { CaseKind, System } from '../../fidelity.ts';
import type { Table } from '../common/table.tsx';
import { caseKinds, isAsRequired, outcomeLabel, systemsOf } from '../../fidelity.ts';
import { counted, NONE } from '../../format.ts';
import { usePage } from '../../page.ts';
import { Section } from '../common/multiples.tsx';
import { MarkdownButton } from '../common/table.tsx';

const TITLE = 'Outcomes of all documents';

/** Number of documents up to which all kinds are open at first. */
const FEW = 40;

/** How many documents of a kind a system treats as the RFC requires, with a sign if not all of them. */
function summary({ cases }: CaseKind, { key }: System): { text: string; isWrong: boolean } {
  const results = cases.flatMap(({ by }) => {
    const result = by.get(key);
    const right = result === undefined ? null : isAsRequired(result);
    return right === null ? [] : [right];
  });
  const right = results.filter((one) => one).length;
  const isWrong = right < results.length;
  return { text: results.length === 0 ? NONE : `${isWrong ? '✖' : '✓'} ${right} of ${results.length}`, isWrong };
}

function tableOf(kinds: readonly CaseKind[], systems: readonly System[]): Table {
  return {
    title: TITLE,
    columns: [{ title: 'document' }, { title: 'kind' }, { title: 'the RFC' }, ...systems.map(({ name }) => ({ title: name }))],
    rows: kinds.flatMap(({ kind, cases }) => cases.map(({ document, by }) => [
      document.name, kind, document.requirement, ...systems.map(({ key }) => {
        const result = by.get(key);
        return result === undefined ? NONE : outcomeLabel(result);
      }),
    ])),
  };
}

interface KindProps {
  kind: CaseKind;
  systems: readonly System[];
  isOpen: boolean;
  toggle: () => void;
}

/** The documents of one kind below a row that counts them. */
function Kind({ kind, systems, isOpen, toggle }: KindProps): JSX.Element {
  const { open } = usePage();
  return (
    <tbody>
      <tr class="kind">
        <th scope="row"><button type="button" class="quiet" aria-expanded={isOpen} onClick={toggle}>{isOpen ? '▾' : '▸'} {kind.kind} ({kind.cases.length})</button></th>
        {systems.map((system) => {
          const { text, isWrong } = summary(kind, system);
          return <td key={system.key} class={isWrong ? 'bad' : ''}>{text}</td>;
        })}
      </tr>
      {isOpen && kind.cases.map(({ document, by }) => (
        <tr key={document.name}>
          <th scope="row" title={document.probes}>{document.name}</th>
          {systems.map(({ key, name }) => {
            const result = by.get(key);
            if (result === undefined) return <td key={key}>{NONE}</td>;
            const text = outcomeLabel(result);
            return (
              <td key={key}>
                <button type="button" class={isAsRequired(result) === false ? 'figure bad' : 'figure'} aria-label={`${document.name}, ${name}: ${text}`} onClick={() => open(result.entry)}>{text}</button>
              </td>
            );
          })}
        </tr>
      ))}
    </tbody>
  );
}

/** The matrix of documents by configuration. It is wider than a phone and scrolls inside itself. */
export function Cases(): JSX.Element {
  const { view } = usePage();
  const systems = useMemo(() => systemsOf(view), [view]);
  const kinds = useMemo(() => caseKinds(systems), [systems]);
  const number = kinds.reduce((sum, { cases }) => sum + cases.length, 0);
  const [chosen, choose] = useState<ReadonlySet<string> | null>(null);
  const shown = chosen ?? new Set(number <= FEW ? kinds.map(({ kind }) => kind) : []);
  const toggle = (kind: string): void => {
    const next = new Set(shown);
    if (!next.delete(kind)) next.add(kind);
    choose(next);
  };
  return (
    <Section id="cases" title="Documents by kind">
      <p>
        {counted(number, 'document')}: <b>✓</b> treated as the RFC requires, <b>✖</b> not, <b>◦</b> the implementation’s choice. The words say how the document came back, or whether it was
        accepted where nothing can come back. A kind opens its documents, an outcome its evidence.
      </p>
      {systems.length === 0 ? <p class="empty">No document was tried.</p> : (
        <div class="table">
          <div class="table-head"><h4>{TITLE}</h4><MarkdownButton title={TITLE} table={() => tableOf(kinds, systems)} /></div>
          <div class="scroll" tabIndex={0} role="region" aria-label={TITLE}>
            <table class="cases">
              <caption class="hidden">{TITLE}</caption>
              <thead><tr><th scope="col">kind and document</th>{systems.map(({ key, name }) => <th key={key} scope="col">{name}</th>)}</tr></thead>
              {kinds.map((one) => <Kind key={one.kind} kind={one} systems={systems} isOpen={shown.has(one.kind)} toggle={() => toggle(one.kind)} />)}
            </table>
          </div>
        </div>
      )}
    </Section>
  );
}
