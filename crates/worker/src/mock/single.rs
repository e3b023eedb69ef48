//! Mock tables of one document, whatever its bytes are; each table is a file in the data folder.
//!
//! Statements with T as the table: `one_create T`, `one_drop T`, `one_read T`, `one_hex T`,
//! `one_value T MEMBER`. The document is loaded by row with `one_load T :doc`, or as a parameter with
//! `one_put T {{document}}`. Text that is not strictly JSON is refused unless the script accepts anything.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use jsonathlon_dataset::fidelity::strict;
use jsonathlon_driver_api::driver::{DriverError, Result};
use jsonathlon_driver_api::rows::ResultSet;
use jsonathlon_schema::value::Value;
use serde_json::value::RawValue;

use super::faults;
use super::script::Script;

/// Statement that stores a document passed as a parameter.
pub(super) const PUT: &str = "one_put";

/// Returns `true` if the statement belongs to these tables.
pub(super) fn is_single_statement(name: &str) -> bool {
    name.starts_with("one_")
}

/// Returns the table of a `one_load` statement. `None` for other statements.
pub(super) fn table_of_load(statement: &str) -> Option<&str> {
    statement.strip_prefix("one_load ")?.split_whitespace().next()
}

/// Returns the table of a `one_put` statement. `None` for other statements.
pub(super) fn table_of_put(statement: &str) -> Option<&str> {
    statement.strip_prefix(PUT)?.split_whitespace().next()
}

fn path(folder: &Path, table: &str) -> PathBuf {
    folder.join(format!("{table}.one"))
}

fn refusal(error: &std::io::Error) -> DriverError {
    DriverError::Refused(match error.kind() {
        ErrorKind::NotFound => "no such table".to_owned(),
        _ => error.to_string(),
    })
}

/// Reason for which a document is rejected. `None` if it is accepted.
pub(super) fn rejection_reason(document: &[u8], script: &Script) -> Option<String> {
    match strict::read(document) {
        Err(fault) if !script.accepts_invalid_json => Some(format!("not JSON: {fault}")),
        _ => {
            let limit = script.max_nesting.filter(|limit| levels(document) > *limit)?;
            Some(format!("a document has {limit} levels at most"))
        }
    }
}

/// Number of nested levels of a document. Brackets in strings are counted as well.
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

/// Stores a document in a table, which must exist and be empty.
pub(super) fn put(folder: &Path, table: &str, document: &[u8]) -> Result<()> {
    let path = path(folder, table);
    let metadata = std::fs::metadata(&path).map_err(|error| refusal(&error))?;
    if metadata.len() > 0 {
        return Err(DriverError::Refused("the table has its document already".to_owned()));
    }
    // An empty document is a document too; the first byte marks its presence.
    std::fs::write(&path, [b"d", document].concat()).map_err(|error| refusal(&error))
}

fn document(folder: &Path, table: &str) -> Result<Option<Vec<u8>>> {
    let bytes = std::fs::read(path(folder, table)).map_err(|error| refusal(&error))?;
    Ok(bytes.strip_prefix(b"d").map(<[u8]>::to_vec))
}

/// Executes a statement on one of these tables.
pub(super) fn answer(name: &str, rest: &str, folder: &Path, script: &Script) -> Result<ResultSet> {
    let (table, member) = rest.split_once(' ').unwrap_or((rest, ""));
    let cell = match name {
        "one_create" => {
            let created = OpenOptions::new().write(true).create_new(true).open(path(folder, table));
            created.map_err(|_| DriverError::Refused("the table is there already".into()))?;
            return Ok(ResultSet::default());
        }
        "one_drop" => {
            return match std::fs::remove_file(path(folder, table)) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(refusal(&error)),
                _ => Ok(ResultSet::default()),
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
                Some(Value::Text(faults::alter_document(text, script.read_back)))
            }
        },
        "one_value" => document(folder, table)?.map(|bytes| value(&bytes, member)).transpose()?,
        _ => return Err(DriverError::Refused(format!("unknown statement `{name}`"))),
    };
    let rows = cell.into_iter().map(|cell| vec![cell]).collect();
    Ok(ResultSet { columns: vec!["doc".to_owned()], rows, ..ResultSet::default() })
}

/// Value of a member: the content of a string, NULL for null or an absent member, otherwise the JSON text.
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
