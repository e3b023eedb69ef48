//! What clients are told to do.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jsonathlon_dataset::records::Records;
use jsonathlon_measure::arrival::Arrival;
use jsonathlon_measure::stop::Stop;
use serde::{Deserialize, Serialize};

use crate::mix::Mix;
use crate::operation::Operation;
use crate::paths::Projection;

/// One trial's work: so many clients, one mix, for so long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The records that the load brought.
    pub records: Records,
    /// How many the load brought: those of the numbers 0 up to this.
    pub loaded: u64,
    /// Which load: what is known of the versions of documents is kept from job to job of one load.
    pub load: String,
    /// What is sent.
    pub mix: Mix,
    /// How, by operation.
    pub scripts: BTreeMap<Operation, Script>,
    /// Connections.
    pub clients: u32,
    /// Threads that they are spread over; none for as many as suit the protocol and the machine.
    pub threads: Option<u32>,
    /// When operations are to begin.
    pub arrival: Arrival,
    /// Seconds before measuring begins.
    pub ramp_s: f64,
    /// When measuring ends.
    pub stop: Stop,
    /// What all draws depend on.
    pub seed: u64,
    /// Whether answers are checked. Only a comparison with a program that checks nothing leaves it out.
    pub verify: bool,
    /// Whether statements are prepared once, or sent as text each time.
    pub prepare: bool,
    /// Documents of one insert-batch.
    pub batch: u32,
    /// Documents of one scan at most; each scan draws from 1 to this.
    pub scan: u32,
    /// Documents of one find at most.
    pub limit: u32,
    /// Which values one read-paths asks for.
    #[serde(default)]
    pub projection: Projection,
    /// How often an operation that the system has given up for a conflict is tried again.
    pub retries: u32,
    /// Seconds after which an operation is given up.
    pub timeout_s: f64,
    /// What is looked at once a second meanwhile.
    #[serde(default)]
    pub watched: Watched,
    /// Whether one client at a time writes, in the order in which they come: what a program does that holds the engine in
    /// its own process, where the engine has room for one writer and lets the others try again and again.
    #[serde(default)]
    pub writers_take_turns: bool,
    /// A file in which every write is put on record before it is sent, and every acknowledgement when it has come.
    /// Clients of such a job do not connect again: it ends with the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promises: Option<PathBuf>,
}

/// What is looked at once a second while clients are at work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watched {
    /// A statement that answers one row: `checkpoints`, how many have begun so far, and `running`, 1 while one is being
    /// written. None where the system does not tell.
    pub checkpoints: Option<String>,
    /// The folder of the system's data; none where it is not on this machine.
    pub folder: Option<PathBuf>,
}

/// How a system does one operation: statements in order, parameters as `{{name}}` in them.
///
/// | parameter | kind | is |
/// |---|---|---|
/// | `key` | text or integer | the record's key |
/// | `value` | text | the new value of the one path that is set |
/// | `document` | JSON | the whole document |
/// | `keyed_document` | JSON | the same, its key the first member, as [`Script::key_member`] calls it |
/// | `limit` | integer | documents at most |
/// | `old` | text | the value that the statement before has read, which the new one replaces |
/// | `condition` | text | the value that is looked for |
/// | any other | as it came | the column of this name that a statement before has answered |
///
/// Of several statements the one whose parameters name `document`, `keyed_document` or `key` is repeated for each
/// document of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// The statements.
    pub statements: Vec<String>,
    /// What undoes the ones before where one fails, such as `ROLLBACK`.
    #[serde(default)]
    pub undo: Option<String>,
    /// What a document calls its own key, where it holds it.
    #[serde(default)]
    pub key_member: Option<String>,
    /// Whether answers may be older than the last acknowledged write: then only that they are whole, and were sent once,
    /// is checked.
    #[serde(default)]
    pub may_be_stale: bool,
}
