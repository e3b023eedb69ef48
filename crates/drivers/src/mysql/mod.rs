//! The MySQL protocol, over TCP or a Unix socket.

mod lane;
mod load;
mod value;

use jsonathlon_connection::driver::{Connection, DocumentSource, DriverError, LoadSink, Open, Place, Result};
use jsonathlon_connection::endpoint::{Endpoint, NotReady};
use jsonathlon_connection::prepared::{Parameter, Prepared, Statements, expect};
use jsonathlon_connection::rows::{Report, RowSink};
use mysql::prelude::{Protocol, Queryable};
use mysql::{Conn, DriverError as Setup, Error, OptsBuilder, Params, QueryResult, SslOpts, Statement};

use crate::bulk;
use crate::tls;
pub use lane::MysqlLane;

/// Numbers of errors that blame what the machine lacks, and no statement: of the server, and (below 1000) of its
/// file layer.
const EXHAUSTED: [u16; 14] = [3, 5, 20, 28, 1021, 1026, 1037, 1038, 1041, 1114, 1135, 1197, 1969, 3170];
/// Numbers of errors that end the session: the server shuts down, the connection was killed or broke.
const GONE: [u16; 10] = [1053, 1077, 1152, 1158, 1159, 1160, 1161, 1927, 3169, 4031];
/// The number of the error that a statement cannot be prepared.
const NOT_PREPARED: u16 = 1295;
/// Deadlocks and serialization failures, locks waited for too long, records that changed after they were read.
const CONFLICTS: [u16; 3] = [1213, 1205, 1020];
/// Keys that are there already.
const DUPLICATES: [u16; 3] = [1062, 1586, 1859];
/// The words of an answer that has a row longer than the server's packets may be.
const TOO_LONG: &str = "a row of the answer is longer than max_allowed_packet";
/// What every session sets. The collation of literals is then the server's own default, whatever the client library
/// greets with: an index on expressions is matched only by literals that have it. Documents are escaped by backslashes,
/// and every warning about them is looked at; a server that knows neither has no other way to escape, nor a limit. Moments are
/// shown in UTC, whatever the zone of the server.
const SETTINGS: [&str; 4] = [
    "SET NAMES utf8mb4",
    "SET SESSION sql_mode = REPLACE(@@sql_mode, 'NO_BACKSLASH_ESCAPES', '')",
    "SET SESSION max_error_count = 65535",
    "SET SESSION time_zone = '+00:00'",
];
/// "Got error … from storage engine", where the number in the text tells what it is about.
const FROM_ENGINE: u16 = 1030;

/// A session with one server.
pub struct Mysql {
    client: Conn,
    endpoint: Endpoint,
    /// Run in every session.
    statements: Vec<String>,
    /// Sessions that load at a time.
    connections: usize,
    prepared: Statements<Ready>,
}

/// A statement as it is kept.
enum Ready {
    /// Prepared by the server.
    Prepared(Statement),
    /// The text of one that the server does not prepare, such as `BEGIN`.
    Text(String),
}

impl Mysql {
    /// Logs in to the server of `open`.
    ///
    /// # Errors
    /// [`DriverError::Unavailable`] when the server cannot be reached or does not let the session in.
    pub fn open(open: &Open) -> Result<Self> {
        let endpoint = Endpoint::of(open)?;
        let client = endpoint.reach(connect)?;
        let (statements, connections) = (open.statements.clone(), bulk::connections(open.cores));
        Ok(Self { client, endpoint, statements, connections, prepared: Statements::default() })
    }

    /// Another session beside this one.
    fn another(&mut self) -> Result<Conn> {
        let mut client = connect(&self.endpoint).map_err(|why| self.endpoint.refused(why))?;
        for statement in &self.statements {
            let ran = client.query_drop(statement);
            ran.map_err(|error| self.endpoint.told(verdict(&error)))?;
        }
        Ok(client)
    }
}

impl Connection for Mysql {
    fn version(&mut self) -> Result<String> {
        self.collect("SELECT version()")?.version()
    }

    fn ask(&mut self, statement: &str, sink: &mut dyn RowSink) -> Result<Report> {
        let asked = self.client.query_iter(statement).map_err(|error| verdict(&error));
        let read = asked.and_then(|answers| read(answers, sink));
        if matches!(&read, Err(DriverError::Refused(words)) if words == TOO_LONG) {
            // The rest of it stands in the way of every other answer.
            self.client = self.another()?;
            self.prepared = Statements::default();
        }
        read.map_err(|error| self.endpoint.told(error))
    }

    fn prepare(&mut self, statement: &str) -> Result<Prepared> {
        match self.client.prep(statement) {
            Ok(prepared) => Ok(self.prepared.keep(Ready::Prepared(prepared))),
            Err(Error::MySqlError(error)) if error.code == NOT_PREPARED => {
                Ok(self.prepared.keep(Ready::Text(statement.to_owned())))
            }
            Err(error) => Err(self.endpoint.told(verdict(&error))),
        }
    }

    fn execute(
        &mut self,
        prepared: &Prepared,
        parameters: &[Parameter<'_>],
        sink: &mut dyn RowSink,
    ) -> Result<Report> {
        let statement = match self.prepared.get(prepared)? {
            Ready::Prepared(statement) => statement,
            Ready::Text(text) => {
                expect(0, parameters)?;
                let asked = self.client.query_iter(text).map_err(|error| verdict(&error));
                return asked
                    .and_then(|answers| read(answers, sink))
                    .map_err(|error| self.endpoint.told(error));
            }
        };
        expect(statement.params().len(), parameters)?;
        let values = match parameters {
            [] => Params::Empty,
            some => Params::Positional(some.iter().map(value::parameter).collect()),
        };
        let asked = self.client.exec_iter(statement, values).map_err(|error| verdict(&error));
        asked.and_then(|answers| read(answers, sink)).map_err(|error| self.endpoint.told(error))
    }

    fn release(&mut self, prepared: &Prepared) {
        if let Some(Ready::Prepared(statement)) = self.prepared.remove(prepared) {
            // It goes with the session otherwise.
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

    fn place(&self) -> Place {
        self.endpoint.place()
    }

    fn close(self: Box<Self>) -> Result<()> {
        drop(self.client);
        Ok(())
    }
}

/// Hands over the answers to the statements of a text, which the server takes apart itself.
fn read<P: Protocol>(mut answers: QueryResult<'_, '_, '_, P>, sink: &mut dyn RowSink) -> Result<Report> {
    sink.columns(&[])?;
    let mut affected = answers.affected_rows();
    while let Some(answer) = answers.iter() {
        affected = answer.affected_rows();
        let columns = answer.columns().as_ref().to_vec();
        let names: Vec<String> = columns.iter().map(|column| column.name_str().into_owned()).collect();
        sink.columns(&names.iter().map(String::as_str).collect::<Vec<_>>())?;
        // All are read, wanted or not: the next answer stands behind them.
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
    Ok(Report { affected: Some(affected), ..Report::default() })
}

/// How a connection is encrypted. The server's certificate is verified against its name.
fn encrypted(endpoint: &Endpoint) -> Result<Option<SslOpts>> {
    let Some(encrypted) = &endpoint.tls else { return Ok(None) };
    tls::authorities(encrypted)?;
    Ok(Some(SslOpts::default().with_root_cert_path(encrypted.ca.clone())))
}

/// Logs in, and has the server do something.
fn connect(endpoint: &Endpoint) -> std::result::Result<Conn, NotReady> {
    let options = OptsBuilder::new()
        // Where sessions go is the run's choice, and the path that a server names may not be its own.
        .prefer_socket(false)
        .ip_or_hostname(Some(&endpoint.host))
        .tcp_port(endpoint.port)
        .socket(endpoint.socket.as_ref().map(|path| path.display().to_string()))
        .user(Some(&endpoint.user))
        .pass(Some(&endpoint.password.0))
        .db_name(Some(&endpoint.database).filter(|name| !name.is_empty()))
        // The file is read here first, for an error that names it.
        .ssl_opts(encrypted(endpoint).map_err(|error| NotReady::Ever(error.to_string()))?)
        .tcp_connect_timeout(Some(endpoint.attempt()));
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
            NotReady::Ever(format!("the server refused the session: {}", said.message))
        }
        // It asks for something that the client library cannot give, as for the password in another way.
        Error::DriverError(told) if !matches!(told, Setup::ConnectTimeout | Setup::CouldNotConnect(_)) => {
            NotReady::Ever(format!("the server refused the session: {told}"))
        }
        // Not listening yet, or not for long.
        other => NotReady::Yet(message(other)),
    })
}

/// What the system blames; [`DriverError::Crashed`] with the words only where the connection is gone.
fn verdict(error: &Error) -> DriverError {
    let message = message(error);
    match error {
        Error::MySqlError(said) => refusal(said.code, message),
        // The client library gives its kinds no name; it goes by the limit that the server told it.
        Error::CodecError(codec) if codec.to_string().contains("larger than max_allowed_packet") => {
            DriverError::Refused(TOO_LONG.to_owned())
        }
        Error::IoError(_) | Error::CodecError(_) => DriverError::Crashed(message),
        // A text that is longer than the server takes is not sent, and leaves the session as it is.
        _ => DriverError::Unsupported(message),
    }
}

/// A refusal by its number and its words.
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

/// Whether an error is about disk or memory. Where an engine's own number is passed on, it is the operating
/// system's (28, no space; 12, no memory) or the engine's for a full file (135).
fn is_exhausted(code: u16, words: &str) -> bool {
    EXHAUSTED.contains(&code)
        || words.to_lowercase().contains("no space left on device")
        || code == FROM_ENGINE
            && ["error 28 ", "error 12 ", "error 135 "].iter().any(|number| words.contains(number))
}

/// The server's own words where there are any.
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
