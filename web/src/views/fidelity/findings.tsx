// I-JSON safety of each configuration, and the documents that decide it.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { System } from '../../fidelity.ts';
import type { ConfigurationGrade } from '../../model.ts';
import type { Table } from '../common/table.tsx';
import { systemsOf } from '../../fidelity.ts';
import { counted, NONE } from '../../format.ts';
import { usePage } from '../../page.ts';
import { TableOf } from '../common/table.tsx';

/** Maximum number of documents named in a table cell. */
const NAMED = 6;

function gradesOf(systems: readonly System[], grades: readonly ConfigurationGrade[]): Table {
  return {
    title: 'I-JSON-safe',
    columns: [{ title: 'configuration', name: true }, { title: 'I-JSON-safe' }, { title: 'kept', numeric: true }, { title: 'because of' }],
    rows: systems.flatMap(({ key, name }) => {
      const found = grades.find((one) => String(one.configuration) === key);
      if (found === undefined) return [];
      const { safe, preserved_cases: preserved, deciding_cases: deciding, contradictions } = found;
      const more = contradictions.length > NAMED ? ` and ${contradictions.length - NAMED} more` : '';
      const grade = safe === null ? NONE : safe ? 'yes' : 'no';
      return [[name, grade, `${preserved} of ${deciding}`, `${contradictions.slice(0, NAMED).join(', ')}${more}`]];
    }),
  };
}

export function FidelityFindings(): JSX.Element {
  const { view } = usePage();
  const systems = useMemo(() => systemsOf(view), [view]);
  const documents = view.run.cases?.length ?? 0;
  return (
    <>
      <p>
        {counted(documents, 'document')} through {counted(systems.length, 'configuration')}: each alone into an empty table, by the bulk path and as one parameter, and out whole and as a value.
        A system is I-JSON-safe when every object of I-JSON (RFC 7493) goes in and comes back with the same value.
      </p>
      {systems.length > 0 && <TableOf table={gradesOf(systems, view.run.i_json ?? [])} />}
    </>
  );
}
