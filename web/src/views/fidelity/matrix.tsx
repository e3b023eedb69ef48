// Matrices of documents by configuration; a number opens the documents it counts.

import { useMemo, useState } from 'preact/hooks';
import type { JSX } from 'preact';

import type { CaseResult, Line, System } from '../../fidelity.ts';
import type { Table, TableCell } from '../common/table.tsx';
import { evidenceOf, kindsOf, outcomesOf, pathsLabel, systemsOf } from '../../fidelity.ts';
import { counted, NONE } from '../../format.ts';
import { usePage } from '../../page.ts';
import { Section } from '../common/multiples.tsx';
import { TableOf } from '../common/table.tsx';

/** The row and configuration of an opened number. */
interface Behind {
  line: Line;
  system: System;
}

const MUST = { accept: 'must be accepted', reject: 'must be rejected', choose: 'implementation’s choice' } as const;

function documentsOf({ line, system }: Behind, out: readonly string[]): Table {
  const row = (tried: CaseResult): TableCell[] => {
    const { name, document, requirement, source, probes } = tried.document;
    return [
      name, document, `${MUST[requirement]} (${source}): ${probes}`,
      out.map((what) => pathsLabel(tried, what)).filter((text) => text !== '').join('; '), evidenceOf(tried, out).join(' ⏎ ') || NONE,
    ];
  };
  return {
    title: `${system.name}: ${line.title}`,
    columns: [{ title: 'document', name: true }, { title: 'text' }, { title: 'the RFC' }, { title: 'outcome' }, { title: 'its messages, what came back' }],
    rows: (line.by.get(system.key) ?? []).map(row),
  };
}

function Matrix({ title, systems, lines, out }: { title: string; systems: readonly System[]; lines: readonly Line[]; out: readonly string[] }): JSX.Element {
  const [behind, open] = useState<Behind | null>(null);
  const table: Table = {
    title,
    columns: [{ title: '', name: true }, ...systems.map(({ name }) => ({ title: name, numeric: true }))],
    rows: lines.map((line): TableCell[] => [
      line.title,
      ...systems.map((system): TableCell => {
        const count = line.by.get(system.key)?.length ?? 0;
        return count === 0 ? NONE : { text: String(count), open: () => open({ line, system }) };
      }),
    ]),
  };
  // A narrower filter may have removed what was opened.
  const shown = behind !== null && systems.some((system) => system.key === behind.system.key) ? behind : null;
  return (
    <>
      <TableOf table={table} />
      <div role="status">
        {shown !== null && <p>{counted(shown.line.by.get(shown.system.key)?.length ?? 0, 'document')} behind this number. <button type="button" class="quiet" onClick={() => open(null)}>Close</button></p>}
      </div>
      {shown !== null && <TableOf table={documentsOf(shown, out)} />}
    </>
  );
}

function useSystems(): readonly System[] {
  const { view } = usePage();
  return useMemo(() => systemsOf(view), [view]);
}

export function Outcomes(): JSX.Element {
  const systems = useSystems();
  const lines = useMemo(() => outcomesOf(systems), [systems]);
  return (
    <Section id="outcomes" title="Outcomes by document">
      <p>By any insert path. What must be rejected is outside of JSON’s grammar; what is the implementation’s choice is beyond what the RFC promises. A number opens the documents that it counts.</p>
      {systems.length === 0 ? <p class="empty">No document was tried.</p> : <Matrix title="Outcomes" systems={systems} lines={lines} out={['', ', whole']} />}
    </Section>
  );
}

export function Whole(): JSX.Element {
  const systems = useSystems();
  const lines = useMemo(() => kindsOf(systems, ', whole'), [systems]);
  return (
    <Section id="changes" title="How whole documents change">
      <p>Of documents that are JSON. White space, key order, the form of numbers and escapes leave the value as it is; everything else changes it.</p>
      {lines.length === 0 ? <p class="empty">No document came back changed.</p> : <Matrix title="Changes of whole documents" systems={systems} lines={lines} out={[', whole']} />}
    </Section>
  );
}

export function Extracted(): JSX.Element {
  const systems = useSystems();
  const lines = useMemo(() => kindsOf(systems, ', value'), [systems]);
  return (
    <Section id="extracted" title="How extracted values change">
      <p>The value of one member, by the system’s own way to extract it: the content of a string, NULL for null, JSON text of objects and arrays.</p>
      {lines.length === 0 ? <p class="empty">No value came out changed.</p> : <Matrix title="Changes of extracted values" systems={systems} lines={lines} out={[', value']} />}
    </Section>
  );
}
