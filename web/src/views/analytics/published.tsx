// Results published by others, scored among themselves.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { PublishedResult } from '../../model.ts';
import type { Doubt, Scored } from '../../score.ts';
import type { Kept } from '../../state.ts';
import type { Table } from '../common/table.tsx';
import { publishedBar } from '../../bars.ts';
import { bytes, count, formatOr, NONE, percent, seconds, threeDigits, tick } from '../../format.ts';
import { usePage } from '../../page.ts';
import { scores } from '../../score.ts';
import { KEPT } from '../../state.ts';
import { Multiples, Section } from '../common/multiples.tsx';
import { SCORE_SCALE } from './scores.tsx';

const QUESTIONS = [0, 1, 2, 3, 4];
const KINDS = ['hot', 'cold', 'size'] as const;
const KEPT_WORDS: Record<Kept, string> = { yes: 'retained, as stated', no: 'changed', all: 'all' };

function doubtOf(one: PublishedResult): Doubt {
  const about = (field: string): boolean => one.suspected_errors.some((it) => it.field === field);
  return { times: about('seconds'), size: about('total_bytes') };
}

/** Scores of published results among themselves. Suspected errors are shown but never serve as the best. */
function scoresOf(all: readonly PublishedResult[]): Scored[] {
  return scores(all, QUESTIONS, all.map(doubtOf));
}

function tableOf(all: readonly PublishedResult[]): Table {
  const scored = scoresOf(all);
  const doubted = all.map((one) => Number(doubtOf(one).times));
  const order = all.map((_, index) => index)
    .sort((a, b) => (doubted[a] ?? 0) - (doubted[b] ?? 0) || (scored[a]?.hot ?? Infinity) - (scored[b]?.hot ?? Infinity));
  return {
    title: 'Published results',
    columns: [
      { title: 'system' }, { title: 'version' }, { title: 'tags' }, { title: 'hot score', numeric: true }, { title: 'cold score', numeric: true }, { title: 'size score', numeric: true },
      { title: 'loaded', numeric: true }, { title: 'total', numeric: true },
      ...QUESTIONS.map((one) => ({ title: `Q${one + 1} cold / hot`, numeric: true })),
      { title: 'structure' }, { title: 'machine' }, { title: 'date' }, { title: 'suspected errors (inferences of this project)' }, { title: 'source' },
    ],
    rows: order.flatMap((index) => {
      const one = all[index];
      if (one === undefined) return [];
      return [[
        `${one.system}${one.suspected_errors.length > 0 ? ' ?' : ''}`, one.version, one.tags.join(' ') || NONE, formatOr(scored[index]?.hot, threeDigits), formatOr(scored[index]?.cold, threeDigits), formatOr(scored[index]?.size, threeDigits),
        percent(one.loaded_documents / one.scale), formatOr(one.total_bytes, bytes),
        ...QUESTIONS.map((question) => `${formatOr(one.cold[question], seconds)} / ${formatOr(one.hot[question], seconds)}`),
        one.retains_structure === null ? 'not stated' : one.retains_structure ? 'retained, as stated' : 'changed', one.machine, one.date ?? one.snapshot,
        one.suspected_errors.map((it) => `${it.field}: ${it.reason}`).join('; ') || NONE, one.source,
      ]];
    }),
  };
}

export function PublishedResults(): JSX.Element | null {
  const { figures, view, change } = usePage();
  const { published } = figures;
  const snapshots = useMemo(() => [...new Set(published.map((one) => one.snapshot))].sort().reverse(), [published]);
  const scales = useMemo(() => [...new Set(published.map((one) => one.scale))].sort((a, b) => a - b), [published]);
  const own = view.run.data.documents;
  const { month, kept, published: overlaid, scale: chosen } = view.state;
  const snapshot = month || overlaid || (snapshots[0] ?? '');
  const scale = chosen ?? (scales.includes(own) ? own : scales[scales.length - 1] ?? 0);
  const all = useMemo(() => published.filter((one) => one.snapshot === snapshot && one.scale === scale
    && (kept === 'all' || one.retains_structure === (kept === 'yes'))), [published, snapshot, scale, kept]);
  const multiples = useMemo(() => {
    const scored = scoresOf(all);
    return KINDS.map((kind) => ({
      // Results that are likely to be errors are never at the top of a chart.
      key: kind, title: `Published score: ${kind}`, own: all.map((one, index) => ({ doubted: kind === 'size' ? doubtOf(one).size : doubtOf(one).times, bar: publishedBar(one, scored[index]?.[kind] ?? null, threeDigits) }))
        .sort((a, b) => Number(a.doubted) - Number(b.doubted) || (a.bar.value ?? Infinity) - (b.bar.value ?? Infinity)).map(({ bar }) => bar), published: [], references: [],
    }));
  }, [all]);
  if (published.length === 0) return null;
  const doubted = all.filter((one) => one.suspected_errors.length > 0);
  return (
    <Section id="published" title="Published results" ofRun={false}>
      <p>Results of a public benchmark that asks Q1 to Q5, from other machines and by another method: answers were not checked, systems hold 70 to 100 % of the documents, and cold means different things. They are never ranked with this run. Results marked “?” are shown but are not a baseline for the scores of others.</p>
      <div class="controls">
        <label>Month <select name="month" value={snapshot} onChange={(event) => change({ month: event.currentTarget.value })}>{snapshots.map((one) => <option value={one}>{one}</option>)}</select></label>
        <label>Documents <select name="published-scale" value={String(scale)} onChange={(event) => change({ scale: Number(event.currentTarget.value) })}>{scales.map((one) => <option value={String(one)}>{tick(count(one))}</option>)}</select></label>
        <label>Structure <select name="kept" value={kept} onChange={(event) => change({ kept: KEPT.find((one) => one === event.currentTarget.value) ?? 'yes' })}>
          {KEPT.map((one) => <option value={one}>{KEPT_WORDS[one]}</option>)}
        </select></label>
      </div>
      <Multiples multiples={multiples} format={threeDigits} axis="score" scale={SCORE_SCALE} tables={() => [tableOf(all)]} empty="No such results. February 2025 does not state whether structure is retained: choose “all”." />
      {doubted.length > 0 && (
        <>
          <h3>Suspected errors</h3>
          <p>Inferred from the results by this project and not confirmed. The results stand as published.</p>
          <ul>{doubted.map((one) => <li key={one.source}><b>{[one.system, ...one.tags].join(' ')}</b>: {one.suspected_errors.map((it) => `${it.field}: ${it.reason}`).join('; ')}</li>)}</ul>
        </>
      )}
    </Section>
  );
}
