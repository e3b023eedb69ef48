//! The mock's tables of one document, whatever bytes it has, each a file in its data folder.
//!
//! Statements, T being a table: `one_create T`, `one_drop T`, `one_read T`, `one_hex T`, `one_value T MEMBER`. A
//! document goes in by row through `one_load T :doc`, and as a parameter through `one_put T {{document}}`. Text that
//! is not JSON by the letter is refused, unless the script says that anything is taken.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use jsonathlon_connection::driver::{DriverError, Result};
use jsonathlon_connection::rows::Outcome;
use jsonathlon_dataset::fidelity::strict;
use jsonathlon_dataset::value::Value;
use serde_json::value::RawValue;

use super::faults;
use super::script::Script;

/// The statement of a document that is given as a parameter.
pub(super) const PUT: &str = "one_put";

/// Whether a statement is one of these.
pub(super) fn is_of_one(name: &str) -> bool {
    name.starts_with("one_")
}

/// The table of a load.
pub(super) fn table_of_load(statement: &str) -> Option<&str> {
    statement.strip_prefix("one_load ")?.split_whitespace().next()
}

/// The table of a statement that a document is given to.
pub(super) fn table_of_put(statement: &str) -> Option<&str> {
    statement.strip_prefix(PUT)?.split_whitespace().next()
}

fn path(folder: &Path, table: &str) -> PathBuf {
    folder.join(format!("{table}.one"))
}

fn refused(error: &std::io::Error) -> DriverError {
    DriverError::Refused(match error.kind() {
        ErrorKind::NotFound => "no such table".to_owned(),
        _ => error.to_string(),
    })
}

/// Why a document is not taken.
pub(super) fn unwanted(document: &[u8], script: &Script) -> Option<String> {
    match strict::read(document) {
        Err(fault) if !script.takes_anything => Some(format!("not JSON: {fault}")),
        _ => {
            let most = script.deepest.filter(|most| levels(document) > *most)?;
            Some(format!("a document has {most} levels at most"))
        }
    }
}

/// Levels of a document whose strings hold no brackets.
fn levels(document: &[u8]) -> usize {
    let (mut level, mut deepest) = (0_usize, 0);
    for byte in document {
        match byte {
            b'[' | b'{' => level += 1,
            b']' | b'}' => level = level.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(level);
    }
    deepest
}

/// Takes a document into a table, which must be there and empty.
pub(super) fn put(folder: &Path, table: &str, document: &[u8]) -> Result<()> {
    let path = path(folder, table);
    let before = std::fs::metadata(&path).map_err(|error| refused(&error))?;
    if before.len() > 0 {
        return Err(DriverError::Refused("the table has its document already".to_owned()));
    }
    // An empty document is one too: a byte says that it is there.
    std::fs::write(&path, [b"d", document].concat()).map_err(|error| refused(&error))
}

fn document(folder: &Path, table: &str) -> Result<Option<Vec<u8>>> {
    let bytes = std::fs::read(path(folder, table)).map_err(|error| refused(&error))?;
    Ok(bytes.strip_prefix(b"d").map(<[u8]>::to_vec))
}

/// Does a statement.
pub(super) fn answer(name: &str, rest: &str, folder: &Path, script: &Script) -> Result<Outcome> {
    let (table, member) = rest.split_once(' ').unwrap_or((rest, ""));
    let cell = match name {
        "one_create" => {
            let made = OpenOptions::new().write(true).create_new(true).open(path(folder, table));
            made.map_err(|_| DriverError::Refused("the table is there already".into()))?;
            return Ok(Outcome::default());
        }
        "one_drop" => {
            return match std::fs::remove_file(path(folder, table)) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(refused(&error)),
                _ => Ok(Outcome::default()),
            };
        }
        "one_hex" => document(folder, table)?.map(|bytes| {
            Value::Text(bytes.iter().fold(String::new(), |mut text, byte| {
                write!(text, "{byte:02X}").ok();
                text
            }))
        }),
        "one_read" => match document(folder, table)? {
            None => None,
            Some(bytes) => {
                let text = String::from_utf8(bytes)
                    .map_err(|error| DriverError::Protocol(format!("a text that is no UTF-8: {error}")))?;
                Some(Value::Text(faults::changed(text, script.read_back)))
            }
        },
        "one_value" => document(folder, table)?.map(|bytes| value(&bytes, member)).transpose()?,
        _ => return Err(DriverError::Refused(format!("unknown statement `{name}`"))),
    };
    let rows = cell.into_iter().map(|cell| vec![cell]).collect();
    Ok(Outcome { columns: vec!["doc".to_owned()], rows, ..Outcome::default() })
}

/// The value of a member: the content of a string, nothing for null, and the text of everything else.
fn value(document: &[u8], member: &str) -> Result<Value> {
    let Ok(members) = serde_json::from_slice::<BTreeMap<String, &RawValue>>(document) else {
        return Ok(Value::Null);
    };
    Ok(match members.get(member).map(|raw| raw.get()) {
        None | Some("null") => Value::Null,
        Some(text) if text.starts_with('"') => serde_json::from_str(text)
            .map(Value::Text)
            .map_err(|error| DriverError::Refused(format!("no text: {error}")))?,
        Some(text) => Value::Text(text.to_owned()),
    })
}
