//! Bulk load through `LOAD DATA LOCAL INFILE`, with the documents in place of the file, over several
//! connections. Each connection has one transaction, which is committed when all documents are sent.
//!
//! With `LOCAL` the server turns many errors into warnings and continues with rows left out or altered, while
//! others end the statement without naming a row. So documents are sent in chunks under a savepoint. A chunk
//! is accepted only if it produced one row per document and nothing worse than notes; otherwise it is undone
//! and offered again in parts.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jsonathlon_driver_api::driver::{DocumentSource, DriverError, LoadSink, Result};
use jsonathlon_driver_api::rows::ResultSet;
use jsonathlon_schema::value::Value;
use mysql::prelude::Queryable;
use mysql::{Conn, Error, LocalInfileHandler, MySqlError};

use super::{Mysql, read, verdict};
use crate::bulk::text::{self, ChunkError, LineSink, Lines};

/// Error numbers that blame a document although their SQLSTATE does not: text outside the connection's
/// character set (1300, 1366), and a value longer than a packet or a row may be (1118, 1153, 1301).
const ABOUT_DOCUMENTS: [u16; 5] = [1118, 1153, 1300, 1301, 1366];

/// Generic error number (`ER_UNKNOWN_ERROR`).
const UNKNOWN: u16 = 1105;

/// Session that takes part in a bulk load.
struct Connection {
    client: Conn,
    statement: String,
}

/// Sends all documents and returns the number accepted.
pub(super) fn lines(
    session: &mut Mysql,
    statement: &str,
    documents: &mut dyn DocumentSource,
    sink: &mut dyn LoadSink,
) -> Result<u64> {
    let mut connections = Vec::new();
    for _ in 0..session.connections {
        let client = session.another()?;
        let begun = Connection::begin(client, statement);
        connections.push(begun.map_err(|error| session.endpoint.with_server_context(error))?);
    }
    text::load(&mut connections, documents, sink).map_err(|error| session.endpoint.with_server_context(error))
}

impl Connection {
    fn begin(client: Conn, statement: &str) -> Result<Self> {
        let mut connection = Self { client, statement: statement.to_owned() };
        connection.run("START TRANSACTION")?;
        Ok(connection)
    }

    fn run(&mut self, statement: &str) -> Result<()> {
        self.client.query_drop(statement).map_err(|error| verdict(&error))
    }

    /// Returns the reason for missing or altered rows. `None` if all rows are there and the server has only
    /// notes.
    fn warned(&mut self, rows: u64, documents: u64) -> Result<Option<String>> {
        let told = usize::from(self.client.warnings());
        let mut warnings = ResultSet::default();
        let answers = self.client.query_iter("SHOW WARNINGS").map_err(|error| verdict(&error))?;
        read(answers, &mut warnings)?;
        let warnings = warnings.rows;
        let listed = warnings.len();
        let first = warnings.into_iter().find_map(|warning| match warning.as_slice() {
            [Value::Text(level), _, Value::Text(words), ..] if level != "Note" => Some(words.clone()),
            _ => None,
        });
        Ok(match first {
            None if rows != documents => {
                Some(format!("the server made {rows} rows of it and told no reason"))
            }
            None if listed < told => {
                Some(format!("the server has {told} warnings about it and lists {listed}"))
            }
            first => first,
        })
    }
}

impl text::Connection for Connection {
    fn commit(&mut self) -> Result<()> {
        self.run("COMMIT")
    }
}

impl LineSink for Connection {
    fn attempt(&mut self, lines: &Lines, count: usize) -> Result<Option<ChunkError>> {
        self.run("SAVEPOINT part")?;
        let read = Arc::new(AtomicBool::new(false));
        let (bytes, told) = (lines.clone(), read.clone());
        self.client.set_local_infile_handler(Some(LocalInfileHandler::new(move |_, connection| {
            told.store(true, Ordering::Relaxed);
            connection.write_all(&bytes)
        })));
        let sent = self.client.query_drop(&self.statement);
        // Later statements can read neither the documents nor any file of this machine.
        self.client.set_local_infile_handler(Some(LocalInfileHandler::new(|_, _| Ok(()))));
        let reason = match sent {
            Ok(()) if !read.load(Ordering::Relaxed) => {
                return Err(DriverError::Refused(
                    "the statement reads no documents from the connection, as LOAD DATA LOCAL INFILE does"
                        .into(),
                ));
            }
            Ok(()) => {
                let (rows, documents) = (self.client.affected_rows(), count as u64);
                if rows == documents && self.client.warnings() == 0 {
                    return Ok(None);
                }
                self.warned(rows, documents)?
            }
            Err(Error::MySqlError(said)) if is_about_documents(&said) => Some(said.message),
            Err(error) => return Err(verdict(&error)),
        };
        let Some(reason) = reason else { return Ok(None) };
        self.run("ROLLBACK TO SAVEPOINT part")?;
        Ok(Some(ChunkError { reason, line: None }))
    }
}

/// Returns `true` if an error blames the data: SQLSTATE class 22 (data exception) or 23 (constraint), or one
/// of [`ABOUT_DOCUMENTS`]. Some servers use the generic number for every error, so their message is checked.
fn is_about_documents(said: &MySqlError) -> bool {
    ["22", "23"].iter().any(|class| said.state.starts_with(class))
        || ABOUT_DOCUMENTS.contains(&said.code)
        || said.code == UNKNOWN && said.message.contains("Invalid JSON text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_blamed_for_what_they_are_alone() {
        let about = |state: &str, code| {
            is_about_documents(&MySqlError { state: state.into(), message: String::new(), code })
        };
        assert!(about("22032", 3140) && about("22001", 1406) && about("23000", 1062) && about("HY000", 1366));
        assert!(
            !about("42S02", 1146) && !about("HY000", 1114) && !about("40001", 1213) && !about("08S01", 1053)
        );
    }
}
