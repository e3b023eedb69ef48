// Scores by the published formula, computed over the configurations shown.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Bar } from '../../charts/rows.ts';
import type { Scale } from '../../charts/scale.ts';
import type { FigureData } from '../../export/csv.ts';
import type { Page } from '../../page.ts';
import type { Kind, ScoredConfiguration } from '../../scoring.ts';
import type { Basis } from '../../state.ts';
import type { Multiple } from '../common/multiples.tsx';
import type { Table, TableCell } from '../common/table.tsx';
import { groupOf } from '../../bars.ts';
import { drawIntervals } from '../../charts/intervals.ts';
import { rowChartHeight } from '../../charts/row-chart.ts';
import { ratioScale } from '../../charts/scale.ts';
import { colourOf } from '../../colours.ts';
import { counted, NONE, threeDigits } from '../../format.ts';
import { configurationName, rankingTitle, stepName } from '../../labels.ts';
import { usePage } from '../../page.ts';
import { scoredQuestions, scorers } from '../../scoring.ts';
import { BASES } from '../../state.ts';
import { Figure } from '../common/figure.tsx';
import { Multiples, Section } from '../common/multiples.tsx';

/** The scale of score charts: multiples of the best. */
export const SCORE_SCALE = (values: readonly number[]): Scale => ratioScale(values, threeDigits, 'score, less is better');
const KINDS: readonly Kind[] = ['hot', 'cold', 'size'];

function barOf(page: Page, one: ScoredConfiguration, kind: Kind): Bar | null {
  const configuration = page.view.run.configurations[one.configuration];
  if (configuration === undefined) return null;
  const side = one.sides[kind];
  const notes = side.approximate && side.word === null ? ['approximate', ...side.notes] : [...side.notes];
  const { entry } = side;
  const value = side.word === null ? side.value : null;
  return {
    key: String(one.configuration), name: configurationName(configuration), notes, group: groupOf(page.view, one.ranking), colour: colourOf(configuration.system),
    look: side.doubted ? 'muted' : side.approximate ? 'hatched' : 'plain',
    value, low: null, high: null, label: value === null ? side.word ?? NONE : threeDigits(value), more: '',
    open: entry === null ? null : () => page.open(entry),
  };
}

/**
 * Sorts by ranking; within it best first, then configurations that lack a time, last those without a score.
 */
function ordered(page: Page, all: readonly ScoredConfiguration[], kind: Kind): ScoredConfiguration[] {
  const ranking = (one: ScoredConfiguration): number => page.view.rankings.indexOf(one.ranking);
  const late = ({ sides }: ScoredConfiguration): number => (sides[kind].word !== null ? 2 : sides[kind].missing > 0 ? 1 : 0);
  return [...all].sort((a, b) =>
    ranking(a) - ranking(b) || late(a) - late(b) || (a.sides[kind].value ?? Infinity) - (b.sides[kind].value ?? Infinity) || 0);
}

function multiplesOf(page: Page, all: readonly ScoredConfiguration[]): Multiple[] {
  return KINDS.map((kind) => ({
    key: kind,
    title: `Score: ${kind}${kind === 'size' ? ` (${page.view.state.data})` : ''}`,
    own: all.some((one) => one.sides[kind].entry !== null) ? ordered(page, all, kind).flatMap((one) => barOf(page, one, kind) ?? []) : [],
    published: [],
    references: [],
  }));
}

/** The values of all score charts as a table, in the order of the hot scores. */
function tableOf(page: Page, all: readonly ScoredConfiguration[], basis: Basis): Table {
  const rows = ordered(page, all, 'hot').map((one): TableCell[] => {
    const configuration = page.view.run.configurations[one.configuration];
    const notes = KINDS.flatMap((kind) => {
      const bar = barOf(page, one, kind);
      return bar === null || bar.notes.length === 0 ? [] : [`${kind}: ${bar.notes.join(', ')}`];
    });
    return [
      configuration === undefined ? NONE : configurationName(configuration), one.ranking,
      ...KINDS.map((kind) => barOf(page, one, kind)?.label ?? NONE), notes.join('; ') || NONE,
    ];
  });
  return {
    title: `Scores over ${basis}`,
    columns: [
      { title: 'configuration', name: true }, { title: 'ranking', name: true }, ...KINDS.map((title) => ({ title, numeric: true })), { title: 'notes' },
    ],
    rows,
    groups: ordered(page, all, 'hot').map((one) => groupOf(page.view, one.ranking)),
  };
}

const BASIS_WORDS: Record<Basis, string> = {
  medians: 'medians of verified trials',
  'round 1': 'round 1 as published: one cold trial, the better of two hot ones, Q1 to Q5',
};

function questionsWords(page: Page, basis: Basis): string {
  const [hot, cold] = [scoredQuestions(page.view, basis, 'hot'), scoredQuestions(page.view, basis, 'cold')];
  const words = (questions: readonly string[]): string => questions.map((step) => stepName(step)).join(', ') || 'no question';
  return hot.join() === cold.join() ? words(hot) : `${words(hot)} (cold: ${words(cold)})`;
}

export function Scores(): JSX.Element {
  const page = usePage();
  const { view, evidence, change } = page;
  const { basis } = view.state;
  const trials = evidence?.runs[view.runIndex] ?? null;
  const needed = basis === 'medians' ? null : trials;
  const all = useMemo(() => scorers(view, basis, needed), [view, basis, needed]);
  const multiples = useMemo(() => multiplesOf(page, all), [view, all]);
  const open = basis === 'round 1' && !view.run.complete;
  return (
    <Section id="scores" title="Scores">
      <p>
        Times slower than the best over {questionsWords(page, basis)}: the geometric mean of (10 ms + time) ÷ (10 ms + best time).
        A missing time counts as twice the worst, at least two hours. Size: total ÷ smallest total. 1 is best.
        Scores are computed among what is shown, within each ranking: filter a system out and others change.
      </p>
      <fieldset class="inline">
        <legend>Computed from</legend>
        {BASES.map((one) => (
          <label key={one}>
            <input type="radio" name="basis" value={one} checked={basis === one} onChange={() => change({ basis: one })} />
            {BASIS_WORDS[one]}
          </label>
        ))}
      </fieldset>
      {open ? (
        <p class="empty">This run is not complete ({counted(view.run.open_trials, 'planned trial')} without a record), so it has no score over round 1: an open trial would count as a missing time.</p>
      ) : basis === 'round 1' && trials === null ? <p class="empty">Reading the trials …</p> : (
        <Multiples multiples={multiples} format={threeDigits} axis="score" scale={SCORE_SCALE} tables={() => [tableOf(page, all, basis)]}
          empty="Nothing to score: no configuration shown holds all documents." />
      )}
    </Section>
  );
}

/** Maximum number of bars in the chart on the first screen. */
const FIRST = 8;

const COMBINED_TITLE = 'all questions, hot, × of the first';

/** Chart of the hot scores of a ranking for the first screen. */
export function ScorePreview({ ranking, eager }: { ranking: string; eager: boolean }): JSX.Element | null {
  const page = usePage();
  const { view } = page;
  const bars = useMemo(() => {
    const whole = scorers(view, 'medians', null).filter((one) =>
      one.ranking === ranking && one.sides.hot.word === null && one.sides.hot.missing === 0);
    // Scored again without configurations that lack a time, so that none of them serves as the best of a
    // question.
    const among = scorers(view, 'medians', null, new Set(whole.map((one) => one.configuration)));
    const scored = ordered(page, among, 'hot').slice(0, FIRST).flatMap((one) => barOf(page, one, 'hot') ?? []);
    // As on the cards: relative to the first configuration, not to the best of each question.
    const first = Math.min(...scored.flatMap((bar) => bar.value ?? []));
    return scored.map((bar) => {
      const value = bar.value === null ? null : bar.value / first;
      return { ...bar, group: '', value, label: value === null ? bar.label : threeDigits(value) };
    });
  }, [view, ranking]);
  const title = view.rankings.length > 1 ? `${rankingTitle(ranking)}: ${COMBINED_TITLE}` : COMBINED_TITLE.replace('all', 'All');
  const draw = useMemo(() => {
    const scale = ratioScale(bars.flatMap((bar) => bar.value ?? []), threeDigits, 'score ÷ that of the first, less is better');
    return (width: number) => drawIntervals(bars, [], scale, width, title);
  }, [bars, title]);
  if (bars.length === 0) return null;
  const data = (): FigureData => ({ columns: ['name', 'notes', 'score'], rows: bars.map((bar) => [bar.name, bar.notes.join(', '), bar.value]) });
  return <Figure title={title} height={rowChartHeight(bars, 0)} draw={draw} data={data} eager={eager} />;
}
