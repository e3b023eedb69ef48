// Made from crates/schema by a test of crates/report, figures_of_the_page; never by hand.

/** Names of workloads in cells. */
export const ANALYTICS = 'analytics';
export const SERVING = 'serving';
export const DOCUMENTS = 'documents';
export const QUESTIONS = 'questions';
export const FIDELITY = 'fidelity';
export const DURABILITY = 'durability';

/** States of findings; others are texts of their own. */
export const FindingState = {
  Accepted: 'accepted',
  Refused: 'refused',
  Crashed: 'crashed',
  Hung: 'hung',
  NotOffered: 'not offered',
  SameBytes: 'same bytes',
  SameValue: 'same value',
  Changed: 'changed',
  Lost: 'lost',
  Failed: 'failed',
  Unreadable: 'unreadable',
  Kept: 'kept',
  LostWithinWindow: 'lost within its window',
  LostBeyondWindow: 'lost beyond its window',
  LostAsStated: 'lost, as the tier says',
  PromiseBroken: 'promise broken',
  DoesNotStart: 'does not start',
  HangsInRecovery: 'hangs in recovery',
  CannotBeRead: 'cannot be read',
} as const;
