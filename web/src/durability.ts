// What a durability run shows: what was there after stops of the hard way, by configuration, tier and kind of stop.

import type { Durability, Finding, Tested } from './model.ts';
import type { Entry, View } from './select.ts';
import { told } from './fidelity.ts';
import { configurationName } from './words.ts';

export const DURABILITY = 'durability';

/** Findings that are of no stop. */
const PROMISE = 'promise';
const BESIDE: readonly string[] = [PROMISE, 'basis'];
/** The state of a stop after which everything was there. */
const KEPT = 'kept';

/** All stops of one kind of a configuration in a tier. */
export interface Stops {
  entry: Entry;
  name: string;
  tier: string;
  /** `process` or `power`. */
  kind: string;
  /** What the tier may lose, in words; null where nothing was stopped. */
  promise: string | null;
  each: readonly Finding[];
}

/** The kind of a stop in words. */
export function kindTold(kind: string): string {
  return kind === 'power' ? 'power loss' : 'process crash';
}

function cuts(kind: string, stops: number): string {
  const [one, many] = kind === 'power' ? ['power cut', 'power cuts'] : ['kill', 'kills'];
  return stops === 1 ? one : many;
}

/** The stops that are shown. */
export function stopsOf(from: View): Stops[] {
  return from.entries.flatMap((entry) => {
    const { cell, configuration } = entry;
    const { durability: tier } = cell.parameters;
    if (cell.workload !== DURABILITY || cell.phase !== 'steady' || typeof tier !== 'string') return [];
    const findings = cell.findings ?? [];
    return [{
      entry, name: configurationName(configuration), tier, kind: cell.step,
      promise: findings.find((one) => one.of === PROMISE)?.state ?? null,
      each: findings.filter((one) => !BESIDE.includes(one.of)),
    }];
  });
}

/** `kept in 10 of 10 power cuts`; why nothing was stopped, where that is so. */
export function found({ entry: { cell }, kind }: Stops): string {
  const { stops, stops_kept: kept } = cell.metrics;
  if (stops === undefined) return cell.verdict === 'not_applicable' ? 'not applicable here' : 'failed';
  return `kept in ${kept ?? 0} of ${stops} ${cuts(kind, stops)}`;
}

/** Stops after which not everything was there, or something was acknowledged that could not be. */
export function notKept({ each }: Stops): readonly Finding[] {
  return each.filter((one) => one.state !== KEPT || one.kinds !== undefined);
}

/** A stop in words, with its evidence. */
export function stopTold(one: Finding): string {
  const evidence = [one.seen, one.words].filter((text) => text !== undefined).join('; ');
  return evidence === '' ? told(one) : `${told(one)}: ${evidence}`;
}

/** What was shown of a tier's promise by one kind of stop. */
function testedTold({ tested = [] }: Durability, kind: string): string {
  const one: Tested | undefined = tested.find((those) => those.kind === kind);
  if (one === undefined) return 'as documented, not tested';
  const promised = one.as_promised < one.stops ? `, as promised in ${one.as_promised}` : '';
  return `kept in ${one.kept} of ${one.stops} ${cuts(kind, one.stops)}${promised}, ${one.date}`;
}

/** A tier with what it may lose, and what was tested of that. */
export function tierTold(durability: Durability): string {
  const { tier, process_crash: crash, power_loss: power } = durability;
  return `${tier}: a process crash loses ${crash} (${testedTold(durability, 'process')}), a power loss ${power} (${testedTold(durability, 'power')})`;
}
