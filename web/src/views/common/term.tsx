// A term of the glossary: a click shows its definition after it. Terms do not stand inside of other buttons.

import { useId, useState } from 'preact/hooks';
import type { ComponentChildren, JSX } from 'preact';

import type { TermId } from '../../glossary.ts';
import { definitionOf, GLOSSARY, piecesOf, termsOf } from '../../glossary.ts';
import { Section } from './multiples.tsx';

/** A word on the page with its definition; the term itself is shown if there are no children. */
export function Term({ id, children }: { id: TermId; children?: ComponentChildren }): JSX.Element {
  const [open, setOpen] = useState(false);
  const place = useId();
  return (
    <>
      <button type="button" class="term" aria-expanded={open} aria-controls={place} onClick={() => setOpen(!open)}>
        {children ?? GLOSSARY.find((one) => one.id === id)?.term ?? id}
      </button>
      <span id={place} class="definition" role="note" hidden={!open}>{definitionOf(id)}</span>
    </>
  );
}

/** A sentence whose terms can be clicked. Their definitions stand behind it, so that it can be read as a whole. */
export function SentenceWithTerms({ text }: { text: string }): JSX.Element {
  const [open, setOpen] = useState<TermId | null>(null);
  const place = useId();
  const terms = piecesOf(text).flatMap(({ term }) => term ?? []);
  return (
    <>
      {piecesOf(text).map(({ text: words, term }, index) => (term === null ? words : (
        <button key={`${index} ${term}`} type="button" class="term" title={definitionOf(term)} aria-expanded={open === term} aria-controls={`${place}-${term}`} onClick={() => setOpen(open === term ? null : term)}>
          {words}
        </button>
      )))}
      {[...new Set(terms)].map((term) => (
        <span key={term} id={`${place}-${term}`} class="definition" role="note" hidden={open !== term}>{definitionOf(term)}</span>
      ))}
    </>
  );
}

/** A line of terms below a table whose headings have no room for definitions. */
export function Terms({ ids }: { ids: readonly TermId[] }): JSX.Element | null {
  if (ids.length === 0) return null;
  return (
    <div class="terms" role="group" aria-label="Terms of this table">
      <span>What the words mean:</span>
      {[...new Set(ids)].map((id) => <span key={id} class="term-place"><Term id={id} /></span>)}
    </div>
  );
}

/** All terms of the page's workloads, for readers and for print. */
export function Glossary({ workloads }: { workloads: readonly string[] }): JSX.Element {
  return (
    <Section id="glossary" title="Glossary" ofRun={false}>
      <dl class="glossary">
        {termsOf(workloads).map(({ id, term, definition }) => <div key={id}><dt>{term}</dt><dd>{definition}</dd></div>)}
      </dl>
    </Section>
  );
}
