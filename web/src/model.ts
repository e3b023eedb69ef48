// What the program writes into the page. `crates/report/src/page` makes the same; a change is made in both.
//
// Two parts, each JSON, compressed with gzip and written as base64 into a <script type="text/plain">: `figures`
// holds what charts show, `evidence` what a click on a figure opens and is unpacked after the first chart.
//
// Bytes are bytes, times seconds, unless a name says otherwise. What is not known is null.

/** Everything that charts and tables show. */
export interface Figures {
  format: 1;
  /** Version of the program that made the page. */
  program: string;
  /** When the page was made, RFC 3339. */
  made: string;
  /** One or many, in the order in which they were named. */
  runs: Run[];
  /** Results that others have published; see `docs/published.md`. */
  published: Published[];
  /** What others have published about large documents; none where no run has any. */
  published_documents: PublishedDocuments[];
}

/** How much something is to be noticed: a value, which colours and signs are drawn from. */
export type Severity = 'good' | 'warning' | 'failed';

/** A sentence that stands before everything else. */
export interface Alarm {
  severity: Severity;
  text: string;
}

export interface Run {
  /** Tells runs of one page apart: the name of the run folder, with a number where two are alike. */
  name: string;
  /** Absent where nothing is to be said first. */
  headline?: Alarm[];
  /** Every planned trial has a terminal record. */
  complete: boolean;
  /** Planned trials without a record. */
  open: number;
  /** When it began, RFC 3339. */
  started: string;
  /** Version of the program that made the run. */
  program: string;
  machine: Machine;
  /** Sequential reads of the run folder's disk. */
  disk_bytes_per_s: number | null;
  /** Rounds planned. */
  rounds: number | null;
  data: {
    documents: number;
    bytes: number;
    digest: string;
    source: string;
    malformed: number;
    staging_s: number | null;
    /** The same documents in formats that are no database: raw, gzip-6, lz4, zstd-1. */
    reference_sizes: Record<string, number>;
  };
  configurations: Configuration[];
  cells: Cell[];
  /** Highest throughput over numbers of clients, of ranked configurations. */
  peaks: Peak[];
  /** Sizes of large documents at which two ranked configurations change places. */
  crossovers: Crossover[];
  scores: Score[];
  failures: Failure[];
  /** A user's own questions; absent where there are none. */
  questions?: OwnQuestion[];
  /** What came of their answers. */
  agreements?: Agreement[];
  /** Documents of a fidelity run; steps of its cells are their names. */
  cases?: Case[];
}

/** A user's own question. */
export interface OwnQuestion {
  name: string;
  title: string;
  asks: string;
}

/** The answers to one question, held against each other. */
export interface Agreement {
  question: string;
  basis: 'agreed' | 'disputed' | 'unverified' | 'other_documents' | 'expected' | 'reference' | 'unanswered';
  /** How many documents the answers were compared over: those that all voters hold. */
  documents: number;
  columns: string[];
  /** The first rows of the answer that all are held against, and how many there are. */
  first?: { rows: Row[]; count: number };
  standings: Standing[];
}

/** A row of an answer; a number that JSON does not have is an object. */
export type Row = readonly (string | number | boolean | null | { float: string })[];

/** How a configuration stands to the answer that all are held against. */
export interface Standing {
  system: string;
  version: string;
  variant: string;
  answer: 'same' | 'different' | 'other_documents' | 'failed' | 'not_asked';
  why?: string;
  rows?: { lacks: Row[]; lacking: number; has: Row[]; having: number };
  rule?: string;
  /** What it was asked. */
  statement?: string;
  /** How many documents it holds. */
  documents: number;
}

/** Two configurations that change places over sizes of documents. */
export interface Crossover {
  test: string;
  data: string;
  /** Index of the configuration that is faster below the size, and of the one that is faster above it. */
  below: number;
  above: number;
  /** Bytes of a document. */
  bytes: number;
  /** Limits of its 95 % interval; null beyond all sizes that were measured. */
  low: number | null;
  high: number | null;
}

/** A document that was given to every system. */
export interface Case {
  name: string;
  /** What the RFC says. */
  must: 'accept' | 'reject' | 'choose';
  /** Where it says so. */
  source: string;
  probes: string;
  /** It decides if a system is I-JSON-safe. */
  decides: boolean;
  bytes: number;
  /** The document, made fit to be read; the middle of a long one is left out. */
  document: string;
}

/** Something found out that is no number. */
export interface Finding {
  /** Of what, within its cell: `bulk`, `bulk, whole`, `parameter, value`. */
  of: string;
  state: string;
  kinds?: string[];
  /** The system's own words. */
  words?: string;
  /** What was seen. */
  seen?: string;
}

export interface Machine {
  cores: number;
  processor: string;
  memory_bytes: number;
  kernel: string;
  os: string;
  architecture: string;
  file_system: string | null;
}

/** A system in a version, variant and storage setting. */
export interface Configuration {
  /** Name of its folder. */
  system: string;
  /** Name for people. */
  title: string;
  version: string;
  variant: string;
  variant_title: string;
  storage: string;
  /** Inside a process of the harness: no network in its times. */
  embedded: boolean;
  /** `tcp` or `unix` of a server. */
  transport: string | null;
  end_of_life: boolean;
  /** The day of its release, where newer versions were out that could not be had, or not be used. */
  outdated: string | null;
  /** What the system was told about the documents before they came; null in runs that did not state it. */
  preparation: Preparation | null;
  /** Where its memory settings come from; null in runs that did not state it. */
  profile: Profile | null;
  /** The budget of memory that it was sized for; null under `stock`. */
  memory_bytes: number | null;
  /** What its class and profile do not say, such as `approximate`. */
  ranks_with: string;
  /** Class, profile and `ranks_with` in one text: only configurations with the same text are ranked with each other. */
  ranking: string;
  /** False of what is shown and never ranked, such as statements as others have published them. */
  ranked: boolean;
  /** A row to read others by, such as the yardstick; never ranked. */
  reference: boolean;
  configuration_digest: string;
  artifact_digest: string | null;
  /** Where it differs from the system's defaults. */
  exceptions: { what: string; why: string }[];
  /** Memory settings of its profile. */
  settings: Setting[];
  /** Documents in one unit of parallel work, such as a row group. */
  parallel_unit: number | null;
  /** What a crash may lose, as its folder documents it; null where no tier was chosen. */
  durability: Durability | null;
  /** Why it is not made for the run's workload; null where it is. */
  not_made_for: string | null;
  /** By question: why what it asks is another question. */
  other_questions: Record<string, string>;
  /** What came back of the documents that were read back; null when nobody looked. */
  structure: Structure | null;
  /** Documents that were not taken, by the system's own reasons. */
  rejects: { reason: string; documents: number }[];
}

export interface Durability {
  tier: string;
  process_crash: string;
  power_loss: string;
  /** What durability runs beside this one had shown when it began. */
  tested?: Tested[];
}

/** Stops of one kind. */
export interface Tested {
  /** `process` or `power`. */
  kind: string;
  stops: number;
  kept: number;
  as_promised: number;
  /** The day. */
  date: string;
}

export type Preparation = 'as-is' | 'prepared' | 'extracted' | 'own';
export type Profile = 'sized' | 'stock';

/** A setting of a profile. */
export interface Setting {
  name: string;
  value: string;
  /** What the package does by itself. */
  stock: string | null;
  /** Where its makers advise the value. */
  source: string | null;
}

export interface Structure {
  /** `bytes`, `value`, `changed` or `unknown`. */
  retains: string;
  compared: number;
  equal_bytes: number;
  equal_value: number;
  /** Kind of change and documents that show it. */
  changes: Record<string, number>;
}

export type Verdict =
  | 'exact' | 'approximate' | 'unverified' | 'disputed' | 'partial' | 'not_applicable' | 'wrong' | 'timeout' | 'failed';

/** All trials of one thing. A time is null where the verdict allows none. */
export interface Cell {
  /** Index of its configuration in the run. */
  configuration: number;
  /** `analytics`, `serving`; others come. */
  workload: string;
  /** `load`, `size`, `q1` … `q6`; of serving the mix; other workloads have others. */
  step: string;
  /** `load`, `cold`, `cold-unverified`, `cold-os`, `hot`, `hot-not-in-memory`, `steady`, `measured`. */
  phase: string;
  /** State of the data: `drained` or `compacted`; null of a load. */
  state: string | null;
  /** Further dimensions, such as clients. */
  parameters: Record<string, string | number | boolean>;
  /** Trials with a time, or with the figure that the cell is about. */
  trials: number;
  median_s: number | null;
  /** 95 % interval over rounds; null with too few of them. */
  low_s: number | null;
  high_s: number | null;
  verdict: Verdict;
  /** Absent where it is good. */
  severity?: Severity;
  /** `cpu`, `one core`, `disk`, …. */
  bound_by: string | null;
  /** Units stand last in the names: `total_bytes`, `documents_per_s`, `server_cpu_s`, …. */
  metrics: Record<string, number>;
  /** 95 % intervals over rounds of those metrics that have one, such as throughput and sizes. */
  intervals: Record<string, [number, number]>;
  /** Figures whose trials fall into two groups, the lower one first: trials and median of each. */
  groups?: Record<string, [[number, number], [number, number]]>;
  /** Beside the best comparable cell of the same ranking: by throughput where that is what the cell is about, or response time. */
  of_best: Ratio | null;
  /** Beside the yardstick on one core. */
  of_yardstick: Ratio | null;
  /** Share and microseconds by histogram (`service`, `response`, `failed`), ascending; of cells that have histograms. */
  distributions?: Record<string, [number, number][]>;
  /** What was found out that is no number. */
  findings?: Finding[];
}

/** A configuration's highest throughput over numbers of clients, beside the highest of its ranking. */
export interface Peak {
  /** Index of the cell in the run. */
  cell: number;
  /** Operations per second. */
  value: number;
  /** Beside the highest; itself where it is that. */
  of_best: Ratio;
  /** Clients of the highest. */
  other_clients: number | null;
  /** It is the highest and shown to differ from all others of its ranking. */
  leads: boolean;
}

/** This figure ÷ the other one's, over the rounds that both have. */
export interface Ratio {
  ratio: number;
  low: number | null;
  high: number | null;
  difference: 'faster' | 'slower' | 'no difference shown';
  /** Index of the other configuration. */
  other: number;
}

/** Score of the published formula, among the configurations of one ranking; see `docs/published.md`. */
export interface Score {
  configuration: number;
  state: string;
  cold: number | null;
  hot: number | null;
  size: number | null;
}

export interface Failure {
  configuration: number;
  step: string;
  phase: string;
  round: number;
  kind: string;
  error: string;
}

export interface Published {
  /** Month in which it stood so. */
  snapshot: string;
  system: string;
  version: string;
  date: string | null;
  machine: string;
  retains_structure: boolean | null;
  tags: string[];
  scale: number;
  loaded: number;
  total_bytes: number | null;
  data_bytes: number | null;
  index_bytes: number | null;
  /** Of five questions. */
  cold: (number | null)[];
  hot: (number | null)[];
  source: string;
  /** Likely errors: inferences of this project. */
  suspected: { field: string; reason: string }[];
}

/** A published figure of large documents: a mean over a table of so many of one size. */
export interface PublishedDocuments {
  test: string;
  system: string;
  variant: string;
  /** The kind of index, of the test of that name. */
  index: string | null;
  /** Its documents have 2^(n+4) bytes. */
  n: number;
  documents: number;
  mean_s: number | null;
  sd_s: number | null;
  /** On the disk; no unit is given. */
  disk: number | null;
  /** Why it is likely to be an error: inferences of this project. */
  suspected: string[];
}

/** What stands behind the figures, run by run in the same order. */
export interface Evidence {
  runs: RunEvidence[];
}

export interface RunEvidence {
  /** Long texts, each once; others refer to them by index. */
  texts: string[];
  /** In the order of the run's cells. */
  cells: CellEvidence[];
  series: Series | null;
}

export interface CellEvidence {
  /** Key of the cell in the journal; a trial's is `KEY#ROUND.ORDER`. */
  key: string;
  /** Column by column, one entry a trial. */
  trials: Trials;
  /** Index of the statement's text. */
  statement: number | null;
  plan: { text: number; file: string; violations: string[] } | null;
  /** The answers that were given, each once. */
  answers: { digest: string; text: number | null; trials: number }[];
  /** Trials second by second, of cells in which clients sent operations. */
  seconds?: Seconds[];
}

/** A trial second by second, column by column. */
export interface Seconds {
  round: number;
  order: number;
  operations: number[];
  errors: number[];
  longest_us: number[];
  backlog: number[];
  /** Seconds of the ramp, which come first. */
  ramp: number;
  /** Places of those in which the system wrote a checkpoint; null where it does not tell. */
  checkpoints: number[] | null;
  /** Requests under way on the disk of the system's data, on average; absent where that is not known. */
  disk_queue?: (number | null)[];
}

export interface Trials {
  round: number[];
  order: number[];
  /** Milliseconds since 1970, at the end of the trial. */
  at_ms: number[];
  seconds: (number | null)[];
  /** The system's own figure. */
  server_s: (number | null)[];
  verdict: Verdict[];
  bound_by: (string | null)[];
  /** Why there is no time. */
  failure: ({ kind: string; error: string } | null)[];
  metrics: Record<string, (number | null)[]>;
}

/** The machine and the system under test second by second, thinned where a run is long. */
export interface Series {
  /** Samples that one point stands for. */
  samples_per_point: number;
  /** Seconds since the run began. */
  at_s: number[];
  /** Index of the text that says what was done; null when nothing was up. */
  what: (number | null)[];
  /** Each as long as `at_s`. Names end in their unit: busy_cores, waiting_cores, stolen_cores, runnable,
   *  disk_busy_share, disk_latency_ms, disk_read_bytes_per_s, disk_written_bytes_per_s, subject_busy_cores,
   *  subject_pss_bytes, …. */
  values: Record<string, (number | null)[]>;
}
