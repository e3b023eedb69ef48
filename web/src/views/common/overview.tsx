// The table of the first screen: who is how far from the best, in colours and in numbers.

import { useMemo, useState } from 'preact/hooks';
import type { JSX } from 'preact';

import type { OverviewCell, OverviewColumn, OverviewRow } from '../../overview.ts';
import { counted, times } from '../../format.ts';
import { classMeaning, rankingTitle } from '../../labels.ts';
import { colourLevel, LIMITS, overviewOf } from '../../overview.ts';
import { usePage } from '../../page.ts';
import { DURABILITY, FIDELITY } from '../../vocabulary.ts';
import { Section } from './multiples.tsx';
import { Sign } from './sign.tsx';
import { Terms } from './term.tsx';

/** Rows of each ranking before the reader asks for all. */
const ROWS = 12;

/** Id of the part, which other parts link to. */
export const OVERVIEW = 'overview';

function Cell({ cell, row, column }: { cell: OverviewCell | null; row: OverviewRow; column: OverviewColumn }): JSX.Element {
  const { open } = usePage();
  if (cell === null) return <td class="heat-none">–</td>;
  const { text, ratio, sign, remark } = cell;
  const small = remark !== '' ? remark : ratio === null ? '' : times(ratio);
  const compared = ratio === null || small === times(ratio) ? '' : `, ${times(ratio)} of the best`;
  return (
    <td class={ratio === null ? 'heat-none' : `heat-${colourLevel(ratio)}`}>
      <button type="button" class={sign === null ? 'heat' : `heat ${sign}`} onClick={() => open(cell.entry)}
        aria-label={`${row.name}, ${column.fullTitle}: ${text}${small === '' ? '' : `, ${small}`}${compared}${sign === null ? '' : `, ${sign === 'failed' ? 'failed' : 'with care'}`}`}>
        <Sign of={sign} /><span class="figure">{text}</span>{' '}{small !== '' && <small class={remark === '' ? 'figure' : ''}>{small}</small>}
      </button>
    </td>
  );
}

/** Headings above neighbouring columns, each with the number of its columns. */
function groupsOf(columns: readonly OverviewColumn[]): { title: string; size: number }[] {
  const groups: { title: string; size: number }[] = [];
  for (const { group } of columns) {
    const last = groups[groups.length - 1];
    if (last !== undefined && last.title === group) last.size += 1;
    else groups.push({ title: group, size: 1 });
  }
  return groups;
}

/** Rows of a ranking below its heading, if there are several rankings. */
function Ranking({ ranking, rows, columns, isOnly }: { ranking: string; rows: readonly OverviewRow[]; columns: readonly OverviewColumn[]; isOnly: boolean }): JSX.Element {
  return (
    <tbody>
      {!isOnly && <tr class="group"><th scope="colgroup" colSpan={columns.length + 1}><span>{rankingTitle(ranking)}</span></th></tr>}
      {rows.map((row) => (
        <tr key={row.configuration}>
          <th scope="row">{row.name}{row.remarks.length > 0 && <small>{row.remarks.join(', ')}</small>}</th>
          {columns.map((column, place) => <Cell key={column.key} cell={row.cells[place] ?? null} row={row} column={column} />)}
        </tr>
      ))}
    </tbody>
  );
}

/** What colours and signs of the cells mean. */
function meaningOfColours(workload: string): string {
  if (workload === DURABILITY) return 'Each cell counts crashes. It is coloured if nothing was lost in any of them. ⚠ counts those that lost only what the tier allows, ✖ those that lost more.';
  if (workload === FIDELITY) return 'Coloured where nothing was lost or changed. A sign stands where documents were.';
  return 'Coloured by the ratio to the best of the column within the ranking, among what is shown. A sign stands where a result is wrong, failed or not comparable.';
}

/** The colours with the ratios that they stand for. */
function Legend({ hasUnranked }: { hasUnranked: boolean }): JSX.Element {
  const limits = [1, ...LIMITS];
  return (
    <p class="legend heat-legend">
      {limits.map((limit, level) => <span key={limit} class={`swatch heat-${level}`}>{level === 0 ? `below ${limits[1]} ×` : `${limit} ×`}</span>)}
      <span>from that ratio on.</span>
      {hasUnranked && <span class="swatch heat-none">not ranked</span>}
    </p>
  );
}

export function Overview(): JSX.Element | null {
  const { view } = usePage();
  const [all, setAll] = useState(false);
  const { columns, rows, terms } = useMemo(() => overviewOf(view), [view]);
  const rankings = useMemo(() => [...new Set(rows.map(({ ranking }) => ranking))].map((ranking) => ({ ranking, rows: rows.filter((row) => row.ranking === ranking) })), [rows]);
  const isCounted = view.workload === FIDELITY || view.workload === DURABILITY;
  const isLimited = rankings.some((one) => one.rows.length > ROWS);
  const kinds = [...new Set(rankings.flatMap(({ ranking }) => view.kinds.get(ranking)?.preparation ?? []))];
  return (
    <Section id={OVERVIEW} title="At a glance">
      {rows.length === 0 ? <p class="empty">No comparable results match the filters.</p> : (
        <>
          <p>
            {meaningOfColours(view.workload)} A click opens the evidence of a cell.
          </p>
          <div class="scroll overview-scroll" tabIndex={0} role="region" aria-label="Results at a glance">
            <table class="overview">
              <caption class="hidden">Results at a glance</caption>
              <thead>
                <tr>
                  <th scope="col" rowSpan={2}>configuration</th>
                  {groupsOf(columns).map((group, place) => <th key={`${place} ${group.title}`} scope="colgroup" colSpan={group.size}><span>{group.title}</span></th>)}
                </tr>
                <tr>{columns.map((column) => <th key={column.key} scope="col" title={column.fullTitle}>{column.title}</th>)}</tr>
              </thead>
              {rankings.map((one) => (
                <Ranking key={one.ranking} ranking={one.ranking} rows={all ? one.rows : one.rows.slice(0, ROWS)} columns={columns} isOnly={rankings.length === 1} />
              ))}
            </table>
          </div>
          {!isCounted && <Legend hasUnranked={rows.some(({ cells }) => cells.some((cell) => cell !== null && cell.ratio === null))} />}
          {isLimited && (
            <p class="more">
              <button type="button" class="quiet" aria-pressed={all} onClick={() => setAll(!all)}>
                {all ? `Show the first ${ROWS} of each ranking only` : `Show all ${counted(rows.length, 'configuration')}`}
              </button>
            </p>
          )}
          {!isCounted && kinds.length === 1 && kinds[0] !== undefined && <p class="explained">{classMeaning(kinds[0])}</p>}
          <Terms ids={terms} />
        </>
      )}
    </Section>
  );
}
