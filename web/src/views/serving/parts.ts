// Parts of the page for the serving workload.

import { isReport } from '../../reports.ts';
import { Phase, SERVING } from '../../vocabulary.ts';
import type { Entry } from '../../view.ts';
import type { WorkloadSections } from '../common/sections.ts';
import { Agreement } from '../common/agreement.tsx';
import { Distributions } from './distributions.tsx';
import { ServingFindings } from './findings.tsx';
import { Loads } from './loads.tsx';
import { Operations } from './operations.tsx';
import { Reports } from './reports.tsx';
import { SecondBySecond } from './seconds.tsx';
import { Throughput } from './throughput.tsx';
import { Times } from './times.tsx';

function shows({ cell }: Entry): boolean {
  const { step, phase } = cell;
  return isReport(cell) || phase === Phase.Measured || (step === 'load' && phase === Phase.Load) || (step === 'size' && phase === Phase.Steady);
}

export const SERVING_PARTS: WorkloadSections = {
  name: SERVING,
  findings: ServingFindings,
  parts: [
    { id: 'throughput', title: 'Throughput', component: Throughput }, { id: 'times', title: 'Latency', component: Times },
    { id: 'distributions', title: 'Distribution', component: Distributions }, { id: 'seconds', title: 'Trials by second', component: SecondBySecond },
    { id: 'reports', title: null, component: Reports }, { id: 'agreement', title: null, component: Agreement },
    { id: 'operations', title: 'Operations', component: Operations }, { id: 'serving-loads', title: 'Loads', component: Loads },
  ],
  shows,
};
