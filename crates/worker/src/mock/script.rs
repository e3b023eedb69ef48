//! What a mock is told to do wrong.

use std::collections::BTreeMap;

use jsonathlon_connection::driver::{DriverError, Open, Result};
use jsonathlon_dataset::value::Value;
use serde::Deserialize;

/// The file in the data folder that is read when the settings hold no script.
const FILE: &str = "script.json";

/// The whole script; every part is optional, and an empty script is a system that does all right.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Script {
    /// The version it answers with.
    pub(crate) version: String,
    /// Milliseconds that statements take, by their name (`q1`, `load`, `open`, …).
    pub(crate) delay_ms: BTreeMap<String, u64>,
    /// What goes wrong, and when.
    pub(crate) faults: Vec<Fault>,
    /// Documents that are not accepted.
    pub(crate) refuse: Vec<Refusal>,
    /// Bytes of the longest document with a key that is accepted.
    pub(crate) longest: Option<usize>,
    /// Added to every answer of `count`.
    pub(crate) count_off_by: i64,
    /// How many times `drained` says that there is work left.
    pub(crate) undrained: u64,
    /// What becomes of documents that are read back.
    pub(crate) read_back: Changes,
    /// Whether tables of one document take what is not JSON.
    pub(crate) takes_anything: bool,
    /// Levels of the deepest document that tables of one document take.
    pub(crate) deepest: Option<usize>,
    /// How what clients write outlives the process; not at all if absent.
    pub(crate) keeps: Option<Keeps>,
    /// Figures of `sizes` that replace the real ones or come on top.
    pub(crate) sizes: BTreeMap<String, Value>,
    /// Plans by the name of the statement.
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
            read_back: Changes::default(),
            takes_anything: false,
            deepest: None,
            keeps: None,
            sizes: BTreeMap::new(),
            plans: BTreeMap::new(),
        }
    }
}

/// Something that goes wrong when a statement is asked.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Fault {
    /// The statement's name, `load` and `open` included.
    pub(crate) on: String,
    /// At which ask of it, from 1, counted over all processes on the data folder; at every one if absent.
    pub(crate) nth: Option<u64>,
    /// What happens.
    #[serde(flatten)]
    pub(crate) act: Act,
}

/// What can go wrong.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(crate) enum Act {
    /// One cell is another one: `value`, or something near the right one.
    WrongValue {
        row: usize,
        column: usize,
        // A null is a value too, and not the same as none.
        #[serde(default, deserialize_with = "given")]
        value: Option<Value>,
    },
    /// One cell is NaN.
    Nan { row: usize, column: usize },
    /// A row is not there.
    MissingRow { row: usize },
    /// A row too many, at the end.
    ExtraRow { cells: Vec<Value> },
    /// The rows come in the opposite order.
    Reorder,
    /// It takes longer by so many milliseconds.
    Delay { ms: u64 },
    /// An error instead of an answer.
    Refuse { message: String },
    /// The connection breaks, as to a server that ends.
    Lose { message: String },
    /// The process dies; in a load after so many documents.
    Crash {
        #[serde(default)]
        by: Death,
        #[serde(default)]
        after: u64,
    },
    /// No answer, ever; in a load after so many documents.
    Hang {
        #[serde(default)]
        after: u64,
    },
    /// Bytes on the protocol's stream, before the answer.
    Garbage {
        text: String,
        #[serde(default = "once")]
        times: u64,
    },
    /// A line on the process's standard output, before the answer.
    Print { text: String },
    /// The document that the last write replaced, in the place of the one that is there.
    Stale,
    /// A document without its last character.
    Truncated,
    /// Another record's document.
    AnotherKey,
    /// A copy that changes more than it was told to, in its first document.
    Careless,
    /// Given up because of another client.
    Conflict { message: String },
}

/// How what clients write outlives the process: as lines of a file, appended in the order of the writes.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Keeps {
    /// So many are acknowledged before they are written out together.
    pub(crate) together: u64,
    /// Each so manieth is acknowledged and never written out.
    pub(crate) loses_each: Option<u64>,
    /// Of each so manieth only the first half is written out.
    pub(crate) tears_each: Option<u64>,
    /// Whether they are on the disk before they are acknowledged.
    pub(crate) syncs: bool,
    /// Whether they are acknowledged though they could not be written out.
    pub(crate) is_careless: bool,
}

impl Default for Keeps {
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

/// How a process dies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Death {
    /// SIGABRT, as a failed assertion.
    #[default]
    Abort,
    /// SIGKILL, as by the kernel when memory is short.
    Kill,
}

/// A document that is not accepted.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refusal {
    /// Its 0-based ordinal in the load.
    pub(crate) ordinal: u64,
    /// The system's words.
    pub(crate) reason: String,
    /// In which load, from 1; in every one if absent.
    #[serde(default)]
    pub(crate) load: Option<u64>,
}

/// What becomes of documents that are read back.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Changes {
    /// Members that are null are gone.
    pub(crate) drop_nulls: bool,
    /// Members are sorted by key.
    pub(crate) reorder_keys: bool,
}

impl Script {
    /// The script of the settings, else of the data folder, else an empty one.
    pub(crate) fn of(open: &Open) -> Result<Self> {
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

    /// What goes wrong at the `nth` ask of `statement`.
    pub(crate) fn faults_of<'a>(&'a self, statement: &'a str, nth: u64) -> impl Iterator<Item = &'a Act> {
        self.faults
            .iter()
            .filter(move |fault| fault.on == statement && fault.nth.is_none_or(|wanted| wanted == nth))
            .map(|fault| &fault.act)
    }

    /// Why the document at `ordinal` of the `nth` load is not accepted.
    pub(crate) fn refusal(&self, ordinal: u64, nth: u64) -> Option<&str> {
        self.refuse
            .iter()
            .find(|refusal| refusal.ordinal == ordinal && refusal.load.is_none_or(|load| load == nth))
            .map(|refusal| refusal.reason.as_str())
    }
}
