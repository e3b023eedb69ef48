// Details of a configuration: class, settings with reasons, and other configurations of the same system.

import { useMemo, useState } from 'preact/hooks';
import type { JSX } from 'preact';

import type { Configuration } from '../../model.ts';
import type { Page } from '../../page.ts';
import type { Scorer } from '../../scoring.ts';
import { hotRatio } from '../../findings.ts';
import { bytes, counted, NONE, seconds, three, whole } from '../../format.ts';
import { totalBytes } from '../../metric.ts';
import { usePage } from '../../page.ts';
import { scorers } from '../../scoring.ts';
import { cellsOf } from '../../select.ts';
import { differs } from '../../stats.ts';
import { classMeaning, classWord, configurationName, profileWord, rankingTitle, retainsWord, stepName } from '../../words.ts';
import { Section } from './multiples.tsx';
import { TableOf } from './table.tsx';

export function Pairs({ of }: { of: readonly (readonly [string, string])[] }): JSX.Element {
  return <dl class="pairs">{of.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>;
}

/** All settings of a configuration, with reasons and sources. */
export function Settings({ one }: { one: Configuration }): JSX.Element {
  const others = Object.entries(one.other_questions);
  return (
    <>
      <Pairs of={[
        ['system', `${one.title} ${one.version}`], ['variant', `${one.variant}: ${one.variant_title}`],
        ['class', classWord(one.preparation)], ['memory profile', profileWord(one)],
        ['ranking', one.reference || !one.ranked ? 'never ranked' : one.ranking], ['storage', one.storage],
        ['runs', one.embedded ? 'embedded in the harness: no network in its times' : `as a server${one.transport === null ? '' : ` over ${one.transport}`}`],
        ['round trip', one.structure === null ? 'not checked' : retainsWord(one.structure.retains)],
        ...(one.parallel_unit === null ? [] : [['unit of parallel work', `${whole(one.parallel_unit)} documents`] as const]),
        ['support', one.end_of_life ? 'end of life' : one.outdated === null ? 'current' : `released on ${one.outdated}, not the newest`],
        ['configuration digest', one.configuration_digest], ['artifact digest', one.artifact_digest ?? NONE],
      ]} />
      {!one.reference && one.preparation !== null && <p class="explained">{classMeaning(one.preparation)}</p>}
      {one.settings.length > 0 && (
        <TableOf table={{
          title: 'Memory settings',
          columns: [{ title: 'setting' }, { title: 'value' }, { title: 'stock' }, { title: 'source' }],
          rows: one.settings.map((it) => [it.name, it.value, it.stock ?? NONE, it.source ?? NONE]),
        }} />
      )}
      {one.exceptions.length > 0 && (
        <>
          <h4>Other settings that differ from the defaults</h4>
          <ul class="exceptions">{one.exceptions.map((it) => <li><code>{it.what}</code>: {it.why}</li>)}</ul>
        </>
      )}
      {one.settings.length + one.exceptions.length === 0 && !one.reference && <p class="empty">No setting differs from the defaults.</p>}
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
export function Siblings({ run: runIndex, cell: cellIndex }: { run: number; cell: number }): JSX.Element | null {
  const { figures, open } = usePage();
  const run = figures.runs[runIndex];
  const cell = run?.cells[cellIndex];
  const own = cell && run?.configurations[cell.configuration];
  if (run === undefined || cell === undefined || own === undefined) return null;
  const found = run.cells.flatMap((one, index) => {
    const configuration = run.configurations[one.configuration];
    const same = configuration !== undefined && configuration.system === own.system && one.configuration !== cell.configuration
      && one.workload === cell.workload && one.step === cell.step && one.phase === cell.phase && one.state === cell.state;
    return same ? [{ index, configuration, one }] : [];
  });
  if (found.length === 0) return null;
  return (
    <>
      <h4>Other configurations of {own.title} in this run</h4>
      <ul class="siblings">
        {found.map(({ index, configuration, one }) => (
          <li key={index}>
            <button type="button" class="figure" onClick={() => open({ run: runIndex, index })}>{configurationName(configuration)}</button>
            {` ${[rankingTitle(configuration.ranking), ...(one.median_s === null ? [] : [seconds(one.median_s)])].join(', ')}: ${configuration.variant_title}`}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Configurations that are shown to be faster than all others of their system within a ranking. */
function bestOfSystem({ from }: Page, all: readonly Scorer[]): ReadonlySet<number> {
  const groups = new Map<string, { index: number; score: number }[]>();
  for (const { configuration: index, ranking, sides: { hot } } of all) {
    const one = from.run.configurations[index];
    if (one === undefined || hot.value === null || hot.word !== null || hot.missing > 0) continue;
    const key = JSON.stringify([ranking, one.system]);
    groups.set(key, [...groups.get(key) ?? [], { index, score: hot.value }]);
  }
  return new Set([...groups.values()].flatMap((those) => {
    const [first, ...others] = those.sort((a, b) => a.score - b.score);
    const isSlower = (other: number): boolean => {
      const by = first === undefined ? null : hotRatio(from, other, first.index);
      return by !== null && differs(by) === true;
    };
    return first !== undefined && others.length > 0 && others.every(({ index }) => isSlower(index)) ? [first.index] : [];
  }));
}

function Item({ one, facts, best }: { one: Configuration; facts: readonly string[]; best: boolean }): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <details class="configuration" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {configurationName(one)}{best && <span class="tag">fastest of {one.title} here</span>}
        <span class="facts-line">{[one.variant_title, ...facts].join(' · ')}</span>
      </summary>
      {open && <Settings one={one} />}
    </details>
  );
}

/** All configurations by preparation class, fastest first. */
export function Configurations(): JSX.Element {
  const page = usePage();
  const { from } = page;
  const scored = useMemo(() => scorers(from, 'medians', null), [from]);
  const best = useMemo(() => bestOfSystem(page, scored), [from]);
  const scoreOf = useMemo(() => new Map(scored.map((one) => [one.configuration, one.sides.hot.missing === 0 && one.sides.hot.word === null ? one.sides.hot.value : null])), [scored]);
  const sizeOf = useMemo(() => new Map(['drained', 'compacted'].flatMap((state) =>
    cellsOf(from, 'size', ['steady'], state).map((entry) => [entry.cell.configuration, totalBytes(entry.cell)] as const))), [from]);
  return (
    <Section id="configurations" title="Configurations">
      <p>What was set, where the advice stands, and why anything differs from the defaults. Fastest first within each ranking.</p>
      {from.rankings.map((ranking) => {
        const those = from.configurations.filter((index) => from.run.configurations[index]?.ranking === ranking)
          .sort((a, b) => (scoreOf.get(a) ?? Infinity) - (scoreOf.get(b) ?? Infinity) || 0);
        return (
          <section key={ranking}>
            <h3>{rankingTitle(ranking)} <span class="count">{counted(those.length, 'configuration')}</span></h3>
            {those.map((index) => {
              const one = from.run.configurations[index];
              if (one === undefined) return null;
              const [score, size] = [scoreOf.get(index), sizeOf.get(index)];
              const facts = [
                ...(one.profile === null ? [] : [profileWord(one)]),
                ...(score == null ? [] : [`hot score ${three(score)}`]), ...(size == null ? [] : [bytes(size)]),
              ];
              return <Item key={index} one={one} facts={facts} best={best.has(index)} />;
            })}
          </section>
        );
      })}
    </Section>
  );
}
