// Definitions of the page's terms, one to three sentences each. `Term` shows one at a click, and the glossary at
// the end of the page lists all that its workloads use.

import { ANALYTICS, DOCUMENTS, DURABILITY, FIDELITY, MIXED, QUESTIONS, SERVING } from './vocabulary.ts';

interface GlossaryEntry {
  id: string;
  /** The term as it stands on the page. */
  term: string;
  definition: string;
  /** Workloads whose results use the term; absent if all do. */
  workloads?: readonly string[];
}

const ASKING: readonly string[] = [ANALYTICS, QUESTIONS];
const TIMED: readonly string[] = [ANALYTICS, QUESTIONS, SERVING, MIXED, DOCUMENTS];
const CLIENTS: readonly string[] = [SERVING];
const BESIDE_WRITERS: readonly string[] = [MIXED];
const TIERED: readonly string[] = [SERVING, DURABILITY];

const ENTRIES = [
  { id: 'configuration', term: 'configuration', definition: 'A system in one version, variant, storage setting and memory profile. It is what a row of a table stands for.' },
  { id: 'variant', term: 'variant', definition: 'A way to set a system up: the type of the column, its indexes and its settings. Each system’s folder defines its variants.' },
  { id: 'class', term: 'class', definition: 'What was configured about the documents before they were loaded: nothing (as-is), the paths of the questions (prepared), or columns made of them (extracted). Only configurations of one class are ranked together.' },
  { id: 'as-is', term: 'as-is', definition: 'Nothing about the documents was configured: no index, hint, sort key or column on any path.' },
  { id: 'prepared', term: 'prepared', definition: 'The paths that the questions ask for were declared before loading, as an index, type hints or a sort key. Documents stay whole.' },
  { id: 'extracted', term: 'extracted', definition: 'The paths that the questions ask for are columns next to the document, and questions name the columns.' },
  { id: 'own', term: 'own', definition: 'Systems are set up as the folder of questions says; all of them are ranked together.', workloads: [QUESTIONS] },
  { id: 'ranking', term: 'ranking', definition: 'Configurations that are compared with each other: one class, one memory profile, and the same further rules, if any.' },
  { id: 'profile', term: 'memory profile', definition: 'How memory settings are chosen. Sized: as the vendor recommends for the memory of the run. Stock: as the package comes.' },
  { id: 'round', term: 'round', definition: 'One pass over all systems and steps. Rounds repeat everything, each time with another system first, so that differences can be told from chance.' },
  { id: 'trial', term: 'trial', definition: 'One measurement: a question asked once, a load, or some seconds of clients at work.' },
  { id: 'median', term: 'median', definition: 'The middle of all trials: half of them were faster, half slower.', workloads: TIMED },
  { id: 'interval', term: '95 % interval', definition: 'A range that contains the true value in 95 of 100 such measurements. It is computed over rounds; after too few of them there is none.', workloads: TIMED },
  { id: 'no-difference', term: 'no difference shown', definition: 'The 95 % interval of the ratio includes 1, so that the order may be the other way round. It does not say that both are equal.', workloads: TIMED },
  { id: 'too-few-rounds', term: 'too few rounds', definition: 'There is no interval, or one too wide to say which is first. Repeat the run with more rounds.', workloads: TIMED },
  { id: 'of-best', term: '× of best', definition: 'How many times as long as the best of the same ranking: 1 × is the best, 2 × takes twice as long. For throughput: how many times less.' },
  { id: 'of-yardstick', term: '× of yardstick', definition: 'How many times as long as the yardstick, a program written by hand for exactly these questions. It reads the same documents, is no database, and is never ranked.', workloads: ASKING },
  { id: 'hot', term: 'hot', definition: 'Asked repeatedly, with the data in memory.', workloads: [...ASKING, DOCUMENTS] },
  { id: 'cold', term: 'cold', definition: 'Asked once after a restart of the system, with its files verified to be out of memory.', workloads: [...ASKING, DOCUMENTS] },
  { id: 'cold-unverified', term: 'cold, not verified', definition: 'Asked once after a restart, but files were, or may have been, in memory. It is never ranked as cold.', workloads: ASKING },
  { id: 'not-in-memory', term: 'not in memory', definition: 'Trials were to find their data in memory, and read from the disk all the same. They are not ranked.', workloads: [...ASKING, SERVING] },
  { id: 'load', term: 'load', definition: 'From the first document sent until all documents are durable and visible to a query, with all indexes.' },
  { id: 'drained', term: 'drained', definition: 'The work that a system does by itself after a load, such as merging or cleaning up, has ended.' },
  { id: 'compacted', term: 'compacted', definition: 'The data was put into its best order and smallest size by the system’s own command.', workloads: ASKING },
  { id: 'round-trip', term: 'round trip', definition: 'Documents are read back after loading and compared with the originals: same bytes, same values in other bytes, or changed.', workloads: [...ASKING, FIDELITY] },
  { id: 'score', term: 'score', definition: 'The geometric mean of (10 ms + time) ÷ (10 ms + best time) over all questions. 1 is the best possible.', workloads: [ANALYTICS] },
  { id: 'bound-by', term: 'bound by', definition: 'What limits a step: all cores, one core, the disk, or waiting.', workloads: ASKING },
  { id: 'exact', term: 'exact', definition: 'Every answer equals the reference answer.' },
  { id: 'approximate', term: 'approximate', definition: 'The system’s statement gives an estimate, and says so. Its error is measured.', workloads: [...ASKING, MIXED] },
  { id: 'partial', term: 'partial', definition: 'Fewer than 99.9 % of the documents were loaded, or too many operations failed. The time is for less work, so it is not ranked.' },
  { id: 'wrong', term: 'wrong', definition: 'An answer differs from the reference. There is no time, however fast it came.' },
  { id: 'unverified', term: 'unverified', definition: 'There is no reference answer to compare with. The time is shown and not ranked.', workloads: ASKING },
  { id: 'disputed', term: 'disputed', definition: 'Systems answer differently, and no majority of them says what is right. No system is ranked.', workloads: [QUESTIONS] },
  { id: 'in-process', term: 'in-process', definition: 'The engine runs inside of the client’s process (embedded). Its times include no network; those of a server do.' },
  { id: 'end-of-life', term: 'end of life', definition: 'The vendor no longer supports this version. Do not read its results as those of the current version.' },
  { id: 'busy-machine', term: 'busy machine', definition: 'Other processes were running, or the hypervisor took CPU time, in at least a tenth of the trials. Repeat the run on a quiet machine.' },
  { id: 'incomplete', term: 'a part of the results', definition: 'The run is not complete, or a configuration lacks some of the results that are compared.' },
  { id: 'steal', term: 'CPU steal', definition: 'CPU time that the hypervisor gave to other virtual machines.' },
  { id: 'mix', term: 'mix', definition: 'Operations that clients send, with their shares and how keys are chosen.', workloads: TIERED },
  { id: 'mix-a', term: 'mix a', definition: 'Half reads, half updates; zipfian keys.', workloads: CLIENTS },
  { id: 'mix-b', term: 'mix b', definition: '95 % reads, 5 % updates; zipfian keys.', workloads: CLIENTS },
  { id: 'mix-c', term: 'mix c', definition: 'Reads only; zipfian keys.', workloads: CLIENTS },
  { id: 'mix-d', term: 'mix d', definition: '95 % reads, mostly of the newest records, and 5 % inserts.', workloads: CLIENTS },
  { id: 'mix-e', term: 'mix e', definition: '95 % scans of 1 to 100 documents, 5 % inserts; zipfian keys.', workloads: CLIENTS },
  { id: 'mix-f', term: 'mix f', definition: 'Half reads, half read-modify-writes, which read a document and write it back changed; zipfian keys.', workloads: CLIENTS },
  { id: 'mix-writes', term: 'mix writes', definition: 'Half inserts, half updates; each key equally often.', workloads: TIERED },
  { id: 'mix-churn', term: 'mix churn', definition: 'A quarter each of inserts, reads, updates and deletes; each key equally often.', workloads: CLIENTS },
  { id: 'zipfian', term: 'zipfian', definition: 'Few keys are asked for very often, most hardly ever: the key of rank i in proportion to 1 ÷ i^0.99.', workloads: CLIENTS },
  { id: 'clients', term: 'clients', definition: 'Connections that send operations at the same time.', workloads: TIERED },
  { id: 'throughput', term: 'throughput', definition: 'Operations that ended well, per second, over all clients.', workloads: CLIENTS },
  { id: 'closed-loop', term: 'closed loop', definition: 'Each client sends its next operation when the last one has ended. A slow system is therefore asked less.', workloads: CLIENTS },
  { id: 'open-loop', term: 'open loop', definition: 'Operations begin by a schedule, at random (poisson) or evenly, however slow the system is.', workloads: CLIENTS },
  { id: 'response-time', term: 'response time', definition: 'From when an operation was to begin by its schedule until its answer is decoded, waiting included.', workloads: [...CLIENTS, MIXED] },
  { id: 'service-time', term: 'service time', definition: 'From sending an operation until its answer is decoded. It leaves out waiting before sending, so it is never ranked as latency.', workloads: [...CLIENTS, MIXED] },
  { id: 'percentile', term: 'p50, p99, p99.9', definition: 'The time that so many per cent of all operations do not exceed.', workloads: CLIENTS },
  { id: 'driver-bound', term: 'driver-bound', definition: 'The clients used more than half of the CPU time, so that they may be what was measured.', workloads: CLIENTS },
  { id: 'tier', term: 'tier', definition: 'The durability tier: which acknowledged writes a crash may lose. Only results of one tier are compared.', workloads: TIERED },
  { id: 'tier-synced', term: 'synced', definition: 'The tier that may lose no acknowledged write, neither in a crash of the process nor in a power loss.', workloads: TIERED },
  { id: 'tier-process', term: 'process (tier)', definition: 'The tier that may lose nothing in a crash of the process; a power loss may lose the last moments or more.', workloads: TIERED },
  { id: 'tier-window', term: 'window', definition: 'The tier that may lose the last moments before a crash. How long they are is stated by each system’s folder.', workloads: TIERED },
  { id: 'wal', term: 'WAL', definition: 'Write-ahead log: a system writes changes to it first, so that they survive a crash. Also called redo log, journal or oplog.', workloads: TIERED },
  { id: 'checkpoint', term: 'checkpoint', definition: 'A system writes changed pages to its data files, so that older parts of its WAL are no longer needed.', workloads: CLIENTS },
  { id: 'process-crash', term: 'process crash', definition: 'All processes of the system are killed. Writes that reached the kernel stay.', workloads: TIERED },
  { id: 'power-loss', term: 'power loss', definition: 'The power of the system’s disk is cut. Writes that were not synced are lost.', workloads: TIERED },
  { id: 'acknowledged', term: 'acknowledged', definition: 'The system has confirmed a write to its client before the crash. It must then be there afterwards, unless the tier allows its loss.', workloads: [DURABILITY] },
  { id: 'as-promised', term: 'as promised', definition: 'After the crash nothing was missing that the tier promises to keep.', workloads: [DURABILITY] },
  { id: 'torn', term: 'torn', definition: 'A document is not whole, cannot be read, or mixes several versions.', workloads: [DURABILITY] },
  { id: 'interference', term: 'interference', definition: 'Questions per hour beside writers ÷ after the writers have gone. Below 1 is a loss that goes away as soon as the writers stop.', workloads: BESIDE_WRITERS },
  { id: 'debt', term: 'debt', definition: 'Questions per hour after the writers have gone ÷ after the system has drained. Below 1 is a loss that goes away when the system has done its background work.', workloads: BESIDE_WRITERS },
  { id: 'disorder', term: 'disorder', definition: 'Questions per hour on the grown data, drained, ÷ on data as loaded. Below 1 is a loss that stays, such as by documents in another order or in smaller parts.', workloads: BESIDE_WRITERS },
  { id: 'stale', term: 'stale', definition: 'The longest time from the acknowledgement of a batch to the begin of a question that did not see all of it. It is 0 if the question saw everything.', workloads: BESIDE_WRITERS },
  { id: 'kept', term: 'kept', definition: 'Documents acknowledged ÷ due in the measured time. Below 95 % a system did not carry the same load as others, so its questions beside writers are not ranked.', workloads: BESIDE_WRITERS },
  { id: 'backlog', term: 'backlog', definition: 'Documents that were due and not acknowledged at the end of the measured time.', workloads: BESIDE_WRITERS },
  { id: 'closed', term: 'closed', definition: 'An answer that saw, of each writer, all documents up to some number and none after it. It must equal the right answer over exactly these documents.', workloads: BESIDE_WRITERS },
  { id: 'bounded', term: 'bounded', definition: 'An answer of no single moment. All of its values lie between those over what was acknowledged before the question and over what was sent before its end. It is not ranked.', workloads: BESIDE_WRITERS },
  { id: 'identical', term: 'identical, distinct', definition: 'Identical: all documents of a table are copies of one. Distinct: each has other contents.', workloads: [DOCUMENTS] },
  { id: 'copy', term: 'copy', definition: 'A table of documents is copied inside the system, with one small change to each document.', workloads: [DOCUMENTS] },
  { id: 'sharing', term: 'sharing', definition: 'Bytes that the copy added to the system’s files, as a share of the documents’ own bytes. Little means that both tables share structure.', workloads: [DOCUMENTS] },
  { id: 'crossover', term: 'crossover', definition: 'The size of documents at which two systems change places.', workloads: [DOCUMENTS] },
  { id: 'i-json', term: 'I-JSON-safe', definition: 'Every object of I-JSON (RFC 7493) is accepted and comes back with the same value, by both insert paths.', workloads: [FIDELITY] },
  { id: 'as-the-rfc', term: 'as the RFC says', definition: 'What must be accepted came back with the same value by every insert path; what must be rejected was rejected. Documents that the RFC leaves to the implementation are not counted.', workloads: [FIDELITY] },
  { id: 'case', term: 'kind of cases', definition: 'Documents that test the same part of JSON, such as numbers, strings or duplicate keys. The kind is the first word of a document’s name.', workloads: [FIDELITY] },
] as const satisfies readonly GlossaryEntry[];

/** Identifies a term of the glossary. */
export type TermId = (typeof ENTRIES)[number]['id'];

/** All terms in the order of the glossary. */
export const GLOSSARY: readonly (GlossaryEntry & { id: TermId })[] = ENTRIES;

const BY_ID: ReadonlyMap<string, GlossaryEntry & { id: TermId }> = new Map(GLOSSARY.map((one) => [one.id, one]));

/** The definition of a term; empty if the term is unknown. */
export function definitionOf(id: TermId): string {
  return BY_ID.get(id)?.definition ?? '';
}

/** The identifier that a text names; null if it names no term. */
export function termNamed(text: string): TermId | null {
  return BY_ID.get(text)?.id ?? null;
}

/** The terms of some workloads in the order of the glossary. */
export function termsOf(workloads: readonly string[]): readonly (GlossaryEntry & { id: TermId })[] {
  return GLOSSARY.filter((one) => one.workloads === undefined || one.workloads.some((name) => workloads.includes(name)));
}

/** Words of sentences and the terms that define them. Mixes and tiers have terms of their own names. */
const WORDS: readonly (readonly [RegExp, TermId])[] = [
  [/\b(?:as-is|prepared|extracted)\b/i, 'class'],
  [/\bhot\b/, 'hot'],
  [/\bcold\b/, 'cold'],
  [/95.%/, 'interval'],
  [/\bno difference shown\b/i, 'no-difference'],
  [/\balone in its group\b/, 'ranking'],
  [/\bI-JSON\b/, 'i-json'],
  [/\bmix (?:[a-f]|writes|churn)\b/, 'mix'],
  [/\btier (?:synced|process|window)\b/, 'tier'],
];

/** The term that defines a word of a sentence: the most special one. */
function termOf(word: string, general: TermId): TermId {
  const name = word.toLowerCase();
  return termNamed(name) ?? termNamed(name.replace(' ', '-')) ?? general;
}

/** A piece of a sentence, with the term that defines it; null if it needs none. */
export interface SentencePiece {
  text: string;
  term: TermId | null;
}

/** A sentence in pieces, in which the first use of each term stands by itself. */
export function piecesOf(sentence: string): SentencePiece[] {
  const found = WORDS.flatMap(([pattern, general]) => {
    const match = pattern.exec(sentence);
    return match === null ? [] : [{ start: match.index, end: match.index + match[0].length, term: termOf(match[0], general) }];
  }).sort((a, b) => a.start - b.start);
  const pieces: SentencePiece[] = [];
  let at = 0;
  for (const { start, end, term } of found) {
    if (start < at) continue;
    if (start > at) pieces.push({ text: sentence.slice(at, start), term: null });
    pieces.push({ text: sentence.slice(start, end), term });
    at = end;
  }
  if (at < sentence.length) pieces.push({ text: sentence.slice(at), term: null });
  return pieces;
}
