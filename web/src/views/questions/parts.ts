// Parts of the page for users' own questions: those of analytics, and the comparison of answers.

import { QUESTIONS } from '../../vocabulary.ts';
import type { WorkloadSections } from '../common/sections.ts';
import { ANALYTICS_PARTS } from '../analytics/parts.ts';
import { Agreement } from '../common/agreement.tsx';

/** Scores are left out, because their formula belongs to a published benchmark with other questions. */
const NOT_SHOWN: readonly string[] = ['scores'];

export const QUESTIONS_PARTS: WorkloadSections = {
  ...ANALYTICS_PARTS,
  name: QUESTIONS,
  parts: [{ id: 'agreement', title: 'Answers', component: Agreement }, ...ANALYTICS_PARTS.parts.filter((one) => !NOT_SHOWN.includes(one.id))],
};
