// Parts of the page for the analytics workload.

import type { Entry } from '../../select.ts';
import type { WorkloadParts } from '../common/parts.ts';
import { ANALYTICS } from '../../select.ts';
import { COLD, HOT, isQuestion } from '../../words.ts';
import { Bound } from './bound.tsx';
import { Cpu, Load, Memory } from './costs.tsx';
import { Quality, StructureKept } from './documents.tsx';
import { Findings } from './findings.tsx';
import { Cold, ColdOs, Hot } from './questions.tsx';
import { Scores } from './scores.tsx';
import { Sizes } from './sizes.tsx';

/** Question phases that have a part of their own. */
const ASKED: readonly string[] = [...HOT, ...COLD, 'cold-os'];

function shows({ cell: { step, phase } }: Entry): boolean {
  if (isQuestion(step)) return ASKED.includes(phase);
  return (step === 'load' && phase === 'load') || (step === 'size' && phase === 'steady');
}

export const ANALYTICS_PARTS: WorkloadParts = {
  name: ANALYTICS,
  findings: Findings,
  parts: [
    { id: 'scores', title: 'Scores', of: Scores }, { id: 'hot', title: 'Hot', of: Hot }, { id: 'cold', title: 'Cold', of: Cold },
    { id: 'cold-os', title: null, of: ColdOs }, { id: 'load', title: 'Load', of: Load }, { id: 'size', title: 'Size', of: Sizes },
    { id: 'quality', title: 'Data quality', of: Quality }, { id: 'structure', title: 'Structure', of: StructureKept },
    { id: 'memory', title: 'Memory', of: Memory }, { id: 'cpu', title: 'CPU', of: Cpu }, { id: 'bound', title: 'Bound by', of: Bound },
  ],
  shows,
};
