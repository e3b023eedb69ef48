//! Driver for the MySQL protocol, over TCP or a Unix socket.

mod load;
mod nonblocking;
mod value;

use jsonathlon_driver_api::driver::{
    Connection, DocumentSource, DriverError, EngineLocation, LoadSink, Result, SessionOptions,
};
use jsonathlon_driver_api::endpoint::{ConnectFailure, Endpoint};
use jsonathlon_driver_api::prepared::{Parameter, PreparedStatement, StatementTable, check_parameter_count};
use jsonathlon_driver_api::rows::{RowSink, StatementStats};
use mysql::prelude::{Protocol, Queryable};
use mysql::{Conn, DriverError as Setup, Error, OptsBuilder, Params, QueryResult, SslOpts, Statement};

use crate::bulk;
use crate::tls;
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
/// Message for an answer with a row that exceeds the server's packet limit.
const TOO_LONG: &str = "a row of the answer is longer than max_allowed_packet";
/// Settings of every session. `SET NAMES` gives literals the server's default collation instead of the client
/// library's, because an index on expressions matches only literals of its own collation. Backslash escapes
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

/// Session with one server.
pub struct Mysql {
    client: Conn,
    endpoint: Endpoint,
    /// Statements that are executed in every further session.
    statements: Vec<String>,
    /// Number of sessions that a bulk load uses.
    connections: usize,
    prepared: StatementTable<StoredStatement>,
}

/// Prepared statement, or the text to send in its place.
enum StoredStatement {
    /// Handle of a statement that the server has prepared.
    Prepared(Statement),
    /// Text of a statement that the server cannot prepare, such as `BEGIN`.
    Text(String),
}

impl Mysql {
    /// Logs in to the server of `open`.
    ///
    /// # Errors
    /// [`DriverError::Unavailable`] if the server cannot be reached or denies the session.
    pub fn open(open: &SessionOptions) -> Result<Self> {
        let endpoint = Endpoint::of(open)?;
        let client = endpoint.connect_with_retry(connect)?;
        let (statements, connections) = (open.statements.clone(), bulk::connections(open.cores));
        Ok(Self { client, endpoint, statements, connections, prepared: StatementTable::default() })
    }

    /// Opens a further session and executes the statements of this one in it.
    fn another(&mut self) -> Result<Conn> {
        let mut client = connect(&self.endpoint).map_err(|why| self.endpoint.refused(why))?;
        for statement in &self.statements {
            let ran = client.query_drop(statement);
            ran.map_err(|error| self.endpoint.with_server_context(verdict(&error)))?;
        }
        Ok(client)
    }
}

impl Connection for Mysql {
    fn version(&mut self) -> Result<String> {
        self.collect("SELECT version()")?.version()
    }

    fn ask(&mut self, statement: &str, sink: &mut dyn RowSink) -> Result<StatementStats> {
        let asked = self.client.query_iter(statement).map_err(|error| verdict(&error));
        let read = asked.and_then(|answers| read(answers, sink));
        if matches!(&read, Err(DriverError::Refused(words)) if words == TOO_LONG) {
            // The rest of the answer cannot be skipped and would precede every further answer, so the session
            // is replaced.
            self.client = self.another()?;
            self.prepared = StatementTable::default();
        }
        read.map_err(|error| self.endpoint.with_server_context(error))
    }

    fn prepare(&mut self, statement: &str) -> Result<PreparedStatement> {
        match self.client.prep(statement) {
            Ok(prepared) => Ok(self.prepared.insert(StoredStatement::Prepared(prepared))),
            Err(Error::MySqlError(error)) if error.code == NOT_PREPARED => {
                Ok(self.prepared.insert(StoredStatement::Text(statement.to_owned())))
            }
            Err(error) => Err(self.endpoint.with_server_context(verdict(&error))),
        }
    }

    fn execute(
        &mut self,
        prepared: &PreparedStatement,
        parameters: &[Parameter<'_>],
        sink: &mut dyn RowSink,
    ) -> Result<StatementStats> {
        let statement = match self.prepared.get(prepared)? {
            StoredStatement::Prepared(statement) => statement,
            StoredStatement::Text(text) => {
                check_parameter_count(0, parameters)?;
                let asked = self.client.query_iter(text).map_err(|error| verdict(&error));
                return asked
                    .and_then(|answers| read(answers, sink))
                    .map_err(|error| self.endpoint.with_server_context(error));
            }
        };
        check_parameter_count(statement.params().len(), parameters)?;
        let values = match parameters {
            [] => Params::Empty,
            some => Params::Positional(some.iter().map(value::parameter).collect()),
        };
        let asked = self.client.exec_iter(statement, values).map_err(|error| verdict(&error));
        asked
            .and_then(|answers| read(answers, sink))
            .map_err(|error| self.endpoint.with_server_context(error))
    }

    fn release(&mut self, prepared: &PreparedStatement) {
        if let Some(StoredStatement::Prepared(statement)) = self.prepared.remove(prepared) {
            // An error is ignored, because the statement is released with the session at the latest.
            self.client.close(statement).ok();
        }
    }

    fn bulk_in(
        &mut self,
        statement: &str,
        documents: &mut dyn DocumentSource,
        sink: &mut dyn LoadSink,
    ) -> Result<u64> {
        load::lines(self, statement, documents, sink)
    }

    fn place(&self) -> EngineLocation {
        self.endpoint.place()
    }

    fn close(self: Box<Self>) -> Result<()> {
        drop(self.client);
        Ok(())
    }
}

/// Passes the answers of a text, which the server itself splits into statements, to `sink`.
fn read<P: Protocol>(
    mut answers: QueryResult<'_, '_, '_, P>,
    sink: &mut dyn RowSink,
) -> Result<StatementStats> {
    sink.columns(&[])?;
    let mut affected = answers.affected_rows();
    while let Some(answer) = answers.iter() {
        affected = answer.affected_rows();
        let columns = answer.columns().as_ref().to_vec();
        let names: Vec<String> = columns.iter().map(|column| column.name_str().into_owned()).collect();
        sink.columns(&names.iter().map(String::as_str).collect::<Vec<_>>())?;
        // All rows are read even after the sink failed, because the next answer follows them.
        let mut failed = None;
        for row in answer {
            let values = row.map_err(|error| verdict(&error))?.unwrap();
            if failed.is_none() {
                failed = value::row(&columns, &values).and_then(|cells| sink.row(&cells)).err();
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
    }
    Ok(StatementStats { affected: Some(affected), ..StatementStats::default() })
}

/// Returns the TLS options of a connection, or `None` without TLS. The server's certificate is verified
/// against its host name.
fn encrypted(endpoint: &Endpoint) -> Result<Option<SslOpts>> {
    let Some(encrypted) = &endpoint.tls else { return Ok(None) };
    tls::authorities(encrypted)?;
    Ok(Some(SslOpts::default().with_root_cert_path(encrypted.ca.clone())))
}

/// Logs in and sets the session's settings, which also shows that the server executes statements.
fn connect(endpoint: &Endpoint) -> std::result::Result<Conn, ConnectFailure> {
    let options = OptsBuilder::new()
        // Use the given address only: the socket path that a server reports may be that of another server.
        .prefer_socket(false)
        .ip_or_hostname(Some(&endpoint.host))
        .tcp_port(endpoint.port)
        .socket(endpoint.socket.as_ref().map(|path| path.display().to_string()))
        .user(Some(&endpoint.user))
        .pass(Some(&endpoint.password.0))
        .db_name(Some(&endpoint.database).filter(|name| !name.is_empty()))
        // `encrypted` reads the file first, so that an error names it.
        .ssl_opts(encrypted(endpoint).map_err(|error| ConnectFailure::Permanent(error.to_string()))?)
        .tcp_connect_timeout(Some(endpoint.step_timeout()));
    let connected = Conn::new(options).and_then(|mut client| {
        for (index, setting) in SETTINGS.into_iter().enumerate() {
            match client.query_drop(setting) {
                Ok(()) => {}
                Err(Error::MySqlError(_)) if index > 0 => {}
                Err(error) => return Err(error),
            }
        }
        Ok(client)
    });
    connected.map_err(|error| match &error {
        Error::MySqlError(said) if !GONE.contains(&said.code) => {
            ConnectFailure::Permanent(format!("the server refused the session: {}", said.message))
        }
        // The server requires something that the client library lacks, such as another authentication method.
        Error::DriverError(told) if !matches!(told, Setup::ConnectTimeout | Setup::CouldNotConnect(_)) => {
            ConnectFailure::Permanent(format!("the server refused the session: {told}"))
        }
        // The server is not listening yet, or has stopped listening.
        other => ConnectFailure::Transient(message(other)),
    })
}

/// Classifies an error. [`DriverError::Crashed`] only if the connection is broken.
fn verdict(error: &Error) -> DriverError {
    let message = message(error);
    match error {
        Error::MySqlError(said) => refusal(said.code, message),
        // The client library does not distinguish codec errors by variant. This one refers to the server's
        // own limit.
        Error::CodecError(codec) if codec.to_string().contains("larger than max_allowed_packet") => {
            DriverError::Refused(TOO_LONG.to_owned())
        }
        Error::IoError(_) | Error::CodecError(_) => DriverError::Crashed(message),
        // A text that is longer than the server accepts is not sent, so the session stays usable.
        _ => DriverError::Unsupported(message),
    }
}

/// Classifies an error of the server by its number and message.
fn refusal(code: u16, words: String) -> DriverError {
    let kind = match code {
        code if GONE.contains(&code) => DriverError::Crashed,
        code if CONFLICTS.contains(&code) => DriverError::Conflict,
        code if DUPLICATES.contains(&code) => DriverError::Duplicate,
        code if is_exhausted(code, &words) => DriverError::Exhausted,
        _ => DriverError::Refused,
    };
    kind(words)
}

/// Returns `true` if an error is about disk or memory. Error 1030 passes on a number of the operating system
/// (28, no space; 12, no memory) or the engine's for a full file (135).
fn is_exhausted(code: u16, words: &str) -> bool {
    EXHAUSTED.contains(&code)
        || words.to_lowercase().contains("no space left on device")
        || code == FROM_ENGINE
            && ["error 28 ", "error 12 ", "error 135 "].iter().any(|number| words.contains(number))
}

/// Returns the server's message, or the client library's if the error is not the server's.
fn message(error: &Error) -> String {
    match error {
        Error::MySqlError(said) => said.message.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use mysql::MySqlError;

    use super::*;

    fn said(code: u16, message: &str) -> DriverError {
        verdict(&Error::MySqlError(MySqlError { state: "HY000".into(), message: message.into(), code }))
    }

    #[test]
    fn errors_are_told_apart_by_what_they_blame() {
        assert_eq!(said(1064, "syntax"), DriverError::Refused("syntax".into()));
        assert_eq!(
            said(1114, "The table 't' is full"),
            DriverError::Exhausted("The table 't' is full".into())
        );
        assert_eq!(said(1053, "shutdown"), DriverError::Crashed("shutdown".into()));
        let engine = "Got error 28 - 'No space left on device' from storage engine";
        assert_eq!(said(1030, engine), DriverError::Exhausted(engine.into()));
        let other = "Got error 168 - 'Unknown (generic) error from engine' from storage engine";
        assert_eq!(said(1030, other), DriverError::Refused(other.into()));
        let broken = Error::IoError(std::io::Error::from(std::io::ErrorKind::BrokenPipe));
        assert!(matches!(verdict(&broken), DriverError::Crashed(_)));
    }
}
