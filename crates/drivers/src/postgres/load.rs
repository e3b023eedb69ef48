//! Bulk loading through `COPY … FROM STDIN` in its text format, over several connections.
//!
//! One refused line ends the whole COPY, so documents go in chunks, each under a savepoint and all of one
//! connection in one transaction. Nothing is committed before all is sent; a commit that fails then fails the
//! load.

use std::io::Write;

use jsonathlon_connection::driver::{DocumentSource, DriverError, LoadSink, Result};
use postgres::{Client, Statement};

use super::{Postgres, message, verdict};
use crate::bulk::text::{self, Failure, Lines, Taker};

/// Bytes handed to the connection at a time.
const PIECE: usize = 1 << 16;

/// A session that loads.
struct Connection {
    client: Client,
    statement: Statement,
}

/// Sends all documents; gives the number accepted.
pub(super) fn copy(
    session: &mut Postgres,
    statement: &str,
    documents: &mut dyn DocumentSource,
    sink: &mut dyn LoadSink,
) -> Result<u64> {
    let mut connections = Vec::new();
    for _ in 0..session.connections {
        let client = session.another()?;
        connections.push(Connection::begin(client, statement).map_err(|error| session.endpoint.told(error))?);
    }
    text::load(&mut connections, documents, sink).map_err(|error| session.endpoint.told(error))
}

impl Connection {
    fn begin(mut client: Client, statement: &str) -> Result<Self> {
        let prepared = client.prepare(statement).map_err(|error| verdict(&error, &client))?;
        let mut connection = Self { client, statement: prepared };
        connection.run("BEGIN; SAVEPOINT part")?;
        Ok(connection)
    }

    fn run(&mut self, statement: &str) -> Result<()> {
        self.client.batch_execute(statement).map_err(|error| verdict(&error, &self.client))
    }
}

impl text::Connection for Connection {
    fn commit(&mut self) -> Result<()> {
        self.run("COMMIT")
    }
}

impl Taker for Connection {
    /// One COPY under the savepoint, which is moved behind it or gone back to. Gives the failure when what was
    /// sent was not taken; an error when the load cannot go on.
    fn attempt(&mut self, lines: &Lines, _: usize) -> Result<Option<Failure>> {
        let (sent, begun) = match self.client.copy_in(&self.statement) {
            Ok(mut writer) => {
                write(&mut writer, lines)?;
                (writer.finish().map(|_| ()), true)
            }
            // It leaves client and server out of step: the session is of no more use, and ends with the load.
            Err(error) => (Err(error), false),
        };
        let Err(error) = sent else {
            self.run("RELEASE SAVEPOINT part; SAVEPOINT part")?;
            return Ok(None);
        };
        let about_documents = error.code().is_some_and(|code| is_about_documents(code.code()));
        if !begun || !about_documents || self.client.is_closed() {
            return Err(verdict(&error, &self.client));
        }
        self.run("ROLLBACK TO SAVEPOINT part")?;
        let line = error.as_db_error().and_then(|said| line_of(said.where_()?));
        Ok(Some(Failure { reason: message(&error), line }))
    }
}

fn write(writer: &mut dyn Write, bytes: &[u8]) -> Result<()> {
    bytes
        .chunks(PIECE)
        .try_for_each(|piece| writer.write_all(piece))
        .map_err(|error| DriverError::Crashed(error.to_string()))
}

/// Whether an SQLSTATE blames the data: data exceptions (22), constraints (23), and limits of the program
/// that a document exceeds (54), such as its depth.
fn is_about_documents(code: &str) -> bool {
    ["22", "23", "54"].iter().any(|class| code.starts_with(class))
}

/// The line in an error's context, as in `COPY events, line 7, column doc: "…"`, counted from 0.
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
