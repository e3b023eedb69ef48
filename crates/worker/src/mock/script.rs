//! Script of the mock: all deviations from a correct system.

use std::collections::BTreeMap;

use jsonathlon_driver_api::driver::{DriverError, Result, SessionOptions};
use jsonathlon_schema::value::Value;
use serde::Deserialize;

/// File in the data folder that is read if the settings contain no script.
const FILE: &str = "script.json";

/// A whole script. Every part is optional; an empty script describes a system without faults.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Script {
    /// Version that the mock reports; by default `mock 1.0`.
    pub(crate) version: String,
    /// Milliseconds that statements take, by their name (`q1`, `load`, `open`, …).
    pub(crate) delay_ms: BTreeMap<String, u64>,
    /// Faults with the statements at which they happen.
    pub(crate) faults: Vec<Fault>,
    /// Documents that loads reject.
    pub(crate) refuse: Vec<DocumentRejection>,
    /// Length in bytes of the longest document with a key that is accepted. `None` for no limit.
    pub(crate) longest: Option<usize>,
    /// Number that is added to every answer of `count`.
    pub(crate) count_off_by: i64,
    /// Number of executions of `drained` that report remaining work.
    pub(crate) undrained: u64,
    /// Changes of documents that are read back.
    pub(crate) read_back: ReadBackFault,
    /// Whether tables of one document accept text that is not JSON.
    pub(crate) takes_anything: bool,
    /// Largest number of nested levels in tables of one document. `None` for no limit.
    pub(crate) deepest: Option<usize>,
    /// How the writes of clients outlive the process. `None` if they do not.
    pub(crate) keeps: Option<Persistence>,
    /// Columns of `sizes` that replace the real ones or are added.
    pub(crate) sizes: BTreeMap<String, Value>,
    /// Query plans by the name of the statement.
    pub(crate) plans: BTreeMap<String, String>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            version: "mock 1.0".into(),
            delay_ms: BTreeMap::new(),
            faults: Vec::new(),
            refuse: Vec::new(),
            longest: None,
            count_off_by: 0,
            undrained: 0,
            read_back: ReadBackFault::default(),
            takes_anything: false,
            deepest: None,
            keeps: None,
            sizes: BTreeMap::new(),
            plans: BTreeMap::new(),
        }
    }
}

/// A fault that happens when a statement is executed.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Fault {
    /// Name of the statement, including `load` and `open`.
    pub(crate) on: String,
    /// Number of the execution, from 1, counted over all processes on the data folder. `None` for every
    /// execution.
    pub(crate) nth: Option<u64>,
    /// What happens in this fault.
    #[serde(flatten)]
    pub(crate) act: FaultAction,
}

/// Kinds of faults of the mock.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(crate) enum FaultAction {
    /// Replaces one cell by `value`, or by something close to the right value.
    WrongValue {
        row: usize,
        column: usize,
        // A given null is a value too, and differs from an absent member.
        #[serde(default, deserialize_with = "given")]
        value: Option<Value>,
    },
    /// Replaces one cell by NaN.
    Nan { row: usize, column: usize },
    /// Removes one row of the answer.
    MissingRow { row: usize },
    /// Adds one row at the end.
    ExtraRow { cells: Vec<Value> },
    /// Reverses the order of the rows.
    Reorder,
    /// Delays the answer by this many milliseconds.
    Delay { ms: u64 },
    /// Returns an error instead of an answer.
    Refuse { message: String },
    /// Breaks the connection, as if the server had ended.
    Lose { message: String },
    /// Ends the process; in a load after this many documents.
    Crash {
        #[serde(default)]
        by: ExitMode,
        #[serde(default)]
        after: u64,
    },
    /// Never answers; in a load after this many documents.
    Hang {
        #[serde(default)]
        after: u64,
    },
    /// Writes bytes to the protocol's stream before the answer.
    Garbage {
        text: String,
        #[serde(default = "once")]
        times: u64,
    },
    /// Prints a line on the standard output of the process before the answer.
    Print { text: String },
    /// Returns the document that the last write replaced instead of the current one.
    Stale,
    /// Returns a document without its last character.
    Truncated,
    /// Returns the document of another record.
    AnotherKey,
    /// Changes more than requested in the first document of a copy.
    Careless,
    /// Aborts the statement because of another client.
    Conflict { message: String },
}

/// How the writes of clients outlive the process: as lines of a file, appended in the order of the writes.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Persistence {
    /// Number of writes that are acknowledged before they are written to the file together; by default 1.
    pub(crate) together: u64,
    /// Interval of writes that are acknowledged and never written to the file: every n-th. `None` for no
    /// losses.
    pub(crate) loses_each: Option<u64>,
    /// Interval of writes of which only the first half is written to the file: every n-th. `None` for no torn
    /// writes.
    pub(crate) tears_each: Option<u64>,
    /// Whether writes are synced to the disk before they are acknowledged.
    pub(crate) syncs: bool,
    /// Whether writes are acknowledged although they could not be written to the file.
    pub(crate) is_careless: bool,
}

impl Default for Persistence {
    fn default() -> Self {
        Self { together: 1, loses_each: None, tears_each: None, syncs: false, is_careless: false }
    }
}

fn once() -> u64 {
    1
}

fn given<'de, D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Signal by which a process dies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ExitMode {
    /// SIGABRT, as after a failed assertion.
    #[default]
    Abort,
    /// SIGKILL, as sent by the kernel when memory is short.
    Kill,
}

/// A document that loads reject.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DocumentRejection {
    /// Zero-based position of the document in the load.
    pub(crate) ordinal: u64,
    /// Message of the system; `<document>` stands for the document itself.
    pub(crate) reason: String,
    /// Number of the load, from 1. `None` for every load.
    #[serde(default)]
    pub(crate) load: Option<u64>,
}

/// Changes of documents that are read back.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ReadBackFault {
    /// Whether members with the value null are removed.
    pub(crate) drop_nulls: bool,
    /// Whether members are sorted by key.
    pub(crate) reorder_keys: bool,
}

impl Script {
    /// Reads the script from the settings, else from the data folder; otherwise it is empty.
    ///
    /// # Errors
    /// [`DriverError::Unavailable`] if the file cannot be read, [`DriverError::Unsupported`] if the script is
    /// invalid.
    pub(crate) fn of(open: &SessionOptions) -> Result<Self> {
        let text = match open.settings.get("script") {
            Some(text) => text.clone(),
            None => match std::fs::read_to_string(open.folder.join(FILE)) {
                Ok(text) => text,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
                Err(error) => {
                    return Err(DriverError::Unavailable(format!("failed to read {FILE}: {error}")));
                }
            },
        };
        serde_json::from_str(&text)
            .map_err(|error| DriverError::Unsupported(format!("the mock's script is wrong: {error}")))
    }

    /// Faults at the `nth` execution of `statement`.
    pub(crate) fn faults_of<'a>(
        &'a self,
        statement: &'a str,
        nth: u64,
    ) -> impl Iterator<Item = &'a FaultAction> {
        self.faults
            .iter()
            .filter(move |fault| fault.on == statement && fault.nth.is_none_or(|wanted| wanted == nth))
            .map(|fault| &fault.act)
    }

    /// Reason for which the document at `ordinal` of the `nth` load is rejected. `None` if it is accepted.
    pub(crate) fn refusal(&self, ordinal: u64, nth: u64) -> Option<&str> {
        self.refuse
            .iter()
            .find(|refusal| refusal.ordinal == ordinal && refusal.load.is_none_or(|load| load == nth))
            .map(|refusal| refusal.reason.as_str())
    }
}
