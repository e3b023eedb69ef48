//! Worker protocol 3: JSON lines on a pipe, one request at a time.
//!
//! A request is `{"id":1,"op":"ask","statement":"…"}`. Any number of
//! `{"id":1,"progress":{"done":…,"total":…,"unit":"documents"}}` may follow and exactly one of
//! `{"id":1,"ok":{…}}` and `{"id":1,"error":{"kind":"…","message":"…"}}` ends it.
//!
//! All seconds are differences of the worker's clock from the moment the statement is handed to the
//! driver until its last row is decoded; the pipe and the coordinator are not in them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jsonathlon_connection::driver::{DriverError, Open, Place};
use jsonathlon_connection::rows::Outcome;
use jsonathlon_dataset::value::Value;
use jsonathlon_measure::process::Usage;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The version of this protocol; an `open` of any other is refused.
pub const PROTOCOL: u32 = 3;

/// One request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Chosen by the coordinator and repeated in everything that answers it.
    pub id: u64,
    /// What to do.
    #[serde(flatten)]
    pub op: Op,
}

/// What a worker can be asked to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Op {
    /// Open the session; answered by [`Opened`]. Must be first, and only once.
    Open {
        /// Must be [`PROTOCOL`].
        protocol: u32,
        /// How.
        open: Open,
    },
    /// Run statements whose answers do not matter (create, index, drop); answered by [`Ran`].
    Run {
        /// Run in this order; the first failure ends it.
        statements: Vec<String>,
    },
    /// Load documents until they are durable; answered by [`Loaded`].
    Load {
        /// How the documents come in.
        #[serde(flatten)]
        load: Load,
        /// Whether `syncfs` on the data folder belongs to the load (it does, unless said otherwise).
        #[serde(default = "yes")]
        sync: bool,
    },
    /// Run statements and then wait until background work has ended; answered by [`Settled`].
    Settle {
        /// Run first.
        #[serde(default)]
        statements: Vec<String>,
        /// A statement whose single number is 0 when nothing is left to be done.
        #[serde(default)]
        until_zero: Option<String>,
        /// Seconds after which the wait is given up (which is not an error).
        limit_s: f64,
        /// Whether `syncfs` on the data folder belongs to it (it does, unless said otherwise).
        #[serde(default = "yes")]
        sync: bool,
    },
    /// Ask one statement and read its rows; answered by [`Answered`].
    Ask {
        /// The statement.
        statement: String,
    },
    /// Read documents out, a text of JSON a row, and keep nothing of them; answered by [`Exported`].
    Export {
        /// The statement.
        statement: String,
        /// Whether the documents are taken in as values; that costs time, so it is done where none is measured.
        #[serde(default)]
        values: bool,
    },
    /// The same by a statement whose rows come as all answers do, their first column a text of JSON, taken in as
    /// values.
    Read {
        /// The statement.
        statement: String,
    },
    /// Ask a statement whose rows are an access plan; answered by [`PlanText`].
    Plan {
        /// The whole statement, `EXPLAIN` included.
        statement: String,
    },
    /// Ask a statement of one row, of sizes or of counters; answered by [`Figures`].
    Sizes {
        /// The statement.
        statement: String,
    },
    /// Ask a statement of one text column; answered by [`Documents`].
    ReadBack {
        /// The statement.
        statement: String,
    },
    /// Let many clients work on the session's system, over connections of their own; answered by whatever the worker's
    /// [`crate::Drive`] gives.
    Drive {
        /// What they do, as that one reads it.
        job: serde_json::Value,
    },
    /// End the session cleanly and then the process; answered by [`Closed`].
    Close,
}

fn yes() -> bool {
    true
}

/// How documents come in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "mode", rename_all = "snake_case")]
pub enum Load {
    /// By statements that name the file.
    Statement {
        /// Run in this order; the first failure ends the load.
        statements: Vec<String>,
    },
    /// By the driver, a row per document of `file`.
    Rows {
        /// With `:doc` where the document belongs.
        statement: String,
        /// Newline-delimited JSON, read by the worker itself.
        file: PathBuf,
    },
    /// The same, of a file whose lines are `{"key":…,"doc":{…}}`: the document goes in under its key.
    Keyed {
        /// With `:doc` where the document belongs, and `:key` where the key does, as far as the protocol needs it told.
        statement: String,
        /// Read by the worker itself.
        file: PathBuf,
    },
    /// By the driver as well, one document that is all of `file`, whatever bytes these are.
    Whole {
        /// With `:doc` where the document belongs.
        statement: String,
        /// Read by the worker itself.
        file: PathBuf,
    },
    /// By one prepared statement with one parameter, whose value is all of `file`, which must be UTF-8.
    Parameter {
        /// With `{{document}}` where the parameter belongs.
        statement: String,
        /// Read by the worker itself.
        file: PathBuf,
    },
}

/// One line from the worker, before its body is looked at.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply<'a> {
    /// The request's.
    pub id: u64,
    /// The result, to be read as the type that belongs to the request.
    #[serde(borrow, default)]
    pub ok: Option<&'a RawValue>,
    /// Why there is none.
    #[serde(default)]
    pub error: Option<Failure>,
    /// A sign of life; the request goes on.
    #[serde(default)]
    pub progress: Option<Progress>,
}

/// A request that failed; the session stays usable unless opening it failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What kind.
    pub kind: FailureKind,
    /// The system's message, or the driver's advice.
    pub message: String,
}

/// Kinds of failed requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The system said no.
    Refused,
    /// The driver cannot do it, or cannot read the answer.
    Unsupported,
    /// The system cannot be reached.
    Unavailable,
    /// The system answered out of its protocol, or not in the shape that the request needs.
    Protocol,
    /// The documents could not be read.
    Documents,
    /// The request itself is wrong: not JSON, unknown, out of turn, another protocol version.
    Request,
    /// The machine lacks something (disk, memory), or the operating system refused it, for instance `syncfs`.
    System,
    /// The system ended or cut the connection. The worker goes on, its session does not: every further request
    /// but [`Op::Close`] is answered so. A worker whose engine lives in it ends with that one instead.
    Crashed,
}

impl std::fmt::Display for FailureKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Refused => "refused",
            Self::Unsupported => "unsupported",
            Self::Unavailable => "unavailable",
            Self::Protocol => "protocol",
            Self::Documents => "documents",
            Self::Request => "request",
            Self::System => "system",
            Self::Crashed => "crashed",
        })
    }
}

impl From<DriverError> for Failure {
    fn from(error: DriverError) -> Self {
        let kind = match &error {
            DriverError::Refused(_) | DriverError::Conflict(_) | DriverError::Duplicate(_) => {
                FailureKind::Refused
            }
            DriverError::Unsupported(_) => FailureKind::Unsupported,
            DriverError::Unavailable(_) => FailureKind::Unavailable,
            DriverError::Exhausted(_) => FailureKind::System,
            DriverError::Protocol(_) => FailureKind::Protocol,
            DriverError::Documents(_) => FailureKind::Documents,
            DriverError::Crashed(_) => FailureKind::Crashed,
        };
        Self { kind, message: error.to_string() }
    }
}

/// How far a request is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Done so far; of a settling session what is *left*, as its statement counts.
    pub done: u64,
    /// Of how many, where that is known.
    pub total: Option<u64>,
    /// Of what: `bytes` read of the file being loaded, `documents`, or `remaining`.
    pub unit: String,
}

/// What the engine spent during one request: the worker process itself, the engine inside it included, or
/// all processes of the session's server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct OpUsage {
    /// CPU seconds of all threads by `CLOCK_PROCESS_CPUTIME_ID`: nanoseconds, where the split into user
    /// and system below has the kernel's clock tick (10 ms) only. Of a server the same holds as far as
    /// its processes have one thread and are alive when the request ends. Not known of a server elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
    /// CPU seconds of the worker itself, where they are apart from the engine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_cpu_s: Option<f64>,
    /// The kernel's counters; zeros where `cpu_s` is not known.
    #[serde(flatten)]
    pub counters: Usage,
}

/// Answer to [`Op::Open`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// The system's own answer to the question which version it is.
    pub version: String,
    /// Where the engine is.
    #[serde(default)]
    pub place: Place,
    /// Seconds for loading the library, connecting, and the session's statements.
    pub seconds: f64,
    /// What it cost.
    pub usage: OpUsage,
}

/// Answer to [`Op::Run`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ran {
    /// Seconds for all statements.
    pub seconds: f64,
    /// What it cost.
    pub usage: OpUsage,
}

/// A document that the system did not accept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reject {
    /// 0-based ordinal among the documents of the loaded file.
    pub line: u64,
    /// The system's own message.
    pub reason: String,
}

/// Answer to [`Op::Load`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Loaded {
    /// Seconds until everything is durable, `sync_seconds` included.
    pub seconds: f64,
    /// Seconds of it in `syncfs`; null when that was not asked for.
    pub sync_seconds: Option<f64>,
    /// Documents accepted, where the driver counts them (`rows`).
    pub documents: Option<u64>,
    /// Documents refused, in order.
    pub rejects: Vec<Reject>,
    /// What it cost.
    pub usage: OpUsage,
}

/// Answer to [`Op::Settle`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settled {
    /// Seconds for statements, waiting and `sync_seconds`; the wait looks every 20 ms.
    pub seconds: f64,
    /// Seconds of it in `syncfs`; null when that was not asked for.
    pub sync_seconds: Option<f64>,
    /// 0 when all work has ended; otherwise what was left at the limit.
    pub remaining: u64,
    /// What it cost.
    pub usage: OpUsage,
}

/// Answer to [`Op::Ask`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    /// Seconds until the last row was decoded.
    pub seconds: f64,
    /// The rows, and what the system says about them.
    pub outcome: Outcome,
    /// What it cost.
    pub usage: OpUsage,
}

/// Answer to [`Op::Export`] and [`Op::Read`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exported {
    /// Seconds until the last document had come.
    pub seconds: f64,
    /// Documents.
    pub documents: u64,
    /// Bytes of their texts.
    pub bytes: u64,
    /// The sum of hashes of their texts, the same for the same texts in any order.
    pub texts: u64,
    /// The sum of their digests as values ([`jsonathlon_dataset::ordinal::digest()`]), where it was asked for.
    pub values: Option<u64>,
    /// What it cost.
    pub usage: OpUsage,
}

/// Answer to [`Op::Plan`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanText {
    /// A line per row, its cells separated by tabs.
    pub text: String,
}

/// Answer to [`Op::Sizes`]: the columns of the one row by name.
pub type Figures = BTreeMap<String, Value>;

/// Answer to [`Op::ReadBack`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Documents {
    /// The documents as the system gives them back.
    pub rows: Vec<String>,
}

/// Answer to [`Op::Close`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Closed {
    /// Seconds until the engine had closed.
    pub seconds: f64,
}

#[cfg(test)]
#[path = "protocol_tests.rs"]
mod tests;
