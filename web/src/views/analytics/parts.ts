// Parts of the page for the analytics workload.

import type { Entry } from '../../view.ts';
import type { WorkloadSections } from '../common/sections.ts';
import { ASKED, isQuestion } from '../../labels.ts';
import { ANALYTICS, Phase } from '../../vocabulary.ts';
import { Bottlenecks } from './bottleneck.tsx';
import { Cpu, Load, Memory } from './costs.tsx';
import { Findings } from './findings.tsx';
import { Quality, StructureKept } from './loads.tsx';
import { Cold, ColdOs, Hot } from './questions.tsx';
import { Scores } from './scores.tsx';
import { Sizes } from './sizes.tsx';

function shows({ cell: { step, phase } }: Entry): boolean {
  if (isQuestion(step)) return ASKED.includes(phase);
  return (step === 'load' && phase === Phase.Load) || (step === 'size' && phase === Phase.Steady);
}

export const ANALYTICS_PARTS: WorkloadSections = {
  name: ANALYTICS,
  findings: Findings,
  parts: [
    { id: 'scores', title: 'Scores', component: Scores }, { id: 'hot', title: 'Hot', component: Hot }, { id: 'cold', title: 'Cold', component: Cold },
    { id: 'cold-os', title: null, component: ColdOs }, { id: 'load', title: 'Load', component: Load }, { id: 'size', title: 'Size', component: Sizes },
    { id: 'quality', title: 'Data quality', component: Quality }, { id: 'structure', title: 'Structure', component: StructureKept },
    { id: 'memory', title: 'Memory', component: Memory }, { id: 'cpu', title: 'CPU', component: Cpu }, { id: 'bound', title: 'Bound by', component: Bottlenecks },
  ],
  shows,
};
