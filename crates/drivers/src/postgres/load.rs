//! Bulk load through `COPY … FROM STDIN` in text format, over several connections.
//!
//! One rejected line ends the whole COPY, so documents are sent in chunks, each under a savepoint. The chunks
//! of a connection belong to one transaction. Commits begin when all documents are sent; a commit that fails
//! then fails the load.

use std::io::Write;

use jsonathlon_driver_api::driver::{DocumentSource, DriverError, LoadSink, Result};
use postgres::{Client, Statement};

use super::wire::Wire;
use super::wire::message::ErrorResponse;
use super::{Postgres, message, refusal, verdict};
use crate::bulk::text::{self, ChunkError, LineSink, Lines};

/// Bytes written at a time to a connection of the client library.
const PIECE: usize = 1 << 16;

/// Session that takes part in a bulk load.
struct Connection<C> {
    session: C,
}

/// Session that can execute statements and `COPY`.
trait CopyTarget: Send {
    /// Executes statements and ignores their answers.
    fn run(&mut self, statements: &str) -> Result<()>;

    /// Sends rows in one `COPY`. Returns the server's error if they were not accepted; then none of them is
    /// stored.
    ///
    /// # Errors
    /// If the session cannot be used any more.
    fn copy(&mut self, lines: &[u8]) -> Result<Option<ErrorResponse>>;
}

/// Session over this crate's own connection, without TLS.
struct PlaintextCopy {
    wire: Wire,
    statement: String,
}

/// Session over a connection of the client library, which supports TLS.
struct TlsCopy {
    client: Client,
    statement: Statement,
}

/// Sends all documents and returns the number accepted.
pub(super) fn copy(
    session: &mut Postgres,
    statement: &str,
    documents: &mut dyn DocumentSource,
    sink: &mut dyn LoadSink,
) -> Result<u64> {
    let Some(first) = session.wire()? else {
        let (mut all, count) = (Vec::new(), session.connections);
        for _ in 0..count {
            let client = session.another()?;
            all.push(
                TlsCopy::begin(client, statement)
                    .map_err(|error| session.endpoint.with_server_context(error))?,
            );
        }
        return load(all, documents, sink).map_err(|error| session.endpoint.with_server_context(error));
    };
    let mut wires = vec![first];
    while wires.len() < session.connections {
        // Further logins succeed in the same way as the first one.
        let Some(next) = session.wire()? else { break };
        wires.push(next);
    }
    load(
        wires.into_iter().map(|wire| PlaintextCopy { wire, statement: statement.to_owned() }),
        documents,
        sink,
    )
}

fn load<C: CopyTarget>(
    sessions: impl IntoIterator<Item = C>,
    documents: &mut dyn DocumentSource,
    sink: &mut dyn LoadSink,
) -> Result<u64> {
    let mut connections: Vec<_> = sessions.into_iter().map(|session| Connection { session }).collect();
    connections.iter_mut().try_for_each(|one| one.session.run("BEGIN; SAVEPOINT part"))?;
    text::load(&mut connections, documents, sink)
}

impl<C: CopyTarget> text::Connection for Connection<C> {
    fn commit(&mut self) -> Result<()> {
        self.session.run("COMMIT")
    }
}

impl<C: CopyTarget> LineSink for Connection<C> {
    /// Executes one COPY after the savepoint. On success the savepoint is moved behind it, on failure the
    /// transaction is rolled back to it.
    fn attempt(&mut self, lines: &Lines, _: usize) -> Result<Option<ChunkError>> {
        let Some(said) = self.session.copy(lines)? else {
            self.session.run("RELEASE SAVEPOINT part; SAVEPOINT part")?;
            return Ok(None);
        };
        if !is_about_documents(&said.state) {
            return Err(refusal(&said.state, said.words));
        }
        self.session.run("ROLLBACK TO SAVEPOINT part")?;
        Ok(Some(ChunkError { reason: said.words, line: line_of(&said.context) }))
    }
}

impl CopyTarget for PlaintextCopy {
    fn run(&mut self, statements: &str) -> Result<()> {
        self.wire.run(statements)
    }

    fn copy(&mut self, lines: &[u8]) -> Result<Option<ErrorResponse>> {
        self.wire.copy_in(&self.statement, lines)
    }
}

impl TlsCopy {
    fn begin(mut client: Client, statement: &str) -> Result<Self> {
        let statement = client.prepare(statement).map_err(|error| verdict(&error, &client))?;
        Ok(Self { client, statement })
    }
}

impl CopyTarget for TlsCopy {
    fn run(&mut self, statements: &str) -> Result<()> {
        self.client.batch_execute(statements).map_err(|error| verdict(&error, &self.client))
    }

    fn copy(&mut self, lines: &[u8]) -> Result<Option<ErrorResponse>> {
        let (sent, begun) = match self.client.copy_in(&self.statement) {
            Ok(mut writer) => {
                write(&mut writer, lines)?;
                (writer.finish().map(drop), true)
            }
            // Client and server are out of step after this error, so the session cannot be used any more.
            Err(error) => (Err(error), false),
        };
        let Err(error) = sent else { return Ok(None) };
        let Some(said) = error.as_db_error().filter(|_| begun && !self.client.is_closed()) else {
            return Err(verdict(&error, &self.client));
        };
        let context = said.where_().unwrap_or_default().to_owned();
        let state = said.code().code().to_owned();
        Ok(Some(ErrorResponse { state, words: message(&error), context, is_fatal: false }))
    }
}

fn write(writer: &mut dyn Write, bytes: &[u8]) -> Result<()> {
    bytes
        .chunks(PIECE)
        .try_for_each(|piece| writer.write_all(piece))
        .map_err(|error| DriverError::Crashed(error.to_string()))
}

/// Returns `true` if an SQLSTATE blames the data: class 22 (data exceptions), 23 (constraints) or 54 (program
/// limits that a document exceeds, such as its depth).
fn is_about_documents(code: &str) -> bool {
    ["22", "23", "54"].iter().any(|class| code.starts_with(class))
}

/// Extracts the line number from an error's context such as `COPY events, line 7, column doc: "…"`, counted
/// from 0.
fn line_of(context: &str) -> Option<usize> {
    let copy = context.lines().find(|line| line.starts_with("COPY "))?;
    let (_, after) = copy.split_once(", line ")?;
    let digits = after.split(|letter: char| !letter.is_ascii_digit()).next()?;
    digits.parse::<usize>().ok()?.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_found_in_the_context() {
        assert_eq!(line_of("JSON data, line 1: {bad\nCOPY t, line 7, column doc: \"{bad\""), Some(6));
        assert_eq!(line_of("COPY t, line 1"), Some(0));
        for none in ["", "SQL function", "COPY t, line x", "COPY t, line 0"] {
            assert_eq!(line_of(none), None, "{none}");
        }
    }
}
