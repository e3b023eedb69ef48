// Data that the program writes into the page. `crates/report/src/page` produces it; change both together.
//
// There are two parts, each JSON, compressed with gzip and written as base64 into a <script
// type="text/plain">: `figures` holds the data of charts and tables, `evidence` the details behind a result;
// the latter is unpacked after the first chart.
//
// Sizes are in bytes and times in seconds unless a name says otherwise. Unknown values are null.

/** Data of all charts and tables. */
export interface PageData {
  format: 1;
  /** Version of the program that made the page. */
  program: string;
  /** Creation time of the page, RFC 3339. */
  made: string;
  /** The runs, at least one, in command-line order. */
  runs: Run[];
  /** Results published by others; see `docs/published.md`. */
  published: Published[];
  /** Published results on large documents; empty if no run has the documents workload. */
  published_documents: PublishedDocuments[];
}

/** Severity of a result; selects its colour and sign. */
export type Severity = 'good' | 'warning' | 'failed';

/** A sentence shown above everything else. */
export interface Alarm {
  severity: Severity;
  text: string;
}

export interface Run {
  /** Identifies the run on this page: the name of its folder, with a number if two are equal. */
  name: string;
  /** Alarms shown first; absent if there are none. */
  headline?: Alarm[];
  /** Whether every planned trial has a terminal record. */
  complete: boolean;
  /** Planned trials without a record. */
  open: number;
  /** Start time of the run, RFC 3339. */
  started: string;
  /** Version of the program that executed the run. */
  program: string;
  machine: Machine;
  /** Sequential read rate of the run folder's disk. */
  disk_bytes_per_s: number | null;
  /** Number of planned rounds; null if the run's settings do not state it. */
  rounds: number | null;
  data: {
    documents: number;
    bytes: number;
    digest: string;
    source: string;
    malformed: number;
    staging_s: number | null;
    /** Bytes of the same documents as plain files, by format: raw, gzip-6, lz4, zstd-1. */
    reference_sizes: Record<string, number>;
  };
  configurations: Configuration[];
  cells: Cell[];
  /** Highest throughput over the numbers of clients, for ranked configurations. */
  peaks: Peak[];
  /** Document sizes at which two ranked configurations swap order. */
  crossovers: Crossover[];
  scores: Score[];
  failures: Failure[];
  /** The user's own questions; absent if there are none. */
  questions?: UserQuestion[];
  /** How the answers to the user's questions compare. */
  agreements?: Agreement[];
  /** Documents of a fidelity run; the steps of its cells are their names. */
  cases?: Case[];
  /** Whether each configuration of a fidelity run is I-JSON-safe; absent for other workloads. */
  i_json?: IJsonGrade[];
}

/** A question defined by the user. */
export interface UserQuestion {
  name: string;
  title: string;
  asks: string;
}

/** Comparison of all answers to one question. */
export interface Agreement {
  question: string;
  basis: 'agreed' | 'disputed' | 'unverified' | 'other_documents' | 'expected' | 'reference' | 'unanswered';
  /** Documents over which the answers were compared: those that all voters hold. */
  documents: number;
  columns: string[];
  /** First rows of the answer that all others are compared with, and its number of rows. */
  first?: { rows: Row[]; count: number };
  standings: ConfigurationAnswer[];
}

/** A row of an answer; a number that JSON cannot express is an object. */
export type Row = readonly (string | number | boolean | null | { float: string })[];

/** How a configuration's answer relates to the answer that all others are compared with. */
export interface ConfigurationAnswer {
  system: string;
  version: string;
  variant: string;
  answer: 'same' | 'different' | 'other_documents' | 'failed' | 'not_asked';
  why?: string;
  rows?: { lacks: Row[]; lacking: number; has: Row[]; having: number };
  rule?: string;
  /** The statement that the system executed. */
  statement?: string;
  /** Number of documents that the configuration holds. */
  documents: number;
}

/** Two configurations that swap order as documents grow. */
export interface Crossover {
  test: string;
  data: string;
  /** Indexes of the configurations that are faster below and above the size. */
  below: number;
  above: number;
  /** Document size of the crossover in bytes. */
  bytes: number;
  /** Limits of the 95 % interval of the size; null if beyond all measured sizes. */
  low: number | null;
  high: number | null;
}

/** A test document that every system is given. */
export interface Case {
  name: string;
  /** Requirement of the RFC for parsers. */
  must: 'accept' | 'reject' | 'choose';
  /** Section of the RFC that states the requirement. */
  source: string;
  probes: string;
  /** Whether the document decides if a system is I-JSON-safe. */
  decides: boolean;
  bytes: number;
  /** The document in readable form; the middle of a long one is left out. */
  document: string;
}

/** An observation that is not a number. */
export interface Finding {
  /** Subject within the cell: `bulk`, `bulk, whole`, `parameter, value`. */
  of: string;
  state: string;
  kinds?: string[];
  /** Message of the system, verbatim. */
  words?: string;
  /** Observed value, such as the document read back. */
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

/** A system in a version, variant, storage setting and memory profile. */
export interface Configuration {
  /** Folder name of the system in the catalogue. */
  system: string;
  /** Display name of the system. */
  title: string;
  version: string;
  variant: string;
  variant_title: string;
  storage: string;
  /** Whether the engine runs inside the worker process, so that its times include no network. */
  embedded: boolean;
  /** `tcp` or `unix` for servers; null otherwise. */
  transport: string | null;
  end_of_life: boolean;
  /** Release day of the version if newer ones exist that cannot be obtained or used; null otherwise. */
  outdated: string | null;
  /** What was configured about the documents before loading; null if the run does not state it. */
  preparation: Preparation | null;
  /** How the memory settings are chosen; null if the run does not state it. */
  profile: Profile | null;
  /** Memory budget that the settings are sized for; null for `stock`. */
  memory_bytes: number | null;
  /** What separates the ranking beyond class and profile, such as `approximate`. */
  ranks_with: string;
  /** Class, profile and `ranks_with` as one text; only configurations with equal text are ranked together. */
  ranking: string;
  /** False if shown but never ranked, such as statements exactly as published by others. */
  ranked: boolean;
  /** Whether this is a reference configuration such as the yardstick; never ranked. */
  reference: boolean;
  configuration_digest: string;
  artifact_digest: string | null;
  /** Settings that differ from the system's defaults, with reasons. */
  exceptions: { what: string; why: string }[];
  /** Memory settings of the memory profile. */
  settings: Setting[];
  /** Documents in one unit of parallel work, such as a row group; null if not declared. */
  parallel_unit: number | null;
  /** What a crash may lose according to the system's folder; null if no tier was chosen. */
  durability: Durability | null;
  /** Why the system is not made for the run's workload; null if it is. */
  not_made_for: string | null;
  /** By question: why the system's statement asks a different question. */
  other_questions: Record<string, string>;
  /** Result of reading documents back; null if they were not read back. */
  structure: Structure | null;
  /** Rejected documents, by the system's own reason. */
  rejects: { reason: string; documents: number }[];
}

export interface Durability {
  tier: string;
  process_crash: string;
  power_loss: string;
  /** Results of earlier durability runs, as known when this run began. */
  tested?: Tested[];
}

/** Results of crash tests of one kind. */
export interface Tested {
  /** Kind of crash: `process` or `power`. */
  kind: string;
  stops: number;
  kept: number;
  as_promised: number;
  /** Day of the crash tests. */
  date: string;
}

export type Preparation = 'as-is' | 'prepared' | 'extracted' | 'own';
export type Profile = 'sized' | 'stock';

/** One setting of a memory profile. */
export interface Setting {
  name: string;
  value: string;
  /** Default value of the package; null if unknown. */
  stock: string | null;
  /** Where the vendor recommends the value; null if unknown. */
  source: string | null;
}

export interface Structure {
  /** How documents come back: `bytes`, `value`, `changed` or `unknown`. */
  retains: string;
  compared: number;
  equal_bytes: number;
  equal_value: number;
  /** Kind of change, and the number of documents that show it. */
  changes: Record<string, number>;
}

export type Verdict =
  | 'exact' | 'approximate' | 'unverified' | 'disputed' | 'partial' | 'not_applicable' | 'wrong' | 'timeout' | 'failed';

/** Whether a configuration is I-JSON-safe, by the documents that decide it. */
export interface IJsonGrade {
  /** Index of the configuration in the run. */
  configuration: number;
  /** Null while the result of a deciding document is missing. */
  safe: boolean | null;
  /** Deciding documents that came back with the same value by both ways. */
  kept: number;
  deciding: number;
  /** The others, each with the reason. */
  broken: string[];
}

/** All trials with equal dimensions. Times are null if the verdict allows none. */
export interface Cell {
  /** Index of the configuration in the run. */
  configuration: number;
  /** Workload name, such as `analytics` or `serving`. */
  workload: string;
  /** `load`, `size`, `q1` … `q6`; for serving the mix; other workloads have their own steps. */
  step: string;
  /**
   * Phase: `load`, `cold`, `cold-unverified`, `cold-os`, `hot`, `hot-not-in-memory`, `steady` or `measured`.
   */
  phase: string;
  /** Data state, `drained` or `compacted`; null for a load. */
  state: string | null;
  /** Further dimensions, such as the number of clients. */
  parameters: Record<string, string | number | boolean>;
  /** Trials with a time, or with the headline metric of the cell. */
  trials: number;
  median_s: number | null;
  /** Limits of the 95 % interval over rounds; null after too few rounds. */
  low_s: number | null;
  high_s: number | null;
  verdict: Verdict;
  /** Severity of the cell; absent if it is good. */
  severity?: Severity;
  /** Bottleneck: `cpu`, `one core`, `disk`, …; null if unknown. */
  bound_by: string | null;
  /** Metrics by name; names end in their unit: `total_bytes`, `documents_per_s`, `server_cpu_s`, …. */
  metrics: Record<string, number>;
  /** 95 % intervals over rounds, for metrics that have one, such as throughput and sizes. */
  intervals: Record<string, [number, number]>;
  /** Metrics whose trials fall into two groups, lower group first: trials and median of each. */
  groups?: Record<string, [[number, number], [number, number]]>;
  /**
   * Ratio to the best comparable cell of the ranking, by headline metric (throughput, response time or time).
   */
  of_best: CellRatio | null;
  /** Ratio to the yardstick on one core. */
  of_yardstick: CellRatio | null;
  /**
   * Share and microseconds per histogram (`service`, `response`, `failed`), ascending; only for cells with
   * histograms.
   */
  distributions?: Record<string, [number, number][]>;
  /** Observations that are not numbers. */
  findings?: Finding[];
}

/**
 * Highest throughput of a configuration over the numbers of clients, compared with the highest of its
 * ranking.
 */
export interface Peak {
  /** Index of the cell in the run. */
  cell: number;
  /** Throughput in operations per second. */
  value: number;
  /** Ratio to the highest of the ranking; to itself if this is the highest. */
  of_best: CellRatio;
  /** Number of clients of the highest; null if unknown. */
  other_clients: number | null;
  /** Whether this is the highest and shown to differ from all others of its ranking. */
  leads: boolean;
}

/** Ratio of this cell's value to that of another configuration, over the rounds that both have. */
export interface CellRatio {
  ratio: number;
  low: number | null;
  high: number | null;
  difference: 'faster' | 'slower' | 'no difference shown';
  /** Index of the other configuration. */
  other: number;
}

/** Score by the published formula among the configurations of one ranking; see `docs/published.md`. */
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
  /** Month of the snapshot of the published results. */
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
  /** Times of the five published questions. */
  cold: (number | null)[];
  hot: (number | null)[];
  source: string;
  /** Likely errors, as inferred by this project. */
  suspected: { field: string; reason: string }[];
}

/** A published mean time for a table of equally large documents. */
export interface PublishedDocuments {
  test: string;
  system: string;
  variant: string;
  /** Kind of index, for the test `index`; null for other tests. */
  index: string | null;
  /** Size exponent: documents have 2^(n+4) bytes. */
  n: number;
  documents: number;
  mean_s: number | null;
  sd_s: number | null;
  /** Published disk usage; no unit is given. */
  disk: number | null;
  /** Why the value is likely to be an error, as inferred by this project. */
  suspected: string[];
}

/** Details behind the results, in the order of the runs in `PageData`. */
export interface Evidence {
  runs: RunEvidence[];
}

export interface RunEvidence {
  /** Long texts without duplicates; other fields refer to them by index. */
  texts: string[];
  /** One entry per cell, in the order of the run's cells. */
  cells: CellEvidence[];
  series: Series | null;
}

export interface CellEvidence {
  /** Key of the cell in the journal; a trial's key is `KEY#ROUND.ORDER`. */
  key: string;
  /** Trial data column by column, one element per trial. */
  trials: Trials;
  /** Index of the statement's text in `texts`; null if there is none. */
  statement: number | null;
  plan: { text: number; file: string; violations: string[] } | null;
  /** Distinct answers, with the number of trials that gave each. */
  answers: { digest: string; text: number | null; trials: number }[];
  /** Per-second data of trials, for cells in which clients send operations. */
  seconds?: Seconds[];
}

/** Per-second data of one trial, column by column. */
export interface Seconds {
  round: number;
  order: number;
  operations: number[];
  errors: number[];
  longest_us: number[];
  backlog: number[];
  /** Seconds of warm-up at the start. */
  ramp: number;
  /** Indexes of the seconds in which the system wrote a checkpoint; null if it does not report them. */
  checkpoints: number[] | null;
  /** Mean number of requests in flight on the data disk, per second; absent if unknown. */
  disk_queue?: (number | null)[];
}

export interface Trials {
  round: number[];
  order: number[];
  /** End of each trial in milliseconds since 1970. */
  at_ms: number[];
  seconds: (number | null)[];
  /** Time that the system itself reports, in seconds; null if it reports none. */
  server_s: (number | null)[];
  verdict: Verdict[];
  bound_by: (string | null)[];
  /** Why a trial has no time; null if it has one. */
  failure: ({ kind: string; error: string } | null)[];
  metrics: Record<string, (number | null)[]>;
}

/** Telemetry of the machine and the system under test, thinned for long runs. */
export interface Series {
  /** Number of samples that one point stands for. */
  samples_per_point: number;
  /** Seconds since the start of the run. */
  at_s: number[];
  /** Index of the text that describes the current activity; null if no engine was running. */
  what: (number | null)[];
  /**
   * Columns as long as `at_s`. Names end in their unit: busy_cores, waiting_cores, stolen_cores, runnable,
   * disk_busy_share, disk_latency_ms, disk_read_bytes_per_s, disk_written_bytes_per_s, subject_busy_cores,
   * subject_pss_bytes, ….
   */
  values: Record<string, (number | null)[]>;
}
