// The frontier of questions against documents: one chart per configuration, and a table of all points.

import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';

import type { FigureData } from '../../export/csv.ts';
import type { MeasuredFrontier } from '../../frontier.ts';
import type { MetricName } from '../../metrics.ts';
import type { Page } from '../../page.ts';
import type { Table, TableCell } from '../common/table.tsx';
import { drawFrontier, FRONTIER_HEIGHT } from '../../charts/frontier.ts';
import { colourOf } from '../../colours.ts';
import { byName, NONE, threeDigits } from '../../format.ts';
import { frontiersOf, isDominated, placeOf } from '../../frontier.ts';
import { verdictLabel } from '../../labels.ts';
import { axisOf, metric } from '../../metric.ts';
import { Metric } from '../../metrics.ts';
import { usePage } from '../../page.ts';
import { worstSeverity } from '../../view.ts';
import { Figure } from '../common/figure.tsx';
import { Section } from '../common/multiples.tsx';
import { Tables } from '../common/table.tsx';

const documents = (value: number): string => byName(Metric.DocumentsPerS, value);
const questions = (value: number): string => byName(Metric.QuestionsPerH, value);

const AXES = {
  x: { title: axisOf(metric(Metric.DocumentsPerS)), format: documents },
  y: { title: axisOf(metric(Metric.QuestionsPerH)), format: questions },
};

/** The share with both peaks, without which it means nothing. */
function shareOf({ points, frontier }: MeasuredFrontier): string {
  const [first, last] = [points[0]?.at, points[points.length - 1]?.at];
  if (frontier === null || !first || !last) return 'no share: a point or a peak has no verified rates, or was too short';
  return `share ${threeDigits(frontier.share)} of both peaks alone, ${documents(last.documents)} documents and ${questions(first.questions)} questions`;
}

function describe(measured: MeasuredFrontier): string {
  const words = measured.points.flatMap(({ label, at }) => (at === null ? [] : [`${label} ${documents(at.documents)} and ${questions(at.questions)}`]));
  return `${measured.name}: frontier of questions against documents, ${shareOf(measured)}; documents and questions at each rate: ${words.join('; ')}`;
}

function dataOf(measured: MeasuredFrontier): FigureData {
  return {
    columns: ['writers at', Metric.DocumentsPerS, Metric.QuestionsPerH, 'lies'],
    rows: measured.points.map(({ label, at }, index) => [label, at?.documents ?? null, at?.questions ?? null, placeOf(measured, index) ?? '']),
  };
}

function draw(measured: MeasuredFrontier, width: number): SVGElement {
  const dots = measured.points.flatMap(({ label, at }, index) => (at === null ? [] : [{
    x: at.documents, y: at.questions, label, title: `${label}: ${documents(at.documents)}, ${questions(at.questions)}`,
    dominated: isDominated(measured, index),
  }]));
  const hull = (measured.frontier?.hull ?? []).map((point): [number, number] => [point.documents, point.questions]);
  return drawFrontier(dots, hull, colourOf(measured.configuration.system), AXES, width, describe(measured));
}

function tableOf(page: Page, measured: MeasuredFrontier): Table {
  const value = (name: MetricName, of: number | undefined): string => (of === undefined ? NONE : byName(name, of));
  return {
    title: `${measured.name}: ${shareOf(measured)}`,
    columns: [{ title: 'writers at', name: true }, { title: 'documents/s', numeric: true }, { title: 'questions/h', numeric: true }, { title: 'lies' }, { title: 'verdict' }],
    severities: measured.points.map(({ entries }) => worstSeverity(entries)),
    rows: measured.points.map(({ label, at, entries }, index): TableCell[] => {
      const [entry] = entries;
      return [
        label, value(Metric.DocumentsPerS, at?.documents), value(Metric.QuestionsPerH, at?.questions), placeOf(measured, index) ?? NONE,
        entry === undefined ? NONE : { text: verdictLabel(entry.cell.verdict), open: () => page.open(entry) },
      ];
    }),
  };
}

export function MixedFrontier(): JSX.Element | null {
  const page = usePage();
  const { view } = page;
  const all = useMemo(() => frontiersOf(view), [view]);
  const charts = useMemo(() => all.filter(({ frontier }) => frontier !== null).map((measured) => ({ measured, draw: (width: number) => draw(measured, width) })), [all]);
  if (all.length === 0) return null;
  const without = all.filter(({ frontier }) => frontier === null);
  return (
    <Section id="frontier" title="Frontier of questions against documents">
      <p>
        What writers and questions reach together, at rates that are shares of what the same writers reach alone. Each chart has axes of its own. The solid line is the hull of all points: straight, because a system can be given any two loads in turn. The dashed line joins both peaks; a point below it is less than both loads get in turns.
        Hollow points are beaten in both rates by another one. The share is the area below the hull ÷ the box of both peaks: 0.5 is what two loads give that merely share the cores, 1 is no interference. It is a ratio within one system, so a slow system can have a large one.
      </p>
      {without.map((measured) => <p key={measured.name} class="empty">{measured.name}: {shareOf(measured)}.</p>)}
      <div class="multiples">
        {charts.map(({ measured, draw: own }) => (
          <Figure key={measured.name} title={`Frontier, ${measured.name}`} height={FRONTIER_HEIGHT} draw={own} data={() => dataOf(measured)}>
            <p class="legend">{shareOf(measured)}</p>
          </Figure>
        ))}
      </div>
      <Tables title="Points as tables" tables={() => all.map((measured) => tableOf(page, measured))} />
    </Section>
  );
}
