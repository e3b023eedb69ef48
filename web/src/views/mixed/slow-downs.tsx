// How many times as long each question takes beside writers, and after them, one chart per question.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { MixedLoad, PhasePair } from '../../mixed.ts';
import type { Page } from '../../page.ts';
import type { Multiple } from '../common/multiples.tsx';
import type { Table, TableCell } from '../common/table.tsx';
import { placedBars } from '../../bars.ts';
import { ratioScale } from '../../charts/scale.ts';
import { interval, microseconds, NONE, times } from '../../format.ts';
import { configurationName, phaseLabel, stepName, stepTitle, verdictLabel } from '../../labels.ts';
import { axisOf } from '../../metric.ts';
import { Metric } from '../../metrics.ts';
import { ASKING_PHASES, configurationsOf, entriesOf, entryOf, loadsOf, loadSuffix, questionsOf, SLOW_DOWNS, slowDown, slowDownMetric } from '../../mixed.ts';
import { usePage } from '../../page.ts';
import { worstSeverity } from '../../view.ts';
import { Multiples, Section } from '../common/multiples.tsx';

/** The median time of a question in each phase, and its slow-downs. */
function tableOf(page: Page, load: MixedLoad, question: string, suffix: string): Table {
  const rows = configurationsOf(load).map((index) => ({ index, cells: ASKING_PHASES.map((phase) => entryOf(load, index, phase, question)) }));
  return {
    title: `${stepTitle(question)}${suffix}`,
    columns: [
      { title: 'configuration', name: true }, ...ASKING_PHASES.map((phase) => ({ title: phaseLabel(phase), numeric: true })),
      ...SLOW_DOWNS.flatMap(({ title }) => [{ title, numeric: true }, { title: `95 % interval, ${title}`, numeric: true }]),
    ],
    severities: rows.map(({ cells }) => worstSeverity(cells.filter((entry) => entry !== undefined))),
    rows: rows.map(({ index, cells }): TableCell[] => {
      const configuration = page.view.run.configurations[index];
      return [
        configuration === undefined ? NONE : configurationName(configuration),
        ...cells.map((entry): TableCell => {
          if (entry === undefined) return NONE;
          const { [Metric.QuestionP50Us]: median } = entry.cell.metrics;
          return { text: median === undefined ? verdictLabel(entry.cell.verdict) : microseconds(median), open: () => page.open(entry) };
        }),
        ...SLOW_DOWNS.flatMap(({ phase, against }) => {
          const entry = entryOf(load, index, phase, question);
          const found = entry === undefined ? null : slowDown(load, entry.cell, against);
          return found === null ? [NONE, NONE] : [times(found.value), interval(found.low, found.high, times, found.value)];
        }),
      ];
    }),
  };
}

function multiplesOf(page: Page, loads: readonly MixedLoad[], pair: PhasePair): Multiple[] {
  return loads.flatMap((load) => questionsOf(load).map((question) => ({
    key: `${load.key} ${pair.phase} ${question}`, title: `${stepName(question)}, ${pair.title}${loadSuffix(loads, load)}`, published: [], references: [],
    own: placedBars(page.view, entriesOf(load, pair.phase, question), slowDownMetric(load, pair), page.open).map(({ bar, entry }) => ({ ...bar, name: configurationName(entry.configuration) })),
  })));
}

export function SlowDowns(): JSX.Element {
  const page = usePage();
  const { view } = page;
  const loads = useMemo(() => loadsOf(view), [view]);
  const groups = useMemo(() => SLOW_DOWNS.map((pair, index) => ({ pair, index, multiples: multiplesOf(page, loads, pair) })), [view, loads]);
  const tables = (): Table[] => loads.flatMap((load) => questionsOf(load).map((question) => tableOf(page, load, question, loadSuffix(loads, load))));
  return (
    <Section id="slow-downs" title="Slow-down of each question">
      <p>
        The median time of a question beside writers ÷ after the writers have gone, and after they have gone ÷ when the system has drained. Growth of the data is taken out. Above 1 is slower; an interval that holds 1 shows no effect.
        Intervals treat both phases as independent, while those of the factors above are paired by round and usually narrower.
      </p>
      {groups.map(({ pair, index, multiples }) => {
        const axis = axisOf({ title: `time, ${pair.title}`, better: 'lower' });
        return (
          <Multiples key={pair.phase} multiples={multiples} format={times} axis={axis} scale={(values, limits) => ratioScale(values, times, axis, limits)} empty="No questions match the filters."
            {...(index === groups.length - 1 ? { tables } : {})} />
        );
      })}
    </Section>
  );
}
