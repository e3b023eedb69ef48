// Reports of the user's own beside serving: their times at rest and beside each load, and what each load loses.

import type { Cell, LoadLoss, Run } from './model.ts';
import type { MetricName } from './metrics.ts';
import type { Entry, View } from './view.ts';
import { count, counted } from './format.ts';
import { dimensionsOf, verdictLabel } from './labels.ts';
import { clientsOf, isOpenLoop } from './serving.ts';
import { JUDGED_AT_REST, Phase, SERVING } from './vocabulary.ts';

/** Returns `true` for cells of reports, at rest or beside a load. */
export function isReport({ workload, phase }: Cell): boolean {
  return workload === SERVING && (phase === Phase.Still || phase === Phase.Both);
}

/** Returns `true` for loads beside reports. */
function isBesideReports({ workload, phase, parameters }: Cell): boolean {
  return workload === SERVING && phase === Phase.Measured && parameters.streams !== undefined && parameters.operation === undefined;
}

/** Cells of reports, in the order of measurement. */
export function reportsOf(view: View): Entry[] {
  return view.entries.filter(({ cell }) => isReport(cell));
}

/** Number of streams that asked; null for a run without reports. */
export function streamsOf(view: View): number | null {
  const streams = reportsOf(view)[0]?.cell.parameters.streams;
  return streams === undefined ? null : Number(streams);
}

/** The clients and the rate of a load as text: `8 clients, 500/s`. */
function loadWords(cell: Cell): string {
  const { rate_per_s: rate, rate_share: share } = cell.parameters;
  const clients = counted(clientsOf(cell), 'client');
  return rate !== undefined ? `${clients}, ${count(Number(rate))}/s` : share !== undefined ? `${clients}, ${dimensionsOf({ rate_share: share })}` : clients;
}

/** The load that a report was asked beside, as text; `at rest` if there was none. */
export function besideWords(cell: Cell): string {
  return cell.parameters.mix === undefined ? 'at rest' : `mix ${String(cell.parameters.mix)}, ${loadWords(cell)}`;
}

/** The verdict on a report, with what it is of: `exact at rest` if no answer beside the load could be compared. */
export function verdictWords({ verdict, findings }: Cell): string {
  const ofRest = findings?.some(({ subject }) => subject === JUDGED_AT_REST) === true;
  return ofRest ? `${verdictLabel(verdict)} at rest` : verdictLabel(verdict);
}

/** A load beside reports and the same load alone. */
export interface LoadPair {
  /** Display title, such as `mix a, 8 clients`. */
  title: string;
  beside: Entry;
  /** Undefined if the load was not measured alone. */
  alone: Entry | undefined;
  /** Whether operations started by a schedule. */
  open: boolean;
}

/** All loads beside reports, each with the same load alone. */
export function loadPairs(view: View): LoadPair[] {
  const identity = ({ cell: { configuration, step, parameters, state } }: Entry): string => {
    const rest = Object.entries(parameters).filter(([name]) => name !== 'streams').sort(([one], [other]) => one.localeCompare(other, 'en'));
    return JSON.stringify([configuration, step, state, rest]);
  };
  const measured = view.entries.filter(({ cell }) => cell.workload === SERVING && cell.phase === Phase.Measured);
  const alone = new Map(measured.filter(({ cell }) => cell.parameters.streams === undefined).map((entry) => [identity(entry), entry]));
  return measured.filter(({ cell }) => isBesideReports(cell)).map((beside) => ({
    title: `mix ${beside.cell.step}, ${loadWords(beside.cell)}`, beside, alone: alone.get(identity(beside)), open: isOpenLoop(beside.cell),
  }));
}

/** What a load loses in one metric to the reports beside it; undefined if it was not compared. */
export function lossOf(run: Run, beside: Entry, name: MetricName): LoadLoss | undefined {
  return run.load_losses?.find((loss) => run.cells[loss.cell] === beside.cell && loss.metric === name);
}
