//! Answers: rows of typed cells that a driver passes to its caller.

use jsonathlon_schema::value::{Row, Value};
use serde::{Deserialize, Serialize};

use crate::error::{DriverError, Result};

/// One cell of an answer, borrowed from the driver's buffer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// SQL NULL, or a JSON path that is absent.
    Null,
    /// Boolean of the answer.
    Bool(bool),
    /// 64-bit integer; times are in microseconds.
    Int(i64),
    /// Double, finite or not.
    Float(f64),
    /// Text, which must be UTF-8.
    Text(&'a str),
}

impl Cell<'_> {
    /// Copies the cell into an owned value.
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

/// Receives the rows of an answer as they arrive.
pub trait RowSink {
    /// Begins an answer with these columns; `names` is empty for a statement without an answer. If a text
    /// holds several statements, each call discards the rows of the previous answer.
    ///
    /// # Errors
    /// Any error of the sink; the driver then ends the statement with that error.
    fn columns(&mut self, names: &[&str]) -> Result<()>;

    /// Receives the next row, with one cell for each column. The rows are void if the statement fails
    /// afterwards.
    ///
    /// # Errors
    /// Any error of the sink; the driver then ends the statement with that error.
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()>;
}

/// Statistics that a system reports about an executed statement. A field is `None` if the system does not
/// report it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StatementStats {
    /// Execution time in seconds by the system's own clock.
    pub server_seconds: Option<f64>,
    /// Number of rows read from storage.
    pub rows_read: Option<u64>,
    /// Bytes read from storage, uncompressed if the system counts them so.
    pub bytes_read: Option<u64>,
    /// Peak memory of the statement in bytes.
    pub memory_bytes: Option<u64>,
    /// Number of rows or documents that a write changed, inserted or deleted. Meaningless for a statement
    /// that reads.
    pub affected: Option<u64>,
    /// Number of texts that were not valid UTF-8; U+FFFD replaces their invalid sequences.
    pub replaced: u64,
}

/// Collected answer to one statement. A statistic is `None` if the system does not report it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ResultSet {
    /// Column names; empty for a statement without an answer.
    pub columns: Vec<String>,
    /// Rows in the order in which the system returned them.
    pub rows: Vec<Row>,
    /// Execution time in seconds that the system reports.
    pub server_seconds: Option<f64>,
    /// Number of rows read from storage, as the system reports it.
    pub rows_read: Option<u64>,
    /// Bytes read from storage as the system reports them, uncompressed if it counts them so.
    pub bytes_read: Option<u64>,
    /// Peak memory of the statement in bytes, as the system reports it.
    pub memory_bytes: Option<u64>,
    /// Number of texts that were not valid UTF-8; U+FFFD replaces their invalid sequences.
    #[serde(default, skip_serializing_if = "is_none")]
    pub replaced: u64,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

impl RowSink for ResultSet {
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

impl ResultSet {
    /// Adds the statistics that the system reported.
    #[must_use]
    pub fn with_stats(self, report: StatementStats) -> Self {
        let StatementStats { server_seconds, rows_read, bytes_read, memory_bytes, affected: _, replaced } =
            report;
        Self { server_seconds, rows_read, bytes_read, memory_bytes, replaced, ..self }
    }

    /// Passes the collected columns and rows to `sink` and returns the system's statistics.
    ///
    /// # Errors
    /// Errors that `sink` returns.
    pub fn replay(&self, sink: &mut dyn RowSink) -> Result<StatementStats> {
        sink.columns(&self.columns.iter().map(String::as_str).collect::<Vec<_>>())?;
        for row in &self.rows {
            sink.row(&row.iter().map(Cell::from).collect::<Vec<_>>())?;
        }
        let Self { server_seconds, rows_read, bytes_read, memory_bytes, replaced, .. } = *self;
        Ok(StatementStats { server_seconds, rows_read, bytes_read, memory_bytes, affected: None, replaced })
    }

    /// Returns the first cell of the answer to a version query.
    ///
    /// # Errors
    /// [`DriverError::Protocol`] if there is no cell, or the first one is not text.
    pub fn version(self) -> Result<String> {
        match self.rows.into_iter().flatten().next() {
            Some(Value::Text(version)) => Ok(version),
            other => Err(DriverError::Protocol(format!("a version is text, not {other:?}"))),
        }
    }
}

/// Decodes bytes that are not valid UTF-8. Each encoded surrogate half (three bytes) becomes one U+FFFD, and
/// so does each other invalid sequence.
#[must_use]
pub fn replaced(bytes: &[u8]) -> String {
    let mut text = String::new();
    // Remaining bytes of a surrogate half that was replaced already.
    let mut remaining = 0;
    for chunk in bytes.utf8_chunks() {
        if !chunk.valid().is_empty() {
            remaining = 0;
            text.push_str(chunk.valid());
        }
        match chunk.invalid() {
            [] => {}
            [0x80..=0xBF] if remaining > 0 => remaining -= 1,
            invalid => {
                remaining = if invalid == [0xED] { 2 } else { 0 };
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
    }
    text
}

/// Passes an answer of one column and one row of text to `sink`.
///
/// # Errors
/// Errors that `sink` returns.
pub fn single_text_row(column: &str, text: &str, sink: &mut dyn RowSink) -> Result<()> {
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
