// Parts of the page for the mixed workload.

import type { WorkloadSections } from '../common/sections.ts';
import { isOfPhase } from '../../mixed.ts';
import { MIXED } from '../../vocabulary.ts';
import { MixedFindings } from './findings.tsx';
import { MixedFrontier } from './frontier.tsx';
import { Freshness } from './freshness.tsx';
import { MixedSecondBySecond } from './seconds.tsx';
import { SlowDowns } from './slow-downs.tsx';

export const MIXED_PARTS: WorkloadSections = {
  name: MIXED,
  findings: MixedFindings,
  parts: [
    { id: 'frontier', title: null, component: MixedFrontier },
    { id: 'mixed-seconds', title: 'Second by second', component: MixedSecondBySecond }, { id: 'freshness', title: 'Freshness', component: Freshness },
    { id: 'slow-downs', title: 'Slow-down', component: SlowDowns },
  ],
  shows: ({ cell }) => isOfPhase(cell),
};
