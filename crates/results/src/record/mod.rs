//! The typed records of a journal. Format version 1; fields are only ever added.

mod agreement;
mod cell;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use agreement::{Agreement, Basis, DifferentRows, FirstRows, Given, Standing};
pub use cell::{ARRIVAL, CLIENTS, CLOSED, Cell, DURABILITY, OBJECTIVE, OPERATION, RATE_PER_S, RATE_SHARE};

/// Version of the journal's records.
pub const JOURNAL_VERSION: u32 = 1;

/// Dimensions of a trial beyond its named ones: scale, storage, state, ….
pub type Parameters = BTreeMap<String, serde_json::Value>;

/// Flat figures, each name ending with its unit.
pub type Metrics = BTreeMap<String, f64>;

/// How an answer, or a load, compares with the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Equal in every row and column.
    Exact,
    /// Equal but for columns that the system's folder declares approximate.
    Approximate,
    /// Nothing to compare with.
    Unverified,
    /// Systems differ, and no majority of them says what is right.
    Disputed,
    /// Fewer than 99.9 % of the documents were loaded.
    Partial,
    /// The system has no such thing.
    NotApplicable,
    /// Not equal.
    Wrong,
    /// No answer within the limit.
    Timeout,
    /// No answer at all.
    Failed,
}

impl Verdict {
    /// Whether a time may stand beside this verdict. A wrong, failed or late trial has no time.
    #[must_use]
    pub fn has_time(self) -> bool {
        matches!(self, Self::Exact | Self::Approximate | Self::Unverified | Self::Disputed | Self::Partial)
    }

    /// Whether nobody knows that the answers are right: what has such a time is never ranked.
    #[must_use]
    pub fn is_in_doubt(self) -> bool {
        matches!(self, Self::Unverified | Self::Disputed)
    }

    /// The word used in files and tables.
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

/// In which condition the system was when a trial began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Documents going in, and what they take once they are in.
    Load,
    /// Engine restarted and its files out of the page cache, the latter verified.
    Cold,
    /// Meant as cold, but the kernel could not confirm that the files were out of memory.
    ColdUnverified,
    /// Page cache dropped, engine left running: the published definition.
    ColdOs,
    /// Asked again and again.
    Hot,
    /// Asked again and again, and still read from the disk.
    HotNotInMemory,
    /// Settled state, for sizes.
    Steady,
    /// An interval in which clients sent operations.
    Measured,
}

impl Phase {
    /// The words used in sentences.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::HotNotInMemory => "hot, not in memory",
            other => other.word(),
        }
    }

    /// The phase that was planned, of which this one is what came of it.
    #[must_use]
    pub fn planned(self) -> Self {
        match self {
            Self::ColdUnverified => Self::Cold,
            Self::HotNotInMemory => Self::Hot,
            other => other,
        }
    }

    /// The word used in files and tables.
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
        }
    }
}

/// Kinds of failure that a reader may want to tell apart without reading messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The engine or its worker died.
    Crash,
    /// No answer within the limit.
    Timeout,
    /// The system said no.
    Refused,
    /// The answer was not right.
    Wrong,
    /// The worker spoke out of protocol.
    Protocol,
    /// The access path was not the one that the configuration promises.
    Plan,
    /// The disk, the memory or another part of the environment gave out.
    Environment,
}

impl FailureKind {
    /// The word used in files and tables.
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

/// Why a trial has no time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// The system's own words where it had any.
    pub error: String,
    /// The key of the record of another trial's failure, which this one follows from and whose words it does not repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

impl Failure {
    /// One that follows from no other.
    #[must_use]
    pub fn new(kind: FailureKind, error: impl Into<String>) -> Self {
        Self { kind, error: error.into(), because: None }
    }

    /// The same, once its words stand in the record of `key`; where they stand in another one already, that one counts.
    #[must_use]
    pub fn recorded_in(self, key: &str) -> Self {
        let because = self.because.or_else(|| Some(key.to_owned()));
        Self { because, ..self }
    }

    /// One that follows from this one: the same kind, in words of its own. Where this one's words stand in a record,
    /// they are not repeated.
    #[must_use]
    pub fn followed_by(&self, words: &str) -> Self {
        let error = match self.because {
            Some(_) => words.to_owned(),
            None => format!("{words}: {}", self.error),
        };
        Self { kind: self.kind, error, because: self.because.clone() }
    }
}

/// One timed execution, or its failure: the terminal record of a planned trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// What it is of. The phase is the one that was reached, the key carries the one planned.
    #[serde(flatten)]
    pub cell: Cell,
    /// Round, from 1.
    pub round: u32,
    /// Order within the round, from 0.
    pub order: u32,
    /// When it ended, milliseconds since 1970.
    pub at_ms: i64,
    /// Verdict.
    pub verdict: Verdict,
    /// Client's seconds from handing over the request to the last row decoded.
    pub seconds: Option<f64>,
    /// The system's own figure for the same.
    pub server_seconds: Option<f64>,
    /// Rows of the answer.
    pub rows: Option<u64>,
    /// Digest of the answer, kept whole under `answers/`.
    pub answer_digest: Option<String>,
    /// Everything counted beside the time.
    #[serde(default)]
    pub metrics: Metrics,
    /// Histograms of nanoseconds by name (`service`, `response`), compressed V2 as base64: quantiles over several
    /// trials are read from their sum.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub histograms: BTreeMap<String, String>,
    /// What was done second by second, the ramp included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub per_second: Vec<PerSecond>,
    /// What the time was bound by, where it was long enough to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_by: Option<String>,
    /// Why there is no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// What was found out that is no number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// Something found out that is no number: a state, with its evidence.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Of what, within its cell.
    pub of: String,
    /// The state, one of few words that its workload knows.
    pub state: String,
    /// Further words of the same kind: in which ways.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
    /// The system's own words, where it had any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// What was seen, made fit to be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
}

impl Finding {
    /// Of something, in a state, without more.
    #[must_use]
    pub fn new(of: &str, state: &str) -> Self {
        Self { of: of.to_owned(), state: state.to_owned(), ..Self::default() }
    }

    /// State and kinds in one text: `changed: key order, loss`.
    #[must_use]
    pub fn told(&self) -> String {
        match self.kinds.as_slice() {
            [] => self.state.clone(),
            kinds => format!("{}: {}", self.state, kinds.join(", ")),
        }
    }
}

/// What was done in one second of a trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PerSecond {
    /// Operations that ended well.
    pub operations: u64,
    /// Operations that failed.
    pub errors: u64,
    /// The longest of them, microseconds.
    pub longest_us: f64,
    /// The most operations that waited to begin.
    pub backlog: u64,
    /// Whether the second is of the ramp, before measuring began.
    #[serde(default)]
    pub ramp: bool,
    /// Whether the system wrote a checkpoint in it; none where it does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_checkpoint: Option<bool>,
    /// Requests that were under way on the disk of the system's data, on average; none where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_queue: Option<f64>,
}

impl Trial {
    /// One of `cell` with nothing in it yet, and no verdict.
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

/// The plan of a question, kept whole in a file, and whether it is the promised one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanCheck {
    /// What was asked; the phase is the one in which the plan was read.
    #[serde(flatten)]
    pub cell: Cell,
    /// File below the run folder.
    pub file: String,
    /// What the plan lacks or has against the configuration's promise, in words; none when it is kept.
    pub violations: Vec<String>,
}

/// Whether a system gives back what it was given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Structure {
    /// Configuration asked; step `structure`.
    #[serde(flatten)]
    pub cell: Cell,
    /// `bytes`, `value` or `changed`; `unknown` when nothing could be read back.
    pub retains: String,
    /// Documents compared.
    pub compared: u64,
    /// Documents that came back byte-equal.
    pub equal_bytes: u64,
    /// Documents that came back as the same JSON value, the byte-equal ones among them.
    pub equal_value: u64,
    /// Kinds of change with the number of documents that show them.
    pub changes: BTreeMap<String, u64>,
}

/// Documents that a system did not take, summed by reason; each stands in the run's `rejects/` file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rejects {
    /// Configuration; step `load`.
    #[serde(flatten)]
    pub cell: Cell,
    /// File below the run folder, one JSON line a document; none when nothing was rejected.
    pub file: Option<String>,
    /// By the system's reason.
    pub reasons: BTreeMap<String, Reason>,
}

/// Documents that a system refused for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// How many.
    pub documents: u64,
    /// Where the first of them stands: its file, and its line there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
    /// What to do about it, where the system's folder knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Reason {
    /// The reason in these words, with where the first one stands and what to do about it.
    #[must_use]
    pub fn in_words(&self, words: &str) -> String {
        let first = self.first.as_ref().map(|first| match self.documents {
            1 => format!(" ({first})"),
            _ => format!(" (the first: {first})"),
        });
        let remedy = self.remedy.as_ref().map(|remedy| format!("; {remedy}"));
        std::iter::once(words.to_owned()).chain(first).chain(remedy).collect()
    }
}

/// A journal line's content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Body {
    /// Terminal record of a trial.
    Trial(Box<Trial>),
    /// A plan that was kept and checked.
    Plan(PlanCheck),
    /// A read-back comparison.
    Structure(Structure),
    /// Documents not taken.
    Rejects(Rejects),
    /// Answers held against each other.
    Agreement(Box<Agreement>),
    /// The run went on after an interruption.
    Resumed {
        /// When, milliseconds since 1970.
        at_ms: i64,
    },
}

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Format version of this line.
    pub v: u32,
    /// Unique within the journal.
    pub key: String,
    /// Content.
    #[serde(flatten)]
    pub body: Body,
}

impl Record {
    /// A record of the current version.
    #[must_use]
    pub fn new(key: String, body: Body) -> Self {
        Self { v: JOURNAL_VERSION, key, body }
    }
}

#[cfg(test)]
mod tests {
    use super::cell::tests::cell;
    use super::*;

    #[test]
    fn records_survive_a_round_trip_and_name_their_type() {
        let record = Record::new(
            cell().trial_key(2, 7),
            Body::Trial(Box::new(Trial {
                at_ms: 5,
                verdict: Verdict::Wrong,
                rows: Some(3),
                failure: Some(Failure::new(FailureKind::Wrong, "row 1")),
                ..Trial::blank(cell(), 2, 7)
            })),
        );
        let line = serde_json::to_string(&record).unwrap();
        assert!(line.starts_with(r#"{"v":1,"key":"#) && line.contains(r#""type":"trial""#), "{line}");
        assert_eq!(serde_json::from_str::<Record>(&line).unwrap(), record);
    }

    #[test]
    fn only_verified_or_declared_answers_have_times() {
        assert!(Verdict::Exact.has_time() && Verdict::Approximate.has_time());
        for verdict in [Verdict::Wrong, Verdict::Failed, Verdict::Timeout, Verdict::NotApplicable] {
            assert!(!verdict.has_time());
        }
    }
}
