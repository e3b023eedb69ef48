// Data of a durability run: which data survived the crash tests, by configuration, tier and kind of crash.

import type { Durability, DurabilityEvidence, Finding, Severity } from './model.ts';
import type { Entry, View } from './view.ts';
import { findingLabel } from './fidelity.ts';
import { configurationName } from './labels.ts';
import { Metric } from './metrics.ts';
import { CrashKind, DURABILITY, FindingState, Phase, Verdict } from './vocabulary.ts';

/** Name of the finding that states what the tier may lose; it belongs to no single crash. */
const PROMISE = 'promise';
const CONTEXT_FINDINGS: readonly string[] = [PROMISE, 'basis'];

/** All crashes of one kind of a configuration in one durability tier. */
export interface CrashSet {
  entry: Entry;
  name: string;
  tier: string;
  /** Kind of the crash: `process` or `power`. */
  kind: string;
  /** What the tier may lose, as text; null if no crash test ran. */
  promise: string | null;
  each: readonly Finding[];
}

/** The kind of a crash as text. */
export function kindLabel(kind: string): string {
  return kind === CrashKind.Power ? 'power loss' : 'process crash';
}

/** The noun by which crashes of a kind are counted: `kill`, `power cuts`. */
function crashNoun(kind: string, crashes: number): string {
  const [one, many] = kind === CrashKind.Power ? ['power cut', 'power cuts'] : ['kill', 'kills'];
  return crashes === 1 ? one : many;
}

/** The crash-test results shown, one entry per cell. */
export function crashSetsOf(view: View): CrashSet[] {
  return view.entries.flatMap((entry) => {
    const { cell, configuration } = entry;
    const { durability: tier } = cell.parameters;
    if (cell.workload !== DURABILITY || cell.phase !== Phase.Steady || typeof tier !== 'string') return [];
    const findings = cell.findings ?? [];
    return [{
      entry, name: configurationName(configuration), tier, kind: cell.step,
      promise: findings.find((one) => one.subject === PROMISE)?.state ?? null,
      each: findings.filter((one) => !CONTEXT_FINDINGS.includes(one.subject)),
    }];
  });
}

/** Summary such as `kept in 10 of 10 power cuts`; the reason if no crash test ran. */
export function outcomePhrase({ entry: { cell }, kind }: CrashSet): string {
  const { [Metric.Crashes]: crashes, [Metric.CrashesWithoutLoss]: kept } = cell.metrics;
  if (crashes === undefined) return cell.verdict === Verdict.NotApplicable ? 'not applicable here' : 'failed';
  return `kept in ${kept ?? 0} of ${crashes} ${crashNoun(kind, crashes)}`;
}

/** How often a system kept what its tier promises, as a sign and words. */
export interface Survival {
  /** `✓ 10 of 10`, with the crashes after which the promise was kept. */
  text: string;
  /** The same for narrow fields. */
  short: string;
  /** Null if no crash test ran because it does not apply here. */
  kept: boolean | null;
}

/** Whether a system kept what its tier promises after all crashes of one kind. */
export function survivalOf({ entry: { cell } }: CrashSet): Survival {
  const { [Metric.Crashes]: crashes, [Metric.CrashesAsPromised]: promised = 0 } = cell.metrics;
  if (crashes === undefined) {
    return cell.verdict === Verdict.NotApplicable ? { text: 'not applicable', short: 'n. a.', kept: null } : { text: '✖ failed', short: '✖', kept: false };
  }
  const kept = promised >= crashes && cell.severity !== 'failed';
  const sign = kept ? '✓' : '✖';
  return { text: `${sign} ${promised} of ${crashes}`, short: `${sign} ${promised}/${crashes}`, kept };
}

/** States after a crash in which no more is lost than the tier allows. */
const ALLOWED: readonly string[] = [FindingState.NothingLost, FindingState.LostWithinWindow, FindingState.LostAsDeclared];

/** Severity of a crash: failed if more was lost than the tier allows. A tier without a limit allows everything. */
export function lossSeverity(crashes: CrashSet, { state }: Finding): Severity {
  if (ALLOWED.includes(state)) return 'good';
  return survivalOf(crashes).kept === true ? 'warning' : 'failed';
}

/** Crashes after which data was lost, or after which an impossible acknowledgement was found. */
export function lossyCrashes({ each }: CrashSet): readonly Finding[] {
  return each.filter((one) => one.state !== FindingState.NothingLost || one.kinds !== undefined);
}

/** Outcome of a crash as text, with its evidence. */
export function crashLabel(finding: Finding): string {
  const evidence = [finding.observed, finding.message].filter((text) => text !== undefined).join('; ');
  return evidence === '' ? findingLabel(finding) : `${findingLabel(finding)}: ${evidence}`;
}

/** What crash tests of one kind have shown about a tier. */
function testedTold({ tested = [] }: Durability, kind: string): string {
  const one: DurabilityEvidence | undefined = tested.find((result) => result.kind === kind);
  if (one === undefined) return 'as documented, not tested';
  const promised = one.as_promised < one.crashes ? `, as promised in ${one.as_promised}` : '';
  return `kept in ${one.without_loss} of ${one.crashes} ${crashNoun(kind, one.crashes)}${promised}, ${one.date}`;
}

/** Describes a tier: what each kind of crash may lose, and what was tested of that. */
export function tierLabel(durability: Durability): string {
  const { tier, process_crash: crash, power_loss: power } = durability;
  return `${tier}: a process crash loses ${crash} (${testedTold(durability, CrashKind.Process)}), a power loss ${power} (${testedTold(durability, CrashKind.Power)})`;
}
