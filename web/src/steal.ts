// CPU steal per cell, from the trial data.

import type { Machine, RunEvidence } from './model.ts';
import { Metric } from './metrics.ts';

/** Share of the machine's CPU time above which steal is reported. */
const STEAL_THRESHOLD = 0.02;

export interface StealCount {
  /** Trials with more than 2 % CPU steal. */
  much: number;
  /** Trials whose CPU steal is known. */
  known: number;
}

const found = new WeakMap<RunEvidence, readonly StealCount[]>();

/**
 * CPU steal by cell index. If the run has no steal share for a trial, the stolen seconds are divided by all
 * CPU time since the previous trial ended, restarts included, because steal is counted over that period.
 */
export function stealByCell(evidence: RunEvidence, machine: Machine): readonly StealCount[] {
  const known = found.get(evidence);
  if (known !== undefined) return known;
  const ends = evidence.cells.flatMap(({ trials }) => trials.at_ms).sort((a, b) => a - b);
  const before = new Map<number, number>();
  ends.forEach((at, index) => {
    const last = ends[index - 1];
    if (last !== undefined && !before.has(at)) before.set(at, last);
  });
  const all = evidence.cells.map(({ trials }) => {
    const one: StealCount = { much: 0, known: 0 };
    const shares = trials.metrics[Metric.MachineStealShare] ?? [];
    trials.metrics[Metric.MachineStealS]?.forEach((taken, index) => {
      const share = shares[index] ?? null;
      if (share !== null) {
        one.known += 1;
        if (share > STEAL_THRESHOLD) one.much += 1;
      }
      if (share !== null || taken === null) return;
      const at = trials.at_ms[index] ?? 0;
      const passed = Math.max(trials.seconds[index] ?? 0, (at - (before.get(at) ?? at)) / 1e3);
      if (passed <= 0) return;
      one.known += 1;
      if (taken / (passed * machine.cores) > STEAL_THRESHOLD) one.much += 1;
    });
    return one;
  });
  found.set(evidence, all);
  return all;
}
