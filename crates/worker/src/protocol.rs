//! Worker protocol 3: lines of JSON on a pipe, one request at a time.
//!
//! A request is `{"id":1,"op":"ask","statement":"…"}`. Any number of
//! `{"id":1,"progress":{"done":…,"total":…,"unit":"documents"}}` may follow, and exactly one of
//! `{"id":1,"ok":{…}}` and `{"id":1,"error":{"kind":"…","message":"…"}}` ends the request.
//!
//! All seconds are differences of the worker's clock, from handing the statement to the driver until its last
//! row is decoded. The pipe and the coordinator are not included.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jsonathlon_driver_api::driver::{DriverError, EngineLocation, SessionOptions};
use jsonathlon_driver_api::rows::ResultSet;
use jsonathlon_schema::value::Value;
use jsonathlon_telemetry::process::Usage;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Version of this protocol; an `open` with any other version is refused.
pub const PROTOCOL_VERSION: u32 = 3;

/// A request from the coordinator to a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Number chosen by the coordinator and repeated in every reply to the request.
    pub id: u64,
    /// Operation that the worker shall perform.
    #[serde(flatten)]
    pub op: Op,
}

/// Operations that a worker can perform.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Op {
    /// Opens the session; answered by [`OpenReply`]. Must be the first request and is allowed only once.
    Open {
        /// Must be equal to [`PROTOCOL_VERSION`].
        protocol: u32,
        /// Protocol, data folder, settings and server of the session.
        open: SessionOptions,
    },
    /// Runs statements whose answers do not matter (create, index, drop); answered by [`RunReply`].
    Run {
        /// Statements to run in this order; the first failure ends the request.
        statements: Vec<String>,
    },
    /// Loads documents until they are durable; answered by [`LoadReply`].
    Load {
        /// How the documents are loaded, with the fields of [`LoadMethod`].
        #[serde(flatten)]
        load: LoadMethod,
        /// Whether `syncfs` on the data folder is part of the load; by default `true`.
        #[serde(default = "yes")]
        sync: bool,
    },
    /// Runs statements and then waits until background work has ended; answered by [`SettleReply`].
    Settle {
        /// Statements to run before the wait; by default none.
        #[serde(default)]
        statements: Vec<String>,
        /// Statement that returns a single number, 0 if no work is left. `None` if there is nothing to wait
        /// for.
        #[serde(default)]
        until_zero: Option<String>,
        /// Seconds after which the wait ends, which is not an error. A negative limit means no waiting.
        limit_s: f64,
        /// Whether `syncfs` on the data folder is part of settling; by default `true`.
        #[serde(default = "yes")]
        sync: bool,
    },
    /// Runs one statement and reads its rows; answered by [`AskReply`].
    Ask {
        /// Statement in the language of the system.
        statement: String,
    },
    /// Exports documents, one JSON text per row, and keeps only their totals; answered by [`ExportReply`].
    Export {
        /// Statement whose rows begin with a JSON text.
        statement: String,
        /// Whether digests of the documents as JSON values are computed. This takes time, so it is set only
        /// where no time is measured.
        #[serde(default)]
        values: bool,
    },
    /// As [`Op::Export`] with `values`, but through the same path as ordinary answers. The first column is a
    /// JSON text.
    Read {
        /// Statement whose rows begin with a JSON text.
        statement: String,
    },
    /// Runs a statement whose rows are a query plan; answered by [`PlanReply`].
    Plan {
        /// Complete statement, including `EXPLAIN`.
        statement: String,
    },
    /// Runs a statement that returns one row of sizes or counters; answered by [`RowByName`].
    Sizes {
        /// Statement with one column per size or counter.
        statement: String,
    },
    /// Runs a statement with one text column; answered by [`ReadBackReply`].
    ReadBack {
        /// Statement that reads documents back.
        statement: String,
    },
    /// Runs a job of many clients on the session's system, over connections of their own; answered by the
    /// result of the worker's [`crate::JobRunner`].
    Drive {
        /// The job, in the format of the worker's [`crate::JobRunner`].
        job: serde_json::Value,
    },
    /// Closes the session and then ends the process; answered by [`CloseReply`].
    Close,
}

fn yes() -> bool {
    true
}

/// Ways in which documents are loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "mode", rename_all = "snake_case")]
pub enum LoadMethod {
    /// By statements that name the file, which the system reads itself.
    Statement {
        /// Statements to run in this order; the first failure ends the load.
        statements: Vec<String>,
    },
    /// By the driver, one row per document of `file`.
    Rows {
        /// Statement with `:doc` in place of the document.
        statement: String,
        /// File of newline-delimited JSON, which the worker reads.
        file: PathBuf,
    },
    /// As [`LoadMethod::Rows`], from a file with lines `{"key":…,"doc":{…}}`; each document is stored under
    /// its key.
    Keyed {
        /// Statement with `:doc` in place of the document, and `:key` in place of the key if the protocol
        /// needs it.
        statement: String,
        /// File that the worker reads; it must not be compressed.
        file: PathBuf,
    },
    /// By the driver, as a single document that consists of all bytes of `file`, whatever they are.
    Whole {
        /// Statement with `:doc` in place of the document.
        statement: String,
        /// File that the worker reads as a whole.
        file: PathBuf,
    },
    /// By one prepared statement with one parameter, whose value is the whole content of `file`. It must be
    /// UTF-8.
    Parameter {
        /// Statement with `{{document}}` in place of the parameter.
        statement: String,
        /// File that the worker reads as a whole.
        file: PathBuf,
    },
}

/// One line from the worker, before its body is parsed. Exactly one of `ok`, `error` and `progress` is
/// present.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply<'a> {
    /// Number of the request that is answered.
    pub id: u64,
    /// Result, in the type that belongs to the request.
    #[serde(borrow, default)]
    pub ok: Option<&'a RawValue>,
    /// Failure, if the request has no result.
    #[serde(default)]
    pub error: Option<Failure>,
    /// Progress message; the request is still running.
    #[serde(default)]
    pub progress: Option<Progress>,
}

/// A failed request. The session stays usable unless opening it failed or the kind is
/// [`FailureKind::Crashed`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Kind of the failure.
    pub kind: FailureKind,
    /// Message of the system, or advice of the driver.
    pub message: String,
}

/// Kinds of failed requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The system rejected the statement, also because of a conflict or a duplicate key.
    Refused,
    /// The driver does not support the request or cannot decode the answer.
    Unsupported,
    /// The system cannot be reached, or its library cannot be loaded.
    Unavailable,
    /// The answer of the system violates its protocol, or does not have the shape that the request needs.
    Protocol,
    /// The documents to be loaded could not be read.
    #[serde(rename = "documents")]
    UnreadableDocuments,
    /// The request is invalid: not JSON, unknown, out of order, or of another protocol version.
    #[serde(rename = "request")]
    InvalidRequest,
    /// The machine lacks a resource (disk, memory), or the operating system failed, for example in `syncfs`.
    #[serde(rename = "system")]
    MachineFailure,
    /// The system ended or closed the connection. The worker goes on, but its session is lost: every further
    /// request except [`Op::Close`] and [`Op::Drive`] fails in the same way. A worker with an embedded engine
    /// ends together with the engine.
    Crashed,
}

impl std::fmt::Display for FailureKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Refused => "refused",
            Self::Unsupported => "unsupported",
            Self::Unavailable => "unavailable",
            Self::Protocol => "protocol",
            Self::UnreadableDocuments => "documents",
            Self::InvalidRequest => "request",
            Self::MachineFailure => "system",
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
            DriverError::Exhausted(_) => FailureKind::MachineFailure,
            DriverError::Protocol(_) => FailureKind::Protocol,
            DriverError::Documents(_) => FailureKind::UnreadableDocuments,
            DriverError::Crashed(_) => FailureKind::Crashed,
        };
        Self { kind, message: error.to_string() }
    }
}

/// Progress of a running request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Amount done so far. For [`Op::Settle`], the work that is *left* according to the request's statement.
    pub done: u64,
    /// Total amount of work. `None` if unknown.
    pub total: Option<u64>,
    /// Unit of `done`: `documents`, `operations` of clients, or `remaining`.
    pub unit: String,
}

/// Usage of the engine during one request: of the worker process including an embedded engine, or of all
/// processes of the session's server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct OpUsage {
    /// CPU seconds of all threads by `CLOCK_PROCESS_CPUTIME_ID`, exact to the nanosecond, whereas the split
    /// into user and system in `counters` has only the kernel's clock tick (10 ms). For a server this
    /// precision requires that its processes have one thread and live until the end of the request. `None`
    /// for a remote server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
    /// CPU seconds of the worker itself. `None` for an embedded engine, whose CPU time cannot be separated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_cpu_s: Option<f64>,
    /// Counters of the kernel; zeros for a remote server.
    #[serde(flatten)]
    pub counters: Usage,
}

/// Result of [`Op::Open`]: the opened session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenReply {
    /// Version that the system reports.
    pub version: String,
    /// Process in which the engine runs.
    #[serde(default)]
    pub location: EngineLocation,
    /// Seconds for loading the library, connecting, and running the session's statements.
    pub seconds: f64,
    /// Usage of the worker while it opened the session.
    pub usage: OpUsage,
}

/// Result of [`Op::Run`]: time and usage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunReply {
    /// Seconds for all statements together.
    pub seconds: f64,
    /// Usage during the statements.
    pub usage: OpUsage,
}

/// A document that the system did not accept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reject {
    /// Zero-based position among the documents of the loaded file.
    pub line: u64,
    /// Message of the system, at most 500 bytes.
    pub reason: String,
}

/// Result of [`Op::Load`]: time, rejected documents and usage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadReply {
    /// Seconds until all documents are durable, including `sync_seconds`.
    pub seconds: f64,
    /// Seconds of these in `syncfs`. `None` if it was not requested.
    pub sync_seconds: Option<f64>,
    /// Number of accepted documents. `None` if statements load them, because only the driver counts.
    pub documents: Option<u64>,
    /// Rejected documents in the order of the file.
    pub rejects: Vec<Reject>,
    /// Usage during the load.
    pub usage: OpUsage,
}

/// Result of [`Op::Settle`]: time, remaining work and usage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettleReply {
    /// Seconds for statements, waiting and `sync_seconds`. Remaining work is checked every 20 ms.
    pub seconds: f64,
    /// Seconds of these in `syncfs`. `None` if it was not requested.
    pub sync_seconds: Option<f64>,
    /// 0 if all work has ended, otherwise the work that was left at the limit.
    pub remaining: u64,
    /// Usage during statements and waiting.
    pub usage: OpUsage,
}

/// Result of [`Op::Ask`]: the rows, time and usage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskReply {
    /// Seconds until the last row was decoded.
    pub seconds: f64,
    /// Rows of the answer, and the statistics that the system reported.
    pub outcome: ResultSet,
    /// Usage during the statement.
    pub usage: OpUsage,
}

/// Result of [`Op::Export`] and [`Op::Read`]: totals of the documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExportReply {
    /// Seconds until the last document had arrived.
    pub seconds: f64,
    /// Number of exported documents.
    pub documents: u64,
    /// Length of all texts in bytes.
    pub bytes: u64,
    /// Sum of the hashes of the texts: equal for equal texts in any order.
    pub texts: u64,
    /// Sum of the documents' digests as JSON values ([`jsonathlon_dataset::nested::digest()`]). `None`
    /// unless requested.
    pub values: Option<u64>,
    /// Usage during the export.
    pub usage: OpUsage,
}

/// Result of [`Op::Plan`]: the plan as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanReply {
    /// One line per row, with tabs between the cells.
    pub text: String,
}

/// Result of [`Op::Sizes`]: the columns of the single row by name.
pub type RowByName = BTreeMap<String, Value>;

/// Result of [`Op::ReadBack`]: the texts of documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadBackReply {
    /// Documents as the system returns them; rows with NULL are left out.
    pub rows: Vec<String>,
}

/// Result of [`Op::Close`]: the time it took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CloseReply {
    /// Seconds until the engine had closed.
    pub seconds: f64,
}

#[cfg(test)]
#[path = "protocol_tests.rs"]
mod tests;
