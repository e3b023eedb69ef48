//! What every protocol offers.

use std::io::Write;
use std::sync::{Arc, Mutex};

use jsonathlon_measure::clock::Clock;

use crate::prepared::{Parameter, Prepared};
use crate::rows::{Cell, Outcome, Report, RowSink};

pub use crate::endpoint::{Open, Place};
pub use crate::error::{DriverError, Result};

/// A stream of documents to be loaded.
pub trait DocumentSource {
    /// The next document, without its newline; it is borrowed from the reader's block, so that a load
    /// copies nothing that the engine does not copy. `None` at the end.
    ///
    /// # Errors
    /// [`DriverError::Documents`] when the input cannot be read.
    fn next_document(&mut self) -> Result<Option<&[u8]>>;

    /// The next document with its key, where documents have keys that are not in them.
    ///
    /// # Errors
    /// As [`DocumentSource::next_document`].
    fn next_keyed(&mut self) -> Result<Option<(Option<i64>, &[u8])>> {
        Ok(self.next_document()?.map(|document| (None, document)))
    }
}

/// What a load tells while it runs.
pub trait LoadSink {
    /// The document at `ordinal` (0-based, in the stream) was not accepted, for `reason`.
    fn refused(&mut self, ordinal: u64, reason: String);
    /// `documents` were offered so far; called after each one, so it must be cheap.
    fn offered(&mut self, documents: u64);
}

/// A connection with one system, which is a session of it.
pub trait Connection: Send {
    /// The system's own answer to the question which version it is.
    ///
    /// # Errors
    /// Whatever the system answers instead.
    fn version(&mut self) -> Result<String>;

    /// Runs `statement` as it is written, by the shortest way that the protocol has, and hands its rows to `sink`.
    /// Several statements in one text are run in order and the last one's answer is given, where the system itself
    /// allows that.
    ///
    /// Published statements are asked so: preparing each would be measured with it, and is not what a client does
    /// that asks once.
    ///
    /// # Errors
    /// [`DriverError::Refused`] with the system's message; the session stays usable.
    fn ask(&mut self, statement: &str, sink: &mut dyn RowSink) -> Result<Report>;

    /// As [`Connection::ask`], with the answer in one piece.
    ///
    /// # Errors
    /// As [`Connection::ask`].
    fn collect(&mut self, statement: &str) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        let report = self.ask(statement, &mut outcome)?;
        Ok(outcome.with(report))
    }

    /// Makes ready for [`Connection::export`] whatever it needs besides this session, which is not part of its time.
    ///
    /// # Errors
    /// As when a connection is opened.
    fn prepare_export(&mut self) -> Result<()> {
        Ok(())
    }

    /// Asks for rows of one text each and hands the texts over as they come, by the fastest way out that the protocol
    /// has. Nothing is kept of them.
    ///
    /// # Errors
    /// As [`Connection::ask`]; [`DriverError::Protocol`] for a row that begins with no text.
    fn export(&mut self, statement: &str, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.texts(statement, take)
    }

    /// The same as it is asked for like any other answer.
    ///
    /// # Errors
    /// As [`Connection::export`].
    fn texts(&mut self, statement: &str, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.ask(statement, &mut Texts(take)).map(drop)
    }

    /// Prepares one statement to be executed many times. Its parameters stand in it as the protocol has them:
    ///
    /// | protocol | parameters | prepared is |
    /// |---|---|---|
    /// | `postgres` | `$1` | the server's, by the extended protocol |
    /// | `mysql` | `?` | the server's, by `COM_STMT_PREPARE`; answers are then binary |
    /// | `sqlite` | `?1` | the engine's |
    /// | `duckdb` | `$1` | the engine's |
    /// | `clickhouse`, `chdb` | `{p1:Type}` | the text, kept: the system parses it each time, the values come beside it |
    /// | `mongodb`, `elasticsearch` | the string `":1"`, in a path of Elasticsearch `:1` between its separators | the request, read once; values are put in its place as values |
    /// | `mock` | `:1` | the text, kept |
    /// | `yardstick` | none | the text, kept |
    ///
    /// # Errors
    /// As [`Connection::ask`], as far as the system looks at a statement before it runs.
    fn prepare(&mut self, statement: &str) -> Result<Prepared>;

    /// Gives up a prepared statement. What no server keeps costs nothing, and stays.
    fn release(&mut self, _: &Prepared) {}

    /// Executes a prepared statement and hands its rows to `sink` as they come.
    ///
    /// # Errors
    /// As [`Connection::ask`]; [`DriverError::Refused`] also for parameters that do not fit.
    fn execute(
        &mut self,
        prepared: &Prepared,
        parameters: &[Parameter<'_>],
        sink: &mut dyn RowSink,
    ) -> Result<Report>;

    /// Inserts one document a row through `statement`, whose `:doc` is bound as text, all in one
    /// transaction that is durable (as far as the session's settings ask) when this returns. Documents
    /// that the system refuses are reported to `sink` and the others go on. Gives the number accepted.
    ///
    /// # Errors
    /// [`DriverError::Unsupported`] from engines that load files themselves;
    /// [`DriverError::Refused`] when the load as a whole failed, in which case nothing of it stays.
    fn bulk_in(
        &mut self,
        statement: &str,
        documents: &mut dyn DocumentSource,
        sink: &mut dyn LoadSink,
    ) -> Result<u64>;

    /// Where the engine is.
    fn place(&self) -> Place {
        Place::Here
    }

    /// Ends the session cleanly; everything committed is in the data folder afterwards.
    ///
    /// # Errors
    /// What the system says when it cannot.
    fn close(self: Box<Self>) -> Result<()>;
}

/// Takes the first cell of each row.
struct Texts<'a>(&'a mut dyn FnMut(&[u8]));

impl RowSink for Texts<'_> {
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

/// A stream shared by the worker's replies and, in the mock alone, by an engine that misbehaves.
pub type SharedOutput = Arc<Mutex<dyn Write + Send>>;

/// What surrounds a driver.
#[derive(Clone)]
pub struct Host {
    /// The clock on which the mock's delays pass.
    pub clock: Arc<dyn Clock>,
    /// The protocol's stream, which the mock can be told to spoil.
    pub output: Option<SharedOutput>,
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host").field("output", &self.output.is_some()).finish_non_exhaustive()
    }
}

/// The number of cores that `asked` stands for: 0 is all that the process may run on.
pub fn cores(asked: usize) -> usize {
    match asked {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        asked => asked,
    }
}

/// The number of cores to set, when fewer are asked for than the process may run on.
pub fn fewer_cores(open: &Open) -> Option<usize> {
    let all = std::thread::available_parallelism().map_or(usize::MAX, std::num::NonZero::get);
    (open.cores > 0 && open.cores < all).then_some(open.cores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_set_only_when_they_are_fewer_than_there_are() {
        let all = std::thread::available_parallelism().unwrap().get();
        let set = |cores| fewer_cores(&Open { cores, ..Open::default() });
        assert_eq!(set(0), None);
        assert_eq!(set(all), None);
        assert_eq!(set(all + 1), None);
        assert_eq!(set(all - 1), (all > 1).then_some(all - 1));
    }
}
