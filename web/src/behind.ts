// What only the trials behind the figures tell: processor time that was taken by others.

import type { Machine, RunEvidence } from './model.ts';

/** Share of the processor time from which on what was taken is worth a word. */
const MUCH = 0.02;

export interface Stolen {
  /** Trials during which more than 2 % was taken. */
  much: number;
  /** Trials of which it is known. */
  known: number;
}

const found = new WeakMap<RunEvidence, readonly Stolen[]>();

/**
 * By index of the cell: trials during which others took processor time. It is counted from the record before to that
 * of the trial, so where a run has not the share itself, it is held against all of that time, restarts included.
 */
export function stolen(evidence: RunEvidence, machine: Machine): readonly Stolen[] {
  const known = found.get(evidence);
  if (known !== undefined) return known;
  const ends = evidence.cells.flatMap(({ trials }) => trials.at_ms).sort((a, b) => a - b);
  const before = new Map<number, number>();
  ends.forEach((at, index) => {
    const last = ends[index - 1];
    if (last !== undefined && !before.has(at)) before.set(at, last);
  });
  const all = evidence.cells.map(({ trials }) => {
    const one: Stolen = { much: 0, known: 0 };
    const shares = trials.metrics.machine_steal_share ?? [];
    trials.metrics.machine_steal_s?.forEach((taken, index) => {
      const share = shares[index] ?? null;
      if (share !== null) {
        one.known += 1;
        if (share > MUCH) one.much += 1;
      }
      if (share !== null || taken === null) return;
      const at = trials.at_ms[index] ?? 0;
      const passed = Math.max(trials.seconds[index] ?? 0, (at - (before.get(at) ?? at)) / 1e3);
      if (passed <= 0) return;
      one.known += 1;
      if (taken / (passed * machine.cores) > MUCH) one.much += 1;
    });
    return one;
  });
  found.set(evidence, all);
  return all;
}
