// Filters of the page; all of them are stored in the URL.

import { useMemo, useState } from 'preact/hooks';
import type { JSX } from 'preact';

import type { State } from '../../state.ts';
import { count, integer, tick } from '../../format.ts';
import { rankingTitle, stepTitle } from '../../labels.ts';
import { metricsOf } from '../../metric.ts';
import { usePage } from '../../page.ts';
import { choices, initial } from '../../state.ts';
import { SERVING } from '../../vocabulary.ts';

type Sets = 'withoutSystems' | 'withoutVariants' | 'withoutClasses' | 'withoutProfiles' | 'withoutRankings' | 'withoutQuestions';

interface BoxesProps {
  legend: string;
  name: string;
  words: readonly string[];
  of: Sets;
  title?: (word: string) => string;
}

/** Number of values from which on a filter has a search field. */
const MANY = 12;

function Boxes({ legend, name, words, of, title = (word) => word }: BoxesProps): JSX.Element | null {
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
  const { runs } = figures;
  if (runs.length < 2) return null;
  const scales = [...new Set(runs.map((run) => run.data.documents))].sort((a, b) => a - b);
  const scale = view.run.data.documents;
  const sameScale = runs.flatMap((run, index) => (run.data.documents === scale ? [[String(index), run.name] as const] : []));
  return (
    <>
      {scales.length > 1 && (
        <Select label="Scale" name="scale" value={String(scale)} options={scales.map((one) => [String(one), `${tick(count(one))} documents`] as const)}
          change={(to) => change({ run: Math.max(0, runs.findIndex((run) => String(run.data.documents) === to)) })} />
      )}
      {sameScale.length > 1 && <Select label="Run" name="run" value={String(view.runIndex)} options={sameScale} change={(to) => change({ run: Number(to) })} />}
    </>
  );
}

const STRUCTURES: readonly (readonly [State['structure'], string])[] = [
  ['all', 'all'], ['bytes', 'same bytes'], ['value', 'same values'], ['changed', 'changed'],
];

export function Filters(): JSX.Element {
  const { figures, view, change } = usePage();
  const { state } = view;
  const all = useMemo(() => choices(figures.runs), [figures]);
  const metrics = useMemo(() => metricsOf(figures.runs), [figures]);
  const titles = useMemo(() => {
    const found = new Map<string, string>();
    for (const run of figures.runs) for (const one of run.configurations) if (!found.has(one.system)) found.set(one.system, one.title);
    return found;
  }, [figures]);
  // A ranking filter is shown only if class and profile do not already determine the ranking.
  const further = useMemo(() => {
    const own = figures.runs.flatMap((run) => run.configurations).filter((one) => !one.reference);
    return all.rankings.length > new Set(own.map((one) => `${one.preparation} ${one.profile}`)).size;
  }, [figures]);
  const snapshots = [...new Set(figures.published.filter((one) => one.scale === view.run.data.documents).map((one) => one.snapshot))].sort().reverse();
  const offered = state.published === '' || snapshots.includes(state.published) ? snapshots : [state.published, ...snapshots];
  // The following filters apply to loads and questions only.
  const asked = figures.runs.some(({ cells }) => cells.length === 0 || cells.some((cell) => cell.workload !== SERVING));
  const narrow = typeof matchMedia === 'function' && matchMedia('(max-width: 700px)').matches;
  return (
    <section class="filters" aria-label="Filters">
      <details open={!narrow}>
        <summary>Filters</summary>
        <div class="controls">
          <RunAndScale />
          {asked && <Select label="Metric" name="metric" value={state.metric} options={metrics.map((one) => [one.name, one.title] as const)} change={(metric) => change({ metric })} />}
          {all.states.length > 1 && <Select label="State of the data" name="data" value={state.data} options={all.states.map((one) => [one, one] as const)} change={(data) => change({ data })} />}
          {asked && <Select label="Round trip" name="structure" value={state.structure} options={STRUCTURES}
            change={(to) => change({ structure: STRUCTURES.find(([name]) => name === to)?.[0] ?? 'all' })} />}
          {asked && <Select label="Published results" name="published" value={state.published}
            options={[['', offered.length === 0 ? `none at ${integer(view.run.data.documents)} documents` : 'off'], ...offered.map((one) => [one, `of ${one}`] as const)]}
            change={(published) => change({ published })} />}
          <button type="button" class="reset" onClick={() => change({ ...initial(figures), opened: state.opened })}>Reset</button>
        </div>
        <div class="sets">
          <Boxes legend="Class" name="classes" words={all.classes} of="withoutClasses" />
          <Boxes legend="Memory profile" name="profiles" words={all.profiles} of="withoutProfiles" title={(word) => word || 'not stated'} />
          <Boxes legend="Systems" name="systems" words={all.systems} of="withoutSystems" title={(word) => titles.get(word) ?? word} />
          <Boxes legend="Variants" name="variants" words={all.variants} of="withoutVariants" />
          {further && <Boxes legend="Ranking" name="rankings" words={all.rankings} of="withoutRankings" title={rankingTitle} />}
          <Boxes legend="Questions" name="questions" words={all.questions} of="withoutQuestions" title={stepTitle} />
        </div>
      </details>
    </section>
  );
}
