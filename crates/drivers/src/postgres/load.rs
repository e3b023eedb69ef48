//! Bulk load through `COPY … FROM STDIN` in text format, over several connections.
//!
//! One rejected line ends the whole COPY, so documents are sent in chunks, each under a savepoint. The chunks
//! of a connection belong to one transaction. Commits begin when all documents are sent; a commit that fails
//! then fails the load.

use jsonathlon_driver_api::driver::{DocumentSource, LoadSink, Result};

use super::wire::Wire;
use super::{Postgres, refusal};
use crate::bulk::text::{self, ChunkError, LineSink, Lines};

/// Session that takes part in a bulk load.
struct Connection {
    wire: Wire,
    statement: String,
}

/// Sends all documents and returns the number accepted.
pub(super) fn copy(
    session: &mut Postgres,
    statement: &str,
    documents: &mut dyn DocumentSource,
    sink: &mut dyn LoadSink,
) -> Result<u64> {
    let mut connections = Vec::with_capacity(session.connections);
    for _ in 0..session.connections {
        let mut wire = session.another()?;
        wire.run("BEGIN; SAVEPOINT part")?;
        connections.push(Connection { wire, statement: statement.to_owned() });
    }
    text::load(&mut connections, documents, sink)
}

impl text::Connection for Connection {
    fn commit(&mut self) -> Result<()> {
        self.wire.run("COMMIT")
    }
}

impl LineSink for Connection {
    /// Executes one COPY after the savepoint. On success the savepoint is moved behind it, on failure the
    /// transaction is rolled back to it.
    fn attempt(&mut self, lines: &Lines, _: usize) -> Result<Option<ChunkError>> {
        let Some(error) = self.wire.copy_in(&self.statement, lines)? else {
            self.wire.run("RELEASE SAVEPOINT part; SAVEPOINT part")?;
            return Ok(None);
        };
        if !is_about_documents(&error.state) {
            return Err(refusal(&error.state, error.message));
        }
        self.wire.run("ROLLBACK TO SAVEPOINT part")?;
        Ok(Some(ChunkError { reason: error.message, line: line_of(&error.context) }))
    }
}

/// Returns `true` if an SQLSTATE blames the data: class 22 (data exceptions), 23 (constraints) or 54 (program
/// limits that a document exceeds, such as its depth).
fn is_about_documents(code: &str) -> bool {
    ["22", "23", "54"].iter().any(|class| code.starts_with(class))
}

/// Extracts the line number from an error's context such as `COPY events, line 7, column doc: "…"`, counted
/// from 0.
fn line_of(context: &str) -> Option<usize> {
    let copy_line = context.lines().find(|line| line.starts_with("COPY "))?;
    let (_, rest) = copy_line.split_once(", line ")?;
    let digits = rest.split(|letter: char| !letter.is_ascii_digit()).next()?;
    digits.parse::<usize>().ok()?.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_found_in_the_context() {
        assert_eq!(line_of("JSON data, line 1: {bad\nCOPY t, line 7, column doc: \"{bad\""), Some(6));
        assert_eq!(line_of("COPY t, line 1"), Some(0));
        for context in ["", "SQL function", "COPY t, line x", "COPY t, line 0"] {
            assert_eq!(line_of(context), None, "{context}");
        }
    }
}
