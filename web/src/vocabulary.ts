// Generated from crates/schema by a test of crates/report, page_vocabulary; do not edit by hand.

/** Names of workloads in cells. */
export const ANALYTICS = 'analytics';
export const SERVING = 'serving';
export const MIXED = 'mixed';
export const DOCUMENTS = 'documents';
export const QUESTIONS = 'questions';
export const FIDELITY = 'fidelity';
export const DURABILITY = 'durability';

/** Phases of cells. */
export const Phase = {
  Load: 'load',
  Cold: 'cold',
  ColdUnverified: 'cold-unverified',
  ColdOs: 'cold-os',
  Hot: 'hot',
  HotNotInMemory: 'hot-not-in-memory',
  Steady: 'steady',
  Measured: 'measured',
  Still: 'still',
  Both: 'both',
  Left: 'left',
  Drained: 'drained',
  Alone: 'alone',
} as const;
export type Phase = (typeof Phase)[keyof typeof Phase];

/** Verdicts, from best to worst. */
export const Verdict = {
  Exact: 'exact',
  Approximate: 'approximate',
  Unverified: 'unverified',
  Disputed: 'disputed',
  Partial: 'partial',
  NotApplicable: 'not_applicable',
  Wrong: 'wrong',
  Timeout: 'timeout',
  Failed: 'failed',
} as const;
export type Verdict = (typeof Verdict)[keyof typeof Verdict];

/** Data states of cells. */
export const DataState = {
  Drained: 'drained',
  Compacted: 'compacted',
} as const;
export type DataState = (typeof DataState)[keyof typeof DataState];

/** Preparation classes. */
export const PreparationClass = {
  AsIs: 'as-is',
  Prepared: 'prepared',
  Extracted: 'extracted',
  UserDefined: 'own',
} as const;
export type PreparationClass = (typeof PreparationClass)[keyof typeof PreparationClass];

/** Memory profiles. */
export const MemoryProfile = {
  Sized: 'sized',
  Stock: 'stock',
} as const;
export type MemoryProfile = (typeof MemoryProfile)[keyof typeof MemoryProfile];

/** Durability tiers. */
export const DurabilityTier = {
  Synced: 'synced',
  Process: 'process',
  Window: 'window',
} as const;
export type DurabilityTier = (typeof DurabilityTier)[keyof typeof DurabilityTier];

/** Kinds of crashes. */
export const CrashKind = {
  Process: 'process',
  Power: 'power',
} as const;
export type CrashKind = (typeof CrashKind)[keyof typeof CrashKind];

/** States of findings; others are texts of their own. */
export const FindingState = {
  Accepted: 'accepted',
  Rejected: 'rejected',
  Crashed: 'crashed',
  Hung: 'hung',
  NotTested: 'not tested',
  SameBytes: 'same bytes',
  SameValue: 'same value',
  Changed: 'changed',
  NothingReturned: 'nothing returned',
  NotSent: 'not sent',
  Unreadable: 'unreadable',
  NothingLost: 'nothing lost',
  LostWithinWindow: 'lost within its window',
  LostBeyondWindow: 'lost beyond its window',
  LostAsDeclared: 'lost, as the tier declares',
  PromiseBroken: 'promise broken',
  DoesNotStart: 'does not start',
  HangsInRecovery: 'hangs in recovery',
  UnreadableAfterCrash: 'unreadable after the crash',
} as const;
export type FindingState = (typeof FindingState)[keyof typeof FindingState];

/** Subjects of findings that keep a cell out of its ranking, although it has results. */
export const UNRANKED_FINDINGS: readonly string[] = ['too short', 'fewer reports', 'faulty load'];

/** Subject of the finding that a verdict is that of the same statement before the trials. */
export const JUDGED_AT_REST = 'judged at rest';
