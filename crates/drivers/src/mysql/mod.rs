//! Driver for the MySQL protocol, over TCP, TLS or a Unix socket.

mod answer;
mod load;
mod login;
mod nonblocking;
mod packet;
mod password;
mod statement;
mod value;

use jsonathlon_driver_api::driver::{
    Connection, DocumentSource, DriverError, EngineLocation, LoadSink, Result, SessionOptions,
};
use jsonathlon_driver_api::endpoint::{ConnectFailure, Endpoint};
use jsonathlon_driver_api::nonblocking::NonblockingConnection;
use jsonathlon_driver_api::prepared::{Parameter, PreparedStatement};
use jsonathlon_driver_api::rows::{RowSink, StatementStats};

use crate::bulk;
pub use nonblocking::MysqlNonblocking;

/// Error numbers for exhausted disk or memory, which do not depend on the statement. Numbers below 1000 are
/// those of the server's file layer.
const EXHAUSTED: [u16; 14] = [3, 5, 20, 28, 1021, 1026, 1037, 1038, 1041, 1114, 1135, 1197, 1969, 3170];
/// Error numbers that end the session: the server shuts down, or the connection was killed or broke.
const GONE: [u16; 10] = [1053, 1077, 1152, 1158, 1159, 1160, 1161, 1927, 3169, 4031];
/// Error number for a statement that cannot be prepared.
const NOT_PREPARED: u16 = 1295;
/// Error numbers for conflicts: deadlock or serialization failure, lock timeout, record changed since it was
/// read.
const CONFLICTS: [u16; 3] = [1213, 1205, 1020];
/// Error numbers for duplicate keys.
const DUPLICATES: [u16; 3] = [1062, 1586, 1859];
/// Settings of every session. `SET NAMES` gives literals the server's default collation instead of that of
/// the login, because an index on expressions matches only literals of its own collation. Backslash escapes
/// must be on, because documents are escaped by them. All warnings must be kept, because each is examined. A
/// server that does not know these two settings has no other way to escape and no limit. Timestamps are
/// returned in UTC, whatever the server's zone.
const SETTINGS: [&str; 4] = [
    "SET NAMES utf8mb4",
    "SET SESSION sql_mode = REPLACE(@@sql_mode, 'NO_BACKSLASH_ESCAPES', '')",
    "SET SESSION max_error_count = 65535",
    "SET SESSION time_zone = '+00:00'",
];
/// Error number for "Got error … from storage engine"; the number in that text tells the cause.
const FROM_ENGINE: u16 = 1030;

/// Session with one server, which waits for each answer.
pub struct Mysql {
    client: MysqlNonblocking,
    endpoint: Endpoint,
    /// Statements that are executed in every further session.
    statements: Vec<String>,
    /// Number of sessions that a bulk load uses.
    connections: usize,
}

impl Mysql {
    /// Logs in to the server of `open`.
    ///
    /// # Errors
    /// [`DriverError::Unavailable`] if the server cannot be reached or denies the session.
    pub fn open(open: &SessionOptions) -> Result<Self> {
        let endpoint = Endpoint::from_options(open)?;
        let client = MysqlNonblocking::connect(&endpoint, true)?;
        let (statements, connections) = (open.statements.clone(), bulk::connections(open.cores));
        Ok(Self { client, endpoint, statements, connections })
    }
}

impl Connection for Mysql {
    fn version(&mut self) -> Result<String> {
        self.collect("SELECT version()")?.version()
    }

    fn ask(&mut self, statement: &str, sink: &mut dyn RowSink) -> Result<StatementStats> {
        self.client.ask(statement, sink)
    }

    fn prepare(&mut self, statement: &str) -> Result<PreparedStatement> {
        NonblockingConnection::prepare(&mut self.client, statement)
    }

    fn execute(
        &mut self,
        prepared: &PreparedStatement,
        parameters: &[Parameter<'_>],
        sink: &mut dyn RowSink,
    ) -> Result<StatementStats> {
        self.client.execute(prepared, parameters, sink)
    }

    fn release(&mut self, prepared: &PreparedStatement) {
        self.client.release(prepared);
    }

    fn bulk_in(
        &mut self,
        statement: &str,
        documents: &mut dyn DocumentSource,
        sink: &mut dyn LoadSink,
    ) -> Result<u64> {
        load::lines(self, statement, documents, sink)
    }

    fn location(&self) -> EngineLocation {
        self.endpoint.location()
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// Error for a session that the server will never accept.
fn ever(reason: impl std::fmt::Display) -> ConnectFailure {
    ConnectFailure::Permanent(format!("the server refused the session: {reason}"))
}

/// Classifies an error of the server by its number and message.
fn refusal(code: u16, message: String) -> DriverError {
    let kind = match code {
        code if GONE.contains(&code) => DriverError::Crashed,
        code if CONFLICTS.contains(&code) => DriverError::Conflict,
        code if DUPLICATES.contains(&code) => DriverError::Duplicate,
        code if is_exhausted(code, &message) => DriverError::Exhausted,
        _ => DriverError::Refused,
    };
    kind(message)
}

/// Returns `true` if an error is about disk or memory. Error 1030 passes on a number of the operating system
/// (28, no space; 12, no memory) or the engine's for a full file (135).
fn is_exhausted(code: u16, message: &str) -> bool {
    EXHAUSTED.contains(&code)
        || message.to_lowercase().contains("no space left on device")
        || code == FROM_ENGINE
            && ["error 28 ", "error 12 ", "error 135 "].iter().any(|number| message.contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_apart_by_what_they_blame() {
        let classify = |code, message: &str| refusal(code, message.to_owned());
        assert_eq!(classify(1064, "syntax"), DriverError::Refused("syntax".into()));
        assert_eq!(
            classify(1114, "The table 't' is full"),
            DriverError::Exhausted("The table 't' is full".into())
        );
        assert_eq!(classify(1053, "shutdown"), DriverError::Crashed("shutdown".into()));
        assert_eq!(classify(1213, "deadlock"), DriverError::Conflict("deadlock".into()));
        assert_eq!(classify(1062, "twice"), DriverError::Duplicate("twice".into()));
        let engine = "Got error 28 - 'No space left on device' from storage engine";
        assert_eq!(classify(1030, engine), DriverError::Exhausted(engine.into()));
        let other = "Got error 168 - 'Unknown (generic) error from engine' from storage engine";
        assert_eq!(classify(1030, other), DriverError::Refused(other.into()));
    }
}
