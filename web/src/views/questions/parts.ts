// What the page shows of users' own questions: what it shows of any, and what came of the answers.

import type { WorkloadParts } from '../common/parts.ts';
import { QUESTIONS } from '../../select.ts';
import { ANALYTICS_PARTS } from '../analytics/parts.ts';
import { Agreement } from './agreement.tsx';

/** Scores follow the formula of a published benchmark, which asks other questions. */
const NOT_SHOWN: readonly string[] = ['scores'];

export const QUESTIONS_PARTS: WorkloadParts = {
  ...ANALYTICS_PARTS,
  name: QUESTIONS,
  parts: [{ id: 'agreement', title: 'Answers', of: Agreement }, ...ANALYTICS_PARTS.parts.filter((one) => !NOT_SHOWN.includes(one.id))],
};
