// Generated from the types of crates/report/src/page by a test of crates/report, model_tests; do not edit by
// hand.
//
// Data that the program writes into the page, in two parts. Each is JSON, compressed with gzip and written as
// base64 into a <script type="text/plain">: PageData is the data of charts and tables, Evidence the details
// behind a result; the latter is unpacked after the first chart.
//
// Sizes are in bytes and times in seconds unless a name says otherwise. Unknown values are null.

import type { CrashKind, DataState, DurabilityTier, MemoryProfile, Phase, PreparationClass, Verdict } from './vocabulary.ts';

/** Answers of all configurations to one question, compared with the expected answer. */
export type Agreement = {
  /** Workload that the question belongs to. */
  workload: WorkloadName,
  /** Name of the question, which is the step of its cells. */
  question: string,
  /** Where the expected answer comes from. */
  basis: ExpectedAnswerSource,
  /**
   * Number of documents over which answers were compared: those that all voting configurations hold, or
   * all that were offered if the user gave the answer.
   */
  documents: number,
  /** Digest that identifies these documents. */
  documents_digest: string,
  /**
   * Largest number that may have cancelled out in a sum. Columns without a scale are compared within 1e-9
   * of it. `undefined` if this tolerance made no difference.
   */
  addend?: number,
  /** Names of the answer's columns, in order. */
  columns: Array<string>,
  /**
   * First rows of the expected answer; if disputed, of the most frequent one. `undefined` if there is no such
   * answer.
   */
  first?: FirstRows,
  /** File with the whole expected answer, relative to the run folder. `undefined` if there is none. */
  file?: string,
  /** Result of each configuration, in plan order. */
  answers: Array<ConfigurationAnswer>,
};

/** One comparison of a run and its outcome. */
export type Answer = {
  /** Workload in which the comparison was measured. */
  workload: WorkloadName,
  /** Ranking whose members are compared, as `Configuration::ranking` names it. */
  ranking: string,
  /** Subject of the comparison: what is fastest, smallest or safest. */
  subject: AnswerSubject,
  /**
   * Conditions that separate comparisons of one subject: `mix a, 8 clients`, `1 MiB`. Empty if
   * there is one comparison only.
   */
  conditions: string,
  /** Who leads, or why nobody does. */
  outcome: AnswerOutcome,
  /** Reasons to be careful with this outcome, those that touch the leader or the runner-up. */
  caveats: Array<AnswerCaveat>,
  /**
   * Words of these caveats in their order, without a full stop. They name the systems: `MongoDB 6.0.5 is no
   * longer supported by its vendor`.
   */
  caveat_texts: Array<string>,
  /** The same caveats in as few words as a terminal has room for: `MongoDB 6.0.5: end of life`. */
  caveat_labels: Array<string>,
  /** The outcome in one sentence for readers, the same in terminal, page, JSON and exports. */
  sentence: string,
  /** Severity of the outcome: failed if data were lost or answers wrong. */
  severity: Severity,
};

/** Reason to be careful with an outcome. */
export type AnswerCaveat = 'end_of_life' | 'embedded' | 'one_round' | 'few_rounds' | 'busy_machine' | 'approximate' | 'partial';

/** Outcome of a comparison. Configurations are indexes into those of the manifest. */
export type AnswerOutcome = { 'kind': 'leader',
  /** Configuration that leads its ranking. */
  first: number,
  /** Configuration that comes closest to the first one. */
  runner_up: number,
  /** How many times better the first one is than the runner-up; at least 1. */
  ratio: number,
  /** Lower limit of the ratio's interval. */
  low: number,
  /** Upper limit of the ratio's interval. */
  high: number, } | { 'kind': 'no_difference_shown',
  /** Configurations that may be equally good, the best median first. */
  tied: Array<number>,
  /**
   * Limits of how many times better the first of them is than the others; of several others and of several
   * comparisons the lowest and the highest one. `null` if the busy machine made intervals too wide, or if the
   * median contradicts them.
   */
  interval: [number, number] | null, } | { 'kind': 'too_few_rounds',
  /** Configurations that may be the best one, the best median first. */
  candidates: Array<number>, } | { 'kind': 'counted',
  /** Configurations with the best count. Empty if none is good. */
  first: Array<number>,
  /** Count of these configurations in words. */
  value: string, } | { 'kind': 'only_one',
  /** Configuration that has nothing to be compared with. */
  only: number, } | { 'kind': 'nobody',
  /** Reason in words, without a full stop. */
  reason: string,
};

/** Kind of answer that a configuration gave to a question. */
export type AnswerStatus = 'same' | 'different' | 'other_documents' | 'failed' | 'not_asked';

/** Subject of a comparison, in the order in which answers are shown. */
export type AnswerSubject = 'hot' | 'cold' | 'load' | 'size' | 'throughput' | 'response_time' | 'freshness' | 'kept_rate' | 'operations' | 'stored_size' | 'import' | 'export' | 'copy' | 'extract' | 'filter' | 'order' | 'index_build' | 'update' | 'version' | 'round_trip' | 'durability' | 'correctness';

/**
 * One cell of an answer.
 *
 * Serialized as the plain JSON value. JSON has no NaN and no infinities, and an answer must be stored
 * exactly as given. These three are therefore `{"float":"NaN"}`, `{"float":"Infinity"}` and
 * `{"float":"-Infinity"}`.
 */
export type AnswerValue = string | number | boolean | null | { float: string };

/** Resource that limited the time of a trial. */
export type Bottleneck = 'cpu' | 'cpu, part' | 'one core' | 'disk' | 'waiting';

/** All trials with equal dimensions. Times are null if the verdict allows none. */
export type Cell = {
  /** Index of the configuration in the run. */
  configuration: number,
  /** Workload that the trials are part of. */
  workload: WorkloadName,
  /** `load`, `size`, `q1` … `q6`; for serving the mix; other workloads have their own steps. */
  step: Step,
  /** Condition of the system when a trial began. */
  phase: Phase,
  /** Data state at the trials. `null` for a load. */
  state: DataState | null,
  /** Further dimensions, such as the number of clients. */
  parameters: Record<string, string | number | boolean>,
  /** Number of trials with a time, or with the headline metric of the cell. */
  trials: number,
  /** Median time of the trials in seconds. */
  median_s: number | null,
  /** Lower limit of the 95 % interval over rounds. `null` after too few rounds. */
  low_s: number | null,
  /** Upper limit of the 95 % interval over rounds. `null` after too few rounds. */
  high_s: number | null,
  /** Worst verdict among the trials. */
  verdict: Verdict,
  /** How strongly the page marks the cell; absent if it is good. */
  severity?: Severity,
  /** Most frequent bottleneck among the trials. `null` if unknown. */
  bound_by: Bottleneck | null,
  /** Metrics by name; names end in their unit, such as `total_bytes` or `server_cpu_s`. */
  metrics: { [key in string]: number },
  /** 95 % intervals over rounds, for metrics that have one, such as throughput and sizes. */
  intervals: { [key in string]: [number, number] },
  /** Metrics whose trials fall into two groups, lower group first: trials and median of each. */
  groups?: { [key in string]: [[number, number], [number, number]] },
  /**
   * Ratio to the best comparable cell of the ranking, by headline metric (throughput, response time or
   * time).
   */
  ratio_to_best: Ratio | null,
  /** Ratio to the yardstick on one core. */
  ratio_to_yardstick: Ratio | null,
  /**
   * Quantiles of each histogram (`service`, `response`, `failed`), ascending: share and microseconds;
   * absent if there are no histograms.
   */
  distributions?: { [key in string]: Array<[number, number]> },
  /** Observations on the cell that are not numbers; absent if there are none. */
  findings?: Array<Finding>,
};

/** Evidence of one cell: its trials, and the statement, plan and answers behind them. */
export type CellEvidence = {
  /** Key of the cell in the journal; a trial's key is `KEY#ROUND.ORDER`. */
  key: string,
  /** Trial data column by column, one element per trial. */
  trials: Trials,
  /** Index of the statement's text in `texts`. `null` if there is none. */
  statement: number | null,
  /** Plan of the statement. `null` if none was read. */
  plan: Plan | null,
  /** Distinct answers, in the order in which they were first given. */
  answers: Array<DistinctAnswer>,
  /** Per-second data of trials; absent unless clients send operations in the cell. */
  seconds?: Array<SecondColumns>,
};

/** A system in a version, variant, storage setting and memory profile. */
export type Configuration = {
  /** Folder name of the system in the catalogue. */
  system: string,
  /** Display name of the system. */
  title: string,
  /** Version of the system, as it was requested. */
  version: string,
  /** Name of the variant: how the system's folder sets it up. */
  variant: string,
  /** Display name of the variant. */
  variant_title: string,
  /** Name of the storage setting; empty if the system has none. */
  storage: string,
  /** Whether the engine runs inside the worker process, so that its times include no network. */
  embedded: boolean,
  /** Transport to the server. `null` without a server that the run starts. */
  transport: Transport | null,
  /** Whether the vendor no longer supports the version. */
  end_of_life: boolean,
  /** Release day of the version if newer ones exist that cannot be obtained or used. `null` otherwise. */
  outdated: string | null,
  /** What was configured about the documents before loading. */
  preparation: PreparationClass,
  /** How the memory settings are chosen. `null` for remote servers, whose operators set their memory. */
  profile: MemoryProfile | null,
  /** Memory budget that the settings are sized for. `null` if the memory profile has none. */
  memory_bytes: number | null,
  /** What separates the ranking beyond class and profile, such as `approximate`; empty for most. */
  ranks_with: string,
  /** Class, profile and `ranks_with` as one text; only configurations with equal text are ranked together. */
  ranking: string,
  /** Whether it is ranked at all: statements exactly as published by others never are. */
  ranked: boolean,
  /** Whether this is a reference configuration such as the yardstick, which is never ranked. */
  reference: boolean,
  /** Digest of everything that configures the system. */
  configuration_digest: string,
  /** Digest of the installed artifact. `null` for systems that are part of the program. */
  artifact_digest: string | null,
  /** Settings that differ from the system's defaults, with reasons. */
  exceptions: Array<SettingDeviation>,
  /** Memory settings of the memory profile. */
  settings: Array<MemorySetting>,
  /** Documents in one unit of parallel work, such as a row group. `null` if not declared. */
  parallel_unit: number | null,
  /** What a crash may lose according to the system's folder. `null` if no tier was chosen. */
  durability: Durability | null,
  /** Why the system is not made for the run's workload. `null` if it is. */
  not_made_for: string | null,
  /** By question: why the system's statement asks a different question. */
  other_questions: { [key in string]: string },
  /** Result of reading documents back. `null` if they were not read back. */
  structure: Structure | null,
  /** Rejected documents, by the system's own reason. */
  rejects: Array<Reject>,
};

/** Answer of one configuration compared with the expected one. */
export type ConfigurationAnswer = {
  /** Memory profile of the configuration. `undefined` for remote servers. */
  profile?: MemoryProfile,
  /** Whether it gave the expected answer, another one, or none. */
  answer: AnswerStatus,
  /** How the answer differs or why there is none, in words. `undefined` if the answers are equal. */
  why?: string,
  /** Rows that differ. `undefined` unless the answer is different. */
  rows?: RowDifference,
  /** Rule that explains the difference, in words. `undefined` if none applies. */
  rule?: string,
  /** Statement that was sent. `undefined` if the question was not asked or failed. */
  statement?: string,
  /** Number of documents that the configuration holds. */
  documents: number,
  /** Digest that identifies the documents that it holds. */
  documents_digest: string,
  /**
   * File with the expected answer over all documents that this configuration holds, against which its
   * later answers are verified. Relative to the run folder; `undefined` if there is none.
   */
  file?: string,
  /** Fixed verdict of all later answers. `undefined` if they are verified against `file`. */
  verdict?: Verdict,
  /** Name of the system's folder, or of a reference row. */
  system: string,
  /** Version of the system. */
  version: string,
  /** Name of the variant: how the system's folder sets it up. */
  variant: string,
  /** Name of the storage setting. Empty if the system has none. */
  storage: string,
};

/** Whether a configuration is I-JSON-safe, by the documents that decide it. */
export type ConfigurationGrade = {
  /** Index of the configuration in the run. */
  configuration: number,
  /** `null` while the result of a deciding case is missing. */
  safe: boolean | null,
  /** Number of deciding cases whose document came back with the same value by both input paths. */
  preserved_cases: number,
  /** Number of planned cases that decide. */
  deciding_cases: number,
  /** Names of the deciding cases that contradict it, each with the reason. */
  contradictions: Array<string>,
};

/** A size of documents at which the faster of two configurations changes. */
export type Crossover = {
  /** Test whose times cross, which is the step of its cells. */
  test: string,
  /** Name of the data set in which they cross. */
  data: string,
  /** Index of the configuration that is faster below the size. */
  faster_below: number,
  /** Index of the configuration that is faster above the size. */
  faster_above: number,
  /** Size of a document in bytes. */
  bytes: number,
  /** Lower limit of the 95 % interval of the size. `null` if it is beyond all measured sizes. */
  low: number | null,
  /** Upper limit of the 95 % interval of the size. `null` if it is beyond all measured sizes. */
  high: number | null,
};

/** Documents that a run loads. */
export type DataSet = {
  /** Number of documents offered: input lines that are valid JSON. */
  documents: number,
  /** Size of the documents in bytes as newline-delimited JSON. */
  bytes: number,
  /** Digest of the documents as newline-delimited JSON. */
  digest: string,
  /** Description of the source for readers. */
  source: string,
  /** Number of input lines that are neither blank nor JSON. */
  malformed: number,
  /** Seconds that staging the documents took. */
  staging_s: number,
  /** Bytes of the same documents as plain files, by format: raw, gzip-6, lz4, zstd-1. */
  reference_sizes: { [key in string]: number },
};

/** An answer to a question, with the number of trials that gave it. */
export type DistinctAnswer = {
  /** Digest that identifies the answer. */
  digest: string,
  /** Index of the answer's text in `texts`. `null` if its file is missing. */
  text: number | null,
  /** Number of trials that gave the answer. */
  trials: number,
};

/** Durability tier and what a configuration may lose in it, as documented in the system's folder. */
export type Durability = {
  /** Durability tier that the run has chosen. */
  tier: DurabilityTier,
  /** What a crash of the system's process may lose, in words. */
  process_crash: string,
  /** What a power failure may lose, in words. */
  power_loss: string,
  /** Digest of everything that the durability depends on, by which results of durability runs are found. */
  basis: string,
  /** Results of earlier durability runs in the same parent folder, as of the start of this run. */
  tested?: Array<DurabilityEvidence>,
};

/** Results of all crash tests of one kind. */
export type DurabilityEvidence = {
  /** Kind of crash that was tested. */
  kind: CrashKind,
  /** Number of crashes that were made. */
  crashes: number,
  /** Crashes after which all acknowledged writes and loaded documents were present and intact. */
  without_loss: number,
  /** Crashes after which everything that the tier promises was present. */
  as_promised: number,
  /** Day of the run, such as `2026-11-23`. */
  date: string,
};

/** Evidence of all runs of a page: the details behind its results. */
export type Evidence = {
  /** Evidence of each run, in the order of the runs in `PageData`. */
  runs: Array<RunEvidence>,
};

/** Where the expected answer, with which all others are compared, comes from. */
export type ExpectedAnswerSource = 'agreed' | 'disputed' | 'unverified' | 'other_documents' | 'expected' | 'reference' | 'unanswered';

/** Failed trial, or a plan that breaks the promise of its configuration. */
export type Failure = {
  /** Index of the configuration in the run. */
  configuration: number,
  /** Step of the failed trial. */
  step: Step,
  /** Phase that the failed trial had reached. */
  phase: Phase,
  /** Round of the trial; 0 for a plan, which is read once for all rounds. */
  round: number,
  /** Kind of failure, for filters and tables. */
  kind: FailureKind,
  /** Message of the failure, including that of its cause. */
  error: string,
};

/** Kind of failure, so that failures can be told apart without parsing messages. */
export type FailureKind = 'crash' | 'timeout' | 'refused' | 'wrong' | 'protocol' | 'plan' | 'environment';

/** Observation that is not a number: a state with its evidence. */
export type Finding = {
  /** Subject of the observation, unique within its cell, such as `bulk, whole` or `parameter, value`. */
  subject: string,
  /** State of the subject. */
  state: string,
  /** Details of the state, such as the ways in which a value changed. */
  kinds?: Array<string>,
  /** Message of the system, word for word. `undefined` if it gave none. */
  message?: string,
  /** Observed value in readable form, such as the document read back. `undefined` if there is nothing to show. */
  observed?: string,
};

/** First rows of an answer, as many as a reader needs. */
export type FirstRows = {
  /** Rows as the system gave them. */
  rows: Array<Array<AnswerValue>>,
  /** Number of rows of the whole answer. */
  count: number,
};

/** Description of a case for reports. */
export type KnownCase = {
  /** Name of the case, the step of its cells. */
  name: string,
  /** What the RFC requires: accept, reject, or a free choice. */
  requirement: RfcRequirement,
  /** Reference to the requirement, e.g. a section of the RFC. */
  source: string,
  /** Property that the case tests, in words. */
  probes: string,
  /** Whether the case counts for the decision if a system is I-JSON-safe. */
  decides_i_json: boolean,
  /** Size of the document in bytes. */
  bytes: number,
  /** The document in printable form; the middle of a long one is omitted. */
  document: string,
};

/** A metric of a load beside reports ÷ the same load alone, paired by round. */
export type LoadLoss = {
  /** Index of the cell of the load beside reports in the run. */
  cell: number,
  /** Name of the metric. */
  metric: string,
  /** Median beside reports ÷ median alone. */
  ratio: number,
  /** Lower limit of the 95 % interval. `null` with fewer than two rounds. */
  low: number | null,
  /** Upper limit of the 95 % interval. `null` with fewer than two rounds. */
  high: number | null,
  /** Difference that the interval shows. */
  difference: Significance,
};

/** Hardware, kernel and file system of the machine on which a run was made. */
export type Machine = {
  /** Number of CPU cores that the run's process may use; 1 if unknown. */
  cores: number,
  /** Model name of the first CPU in `/proc/cpuinfo`; empty if unknown. */
  processor: string,
  /**
   * Memory that the run's process may use, in bytes: the physical memory, or the cgroup limit if that is
   * lower. 0 if unknown.
   */
  memory_bytes: number,
  /** Physical memory of the machine in bytes. `undefined` unless a cgroup limits the run's process to less. */
  physical_memory_bytes?: number,
  /** Kernel release, as in `uname -r`. */
  kernel_release: string,
  /** Distribution name (`PRETTY_NAME` of `/etc/os-release`); empty if unknown. */
  os: string,
  /** Machine architecture, as in `uname -m`. */
  architecture: string,
  /** Type of the file system that contains the run folder, as in the mount table. `null` if unknown. */
  file_system: string | null,
};

/** One memory setting of a configuration, and its origin. */
export type MemorySetting = {
  /** Name of the setting in the system's configuration. */
  name: string,
  /** Value that the run uses. */
  value: string,
  /** Default value of the package. */
  stock: string,
  /** Place where the vendor recommends the value. */
  source: string,
};

/** All data of a page but for the evidence: that of charts and tables. */
export type PageData = {
  /** Version of the shapes of the page's data. */
  format: number,
  /** Version of the program that made the page. */
  program: string,
  /** Creation time of the page, RFC 3339. */
  created: string,
  /** The runs, at least one, in command-line order. */
  runs: Array<Run>,
  /** Results published by others; see `docs/published.md`. */
  published: Array<PublishedResult>,
  /** Published results on large documents; empty if no run has the documents workload. */
  published_documents: Array<PublishedDocumentsResult>,
};

/**
 * Highest throughput of a configuration over all numbers of clients, compared with the highest of its
 * ranking.
 */
export type Peak = {
  /** Index of the cell in the run. */
  cell: number,
  /** Throughput in operations per second. */
  throughput_ops_per_s: number,
  /** Ratio to the highest of the ranking; to itself if this is the highest. */
  ratio_to_best: Ratio,
  /** Number of clients of the highest. `null` if unknown. */
  other_clients: number | null,
  /** Whether the throughput is the highest of its ranking and shown to differ from all others. */
  leads: boolean,
};

/** Plan by which a system executes a statement. */
export type Plan = {
  /** Index of the plan's text in `texts`. */
  text: number,
  /** File of the plan, relative to the run folder. */
  file: string,
  /** Deviations of the plan from what the configuration promises, in words. */
  violations: Array<string>,
};

/** One published result of a test. */
export type PublishedDocumentsResult = {
  /**
   * Test by this program's name: `export`, `import`, `copy`, `extract`, `filter`, `order`, `index` or
   * `disk`.
   */
  test: string,
  /** Name of the system, as published. */
  system: string,
  /** Type of the column: `json` or `jsonb`. */
  variant: string,
  /** Kind of index in the test `index`. `null` in other tests. */
  index: string | null,
  /** Ordinal n of the documents D(n), see `docs/documents.md`. Such a document has about 2^(n + 4) bytes. */
  n: number,
  /** Number of documents in the test. */
  documents: number,
  /** Mean time in seconds. `null` for the test `disk`. */
  mean_s: number | null,
  /** Standard deviation of the time in seconds. `null` if not published. */
  sd_s: number | null,
  /** Size on disk, published without a unit. `null` for other tests. */
  disk: number | null,
  /**
   * Reasons why the result is probably an error. They are conclusions of this project from the numbers
   * alone; the publisher has not confirmed them.
   */
  suspected_errors: Array<string>,
};

/** One published result: a system in one configuration at one scale. */
export type PublishedResult = {
  /** Month of the snapshot that contains the result, `YYYY-MM`. */
  snapshot: string,
  /** Name of the system, as published. */
  system: string,
  /** Version of the system, as published. */
  version: string,
  /** Day of the measurement, `YYYY-MM-DD`. `null` if the snapshot does not contain it. */
  date: string | null,
  /** Machine of the measurement, always `MACHINE`. */
  machine: string,
  /** Whether documents are returned unchanged, as published. `null` if the snapshot does not contain it. */
  retains_structure: boolean | null,
  /** Keywords that distinguish configurations of a system, taken from their file names. */
  tags: Array<string>,
  /** Number of documents offered. */
  scale: number,
  /** Number of documents loaded. */
  loaded_documents: number,
  /** Total size in bytes. `null` if not published. */
  total_bytes: number | null,
  /** Size of the data in bytes. `null` if not published. */
  data_bytes: number | null,
  /** Size of the indexes in bytes. `null` if not published. */
  index_bytes: number | null,
  /** Seconds of the first run of each question. */
  cold: [number | null, number | null, number | null, number | null, number | null],
  /** Seconds of the better of the second and third run of each question. */
  hot: [number | null, number | null, number | null, number | null, number | null],
  /** File of the benchmark's repository that contains the result. */
  source: string,
  /** Values that are probably errors. The values themselves are unchanged. */
  suspected_errors: Array<SuspectedError>,
};

/** A question of the user's folder, with its description, as the page shows it. */
export type QuestionHeading = {
  /** Name of the question, which is the step of its cells. */
  name: string,
  /** Heading of the question for readers. */
  title: string,
  /** Description of what is asked; may be empty. */
  asks: string,
};

/** Ratio of a cell's value to that of another configuration, over the rounds that both have. */
export type Ratio = {
  /** Median of the cell ÷ median of the other one. */
  ratio: number,
  /** Lower limit of the ratio's 95 % interval. `null` after too few rounds. */
  low: number | null,
  /** Upper limit of the ratio's 95 % interval. `null` after too few rounds. */
  high: number | null,
  /** Difference that the interval shows. */
  difference: Significance,
  /** Index of the other configuration. */
  other: number,
};

/** Documents that a system rejected for the same reason. */
export type Reject = {
  /** Reason of the system, with the place of the first document and the remedy. */
  reason: string,
  /** Number of documents rejected for this reason. */
  documents: number,
};

/** Requirement of the RFC for a document. */
export type RfcRequirement = 'accept' | 'reject' | 'choose';

/** What a system keeps of the documents that it returns: the weakest result of all that were compared. */
export type RoundTripOutcome = 'bytes' | 'value' | 'changed' | 'unknown';

/** First rows that differ, in both directions. */
export type RowDifference = {
  /** Rows of the expected answer that this answer lacks. */
  missing_rows: Array<Array<AnswerValue>>,
  /** Total number of such rows. */
  missing_count: number,
  /** Rows of this answer that the expected answer lacks. */
  extra_rows: Array<Array<AnswerValue>>,
  /** Total number of rows that only this answer has. */
  extra_count: number,
};

/**
 * Data of one run. Its command line and the path of its folder are left out. Pages are passed on, and both
 * reveal details of the user's machine that no chart needs.
 */
export type Run = {
  /** Identifies the run on this page: the name of its folder, with a number if two are equal. */
  name: string,
  /** Sentences that are shown first, about broken durability promises; absent if there are none. */
  headline?: Array<Sentence>,
  /** Answers of the run, the most important ones first: what went wrong, then who leads in what. */
  answers: Array<Answer>,
  /** Whether every planned trial has a final record. */
  complete: boolean,
  /** Number of planned trials without a final record. */
  open_trials: number,
  /** Start time of the run, RFC 3339. */
  started: string,
  /** Version of the program that executed the run. */
  program: string,
  /** Machine that executed the run. */
  machine: Machine,
  /** Sequential read rate of the run folder's disk. `null` if unknown. */
  disk_bytes_per_s: number | null,
  /** Number of planned rounds. */
  rounds: number,
  /** Documents that the run loads. */
  data: DataSet,
  /** Configurations under test, in the order of the plan. */
  configurations: Array<Configuration>,
  /** Cells of all configurations. */
  cells: Array<Cell>,
  /** Highest throughput over the numbers of clients, for ranked configurations. */
  peaks: Array<Peak>,
  /** What loads lose to reports beside them; absent for other runs. */
  load_losses?: Array<LoadLoss>,
  /** Document sizes at which two ranked configurations change places. */
  crossovers: Array<Crossover>,
  /** Published scores; empty if the run has none. */
  scores: Array<Score>,
  /** Failed trials, and plans that break the promise of their configuration. */
  failures: Array<Failure>,
  /** The user's own questions; absent for other workloads. */
  questions?: Array<QuestionHeading>,
  /** How the answers to each of the user's questions compare; absent for other workloads. */
  agreements?: Array<Agreement>,
  /** Documents of a fidelity run, which cells refer to by their steps; absent for other workloads. */
  cases?: Array<KnownCase>,
  /** Whether each configuration of a fidelity run is I-JSON-safe; absent for other workloads. */
  i_json?: Array<ConfigurationGrade>,
};

/** Evidence of one run; cells refer to its texts by their index. */
export type RunEvidence = {
  /** Long texts without duplicates; other fields refer to them by index. */
  texts: Array<string>,
  /** One entry per cell, in the order of the run's cells. */
  cells: Array<CellEvidence>,
  /** Telemetry of the run. `null` if there is no sample. */
  series: Series | null,
};

/** Score by the published formula among the configurations of one ranking; see `docs/published.md`. */
export type Score = {
  /** Index of the configuration in the run. */
  configuration: number,
  /** Data state in which it was measured. */
  state: DataState,
  /** Score of the cold times. `null` without any such time. */
  cold: number | null,
  /** Score of the hot times. `null` without any such time. */
  hot: number | null,
  /** Size as a multiple of the smallest. `null` if the size is unknown. */
  size: number | null,
};

/** Per-second data of one trial, column by column. */
export type SecondColumns = {
  /** Round of the trial, counted from 1. */
  round: number,
  /** Repetition within its cell and round, from 0. */
  order: number,
  /** Operations that ended successfully in each second. */
  operations: Array<number>,
  /** Operations that failed in each second. */
  errors: Array<number>,
  /** Longest response time of these operations, in microseconds. */
  longest_us: Array<number>,
  /** Largest number of arrivals that waited for a connection. */
  backlog: Array<number>,
  /** Number of seconds of the warm-up, which come first. */
  ramp: number,
  /**
   * Indexes of the seconds in which the system wrote a checkpoint. `null` if the system does not report
   * that.
   */
  checkpoints: Array<number> | null,
  /** Mean number of requests under way on the disk of the system's data; absent if that is unknown. */
  disk_queue?: Array<number | null>,
  /**
   * 95th percentile of the staleness of the questions that began in each second, in milliseconds, without a value
   * where none began; absent unless writers were at work.
   */
  stale_p95_ms?: Array<number | null>,
  /** Longest staleness of these questions, in milliseconds. */
  stale_max_ms?: Array<number | null>,
};

/** A sentence for the reader, with its severity. */
export type Sentence = {
  /** How strongly the sentence is marked. */
  severity: Severity,
  /** The sentence as plain text. */
  text: string,
};

/**
 * Telemetry of the machine and the system under test, column by column. Each value is the mean of
 * `samples_per_point` samples.
 */
export type Series = {
  /** Number of samples that one point stands for. */
  samples_per_point: number,
  /** Seconds since the start of the run. */
  elapsed_s: Array<number>,
  /** Index of the text that describes the current activity. `null` if no engine was running. */
  activity: Array<number | null>,
  /** Columns as long as `elapsed_s`; names end in their unit, such as `busy_cores` or `disk_latency_ms`. */
  values: { [key in string]: Array<number | null> },
};

/** Deviation from a system's defaults. */
export type SettingDeviation = {
  /** Setting or behaviour that differs. */
  what: string,
  /** Reason why the deviation is necessary. */
  why: string,
};

/** Severity of a result, from normal to failed. */
export type Severity = 'good' | 'warning' | 'failed';

/** Difference of two cells that an interval of their ratio shows. */
export type Significance = 'faster' | 'slower' | 'no difference shown';

/** Step of a workload: what a cell is about. */
export type Step = string;

/** How documents come back when they are read. */
export type Structure = {
  /** What is preserved of all documents that were compared. */
  retains: RoundTripOutcome,
  /** Number of documents that were compared. */
  compared: number,
  /** Documents that came back byte for byte equal. */
  equal_bytes: number,
  /** Documents that came back as the same JSON value, including the byte-equal ones. */
  equal_value: number,
  /** Number of documents that show each kind of change. */
  changes: { [key in string]: number },
};

/** Published value that is probably an error, as this project concluded; the publisher has not confirmed it. */
export type SuspectedError = {
  /** Name of the field of `PublishedResult`, or `seconds` for all times. */
  field: string,
  /** What is conspicuous, and what probably happened. */
  reason: string,
};

/** Transport by which sessions reach a server on the machine of the run. */
export type Transport = 'tcp' | 'tls' | 'unix';

/** Reason why a trial has no time. */
export type TrialFailure = {
  /** Category of the failure, for filters and tables. */
  kind: FailureKind,
  /** Message of the system if it gave one, otherwise of this program. */
  error: string,
  /**
   * Key of the record of the failure that caused this one and whose message is not repeated here. `undefined`
   * if this failure has its own cause.
   */
  cause_key?: string,
};

/** Trials, column by column, because names would be most of the file otherwise. */
export type Trials = {
  /** Round of each trial, counted from 1. */
  round: Array<number>,
  /** Repetition of each trial within its round, from 0. */
  order: Array<number>,
  /** End of each trial in milliseconds since 1970. */
  at_ms: Array<number>,
  /** Time of each trial, measured by the client. `null` without a valid time. */
  seconds: Array<number | null>,
  /** Time that the system itself reports, in seconds. `null` if it reports none. */
  server_s: Array<number | null>,
  /** Result of verifying each trial's answer. */
  verdict: Array<Verdict>,
  /** Bottleneck of each trial. `null` if the trial was too short to classify. */
  bound_by: Array<Bottleneck | null>,
  /** Why a trial has no time. `null` if it has one. */
  failure: Array<TrialFailure | null>,
  /** Metrics by name. `null` for trials that lack the metric. */
  metrics: { [key in string]: Array<number | null> },
};

/** Name of a workload in a run, which another version of the program may have made. */
export type WorkloadName = string;
