//! Answers: rows of typed cells on their way from a system to whoever asked.

use jsonathlon_dataset::value::{Row, Value};
use serde::{Deserialize, Serialize};

use crate::error::{DriverError, Result};

/// One cell of an answer, borrowed from wherever the driver has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// SQL NULL, or a path that is absent.
    Null,
    /// A truth value.
    Bool(bool),
    /// A 64-bit integer; times are microseconds.
    Int(i64),
    /// Any double.
    Float(f64),
    /// Text.
    Text(&'a str),
}

impl Cell<'_> {
    /// The cell on its own.
    #[must_use]
    pub fn to_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(truth) => Value::Bool(truth),
            Self::Int(number) => Value::Int(number),
            Self::Float(number) => Value::Float(number),
            Self::Text(text) => Value::Text(text.to_owned()),
        }
    }
}

impl<'a> From<&'a Value> for Cell<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(truth) => Self::Bool(*truth),
            Value::Int(number) => Self::Int(*number),
            Value::Float(number) => Self::Float(*number),
            Value::Text(text) => Self::Text(text),
        }
    }
}

/// Takes the rows of an answer as they come.
pub trait RowSink {
    /// An answer with these columns begins; a statement without one has none. Where a text holds several statements
    /// the last one's answer counts, and what came before is forgotten.
    ///
    /// # Errors
    /// Whatever shall end the statement.
    fn columns(&mut self, names: &[&str]) -> Result<()>;

    /// The next row, a cell for each column. A statement can still fail afterwards: then its rows are none.
    ///
    /// # Errors
    /// Whatever shall end the statement.
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()>;
}

/// What a system says about a statement that it has run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Report {
    /// Seconds that it took by the system's own watch.
    pub server_seconds: Option<f64>,
    /// Rows read from storage.
    pub rows_read: Option<u64>,
    /// Bytes read from storage (uncompressed where the system counts so).
    pub bytes_read: Option<u64>,
    /// Peak memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Rows or documents that a write has changed, inserted or removed, where the system says how many; of a statement
    /// that reads it means nothing.
    pub affected: Option<u64>,
    /// Texts that were no UTF-8 and are given with U+FFFD in the place of what is none.
    pub replaced: u64,
}

/// The answer to one statement, collected.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Names of the columns; empty for a statement without an answer.
    pub columns: Vec<String>,
    /// The rows in the order in which the system gave them.
    pub rows: Vec<Row>,
    /// Seconds that the system itself reports for the statement.
    pub server_seconds: Option<f64>,
    /// Rows read from storage, as the system reports them.
    pub rows_read: Option<u64>,
    /// Bytes read from storage (uncompressed where the system counts so), as it reports them.
    pub bytes_read: Option<u64>,
    /// Peak memory of the statement in bytes, as the system reports it.
    pub memory_bytes: Option<u64>,
    /// Texts that were no UTF-8 and are given with U+FFFD in the place of what is none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub replaced: u64,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

impl RowSink for Outcome {
    fn columns(&mut self, names: &[&str]) -> Result<()> {
        self.columns = names.iter().map(|name| (*name).to_owned()).collect();
        self.rows.clear();
        Ok(())
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        self.rows.push(cells.iter().map(|cell| cell.to_value()).collect());
        Ok(())
    }
}

impl Outcome {
    /// It with what the system said.
    #[must_use]
    pub fn with(self, report: Report) -> Self {
        let Report { server_seconds, rows_read, bytes_read, memory_bytes, affected: _, replaced } = report;
        Self { server_seconds, rows_read, bytes_read, memory_bytes, replaced, ..self }
    }

    /// Hands the rows on; gives what the system said.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn replay(&self, sink: &mut dyn RowSink) -> Result<Report> {
        sink.columns(&self.columns.iter().map(String::as_str).collect::<Vec<_>>())?;
        for row in &self.rows {
            sink.row(&row.iter().map(Cell::from).collect::<Vec<_>>())?;
        }
        let Self { server_seconds, rows_read, bytes_read, memory_bytes, replaced, .. } = *self;
        Ok(Report { server_seconds, rows_read, bytes_read, memory_bytes, affected: None, replaced })
    }

    /// The one text that a question for the version is answered with.
    ///
    /// # Errors
    /// [`DriverError::Protocol`] when it is none.
    pub fn version(self) -> Result<String> {
        match self.rows.into_iter().flatten().next() {
            Some(Value::Text(version)) => Ok(version),
            other => Err(DriverError::Protocol(format!("a version is text, not {other:?}"))),
        }
    }
}

/// A text of bytes that are no UTF-8: U+FFFD stands for each half of a surrogate pair that is alone, and for each other
/// sequence that is no character.
#[must_use]
pub fn replaced(bytes: &[u8]) -> String {
    let mut text = String::new();
    // Bytes that belong to a surrogate that was replaced already.
    let mut rest = 0;
    for chunk in bytes.utf8_chunks() {
        if !chunk.valid().is_empty() {
            rest = 0;
            text.push_str(chunk.valid());
        }
        match chunk.invalid() {
            [] => {}
            [0x80..=0xBF] if rest > 0 => rest -= 1,
            invalid => {
                rest = if invalid == [0xED] { 2 } else { 0 };
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
    }
    text
}

/// An answer that is one text.
///
/// # Errors
/// Those of `sink`.
pub fn one_text(column: &str, text: &str, sink: &mut dyn RowSink) -> Result<()> {
    sink.columns(&[column])?;
    sink.row(&[Cell::Text(text)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_character_is_replaced_once() {
        for (bytes, text) in [
            (&b"a\xED\xA0\x80b"[..], "a\u{fffd}b"),
            (b"\xED\xA0\x80\xED\xB0\x80", "\u{fffd}\u{fffd}"),
            (b"\xFF\xC3", "\u{fffd}\u{fffd}"),
            (b"\xED", "\u{fffd}"),
            (b"\xEDx\x80", "\u{fffd}x\u{fffd}"),
            ("é😀".as_bytes(), "é😀"),
            (b"", ""),
        ] {
            assert_eq!(replaced(bytes), text, "{bytes:?}");
        }
    }
}
