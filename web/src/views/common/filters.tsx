// Filters of the page; all of them are stored in the URL.

import { useMemo, useState } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Run } from '../../model.ts';
import type { State } from '../../state.ts';
import { count, counted, list, tick } from '../../format.ts';
import { rankingTitle, stepTitle } from '../../labels.ts';
import { metric, metricsOf } from '../../metric.ts';
import { usePage } from '../../page.ts';
import { choices, initial } from '../../state.ts';
import { hasWorkload, isAsking } from '../../view.ts';

type Sets = 'withoutSystems' | 'withoutVariants' | 'withoutClasses' | 'withoutProfiles' | 'withoutRankings' | 'withoutQuestions';

/** A filter by which values are left out one by one. */
interface BoxSet {
  legend: string;
  name: string;
  of: Sets;
  words: readonly string[];
  title: (word: string) => string;
}

/** Number of values from which on a filter has a search field. */
const MANY = 12;

function Boxes({ legend, name, words, of, title }: BoxSet): JSX.Element | null {
  const { view, change } = usePage();
  const [sought, seek] = useState('');
  const without = view.state[of];
  if (words.length < 2) return null;
  const put = (next: Iterable<string>): void => change({ [of]: new Set(next) });
  const found = words.filter((word) => title(word).toLowerCase().includes(sought.toLowerCase()));
  const toggle = (word: string, shown: boolean): void => put(shown ? [...without].filter((one) => one !== word) : [...without, word]);
  return (
    <fieldset class={`boxes ${name}`}>
      <legend>{legend} <span class="count">{words.length - words.filter((word) => without.has(word)).length}/{words.length}</span></legend>
      <div class="box-tools">
        {words.length >= MANY && (
          <input type="search" placeholder="find" aria-label={`Find in ${legend}`} value={sought} onInput={(event) => seek(event.currentTarget.value)} />
        )}
        <button type="button" class="quiet" onClick={() => put([...without].filter((word) => !found.includes(word)))} aria-label={`All of ${legend}`}>all</button>
        <button type="button" class="quiet" onClick={() => put([...without, ...found])} aria-label={`None of ${legend}`}>none</button>
      </div>
      <div class="box-list">
        {found.map((word) => (
          <label key={word}>
            <input type="checkbox" name={name} value={word} checked={!without.has(word)} onChange={(event) => toggle(word, event.currentTarget.checked)} />
            {title(word)}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface SelectProps {
  label: string;
  name: string;
  value: string;
  options: readonly (readonly [string, string])[];
  change: (to: string) => void;
}

function Select({ label, name, value, options, change }: SelectProps): JSX.Element {
  return (
    <label class="select">{label}
      <select name={name} value={value} onChange={(event) => change(event.currentTarget.value)}>
        {options.map(([key, words]) => <option key={key} value={key}>{words}</option>)}
      </select>
    </label>
  );
}

function RunAndScale(): JSX.Element | null {
  const { figures, view, change } = usePage();
  // Runs of other workloads have tabs of their own.
  const runs = figures.runs.map((run, index) => ({ run, index })).filter(({ run }) => hasWorkload(run, view.workload));
  if (runs.length < 2) return null;
  const scales = [...new Set(runs.map(({ run }) => run.data.documents))].sort((a, b) => a - b);
  const scale = view.run.data.documents;
  const sameScale = runs.flatMap(({ run, index }) => (run.data.documents === scale ? [[String(index), run.name] as const] : []));
  return (
    <>
      {scales.length > 1 && (
        <Select label="Scale" name="scale" value={String(scale)} options={scales.map((one) => [String(one), `${tick(count(one))} documents`] as const)}
          change={(to) => change({ run: runs.find(({ run }) => String(run.data.documents) === to)?.index ?? view.runIndex })} />
      )}
      {sameScale.length > 1 && <Select label="Run" name="run" value={String(view.runIndex)} options={sameScale} change={(to) => change({ run: Number(to) })} />}
    </>
  );
}

const STRUCTURES: readonly (readonly [State['structure'], string])[] = [
  ['all', 'all'], ['bytes', 'same bytes'], ['value', 'same values'], ['changed', 'changed'],
];

/** A filter that is set, as text, and the change that removes it. */
interface Chip {
  text: string;
  reset: Partial<State>;
}

/** Values left out that a chip names; more are counted. */
const NAMED = 2;

function chipsOf(state: State, own: State, sets: readonly BoxSet[]): Chip[] {
  const found = sets.flatMap(({ legend, of, words, title }): Chip[] => {
    const left = words.filter((word) => state[of].has(word));
    if (left.length === 0) return [];
    const text = left.length <= NAMED ? `without ${list(left.map(title))}` : `${legend}: ${words.length - left.length} of ${words.length}`;
    return [{ text, reset: { [of]: new Set<string>() } }];
  });
  if (state.metric !== own.metric) found.push({ text: `metric: ${metric(state.metric).title}`, reset: { metric: own.metric } });
  if (state.data !== own.data) found.push({ text: `data ${state.data}`, reset: { data: own.data } });
  if (state.structure !== own.structure) found.push({ text: `round trip: ${STRUCTURES.find(([name]) => name === state.structure)?.[1] ?? state.structure}`, reset: { structure: own.structure } });
  if (state.published !== own.published) found.push({ text: `published results of ${state.published}`, reset: { published: own.published } });
  return found;
}

/** Filters that are set, each with a button that removes it. */
function Chips({ chips }: { chips: readonly Chip[] }): JSX.Element | null {
  const { change } = usePage();
  if (chips.length === 0) return null;
  return (
    <ul class="chips" aria-label="Filters that are set">
      {chips.map(({ text, reset }) => (
        <li key={text}><button type="button" class="chip" onClick={() => change(reset)} aria-label={`Remove the filter: ${text}`}>{text} <span aria-hidden="true">×</span></button></li>
      ))}
    </ul>
  );
}

/** Rankings as a filter; empty if class and profile already determine the ranking. */
function furtherRankings(runs: readonly Run[], rankings: readonly string[]): readonly string[] {
  const own = runs.flatMap((run) => run.configurations).filter((one) => !one.reference);
  return rankings.length > new Set(own.map((one) => `${one.preparation} ${one.profile}`)).size ? rankings : [];
}

/** The filters of the tab. None has a single value, and those that are set stay in sight. */
export function Filters(): JSX.Element | null {
  const { figures, view, change } = usePage();
  const { state, workload } = view;
  const runs = useMemo(() => figures.runs.filter((run) => hasWorkload(run, workload)), [figures, workload]);
  const all = useMemo(() => choices(runs), [runs]);
  const metrics = useMemo(() => metricsOf(runs), [runs]);
  const sets = useMemo((): readonly BoxSet[] => {
    const titles = new Map(runs.flatMap((run) => run.configurations).map((one) => [one.system, one.title] as const));
    return [
      { legend: 'Class', name: 'classes', of: 'withoutClasses', words: all.classes, title: String },
      { legend: 'Memory profile', name: 'profiles', of: 'withoutProfiles', words: all.profiles, title: (word) => word || 'not stated' },
      { legend: 'Systems', name: 'systems', of: 'withoutSystems', words: all.systems, title: (word) => titles.get(word) ?? word },
      { legend: 'Variants', name: 'variants', of: 'withoutVariants', words: all.variants, title: String },
      { legend: 'Ranking', name: 'rankings', of: 'withoutRankings', words: furtherRankings(runs, all.rankings), title: rankingTitle },
      { legend: 'Questions', name: 'questions', of: 'withoutQuestions', words: all.questions, title: stepTitle },
    ];
  }, [runs, all]);
  const asked = isAsking(workload);
  const structures = useMemo(() => new Set(runs.flatMap((run) => run.configurations.flatMap((one) => one.structure?.retains ?? []))), [runs]);
  const snapshots = [...new Set(figures.published.filter((one) => one.scale === view.run.data.documents).map((one) => one.snapshot))].sort().reverse();
  const offered = state.published === '' || snapshots.includes(state.published) ? snapshots : [state.published, ...snapshots];
  const chips = chipsOf(state, initial(figures), sets);
  const offers = [runs.length > 1, asked && metrics.length > 1, all.states.length > 1, asked && structures.size > 1, asked && offered.length > 0, ...sets.map(({ words }) => words.length > 1)];
  if (!offers.includes(true) && chips.length === 0) return null;
  return (
    <div class="filter-bar" role="region" aria-label="Filters">
      <details class="filters">
        <summary>Filters</summary>
        <div class="filter-panel">
          <div class="controls">
            <RunAndScale />
            {asked && metrics.length > 1 && <Select label="Metric" name="metric" value={state.metric} options={metrics.map((one) => [one.name, one.title] as const)} change={(metric) => change({ metric })} />}
            {all.states.length > 1 && <Select label="State of the data" name="data" value={state.data} options={all.states.map((one) => [one, one] as const)} change={(data) => change({ data })} />}
            {asked && structures.size > 1 && <Select label="Round trip" name="structure" value={state.structure} options={STRUCTURES}
              change={(to) => change({ structure: STRUCTURES.find(([name]) => name === to)?.[0] ?? 'all' })} />}
            {asked && offered.length > 0 && <Select label="Published results" name="published" value={state.published}
              options={[['', 'off'], ...offered.map((one) => [one, `of ${one}`] as const)]} change={(published) => change({ published })} />}
            <button type="button" class="reset" onClick={() => change({ ...initial(figures), workload, run: state.run, opened: state.opened })}>Reset</button>
          </div>
          <div class="sets">
            {sets.map((one) => <Boxes key={one.name} {...one} />)}
          </div>
        </div>
      </details>
      <span class="count">{counted(view.configurations.length, 'configuration')} shown</span>
      <Chips chips={chips} />
    </div>
  );
}
