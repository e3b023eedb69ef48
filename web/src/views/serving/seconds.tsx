// Per-second view of trials: whether throughput was steady, and the effect of checkpoints.

import { useMemo, useState } from 'preact/hooks';
import type { JSX } from 'preact';

import type { FigureData } from '../../export/csv.ts';
import type { Evidence, SecondColumns } from '../../model.ts';
import type { Entry } from '../../view.ts';
import type { Table } from '../common/table.tsx';
import { drawSeconds, QUEUE_HEIGHT, SECONDS_HEIGHT } from '../../charts/seconds.ts';
import { colourOf } from '../../colours.ts';
import { count, integer, microseconds, NONE, threeDigits } from '../../format.ts';
import { cellName, verdictLabel } from '../../labels.ts';
import { usePage } from '../../page.ts';
import { clientsOf, groupsOf } from '../../serving.ts';
import { Verdict } from '../../vocabulary.ts';
import { Figure } from '../common/figure.tsx';
import { Section } from '../common/multiples.tsx';
import { Tables } from '../common/table.tsx';

/** Minimum trial length in seconds for which the disk queue is drawn. */
const LONG_S = 10;

function queued(value: number | null): string {
  return value === null ? NONE : threeDigits(value);
}

interface Shown {
  entry: Entry;
  title: string;
  trials: readonly SecondColumns[];
}

function tableOf({ title, trials }: Shown): Table {
  return {
    title,
    columns: [
      { title: 'round', numeric: true }, { title: 'second', numeric: true }, { title: 'operations', numeric: true }, { title: 'errors', numeric: true },
      { title: 'longest', numeric: true }, { title: 'waiting', numeric: true }, { title: 'disk queue', numeric: true }, { title: 'remark' },
    ],
    rows: trials.flatMap((trial) => trial.operations.map((operations, at) => [
      String(trial.round), String(at + 1), integer(operations), integer(trial.errors[at] ?? 0), microseconds(trial.longest_us[at] ?? 0), integer(trial.backlog[at] ?? 0), queued(trial.disk_queue?.[at] ?? null),
      [...(at < trial.ramp ? ['warm-up'] : []), ...(trial.checkpoints?.includes(at) ? ['checkpoint'] : [])].join(', ') || NONE,
    ])),
  };
}

/** Data of the charts of one cell: operations and disk queue in each second. */
function dataOf({ trials }: Shown): FigureData {
  return {
    columns: ['round', 'second', 'operations', 'errors', 'longest_us', 'waiting', 'disk queue', 'warm-up'],
    rows: trials.flatMap((trial) => trial.operations.map((operations, at) => [
      trial.round, at + 1, operations, trial.errors[at] ?? null, trial.longest_us[at] ?? null, trial.backlog[at] ?? null, trial.disk_queue?.[at] ?? null,
      at < trial.ramp ? 'yes' : 'no',
    ])),
  };
}

function shownOf(evidence: Evidence, entries: readonly Entry[], runIndex: number): Shown[] {
  return entries.flatMap((entry) => {
    const trials = evidence.runs[runIndex]?.cells[entry.index]?.seconds ?? [];
    // Wrong or failed cells have no throughput; the verdict in the title says so.
    const verdict = entry.cell.verdict === Verdict.Exact ? '' : `: ${verdictLabel(entry.cell.verdict)}`;
    return trials.length === 0 ? [] : [{ entry, title: `${cellName(entry.configuration, entry.cell)}${verdict}`, trials }];
  });
}

export function SecondBySecond(): JSX.Element {
  const { view, evidence } = usePage();
  const groups = useMemo(() => groupsOf(view), [view]);
  const [chosen, choose] = useState('');
  const group = groups.find((one) => one.key === chosen) ?? groups[0];
  const numbers = useMemo(() => [...new Set((group?.entries ?? []).map((entry) => clientsOf(entry.cell)))].sort((a, b) => a - b), [group]);
  const [number, chooseNumber] = useState<number | null>(null);
  const clients = number !== null && numbers.includes(number) ? number : numbers[numbers.length - 1] ?? 0;
  const shown = useMemo(() => (evidence === null ? [] : shownOf(evidence, (group?.entries ?? []).filter((entry) => clientsOf(entry.cell) === clients), view.runIndex)), [evidence, view, group, clients]);
  const charts = useMemo(() => shown.map((one) => {
    const { system } = one.entry.configuration;
    const lineOf = (trial: SecondColumns, values: readonly number[]) => ({ round: trial.round, values, ramp: trial.ramp, checkpoints: trial.checkpoints ?? [] });
    const lines = one.trials.map((trial) => lineOf(trial, trial.operations));
    const queues = one.trials.flatMap((trial) => (trial.disk_queue === undefined ? [] : [lineOf(trial, trial.disk_queue.map((value) => value ?? 0))]));
    return {
      ...one,
      draw: (width: number) => drawSeconds(lines, colourOf(system), count, { width, height: SECONDS_HEIGHT, least: 1, title: 'operations in each second' }, `${one.title}: operations in each second, a line for each round`),
      // The disk queue of short trials is not informative enough to be drawn.
      queue: queues.every((line) => line.values.length < LONG_S) ? null
        : (width: number) => drawSeconds(queues, colourOf(system), threeDigits, { width, height: QUEUE_HEIGHT, least: 0.1, title: 'requests under way' }, `${one.title}: requests under way on the disk in each second, a line for each round`),
    };
  }), [shown]);
  return (
    <Section id="seconds" title="Trials second by second">
      <p>Operations that ended in each second, a line for each round. The warm-up is shaded and not measured; dashed lines mark checkpoints where the system reports them. Below trials of {LONG_S} s and more: requests under way on the disk of the data, on average.</p>
      <p>
        {groups.length > 1 && <label class="select">Mix
          <select name="mix" value={group?.key ?? ''} onChange={(event) => choose(event.currentTarget.value)}>
            {groups.map((one) => <option key={one.key} value={one.key}>{one.title}</option>)}
          </select>
        </label>}
        {numbers.length > 1 && <label class="select">Clients
          <select name="clients-seconds" value={String(clients)} onChange={(event) => chooseNumber(Number(event.currentTarget.value))}>
            {numbers.map((one) => <option key={one} value={String(one)}>{one}</option>)}
          </select>
        </label>}
      </p>
      {evidence === null ? <p class="empty">Reading …</p> : charts.length === 0 ? <p class="empty">No seconds were kept.</p> : (
        <>
          <div class="multiples">{charts.map((one) => <Figure key={one.entry.index} title={one.title} height={SECONDS_HEIGHT} draw={one.draw} data={() => dataOf(one)} />)}</div>
          {charts.some((one) => one.queue !== null) && (
            <div class="multiples">{charts.map((one) => one.queue !== null && <Figure key={one.entry.index} title={`${one.title}: disk queue`} height={QUEUE_HEIGHT} draw={one.queue} data={() => dataOf(one)} />)}</div>
          )}
          <Tables title="Seconds as tables" tables={() => shown.map(tableOf)} />
        </>
      )}
    </Section>
  );
}
