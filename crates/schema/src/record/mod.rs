//! Typed records of the journal, format version 2.

mod agreement;
mod bottleneck;
mod cell;

use crate::finding_state::FindingState;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use agreement::{
    Agreement, AnswerStatus, ConfigurationAnswer, ExpectedAnswerSource, FirstRows, RowDifference,
};
pub use bottleneck::Bottleneck;
pub use cell::{
    ALL_QUESTIONS, ARRIVAL, BATCH, CLIENTS, CLOSED, Cell, DURABILITY, FAULTY_LOAD, FEWER_REPORTS, FULL_SPEED,
    INGEST, JUDGED_AT_REST, MIX, OPERATION, PEAK_TOO_SHORT, RATE, RATE_PER_S, RATE_SHARE, SLO, STREAMS,
    TOO_SHORT, UNRANKED_FINDINGS, WRITERS,
};

/// Format version of journal records; records of any other version are refused.
pub const JOURNAL_VERSION: u32 = 2;

/// Dimensions of a trial that have no field of their own, such as `scale` or `clients`. In files, storage
/// setting, memory profile and data state are among them.
pub type Parameters = BTreeMap<String, serde_json::Value>;

/// Metrics by name; each name ends with its unit.
pub type Metrics = BTreeMap<String, f64>;

/// Result of verifying an answer or a load, ordered from best to worst: a cell has the maximum of its trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Equal to the expected answer in every row and column.
    Exact,
    /// Equal except for columns that the system's folder declares approximate.
    Approximate,
    /// There is no expected answer to compare with.
    Unverified,
    /// Systems disagree, and no majority of them determines the expected answer.
    Disputed,
    /// Fewer than 99.9 % of the documents were loaded.
    Partial,
    /// The system does not have the tested feature.
    NotApplicable,
    /// The answer differs from the expected one.
    Wrong,
    /// No answer arrived within the time limit.
    Timeout,
    /// The trial failed without an answer.
    Failed,
}

impl Verdict {
    /// All verdicts, from best to worst.
    pub const ALL: [Self; 9] = [
        Self::Exact,
        Self::Approximate,
        Self::Unverified,
        Self::Disputed,
        Self::Partial,
        Self::NotApplicable,
        Self::Wrong,
        Self::Timeout,
        Self::Failed,
    ];

    /// Returns `true` if a trial with this verdict may have a time. Wrong, failed, late and not applicable
    /// trials have none.
    #[must_use]
    pub fn has_time(self) -> bool {
        matches!(self, Self::Exact | Self::Approximate | Self::Unverified | Self::Disputed | Self::Partial)
    }

    /// Returns `true` if the answer is neither confirmed nor contradicted. Results with such a verdict are
    /// never ranked.
    #[must_use]
    pub fn is_unverified(self) -> bool {
        matches!(self, Self::Unverified | Self::Disputed)
    }

    /// Word for the verdict in files and tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Approximate => "approximate",
            Self::Unverified => "unverified",
            Self::Disputed => "disputed",
            Self::Partial => "partial",
            Self::NotApplicable => "not_applicable",
            Self::Wrong => "wrong",
            Self::Timeout => "timeout",
            Self::Failed => "failed",
        }
    }
}

/// Phase of the measurement, which says in which condition the system was when a trial began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Loading of the documents.
    Load,
    /// The engine was restarted and its files were removed from the page cache, which was verified.
    Cold,
    /// Planned as cold, but the kernel could not confirm that the files were out of memory.
    ColdUnverified,
    /// The page cache was dropped and the engine left running, as the published benchmark defines cold.
    ColdOs,
    /// Repeated execution with the data in memory.
    Hot,
    /// Repeated execution that still read from the disk.
    HotNotInMemory,
    /// Settled system without load, in which sizes are taken.
    Steady,
    /// Measurement window in which clients sent operations.
    Measured,
    /// Questions alone, on data as loaded.
    Still,
    /// Questions beside writers that insert documents.
    Both,
    /// Questions after the writers have gone, while nothing was drained.
    Left,
    /// Questions after the grown data was drained.
    Drained,
    /// Writers alone, on data as loaded.
    Alone,
}

impl Phase {
    /// All phases, in the order in which they are shown.
    pub const ALL: [Self; 13] = [
        Self::Load,
        Self::Cold,
        Self::ColdUnverified,
        Self::ColdOs,
        Self::Hot,
        Self::HotNotInMemory,
        Self::Steady,
        Self::Measured,
        Self::Still,
        Self::Both,
        Self::Left,
        Self::Drained,
        Self::Alone,
    ];

    /// Returns `true` for windows in which clients were at work, whose cells have rates instead of one time.
    #[must_use]
    pub fn is_window(self) -> bool {
        matches!(self, Self::Measured) || self.is_mixed()
    }

    /// Returns `true` for the phases of the mixed workload.
    #[must_use]
    pub fn is_mixed(self) -> bool {
        matches!(self, Self::Still | Self::Both | Self::Left | Self::Drained | Self::Alone)
    }

    /// Wording of the phase in sentences.
    #[must_use]
    pub fn phrase(self) -> &'static str {
        match self {
            Self::HotNotInMemory => "hot, not in memory",
            other => other.word(),
        }
    }

    /// Phase that was planned for trials that ended up in this phase.
    #[must_use]
    pub fn planned(self) -> Self {
        match self {
            Self::ColdUnverified => Self::Cold,
            Self::HotNotInMemory => Self::Hot,
            other => other,
        }
    }

    /// Word for the phase in files and tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Cold => "cold",
            Self::ColdUnverified => "cold-unverified",
            Self::ColdOs => "cold-os",
            Self::Hot => "hot",
            Self::HotNotInMemory => "hot-not-in-memory",
            Self::Steady => "steady",
            Self::Measured => "measured",
            Self::Still => "still",
            Self::Both => "both",
            Self::Left => "left",
            Self::Drained => "drained",
            Self::Alone => "alone",
        }
    }
}

/// Kind of failure, so that failures can be told apart without parsing messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The engine or its worker process died.
    Crash,
    /// No answer arrived within the time limit.
    Timeout,
    /// The system refused the statement or the connection.
    Refused,
    /// The answer differs from the expected one.
    Wrong,
    /// The worker violated the worker protocol.
    Protocol,
    /// The query plan is not the access path that the configuration promises.
    Plan,
    /// The disk, the memory or another part of the environment was exhausted or failed.
    Environment,
}

impl FailureKind {
    /// Word for the kind in files and tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::Timeout => "timeout",
            Self::Refused => "refused",
            Self::Wrong => "wrong",
            Self::Protocol => "protocol",
            Self::Plan => "plan",
            Self::Environment => "environment",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Reason why a trial has no time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "TrialFailure", optional_fields))]
pub struct Failure {
    /// Category of the failure, for filters and tables.
    pub kind: FailureKind,
    /// Message of the system if it gave one, otherwise of this program.
    pub error: String,
    /// Key of the record of the failure that caused this one and whose message is not repeated here. `None`
    /// if this failure has its own cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause_key: Option<String>,
}

impl Failure {
    /// Makes a failure that was not caused by another one.
    #[must_use]
    pub fn new(kind: FailureKind, error: impl Into<String>) -> Self {
        Self { kind, error: error.into(), cause_key: None }
    }

    /// Refers to the record `key` as the cause, because that record holds the message. A reference to an
    /// earlier record is kept.
    #[must_use]
    pub fn with_cause_key(self, key: &str) -> Self {
        let cause_key = self.cause_key.or_else(|| Some(key.to_owned()));
        Self { cause_key, ..self }
    }

    /// Makes a failure caused by this one, with the same kind. Its message is `message`; the message of this
    /// failure is appended unless a record holds it already.
    #[must_use]
    pub fn consequence(&self, message: &str) -> Self {
        let error = match self.cause_key {
            Some(_) => message.to_owned(),
            None => format!("{message}: {}", self.error),
        };
        Self { kind: self.kind, error, cause_key: self.cause_key.clone() }
    }
}

/// Result of one planned trial: one timed execution or its failure. It is the trial's final record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Cell of the trial. The phase is the one that was reached; the record's key contains the planned one.
    #[serde(flatten)]
    pub cell: Cell,
    /// Round of the trial, counted from 1.
    pub round: u32,
    /// Repetition within its cell and round, from 0.
    pub order: u32,
    /// End of the trial in milliseconds since 1970.
    pub at_ms: i64,
    /// Result of verifying the trial's answer.
    pub verdict: Verdict,
    /// Seconds from sending the request to decoding the last row, measured by the client. `None` without a
    /// valid time.
    pub seconds: Option<f64>,
    /// Seconds for the same request as reported by the system. `None` if it reports none.
    pub server_seconds: Option<f64>,
    /// Number of rows of the answer. `None` if there is none.
    pub rows: Option<u64>,
    /// Digest of the answer, whose rows are stored under `answers/`. `None` if the trial has no answer.
    pub answer_digest: Option<String>,
    /// Everything that was counted in addition to the time.
    pub metrics: Metrics,
    /// Histograms in nanoseconds by name (`service`, `response`), in compressed V2 format as base64.
    /// Quantiles over several trials are read from the merged histogram.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub histograms: BTreeMap<String, String>,
    /// Operations per second of the trial, including the warm-up. Empty for trials without clients.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub per_second: Vec<TrialSecond>,
    /// Bottleneck of the trial. `None` if the trial was too short to classify.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_by: Option<Bottleneck>,
    /// Reason for the missing time. `None` if the trial succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Observations that are not numbers, each with its evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// Observation that is not a number: a state with its evidence.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Finding {
    /// Subject of the observation, unique within its cell, such as `bulk, whole` or `parameter, value`.
    pub subject: String,
    /// State of the subject.
    #[cfg_attr(feature = "typescript", ts(as = "String"))]
    pub state: FindingState,
    /// Details of the state, such as the ways in which a value changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
    /// Message of the system, word for word. `None` if it gave none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub message: Option<String>,
    /// Observed value in readable form, such as the document read back. `None` if there is nothing to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub observed: Option<String>,
}

impl Finding {
    /// Makes a finding without details, message or evidence.
    #[must_use]
    pub fn new(subject: &str, state: impl Into<FindingState>) -> Self {
        Self { subject: subject.to_owned(), state: state.into(), ..Self::default() }
    }

    /// State and details in one text, such as `changed: key order, loss`.
    #[must_use]
    pub fn describe(&self) -> String {
        match self.kinds.as_slice() {
            [] => self.state.to_string(),
            kinds => format!("{}: {}", self.state, kinds.join(", ")),
        }
    }
}

/// Operations of all clients in one second of a trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialSecond {
    /// Operations that ended successfully in this second.
    pub operations: u64,
    /// Operations that failed in this second.
    pub errors: u64,
    /// Longest response time of these operations, in microseconds.
    pub longest_us: f64,
    /// Largest backlog in this second: arrivals waiting for a connection.
    pub backlog: u64,
    /// Whether the second belongs to the warm-up before the measurement window.
    pub ramp: bool,
    /// Whether the system wrote a checkpoint in this second. `None` if the system does not report
    /// checkpoints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_checkpoint: Option<bool>,
    /// Mean number of requests in progress on the disk of the system's data. `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_queue: Option<f64>,
    /// 95th percentile of the staleness of the questions that began in this second, in milliseconds. `None` without
    /// such questions, or without writers beside them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale_p95_ms: Option<f64>,
    /// Longest staleness of these questions, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale_max_ms: Option<f64>,
}

impl Trial {
    /// Makes a trial of `cell` without values, with the verdict [`Verdict::Unverified`].
    #[must_use]
    pub fn blank(cell: Cell, round: u32, order: u32) -> Self {
        Self {
            cell,
            round,
            order,
            at_ms: 0,
            verdict: Verdict::Unverified,
            seconds: None,
            server_seconds: None,
            rows: None,
            answer_digest: None,
            metrics: Metrics::new(),
            histograms: BTreeMap::new(),
            per_second: Vec::new(),
            bound_by: None,
            failure: None,
            findings: Vec::new(),
        }
    }
}

/// Check of a question's query plan, which is stored in a file, against what the configuration promises.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanCheck {
    /// Cell of the question; its phase is the one in which the plan was read.
    #[serde(flatten)]
    pub cell: Cell,
    /// File with the whole plan, relative to the run folder.
    pub file: String,
    /// Deviations of the plan from the promise, in words. Empty if the promise is kept.
    pub violations: Vec<String>,
}

/// What a system keeps of the documents that it returns: the weakest result of all that were compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RoundTripOutcome {
    /// Every document came back byte for byte.
    Bytes,
    /// Every document came back with the same JSON value.
    Value,
    /// At least one document came back with another JSON value, or did not come back.
    Changed,
    /// No document could be read back.
    Unknown,
}

/// Whether a system returns documents as they were loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundTripReport {
    /// Cell of the check; its step is `structure`.
    #[serde(flatten)]
    pub cell: Cell,
    /// What is preserved of all documents that were compared.
    pub retains: RoundTripOutcome,
    /// Number of documents that were compared.
    pub compared: u64,
    /// Documents that came back byte for byte equal.
    pub equal_bytes: u64,
    /// Documents that came back as the same JSON value, including the byte-equal ones.
    pub equal_value: u64,
    /// Number of documents that show each kind of change.
    pub changes: BTreeMap<String, u64>,
    /// Sentences on requests that are about other documents than on systems that hold all documents
    /// unchanged. Empty if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Documents that a system rejected, counted by reason. The run's `rejects/` folder has a file with each of
/// them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rejects {
    /// Cell of the load; its step is `load`.
    #[serde(flatten)]
    pub cell: Cell,
    /// File with one JSON line per document, relative to the run folder. `None` if nothing was rejected.
    pub file: Option<String>,
    /// Numbers of documents, by the reason that the system gave.
    pub reasons: BTreeMap<String, Reason>,
}

/// Documents that a system rejected for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// Number of documents rejected for this reason.
    pub documents: u64,
    /// File and line of the first of them. `None` if not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
    /// What the user can do about it. `None` if the system's folder has no remedy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Reason {
    /// Formats the reason `message` with the place of the first document and the remedy.
    #[must_use]
    pub fn describe(&self, message: &str) -> String {
        let first = self.first.as_ref().map(|first| match self.documents {
            1 => format!(" ({first})"),
            _ => format!(" (the first: {first})"),
        });
        let remedy = self.remedy.as_ref().map(|remedy| format!("; {remedy}"));
        std::iter::once(message.to_owned()).chain(first).chain(remedy).collect()
    }
}

/// Content of a journal line, by its `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RecordBody {
    /// Final record of a trial.
    Trial(Box<Trial>),
    /// Query plan that was stored and checked.
    Plan(PlanCheck),
    /// Comparison of documents read back with those loaded.
    Structure(RoundTripReport),
    /// Documents that a system rejected while loading.
    Rejects(Rejects),
    /// Comparison of all answers to one question.
    Agreement(Box<Agreement>),
    /// The run was resumed after an interruption.
    Resumed {
        /// Time of the resumption in milliseconds since 1970.
        at_ms: i64,
    },
}

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalRecord {
    /// Format version with which the line was written.
    pub v: u32,
    /// Key of the record, unique within the journal.
    pub key: String,
    /// Content of the record, according to its type.
    #[serde(flatten)]
    pub body: RecordBody,
}

impl JournalRecord {
    /// Makes a record of the current format version.
    #[must_use]
    pub fn new(key: String, body: RecordBody) -> Self {
        Self { v: JOURNAL_VERSION, key, body }
    }
}

#[cfg(test)]
mod tests {
    use super::cell::tests::cell;
    use super::*;

    #[test]
    fn records_survive_a_round_trip_and_name_their_type() {
        let record = JournalRecord::new(
            cell().trial_key(2, 7),
            RecordBody::Trial(Box::new(Trial {
                at_ms: 5,
                verdict: Verdict::Wrong,
                rows: Some(3),
                failure: Some(Failure::new(FailureKind::Wrong, "row 1")),
                ..Trial::blank(cell(), 2, 7)
            })),
        );
        let line = serde_json::to_string(&record).unwrap();
        assert!(line.starts_with(r#"{"v":2,"key":"#) && line.contains(r#""type":"trial""#), "{line}");
        assert_eq!(serde_json::from_str::<JournalRecord>(&line).unwrap(), record);
    }

    #[test]
    fn only_verified_or_declared_answers_have_times() {
        assert!(Verdict::Exact.has_time() && Verdict::Approximate.has_time());
        for verdict in [Verdict::Wrong, Verdict::Failed, Verdict::Timeout, Verdict::NotApplicable] {
            assert!(!verdict.has_time());
        }
    }
}
