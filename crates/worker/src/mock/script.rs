//! Script of the mock: a JSON description of all its deviations from a correct system.

use std::collections::BTreeMap;

use jsonathlon_driver_api::driver::{DriverError, Result, SessionOptions};
use jsonathlon_schema::value::Value;
use serde::Deserialize;

/// File in the data folder that is read if the settings contain no script.
const SCRIPT_FILE: &str = "script.json";

/// A whole script. All fields are optional; an empty script describes a system without faults.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Script {
    /// Version that the mock reports; by default `mock 1.0`.
    pub(crate) version: String,
    /// Delay of statements in milliseconds, by statement name (`q1`, `load`, `open`, …).
    pub(crate) delay_ms: BTreeMap<String, u64>,
    /// Faults and the statements that trigger them.
    pub(crate) faults: Vec<Fault>,
    /// Documents that loads reject.
    pub(crate) rejections: Vec<DocumentRejection>,
    /// Maximum length in bytes of documents in tables with keys. `None` for no limit.
    pub(crate) max_keyed_document_bytes: Option<usize>,
    /// Number that is added to the result of every `count`.
    pub(crate) count_off_by: i64,
    /// Remaining work that the first execution of `drained` reports; each further execution reports 1 less.
    pub(crate) undrained: u64,
    /// Changes to documents when they are read back.
    pub(crate) read_back: ReadBackFault,
    /// Whether single-document tables accept text that is not JSON.
    pub(crate) accepts_invalid_json: bool,
    /// Maximum nesting depth of documents in single-document tables. `None` for no limit.
    pub(crate) max_nesting: Option<usize>,
    /// How the writes of clients are persisted. `None` if they are lost when the process ends.
    pub(crate) persistence: Option<Persistence>,
    /// Columns of `sizes`, which are added to the real ones or replace them.
    pub(crate) sizes: BTreeMap<String, Value>,
    /// Query plans, by statement name.
    pub(crate) plans: BTreeMap<String, String>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            version: "mock 1.0".into(),
            delay_ms: BTreeMap::new(),
            faults: Vec::new(),
            rejections: Vec::new(),
            max_keyed_document_bytes: None,
            count_off_by: 0,
            undrained: 0,
            read_back: ReadBackFault::default(),
            accepts_invalid_json: false,
            max_nesting: None,
            persistence: None,
            sizes: BTreeMap::new(),
            plans: BTreeMap::new(),
        }
    }
}

/// A fault that happens when a statement is executed.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Fault {
    /// Name of the statement, including `load` and `open`.
    pub(crate) statement: String,
    /// Number of the execution, from 1, counted over all processes on the data folder. `None` for every
    /// execution.
    pub(crate) execution: Option<u64>,
    /// Effect of the fault.
    #[serde(flatten)]
    pub(crate) action: FaultAction,
}

/// Effect of a fault.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub(crate) enum FaultAction {
    /// Replaces one cell by `value`, or by a value close to the right one if `value` is absent.
    WrongValue {
        row: usize,
        column: usize,
        // An explicit null is a value of its own and differs from an absent field.
        #[serde(default, deserialize_with = "explicit_value")]
        value: Option<Value>,
    },
    /// Replaces one cell by NaN.
    Nan { row: usize, column: usize },
    /// Removes one row of the answer.
    MissingRow { row: usize },
    /// Appends one row to the answer.
    ExtraRow { cells: Vec<Value> },
    /// Reverses the order of the rows.
    Reorder,
    /// Delays the answer by this many milliseconds.
    Delay { ms: u64 },
    /// Returns an error instead of an answer.
    Refuse { message: String },
    /// Breaks the connection, as if the server had exited.
    Disconnect { message: String },
    /// Kills the process with `signal`; in a load, after `after` documents.
    Crash {
        #[serde(default)]
        signal: CrashSignal,
        #[serde(default)]
        after: u64,
    },
    /// Blocks forever; in a load, after `after` documents.
    Hang {
        #[serde(default)]
        after: u64,
    },
    /// Writes `text` to the protocol's output stream before the answer, `times` times.
    Garbage {
        text: String,
        #[serde(default = "default_times")]
        times: u64,
    },
    /// Prints a line on the standard output of the process before the answer.
    Print { text: String },
    /// Returns the document that the last write replaced instead of the current one.
    Stale,
    /// Returns a document without its last character.
    Truncated,
    /// Returns another record's document.
    AnotherKey,
    /// In the first document of a copy, also changes a value that the statement leaves unchanged.
    ChangeExtraValue,
    /// Aborts the statement with a conflict, as if another client had changed the same data.
    Conflict { message: String },
    /// Leaves the last inserted document out of an answer that tells of it.
    OneShort,
    /// Has the last inserted document in an answer that does not tell of it.
    OneEarly,
    /// Inserts a batch twice.
    RepeatBatch,
    /// Acknowledges a batch without inserting it.
    LoseBatch,
    /// Acknowledges a batch that is visible only after the next one.
    HoldBatch,
    /// Inserts a batch and breaks the connection instead of acknowledging it.
    LoseAnswer,
}

/// Persistence of client writes, which are appended to a file as lines in the order of the writes.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Persistence {
    /// Number of acknowledged writes that are written to the file in one batch; by default 1.
    pub(crate) batch_writes: u64,
    /// Interval of lost writes: every n-th write is acknowledged but never written to the file. `None` for no
    /// losses.
    pub(crate) loss_interval: Option<u64>,
    /// Interval of torn writes: of every n-th write only the first half of the document is written to the
    /// file. `None` for no torn writes.
    pub(crate) tear_interval: Option<u64>,
    /// Whether writes are synced to the disk before they are acknowledged.
    pub(crate) syncs: bool,
    /// Whether a write is acknowledged even if writing it to the file failed.
    pub(crate) ignores_write_errors: bool,
}

impl Default for Persistence {
    fn default() -> Self {
        Self {
            batch_writes: 1,
            loss_interval: None,
            tear_interval: None,
            syncs: false,
            ignores_write_errors: false,
        }
    }
}

fn default_times() -> u64 {
    1
}

/// Deserialises a field that is present, so that null becomes `Some(Value::Null)` instead of `None`.
fn explicit_value<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Signal by which the process is killed in a crash.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CrashSignal {
    /// SIGABRT, as after a failed assertion.
    #[default]
    Abort,
    /// SIGKILL, as sent by the kernel's out-of-memory killer.
    Kill,
}

/// A document that loads reject.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DocumentRejection {
    /// Zero-based position of the document in the load.
    pub(crate) ordinal: u64,
    /// Error message, in which `<document>` is replaced by the document.
    pub(crate) reason: String,
    /// Number of the load that rejects the document, from 1. `None` for every load.
    #[serde(default)]
    pub(crate) load: Option<u64>,
}

/// Changes to documents when they are read back.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ReadBackFault {
    /// Whether members with the value null are removed.
    pub(crate) drop_nulls: bool,
    /// Whether members are sorted by key.
    pub(crate) reorder_keys: bool,
}

impl Script {
    /// Reads the script from the settings, or from the data folder if the settings contain none. Returns an
    /// empty script if there is no file either.
    ///
    /// # Errors
    /// [`DriverError::Unavailable`] if the file cannot be read, [`DriverError::Unsupported`] if the script is
    /// invalid.
    pub(crate) fn from_options(options: &SessionOptions) -> Result<Self> {
        let text = match options.settings.get("script") {
            Some(text) => text.clone(),
            None => match std::fs::read_to_string(options.folder.join(SCRIPT_FILE)) {
                Ok(text) => text,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
                Err(error) => {
                    return Err(DriverError::Unavailable(format!("failed to read {SCRIPT_FILE}: {error}")));
                }
            },
        };
        serde_json::from_str(&text)
            .map_err(|error| DriverError::Unsupported(format!("invalid mock script: {error}")))
    }

    /// Returns the faults of an execution of `statement`, given by its number.
    pub(crate) fn faults_for<'a>(
        &'a self,
        statement: &'a str,
        execution: u64,
    ) -> impl Iterator<Item = &'a FaultAction> {
        self.faults
            .iter()
            .filter(move |fault| {
                fault.statement == statement && fault.execution.is_none_or(|number| number == execution)
            })
            .map(|fault| &fault.action)
    }

    /// Returns the message with which load `load_number` rejects the document at `ordinal`. `None` if it is
    /// accepted.
    pub(crate) fn refusal(&self, ordinal: u64, load_number: u64) -> Option<&str> {
        self.rejections
            .iter()
            .find(|rejection| {
                rejection.ordinal == ordinal && rejection.load.is_none_or(|load| load == load_number)
            })
            .map(|rejection| rejection.reason.as_str())
    }
}
