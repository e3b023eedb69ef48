// Parts of the page for the serving workload.

import type { Entry } from '../../select.ts';
import type { WorkloadParts } from '../common/parts.ts';
import { SERVING } from '../../serving.ts';
import { Distributions } from './distributions.tsx';
import { ServingFindings } from './findings.tsx';
import { Loads } from './loads.tsx';
import { Operations } from './operations.tsx';
import { SecondBySecond } from './seconds.tsx';
import { Throughput } from './throughput.tsx';
import { Times } from './times.tsx';

function shows({ cell: { step, phase } }: Entry): boolean {
  return phase === 'measured' || (step === 'load' && phase === 'load') || (step === 'size' && phase === 'steady');
}

export const SERVING_PARTS: WorkloadParts = {
  name: SERVING,
  findings: ServingFindings,
  parts: [
    { id: 'throughput', title: 'Throughput', of: Throughput }, { id: 'times', title: 'Latency', of: Times },
    { id: 'distributions', title: 'Distribution', of: Distributions }, { id: 'seconds', title: 'Trials by second', of: SecondBySecond },
    { id: 'operations', title: 'Operations', of: Operations }, { id: 'serving-loads', title: 'Loads', of: Loads },
  ],
  shows,
};
