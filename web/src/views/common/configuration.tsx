// Details of a configuration: class, settings with reasons, and other configurations of the same system.

import { useMemo, useState } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Configuration } from '../../model.ts';
import type { Page } from '../../page.ts';
import type { ScoredConfiguration } from '../../scoring.ts';
import { bytes, counted, integer, NONE, seconds, threeDigits } from '../../format.ts';
import { classMeaning, configurationName, profileLabel, rankingTitle, roundTripLabel, stepName } from '../../labels.ts';
import { totalBytes } from '../../metric.ts';
import { usePage } from '../../page.ts';
import { hotRatio, scorers } from '../../scoring.ts';
import { differs } from '../../stats.ts';
import { cellsOf } from '../../view.ts';
import { DataState, Phase } from '../../vocabulary.ts';
import { Section } from './multiples.tsx';
import { TableOf } from './table.tsx';

export function KeyValueList({ entries }: { entries: readonly (readonly [string, string])[] }): JSX.Element {
  return <dl class="pairs">{entries.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>;
}

/** All settings of a configuration, with reasons and sources. */
export function Settings({ configuration }: { configuration: Configuration }): JSX.Element {
  const others = Object.entries(configuration.other_questions);
  return (
    <>
      <KeyValueList entries={[
        ['system', `${configuration.title} ${configuration.version}`], ['variant', `${configuration.variant}: ${configuration.variant_title}`],
        ['class', configuration.preparation], ['memory profile', profileLabel(configuration)],
        ['ranking', configuration.reference || !configuration.ranked ? 'never ranked' : configuration.ranking], ['storage', configuration.storage],
        ['runs', configuration.embedded ? 'embedded in the harness: no network in its times' : `as a server${configuration.transport === null ? '' : ` over ${configuration.transport}`}`],
        ['round trip', configuration.structure === null ? 'not checked' : roundTripLabel(configuration.structure.retains)],
        ...(configuration.parallel_unit === null ? [] : [['unit of parallel work', `${integer(configuration.parallel_unit)} documents`] as const]),
        ['support', configuration.end_of_life ? 'end of life' : configuration.outdated === null ? 'current' : `released on ${configuration.outdated}, not the newest`],
        ['configuration digest', configuration.configuration_digest], ['artifact digest', configuration.artifact_digest ?? NONE],
      ]} />
      {!configuration.reference && <p class="explained">{classMeaning(configuration.preparation)}</p>}
      {configuration.settings.length > 0 && (
        <TableOf table={{
          title: 'Memory settings',
          columns: [{ title: 'setting' }, { title: 'value' }, { title: 'stock' }, { title: 'source' }],
          rows: configuration.settings.map((it) => [it.name, it.value, it.stock, it.source]),
        }} />
      )}
      {configuration.exceptions.length > 0 && (
        <>
          <h4>Other settings that differ from the defaults</h4>
          <ul class="exceptions">{configuration.exceptions.map((it) => <li><code>{it.what}</code>: {it.why}</li>)}</ul>
        </>
      )}
      {configuration.settings.length + configuration.exceptions.length === 0 && !configuration.reference && <p class="empty">No setting differs from the defaults.</p>}
      {others.length > 0 && (
        <>
          <h4>Statements that ask something else</h4>
          <ul>{others.map(([step, why]) => <li>{stepName(step)}: {why}</li>)}</ul>
        </>
      )}
    </>
  );
}

/** The other configurations of the same system, each with the same metric. */
export function OtherVariants({ run: runIndex, cell: cellIndex }: { run: number; cell: number }): JSX.Element | null {
  const { figures, open } = usePage();
  const run = figures.runs[runIndex];
  const cell = run?.cells[cellIndex];
  const own = cell && run?.configurations[cell.configuration];
  if (run === undefined || cell === undefined || own === undefined) return null;
  const found = run.cells.flatMap((other, index) => {
    const configuration = run.configurations[other.configuration];
    const same = configuration !== undefined && configuration.system === own.system && other.configuration !== cell.configuration
      && other.workload === cell.workload && other.step === cell.step && other.phase === cell.phase && other.state === cell.state;
    return same ? [{ index, configuration, other }] : [];
  });
  if (found.length === 0) return null;
  return (
    <>
      <h4>Other configurations of {own.title} in this run</h4>
      <ul class="siblings">
        {found.map(({ index, configuration, other }) => (
          <li key={index}>
            <button type="button" class="figure" onClick={() => open({ run: runIndex, index })}>{configurationName(configuration)}</button>
            {` ${[rankingTitle(configuration.ranking), ...(other.median_s === null ? [] : [seconds(other.median_s)])].join(', ')}: ${configuration.variant_title}`}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Configurations that are shown to be faster than all others of their system within a ranking. */
function bestOfSystem({ view }: Page, all: readonly ScoredConfiguration[]): ReadonlySet<number> {
  const groups = new Map<string, { index: number; score: number }[]>();
  for (const { configuration: index, ranking, sides: { hot } } of all) {
    const configuration = view.run.configurations[index];
    if (configuration === undefined || hot.value === null || hot.word !== null || hot.missing > 0) continue;
    const key = JSON.stringify([ranking, configuration.system]);
    groups.set(key, [...groups.get(key) ?? [], { index, score: hot.value }]);
  }
  return new Set([...groups.values()].flatMap((group) => {
    const [first, ...others] = group.sort((a, b) => a.score - b.score);
    const isSlower = (other: number): boolean => {
      const by = first === undefined ? null : hotRatio(view, other, first.index);
      return by !== null && differs(by) === true;
    };
    return first !== undefined && others.length > 0 && others.every(({ index }) => isSlower(index)) ? [first.index] : [];
  }));
}

function Item({ configuration, facts, best }: { configuration: Configuration; facts: readonly string[]; best: boolean }): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <details class="configuration" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {configurationName(configuration)}{best && <span class="tag">fastest of {configuration.title} here</span>}
        <span class="facts-line">{[configuration.variant_title, ...facts].join(' · ')}</span>
      </summary>
      {open && <Settings configuration={configuration} />}
    </details>
  );
}

/** All configurations by preparation class, fastest first. */
export function Configurations(): JSX.Element {
  const page = usePage();
  const { view } = page;
  const scored = useMemo(() => scorers(view, 'medians', null), [view]);
  const best = useMemo(() => bestOfSystem(page, scored), [view]);
  const scoreOf = useMemo(() => new Map(scored.map((one) => [one.configuration, one.sides.hot.missing === 0 && one.sides.hot.word === null ? one.sides.hot.value : null])), [scored]);
  const sizeOf = useMemo(() => new Map([DataState.Drained, DataState.Compacted].flatMap((state) =>
    cellsOf(view, 'size', [Phase.Steady], state).map((entry) => [entry.cell.configuration, totalBytes(entry.cell)] as const))), [view]);
  return (
    <Section id="configurations" title="Configurations">
      <p>What was set, where the advice stands, and why anything differs from the defaults. Fastest first within each ranking.</p>
      {view.rankings.map((ranking) => {
        const indexes = view.configurations.filter((index) => view.run.configurations[index]?.ranking === ranking)
          .sort((a, b) => (scoreOf.get(a) ?? Infinity) - (scoreOf.get(b) ?? Infinity) || 0);
        return (
          <section key={ranking}>
            <h3>{rankingTitle(ranking)} <span class="count">{counted(indexes.length, 'configuration')}</span></h3>
            {indexes.map((index) => {
              const configuration = view.run.configurations[index];
              if (configuration === undefined) return null;
              const [score, size] = [scoreOf.get(index), sizeOf.get(index)];
              const facts = [
                ...(configuration.profile === null ? [] : [profileLabel(configuration)]),
                ...(score == null ? [] : [`hot score ${threeDigits(score)}`]), ...(size == null ? [] : [bytes(size)]),
              ];
              return <Item key={index} configuration={configuration} facts={facts} best={best.has(index)} />;
            })}
          </section>
        );
      })}
    </Section>
  );
}
