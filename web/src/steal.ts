// Counts the trials with high CPU steal, for each cell of a run, from the trial data.

import type { Machine, RunEvidence } from './model.ts';
import { Metric } from './metrics.ts';

/** Share of the machine's CPU capacity above which a trial's steal counts as high. */
const STEAL_THRESHOLD = 0.02;

/** Trials of one cell, counted by their CPU steal. */
export interface StealTrialCounts {
  /** Trials with more than 2 % CPU steal. */
  high: number;
  /** Trials whose CPU steal is known. */
  known: number;
}

const cache = new WeakMap<RunEvidence, readonly StealTrialCounts[]>();

/**
 * Counts of each cell, in the order of the run's cells. Steal is a share of the machine's CPU capacity,
 * which is elapsed time × cores. If the run did not record the share for a trial, it is derived from the
 * stolen seconds. They were counted since the previous trial ended, restarts included. The elapsed time is
 * then that period, or the trial's own time if longer.
 */
export function stealByCell(evidence: RunEvidence, machine: Machine): readonly StealTrialCounts[] {
  const cached = cache.get(evidence);
  if (cached !== undefined) return cached;
  const endsMs = evidence.cells.flatMap(({ trials }) => trials.at_ms).sort((a, b) => a - b);
  const previousEndMs = new Map<number, number>();
  endsMs.forEach((endMs, index) => {
    const previous = endsMs[index - 1];
    if (previous !== undefined && !previousEndMs.has(endMs)) previousEndMs.set(endMs, previous);
  });
  const countsByCell = evidence.cells.map(({ trials }) => {
    const counts: StealTrialCounts = { high: 0, known: 0 };
    const shares = trials.metrics[Metric.MachineStealShare] ?? [];
    trials.metrics[Metric.MachineStealS]?.forEach((stolenSeconds, index) => {
      const share = shares[index] ?? null;
      if (share !== null) {
        counts.known += 1;
        if (share > STEAL_THRESHOLD) counts.high += 1;
      }
      if (share !== null || stolenSeconds === null) return;
      const endMs = trials.at_ms[index] ?? 0;
      const elapsedSeconds = Math.max(trials.seconds[index] ?? 0, (endMs - (previousEndMs.get(endMs) ?? endMs)) / 1e3);
      if (elapsedSeconds <= 0) return;
      counts.known += 1;
      if (stolenSeconds / (elapsedSeconds * machine.cores) > STEAL_THRESHOLD) counts.high += 1;
    });
    return counts;
  });
  cache.set(evidence, countsByCell);
  return countsByCell;
}
