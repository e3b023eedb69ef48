// Scores of the published formula, computed here over what is shown.

import { useMemo, useState } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Bar, Scale } from '../charts/bars.ts';
import type { Page } from '../page.ts';
import type { Basis, Scorer } from '../scoring.ts';
import type { Multiple } from './multiples.tsx';
import type { Table } from './table.tsx';
import { publishedBar, publishedHere } from '../bars.ts';
import { barsHeight, drawBars, multipleScale } from '../charts/bars.ts';
import { Figure } from '../charts/figure.tsx';
import { colourOf } from '../colours.ts';
import { NONE, or, three } from '../format.ts';
import { usePage } from '../page.ts';
import { scores } from '../score.ts';
import { scoredQuestions, scorers } from '../scoring.ts';
import { configurationName, stepName } from '../words.ts';
import { Multiples, Section } from './multiples.tsx';

type Kind = 'hot' | 'cold' | 'size';
/** What the axis of a score shows. */
export const SCORE_SCALE = (values: readonly number[]): Scale => multipleScale(values, three, 'score, less is better');
const KINDS: readonly Kind[] = ['hot', 'cold', 'size'];

function barOf(page: Page, one: Scorer, kind: Kind, questions: number): Bar | null {
  const configuration = page.from.run.configurations[one.configuration];
  if (configuration === undefined) return null;
  const value = one.score[kind];
  const lost = kind === 'size' ? 0 : one.missing[kind];
  const nothing = kind !== 'size' && lost === questions;
  const notes: string[] = [];
  if (page.from.rankings.length > 1 && one.ranking !== page.from.rankings[0]) notes.push(`apart: ${one.ranking}`);
  if (kind !== 'size' && one.approximate) notes.push('approximate');
  if (lost > 0 && !nothing) notes.push(`${lost} of ${questions} without a time`);
  const entry = one.entries[kind];
  const shown = nothing ? null : value;
  return {
    key: String(one.configuration), name: configurationName(configuration), notes, colour: colourOf(configuration.system),
    look: lost > 0 ? 'muted' : kind !== 'size' && one.approximate ? 'hatched' : 'plain',
    value: shown, low: null, high: null, label: shown === null ? 'no time' : three(shown),
    open: entry === null ? null : () => page.open(entry),
  };
}

function multiplesOf(page: Page, all: readonly Scorer[], basis: Basis): Multiple[] {
  const questions = scoredQuestions(page.from, basis);
  const others = publishedHere(page.from);
  const places = questions.filter((one) => /^q[1-5]$/.test(one)).map((one) => Number(one.slice(1)) - 1);
  const theirs = scores(others, places);
  const order = (one: Scorer): number => page.from.rankings.indexOf(one.ranking);
  return KINDS.map((kind) => {
    const sorted = [...all].sort((a, b) => {
      const late = (one: Scorer): number => (kind !== 'size' && one.missing[kind] > 0 ? 1 : 0);
      return order(a) - order(b) || late(a) - late(b) || (a.score[kind] ?? Infinity) - (b.score[kind] ?? Infinity);
    });
    return {
      key: kind,
      title: `Score: ${kind}${kind === 'size' ? ` (${page.from.state.data})` : ''}`,
      own: sorted.flatMap((one) => barOf(page, one, kind, questions.length) ?? []),
      published: others.map((one, index) => publishedBar(one, theirs[index]?.[kind] ?? null, three)),
      references: [],
    };
  });
}

function tableOf(page: Page, all: readonly Scorer[], basis: Basis): Table {
  const rows = [...all].sort((a, b) => (a.score.hot ?? Infinity) - (b.score.hot ?? Infinity)).map((one) => {
    const configuration = page.from.run.configurations[one.configuration];
    return [
      configuration === undefined ? NONE : configurationName(configuration), one.ranking, or(one.score.hot, three),
      or(one.score.cold, three), or(one.score.size, three), String(one.missing.hot), String(one.missing.cold),
    ];
  });
  return {
    title: `Scores over ${basis}`,
    columns: [
      { title: 'configuration' }, { title: 'ranked with' }, { title: 'hot', figure: true }, { title: 'cold', figure: true },
      { title: 'size', figure: true }, { title: 'hot times missing', figure: true }, { title: 'cold times missing', figure: true },
    ],
    rows,
  };
}

export function Scores(): JSX.Element {
  const page = usePage();
  const { from, evidence } = page;
  const [basis, setBasis] = useState<Basis>('medians');
  const trials = evidence?.runs[from.runIndex] ?? null;
  const needed = basis === 'medians' ? null : trials;
  const all = useMemo(() => scorers(from, basis, needed), [from, basis, needed]);
  const multiples = useMemo(() => multiplesOf(page, all, basis), [from, all, basis]);
  const waits = basis === 'round 1' && trials === null;
  return (
    <Section id="scores" title="Scores">
      <p>
        How many times slower than the best, over {scoredQuestions(from, basis).map(stepName).join(', ') || 'no question'}: the geometric mean of (10 ms + time) ÷ (10 ms + best time).
        A missing time counts as twice the worst one, two hours at least. Size: total ÷ smallest total. 1 is best.
        Scores are computed among what is shown, each ranking by itself: leave a system out and others change.
      </p>
      <fieldset class="inline">
        <legend>Computed over</legend>
        {(['medians', 'round 1'] as const).map((one) => (
          <label key={one}>
            <input type="radio" name="basis" checked={basis === one} onChange={() => setBasis(one)} />
            {one === 'medians' ? 'medians of verified trials' : 'round 1 as published: one cold trial, the better of two hot ones, Q1 to Q5'}
          </label>
        ))}
      </fieldset>
      {waits ? <p class="empty">Reading the trials …</p> : (
        <Multiples multiples={multiples} format={three} axis="score" scale={SCORE_SCALE} tables={() => [tableOf(page, all, basis)]}
          empty="Nothing to score: no configuration that is shown holds all documents." />
      )}
    </Section>
  );
}

/** Bars of the chart on the first screen. */
const FIRST = 8;

/** The hot scores of what ranks first, for the first screen. */
export function Glance(): JSX.Element | null {
  const page = usePage();
  const { from } = page;
  const bars = useMemo(() => {
    const ranked = scorers(from, 'medians', null).filter((one) => one.ranking === from.rankings[0] && one.missing.hot === 0);
    const [hot] = multiplesOf(page, ranked, 'medians');
    return hot?.own.slice(0, FIRST) ?? [];
  }, [from]);
  const draw = useMemo(() => {
    const scale = multipleScale(bars.flatMap((bar) => bar.value ?? []), three, 'times slower than the best');
    return (width: number) => drawBars(bars, [], scale, width, 'Hot, all questions together: times slower than the best');
  }, [bars]);
  if (bars.length === 0) return null;
  return <Figure title="Hot, all questions together: times slower than the best" height={barsHeight(bars.length, 0)} draw={draw} eager />;
}
