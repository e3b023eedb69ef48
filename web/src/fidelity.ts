// Data of a fidelity run: outcome of each document, kinds of change by system, and I-JSON safety.

import type { Finding, KnownCase } from './model.ts';
import type { Entry, View } from './view.ts';
import { configurationName } from './labels.ts';
import { FIDELITY, FindingState } from './vocabulary.ts';


/** Insert paths, as findings name them. */
const WAYS = ['bulk', 'parameter'] as const;

/** Kinds of change in table order; the first four keep the value. */
const KINDS: readonly string[] = [
  'white space', 'key order', 'number form', 'escapes', 'duplicate keys', 'number value', 'characters', 'null members',
  'empty containers', 'type', 'truncation', 'loss', 'addition', 'repair', 'not JSON',
];

/** A test document with the findings of one configuration. */
export interface CaseResult {
  document: KnownCase;
  entry: Entry;
  findings: readonly Finding[];
}

/** A configuration with all its test documents. */
export interface System {
  key: string;
  name: string;
  tried: readonly CaseResult[];
}

/** One row of the outcome matrix: documents by configuration key. */
export interface Line {
  key: string;
  title: string;
  by: ReadonlyMap<string, readonly CaseResult[]>;
}

function find(findings: readonly Finding[], subject: string): Finding | undefined {
  return findings.find((one) => one.subject === subject);
}

function anyWay(tried: CaseResult, out: string, is: (finding: Finding) => boolean): boolean {
  return WAYS.some((way) => {
    const found = find(tried.findings, `${way}${out}`);
    return found !== undefined && is(found);
  });
}

/**
 * Returns `true` if a document was accepted and is stored. A bulk path may accept and then silently skip a
 * document.
 */
function isTaken({ findings }: CaseResult): boolean {
  return WAYS.some((way) => find(findings, way)?.state === FindingState.Accepted && find(findings, `${way}, whole`)?.state !== FindingState.NothingReturned);
}

/**
 * Returns `true` if a document was treated as the RFC requires: a valid one comes back with the same value by every
 * path that was tested, an invalid one is rejected. Null if the RFC leaves the choice, or no path was tested.
 */
export function isAsRequired(tried: CaseResult): boolean | null {
  const { document: { requirement }, findings } = tried;
  if (requirement === 'choose') return null;
  const ways = WAYS.filter((way) => {
    const state = find(findings, way)?.state;
    return state !== undefined && state !== FindingState.NotTested;
  });
  if (ways.length === 0) return null;
  if (requirement === 'reject') return !isTaken(tried);
  return ways.every((way) => {
    const whole = find(findings, `${way}, whole`)?.state;
    return find(findings, way)?.state === FindingState.Accepted && (whole === FindingState.SameBytes || whole === FindingState.SameValue);
  });
}

/** The configurations shown, with their documents in corpus order. */
export function systemsOf(view: View): System[] {
  const cases = new Map((view.run.cases ?? []).map((one) => [one.name, one]));
  const found = new Map<string, { name: string; tried: CaseResult[] }>();
  for (const entry of view.entries) {
    const { cell, configuration } = entry;
    const document = cases.get(cell.step);
    if (cell.workload !== FIDELITY || document === undefined || cell.findings === undefined) continue;
    const key = String(cell.configuration);
    const system = found.get(key) ?? { name: configurationName(configuration), tried: [] };
    system.tried.push({ document, entry, findings: cell.findings });
    found.set(key, system);
  }
  return [...found].map(([key, { name, tried }]) => ({ key, name, tried }));
}

/** State and kinds of a finding as one text. */
export function findingLabel({ state, kinds = [] }: Finding): string {
  return kinds.length === 0 ? state : `${state}: ${kinds.join(', ')}`;
}

/** Findings of one document over all insert paths as text; equal findings are written once. */
export function pathsLabel({ findings }: CaseResult, out: string): string {
  const words = WAYS.map((way) => find(findings, `${way}${out}`)).map((one) => (one === undefined ? '' : findingLabel(one)));
  const [bulk = '', parameter = ''] = words;
  if (bulk === parameter) return bulk;
  return WAYS.map((way, place) => (words[place] === '' ? '' : `${way}: ${words[place] ?? ''}`)).filter((text) => text !== '').join('; ');
}

/** The system's messages about a document and the values read back, without duplicates. */
export function evidenceOf({ findings }: CaseResult, out: readonly string[]): string[] {
  const shown = findings.filter((one) => WAYS.some((way) => out.some((what) => one.subject === `${way}${what}`)));
  return [...new Set(shown.flatMap(({ message, observed }) => [message, observed].filter((text) => text !== undefined)))];
}

function lineOf(systems: readonly System[], key: string, title: string, is: (tried: CaseResult) => boolean): Line {
  return { key, title, by: new Map(systems.map((system) => [system.key, system.tried.filter(is)])) };
}

/** Outcomes of the documents, one row per outcome. */
export function outcomesOf(systems: readonly System[]): Line[] {
  const state = (tried: CaseResult, out: string, ...wanted: string[]): boolean => anyWay(tried, out, (one) => wanted.includes(one.state));
  const whole = ', whole';
  return [
    lineOf(systems, 'valid', 'must be accepted, and is', (one) => one.document.requirement === 'accept' && state(one, '', FindingState.Accepted)),
    lineOf(systems, 'rejected', 'must be accepted, and is rejected', (one) => one.document.requirement === 'accept' && state(one, '', FindingState.Rejected)),
    lineOf(systems, 'invalid', 'must be rejected, and is', (one) => one.document.requirement === 'reject' && state(one, '', FindingState.Rejected)),
    lineOf(systems, 'taken', 'must be rejected, and is accepted', (one) => one.document.requirement === 'reject' && isTaken(one)),
    lineOf(systems, 'chosen', 'implementation’s choice: accepted', (one) => one.document.requirement === 'choose' && state(one, '', FindingState.Accepted)),
    lineOf(systems, 'unchosen', 'implementation’s choice: rejected', (one) => one.document.requirement === 'choose' && state(one, '', FindingState.Rejected)),
    lineOf(systems, 'bytes', 'came back with the same bytes', (one) => state(one, whole, FindingState.SameBytes)),
    lineOf(systems, 'value', 'came back with the same value', (one) => state(one, whole, FindingState.SameValue)),
    lineOf(systems, 'changed', 'came back changed', (one) => state(one, whole, FindingState.Changed)),
    lineOf(systems, 'lost', 'accepted, and did not come back', (one) => state(one, whole, FindingState.NothingReturned)),
    lineOf(systems, 'unreadable', 'could not be read', (one) => state(one, whole, FindingState.Unreadable)),
    lineOf(systems, 'ended', 'ended the engine, or hung', (one) => state(one, '', FindingState.Crashed, FindingState.Hung) || state(one, whole, FindingState.Crashed, FindingState.Hung)),
    lineOf(systems, 'none', 'not tested by one insert path', (one) => state(one, '', FindingState.NotTested)),
  ];
}

/**
 * Kinds of change by configuration, one row per kind. `out` selects the whole document or the extracted
 * value.
 */
export function kindsOf(systems: readonly System[], out: string): Line[] {
  const has = (kind: string) => (tried: CaseResult): boolean =>
    tried.document.requirement !== 'reject' && anyWay(tried, out, (one) => one.kinds?.includes(kind) === true || (kind === 'loss' && one.state === FindingState.NothingReturned));
  return KINDS.map((kind) => lineOf(systems, kind, kind, has(kind))).filter((line) => [...line.by.values()].some((all) => all.length > 0));
}

/** All documents of one kind, which is the first word of their names. */
export interface CaseKind {
  kind: string;
  cases: readonly { document: KnownCase; by: ReadonlyMap<string, CaseResult> }[];
}

/** The documents by kind, both in the order of the corpus, each with its results by configuration key. */
export function caseKinds(systems: readonly System[]): CaseKind[] {
  const kinds = new Map<string, Map<string, { document: KnownCase; by: Map<string, CaseResult> }>>();
  for (const { key, tried } of systems) {
    for (const one of tried) {
      const { document } = one;
      const kind = document.name.split('-', 1)[0] ?? '';
      const cases = kinds.get(kind) ?? new Map<string, { document: KnownCase; by: Map<string, CaseResult> }>();
      const known = cases.get(document.name) ?? { document, by: new Map<string, CaseResult>() };
      known.by.set(key, one);
      cases.set(document.name, known);
      kinds.set(kind, cases);
    }
  }
  return [...kinds].map(([kind, cases]) => ({ kind, cases: [...cases.values()] }));
}

/** Outcome of a document as a sign that needs no colour and words: what came back, else whether it was accepted. */
export function outcomeLabel(tried: CaseResult): string {
  const right = isAsRequired(tried);
  const words = pathsLabel(tried, ', whole') || pathsLabel(tried, '') || 'not tested';
  return `${right === null ? '◦' : right ? '✓' : '✖'} ${words}`;
}
