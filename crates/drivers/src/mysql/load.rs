//! Bulk load through `LOAD DATA LOCAL INFILE`, with the documents in place of the file, over several
//! connections. Each connection has one transaction, which is committed when all documents are sent.
//!
//! With `LOCAL` the server turns many errors into warnings and continues with rows left out or altered, while
//! others end the statement without naming a row. So documents are sent in chunks under a savepoint. A chunk
//! is accepted only if it produced one row per document and nothing worse than notes; otherwise it is undone
//! and offered again in parts.

use jsonathlon_driver_api::driver::{DocumentSource, DriverError, LoadSink, Result};
use jsonathlon_driver_api::rows::ResultSet;
use jsonathlon_schema::value::Value;

use super::Mysql;
use super::answer::{AnswerError, Completion};
use super::nonblocking::{FileAnswer, MysqlNonblocking};
use super::packet::ServerError;
use crate::bulk::text::{self, ChunkError, LineSink, Lines};

/// Error numbers that blame a document although their SQLSTATE does not: text outside the connection's
/// character set (1300, 1366), and a value longer than a packet or a row may be (1118, 1153, 1301).
const ABOUT_DOCUMENTS: [u16; 5] = [1118, 1153, 1300, 1301, 1366];

/// Generic error number (`ER_UNKNOWN_ERROR`).
const UNKNOWN: u16 = 1105;

/// Session that takes part in a bulk load.
struct Connection {
    client: MysqlNonblocking,
    statement: String,
}

/// Sends all documents and returns the number accepted.
pub(super) fn lines(
    session: &mut Mysql,
    statement: &str,
    documents: &mut dyn DocumentSource,
    sink: &mut dyn LoadSink,
) -> Result<u64> {
    let mut connections = Vec::with_capacity(session.connections);
    for _ in 0..session.connections {
        let mut client = MysqlNonblocking::connect_sibling(&session.endpoint, &session.statements)?;
        client.run("START TRANSACTION")?;
        connections.push(Connection { client, statement: statement.to_owned() });
    }
    text::load(&mut connections, documents, sink)
}

impl Connection {
    /// Returns the reason for missing or altered rows. `None` if all rows are there and the server has only
    /// notes.
    fn check_warnings(&mut self, rows: u64, documents: u64, warning_count: usize) -> Result<Option<String>> {
        let mut warnings = ResultSet::default();
        self.client.ask("SHOW WARNINGS", &mut warnings)?;
        let warnings = warnings.rows;
        let listed_count = warnings.len();
        let first_warning = warnings.into_iter().find_map(|warning| match warning.as_slice() {
            [Value::Text(level), _, Value::Text(message), ..] if level != "Note" => Some(message.clone()),
            _ => None,
        });
        Ok(match first_warning {
            None if rows != documents => {
                Some(format!("the server made {rows} rows of it and reported no reason"))
            }
            None if listed_count < warning_count => {
                Some(format!("the server has {warning_count} warnings about it and lists {listed_count}"))
            }
            first_warning => first_warning,
        })
    }
}

impl text::Connection for Connection {
    fn commit(&mut self) -> Result<()> {
        self.client.run("COMMIT")
    }
}

impl LineSink for Connection {
    fn attempt(&mut self, lines: &Lines, count: usize) -> Result<Option<ChunkError>> {
        self.client.run("SAVEPOINT part")?;
        let sink = &mut ResultSet::default();
        let FileAnswer { is_read, ended: outcome } =
            self.client.ask_with_file(&self.statement, Some(&lines[..]), sink)?;
        let reason = match outcome {
            Ok(_) if !is_read => {
                return Err(DriverError::Refused(
                    "the statement reads no documents from the connection, as LOAD DATA LOCAL INFILE does"
                        .into(),
                ));
            }
            Ok(Completion { affected, warnings: 0, .. }) if affected == count as u64 => return Ok(None),
            Ok(Completion { affected, warnings, .. }) => {
                self.check_warnings(affected, count as u64, warnings.into())?
            }
            Err(AnswerError::Server(error)) if is_about_documents(&error) => Some(error.message),
            Err(error) => return Err(self.client.classified(error)),
        };
        let Some(reason) = reason else { return Ok(None) };
        self.client.run("ROLLBACK TO SAVEPOINT part")?;
        Ok(Some(ChunkError { reason, line: None }))
    }
}

/// Returns `true` if an error blames the data: SQLSTATE class 22 (data exception) or 23 (constraint), or one
/// of [`ABOUT_DOCUMENTS`]. Some servers use the generic number for every error, so their message is checked.
fn is_about_documents(error: &ServerError) -> bool {
    ["22", "23"].iter().any(|class| error.state.starts_with(class))
        || ABOUT_DOCUMENTS.contains(&error.code)
        || error.code == UNKNOWN && error.message.contains("Invalid JSON text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_blamed_for_what_they_are_alone() {
        let is_blamed = |state: &str, code| {
            is_about_documents(&ServerError { state: state.into(), message: String::new(), code })
        };
        for (state, code) in [("22032", 3140), ("22001", 1406), ("23000", 1062), ("HY000", 1366)] {
            assert!(is_blamed(state, code), "{state} {code}");
        }
        for (state, code) in [("42S02", 1146), ("HY000", 1114), ("40001", 1213), ("08S01", 1053)] {
            assert!(!is_blamed(state, code), "{state} {code}");
        }
    }
}
