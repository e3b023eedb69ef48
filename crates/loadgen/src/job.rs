//! Jobs: the work of the clients in one trial, as sent to a worker.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jsonathlon_dataset::own_records::OwnRecords;
use jsonathlon_dataset::records::Records;
use jsonathlon_stats::arrival::Arrival;
use jsonathlon_telemetry::stop_condition::StopCondition;
use serde::{Deserialize, Serialize};

use crate::mix::Mix;
use crate::operation::Operation;
use crate::paths::Projection;
use crate::reports::job::ReportsJob;

/// Work of one trial: a number of clients runs one mix until the stop condition is met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Description of the loaded records, from which all expected values follow.
    pub records: JobRecords,
    /// Number of loaded records; their numbers are 0 to `loaded` − 1.
    pub loaded: u64,
    /// Identity of the load. The accept sets are kept across all jobs with the same load.
    pub load: String,
    /// Operations with their shares, and the request distribution.
    pub mix: Mix,
    /// Statements of each operation of the mix.
    pub scripts: BTreeMap<Operation, OperationScript>,
    /// Number of clients, each with one connection; at least 1.
    pub clients: u32,
    /// Number of client threads. `None` chooses as many as suit the protocol and the machine.
    pub threads: Option<u32>,
    /// Closed loop, or the schedule of an open loop.
    pub arrival: Arrival,
    /// Length of the warm-up in seconds, 0 or more.
    pub ramp_s: f64,
    /// Stop condition of the measurement window: a time or a number of operations.
    pub stop: StopCondition,
    /// Seed of all random draws of the job.
    pub seed: u64,
    /// Whether answers are verified. Off only for comparison with a program that verifies nothing.
    pub verify: bool,
    /// Whether statements are prepared once, instead of sent as text each time.
    pub prepare: bool,
    /// Number of documents of one insert-batch; 0 is treated as 1.
    pub batch: u32,
    /// Largest number of documents of a scan; each scan draws its limit from 1 to this.
    pub scan: u32,
    /// Largest number of documents that a find returns.
    pub limit: u32,
    /// Selection of the values that read-paths asks for.
    #[serde(default)]
    pub projection: Projection,
    /// Number of retries of an operation that the system aborted because of a conflict.
    pub retries: u32,
    /// Time limit of an operation in seconds, above 0.
    pub timeout_s: f64,
    /// What is sampled once per second during the job; by default nothing.
    #[serde(default)]
    pub sampling_targets: SamplingTargets,
    /// Whether writers take turns, in the order in which they arrive. A program that embeds an engine with
    /// room for a single writer would do the same, instead of letting writers retry again and again.
    #[serde(default)]
    pub writers_take_turns: bool,
    /// File of the acknowledgement log: every write is appended before it is sent, every acknowledgement when
    /// it has arrived. Clients of such a job do not reconnect, because the job ends with the system. `None`
    /// except in crash tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_log: Option<PathBuf>,
    /// Streams that ask questions beside the clients. The measurement window then lasts until each stream has
    /// finished a set of questions that began in it. `None` for clients alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reports: Option<ReportsJob>,
}

/// Records that the clients of a job work on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobRecords {
    /// Generated records: every value follows from record number, path and version.
    Generated(Records),
    /// The user's own documents.
    Own {
        /// Description of the documents and their keys.
        records: Box<OwnRecords>,
        /// File of what the system gave back after the load; see [`crate::baseline::BaselineRead`].
        baseline: PathBuf,
    },
}

impl JobRecords {
    /// Parameters of generated records. `None` for own documents.
    #[must_use]
    pub fn generated(&self) -> Option<&Records> {
        match self {
            Self::Generated(records) => Some(records),
            Self::Own { .. } => None,
        }
    }
}

impl From<Records> for JobRecords {
    fn from(records: Records) -> Self {
        Self::Generated(records)
    }
}

/// Sources that are sampled once per second while clients are working.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SamplingTargets {
    /// Statement that returns one row: `checkpoints`, the number of checkpoints that have begun, and
    /// `running`, 1 while one is being written. `None` if the system does not report them.
    pub checkpoints: Option<String>,
    /// Data folder of the system, whose disk is sampled. `None` if the folder is not on this machine.
    pub folder: Option<PathBuf>,
}

/// Statements of a system for one operation, in order, with parameters written as `{{name}}`.
///
/// | parameter | kind | value |
/// |---|---|---|
/// | `key` | text or integer | key of the record |
/// | `value` | text or integer | new value of the one path that is set |
/// | `document` | JSON | whole document |
/// | `keyed_document` | JSON | whole document with its key as first member, named by [`Self::key_member`] |
/// | `keyed_documents` | JSON | array of the keyed documents of a batch |
/// | `limit` | integer | largest number of documents |
/// | `old` | text or integer | value read by the preceding statement, which the new one replaces |
/// | `condition` | text | value that is searched for |
/// | any other | as answered | column of this name in the answer of an earlier statement |
///
/// In an insert-batch, a statement with `document`, `keyed_document` or `key` is sent once for each document
/// of the batch. A request with an array `lines` is instead sent once, with these lines for each document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationScript {
    /// Statements that are sent one after the other.
    pub statements: Vec<String>,
    /// Statement that undoes the earlier ones if one fails, such as `ROLLBACK`. `None` if nothing has to be
    /// undone.
    #[serde(default)]
    pub undo: Option<String>,
    /// Member under which documents contain their own key. `None` if they do not.
    #[serde(default)]
    pub key_member: Option<String>,
    /// Whether answers may be older than the last acknowledged write. Verification then only requires that
    /// answers are whole and were written once.
    #[serde(default)]
    pub may_be_stale: bool,
}
