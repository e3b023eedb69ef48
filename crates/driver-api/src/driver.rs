//! Traits that every protocol implements: connection, document source and load progress.

use std::io::Write;
use std::sync::{Arc, Mutex};

use jsonathlon_telemetry::clock::Clock;

use crate::prepared::{Parameter, PreparedStatement};
use crate::rows::{Cell, ResultSet, RowSink, StatementStats};

pub use crate::endpoint::{EngineLocation, SessionOptions};
pub use crate::error::{DriverError, Result};

/// Stream of the documents of a bulk load.
pub trait DocumentSource {
    /// Returns the next document without its newline, or `None` at the end. The text is borrowed from the
    /// reader's block, so that a load copies only what the engine copies.
    ///
    /// # Errors
    /// [`DriverError::Documents`] if the input cannot be read.
    fn next_document(&mut self) -> Result<Option<&[u8]>>;

    /// Returns the next document with its key. The key is `None` if documents have no key outside their text.
    ///
    /// # Errors
    /// As [`DocumentSource::next_document`].
    fn next_keyed(&mut self) -> Result<Option<(Option<i64>, &[u8])>> {
        Ok(self.next_document()?.map(|document| (None, document)))
    }
}

/// Receives rejected documents and the progress of a bulk load while the load runs.
pub trait LoadSink {
    /// Reports that the document at `ordinal` (0-based position in the stream) was rejected, with the reason.
    fn reject(&mut self, ordinal: u64, reason: String);
    /// Reports that `documents` were read from the source so far. Called after each document, so it must be
    /// cheap.
    fn report_offered(&mut self, documents: u64);
}

/// Connection to a system, over one protocol. Holds one session of the system.
pub trait Connection: Send {
    /// Returns the version that the system reports.
    ///
    /// # Errors
    /// [`DriverError`] if the system does not answer the version query with text.
    fn version(&mut self) -> Result<String>;

    /// Executes `statement` unchanged, with as few round trips as the protocol allows, and passes its rows to
    /// `sink`. If the system accepts several statements in one text, they run in order and `sink` keeps the
    /// last answer.
    ///
    /// Published statements are executed this way: the time of preparing each would be part of the
    /// measurement, and a client that asks once does not prepare.
    ///
    /// # Errors
    /// [`DriverError::Refused`] with the system's message. The session stays usable.
    fn ask(&mut self, statement: &str, sink: &mut dyn RowSink) -> Result<StatementStats>;

    /// As [`Connection::ask`], but collects the whole answer in memory.
    ///
    /// # Errors
    /// As [`Connection::ask`].
    fn collect(&mut self, statement: &str) -> Result<ResultSet> {
        let mut outcome = ResultSet::default();
        let report = self.ask(statement, &mut outcome)?;
        Ok(outcome.with_stats(report))
    }

    /// Executes `statement`, whose rows have one text each, and passes every text to `take` as it arrives.
    /// Uses the fastest export path of the protocol and keeps no texts.
    ///
    /// # Errors
    /// As [`Connection::ask`]; [`DriverError::Protocol`] if the first cell of a row is not text.
    fn export(&mut self, statement: &str, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.texts(statement, take)
    }

    /// As [`Connection::export`], but over the ordinary query path of [`Connection::ask`].
    ///
    /// # Errors
    /// As [`Connection::export`].
    fn texts(&mut self, statement: &str, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.ask(statement, &mut FirstColumnSink(take)).map(drop)
    }

    /// Prepares a statement that is executed many times. Each protocol has its own syntax for parameters:
    ///
    /// | protocol | parameters | prepared by |
    /// |---|---|---|
    /// | `postgres` | `$1` | the server, by the extended protocol |
    /// | `mysql` | `?` | the server, by `COM_STMT_PREPARE`; answers are then binary |
    /// | `sqlite` | `?1` | the engine |
    /// | `duckdb` | `$1` | the engine |
    /// | `clickhouse`, `chdb` | `{p1:Type}` | nothing: the system parses the text for each execution |
    /// | `mongodb` | the string `":1"` | the driver, which parses the request once |
    /// | `elasticsearch` | the string `":1"`; in a path `:1` between separators | the driver, as `mongodb` |
    /// | `mock` | `:1` | nothing: the text is kept |
    /// | `yardstick` | none | nothing: the text is kept |
    ///
    /// ClickHouse and chDB get values beside the text. In parsed requests a value replaces its placeholder as
    /// a value, not as text.
    ///
    /// # Errors
    /// As [`Connection::ask`], as far as the system checks a statement before it is executed.
    fn prepare(&mut self, statement: &str) -> Result<PreparedStatement>;

    /// Releases a prepared statement on the server or engine. Does nothing by default, which suits drivers
    /// that only keep the statement's text.
    fn release(&mut self, _: &PreparedStatement) {}

    /// Executes a prepared statement and passes its rows to `sink` as they arrive.
    ///
    /// # Errors
    /// As [`Connection::ask`]; [`DriverError::Refused`] also if the parameters do not match the statement.
    fn execute(
        &mut self,
        prepared: &PreparedStatement,
        parameters: &[Parameter<'_>],
        sink: &mut dyn RowSink,
    ) -> Result<StatementStats>;

    /// Inserts one document per row through `statement`, with `:doc` bound as text, and returns the number
    /// accepted. SQLite inserts all rows in one transaction, MySQL and PostgreSQL in one per connection, and
    /// all are committed at the end. The rows are as durable as the session's settings ask when this returns.
    /// Documents that the system rejects are reported to `sink`, and the load continues; with ClickHouse the
    /// first one ends the load.
    ///
    /// # Errors
    /// [`DriverError::Unsupported`] if the engine loads files itself. [`DriverError::Refused`] if the load as
    /// a whole failed. What is not committed is then rolled back; ClickHouse, Elasticsearch and MongoDB may
    /// keep a part of the documents.
    fn bulk_in(
        &mut self,
        statement: &str,
        documents: &mut dyn DocumentSource,
        sink: &mut dyn LoadSink,
    ) -> Result<u64>;

    /// Executes one statement that reads its rows from the connection, in a transaction of its own, and
    /// passes `rows` to it, in the text format that the statement names: `COPY … FROM STDIN` on PostgreSQL,
    /// `INSERT … FORMAT …` on ClickHouse. The rows are as durable as the session's settings ask when this
    /// returns.
    ///
    /// # Errors
    /// As [`Connection::ask`]; none of the rows is stored then. [`DriverError::Unsupported`], which is the
    /// default, if the protocol has no such statements.
    fn send_rows(&mut self, statement: &str, rows: &str) -> Result<()> {
        Err(DriverError::Unsupported(format!(
            "no statement of this system reads rows from the connection: put the {} bytes into `{statement}`",
            rows.len()
        )))
    }

    /// Returns the process in which the engine runs, so that its resource use can be measured.
    fn location(&self) -> EngineLocation {
        EngineLocation::InProcess
    }

    /// Ends the session cleanly. All committed data is in the data folder when this returns.
    ///
    /// # Errors
    /// [`DriverError`] with the system's message if the session cannot be ended cleanly.
    fn close(self: Box<Self>) -> Result<()>;
}

/// Row sink that passes the first cell of each row, which must be text, to a callback.
struct FirstColumnSink<'a>(&'a mut dyn FnMut(&[u8]));

impl RowSink for FirstColumnSink<'_> {
    fn columns(&mut self, _: &[&str]) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        match cells.first() {
            Some(Cell::Text(text)) => {
                (self.0)(text.as_bytes());
                Ok(())
            }
            other => Err(DriverError::Protocol(format!("a document is text, not {other:?}"))),
        }
    }
}

/// Output stream of the worker's replies. The mock shares it, so that it can send malformed replies.
pub type SharedOutput = Arc<Mutex<dyn Write + Send>>;

/// Resources that the worker provides to a driver. Only the mock uses them.
#[derive(Clone)]
pub struct DriverContext {
    /// Clock that the mock's delays use.
    pub clock: Arc<dyn Clock>,
    /// Stream of the worker's replies, which the mock can corrupt on request. `None` if the caller has none.
    pub output: Option<SharedOutput>,
}

impl std::fmt::Debug for DriverContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DriverContext").field("output", &self.output.is_some()).finish_non_exhaustive()
    }
}

/// Resolves a requested number of cores: 0 means all cores on which the process may run.
pub fn cores(requested: usize) -> usize {
    match requested {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        requested => requested,
    }
}

/// Returns the number of cores to set in the engine. `None` if the session may use all cores of the process.
pub fn core_limit(open: &SessionOptions) -> Option<usize> {
    let available = std::thread::available_parallelism().map_or(usize::MAX, std::num::NonZero::get);
    (open.cores > 0 && open.cores < available).then_some(open.cores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_set_only_when_they_are_fewer_than_there_are() {
        let available = std::thread::available_parallelism().unwrap().get();
        let limit = |cores| core_limit(&SessionOptions { cores, ..SessionOptions::default() });
        assert_eq!(limit(0), None);
        assert_eq!(limit(available), None);
        assert_eq!(limit(available + 1), None);
        assert_eq!(limit(available - 1), (available > 1).then_some(available - 1));
    }
}
