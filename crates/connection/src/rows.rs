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
        let Report { server_seconds, rows_read, bytes_read, memory_bytes, affected: _ } = report;
        Self { server_seconds, rows_read, bytes_read, memory_bytes, ..self }
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
        let Self { server_seconds, rows_read, bytes_read, memory_bytes, .. } = *self;
        Ok(Report { server_seconds, rows_read, bytes_read, memory_bytes, affected: None })
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

/// An answer that is one text.
///
/// # Errors
/// Those of `sink`.
pub fn one_text(column: &str, text: &str, sink: &mut dyn RowSink) -> Result<()> {
    sink.columns(&[column])?;
    sink.row(&[Cell::Text(text)])
}
