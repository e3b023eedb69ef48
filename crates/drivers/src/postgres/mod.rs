//! Driver for the PostgreSQL protocol, version 3, over TCP or a Unix socket.

mod export;
mod load;
mod nonblocking;
mod parameter;
mod value;
mod wire;

use std::path::Path;

use jsonathlon_driver_api::driver::{
    Connection, DocumentSource, DriverError, EngineLocation, LoadSink, Result, SessionOptions,
};
use jsonathlon_driver_api::endpoint::{ConnectFailure, Endpoint};
use jsonathlon_driver_api::prepared::{
    Parameter, PreparedStatement, StatementTable, check_parameter_count, may_hold_several_statements,
};
use jsonathlon_driver_api::rows::{RowSink, StatementStats};
use postgres::config::SslMode;
use postgres::error::{Severity, SqlState};
use postgres::fallible_iterator::FallibleIterator;
use postgres::{Client, Column, Config, NoTls, SimpleQueryMessage, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::bulk;
use crate::tls;
pub use nonblocking::PostgresNonblocking;
use parameter::Bound;
use wire::Wire;

/// SQLSTATE class of exhausted resources, which do not depend on the statement.
const EXHAUSTED: &str = "53";

/// Session with one server.
pub struct Postgres {
    client: Client,
    endpoint: Endpoint,
    /// Statements that are executed in every further session.
    statements: Vec<String>,
    /// Number of sessions that a bulk load uses.
    connections: usize,
    prepared: StatementTable<Statement>,
    /// Second connection for exports. `None` until an export was prepared, or if the login needs the client
    /// library.
    out: Option<Wire>,
}

impl Postgres {
    /// Logs in to the server of `open`.
    ///
    /// # Errors
    /// [`DriverError::Unavailable`] if the server cannot be reached or denies the session.
    pub fn open(open: &SessionOptions) -> Result<Self> {
        let endpoint = Endpoint::of(open)?;
        let client = endpoint.connect_with_retry(connect)?;
        let (statements, connections) = (open.statements.clone(), bulk::connections(open.cores));
        Ok(Self { client, endpoint, statements, connections, prepared: StatementTable::default(), out: None })
    }

    /// Classifies an error of the client library, and adds the server's address if the connection is broken.
    fn error(&mut self, error: &postgres::Error) -> DriverError {
        let verdict = verdict(error, &self.client);
        self.endpoint.with_server_context(verdict)
    }

    /// Opens a further session and executes the statements of this one in it.
    fn another(&mut self) -> Result<Client> {
        let mut client = connect(&self.endpoint).map_err(|why| self.endpoint.refused(why))?;
        for statement in self.statements.clone() {
            let ran = client.batch_execute(&statement);
            ran.map_err(|error| self.endpoint.with_server_context(verdict(&error, &client)))?;
        }
        Ok(client)
    }

    /// Opens a further connection with this crate's own client. `None` if TLS or an old authentication method
    /// is needed.
    fn wire(&self) -> Result<Option<Wire>> {
        Wire::open_sibling(&self.endpoint, &self.statements)
    }

    /// Executes a single statement in one round trip.
    fn ask_one(&mut self, statement: &str, sink: &mut dyn RowSink) -> Result<()> {
        let answered = self.client.query_typed(statement, &[]).map_err(|error| self.error(&error))?;
        let Some(first) = answered.first() else {
            let columns = self.columns(statement);
            return sink.columns(&columns.iter().map(String::as_str).collect::<Vec<_>>());
        };
        sink.columns(&names(first.columns()))?;
        answered.iter().try_for_each(|row| sink.row(&value::row(row)?))
    }

    /// Returns the columns of an answer without rows, for which the client library gives none. Empty if the
    /// statement can no longer be described, e.g. because a table in it was just dropped.
    fn columns(&mut self, statement: &str) -> Vec<String> {
        let described = self.client.prepare(statement);
        described.map_or_else(
            |_| Vec::new(),
            |described| described.columns().iter().map(|column| column.name().to_owned()).collect(),
        )
    }
}

impl Connection for Postgres {
    fn version(&mut self) -> Result<String> {
        self.collect("SHOW server_version")?.version()
    }

    fn ask(&mut self, statement: &str, sink: &mut dyn RowSink) -> Result<StatementStats> {
        if !may_hold_several_statements(statement) {
            return self.ask_one(statement, sink).map(|()| StatementStats::default());
        }
        // The extended protocol, which returns typed values, accepts a single statement only. Only the
        // server's parser can tell whether there are several. Preparing executes nothing.
        match self.client.prepare(statement) {
            Err(error) if error.code() == Some(&SqlState::SYNTAX_ERROR) => {}
            _ => return self.ask_one(statement, sink).map(|()| StatementStats::default()),
        }
        let messages = self.client.simple_query(statement).map_err(|error| self.error(&error))?;
        if messages.iter().any(|message| matches!(message, SimpleQueryMessage::Row(_))) {
            return Err(DriverError::Unsupported(
                "several statements at once give no typed answer: send the one that gives rows by itself"
                    .into(),
            ));
        }
        sink.columns(&[])?;
        Ok(StatementStats::default())
    }

    fn prepare_export(&mut self) -> Result<()> {
        if self.out.is_none() {
            self.out = self.wire()?;
        }
        Ok(())
    }

    fn export(&mut self, statement: &str, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        if let Some(out) = &mut self.out {
            let copied = out.copy_out(statement, take);
            if matches!(copied, Err(DriverError::Crashed(_) | DriverError::Protocol(_))) {
                self.out = None;
            }
            return copied;
        }
        export::copy(&mut self.client, statement, take).map_err(|error| match error {
            export::CopyError::Postgres(error) => self.error(&error),
            export::CopyError::Io(error) => {
                self.endpoint.with_server_context(DriverError::Crashed(error.to_string()))
            }
        })
    }

    fn prepare(&mut self, statement: &str) -> Result<PreparedStatement> {
        let prepared = self.client.prepare(statement).map_err(|error| self.error(&error))?;
        Ok(self.prepared.insert(prepared))
    }

    fn execute(
        &mut self,
        prepared: &PreparedStatement,
        parameters: &[Parameter<'_>],
        sink: &mut dyn RowSink,
    ) -> Result<StatementStats> {
        let statement = self.prepared.get(prepared)?;
        check_parameter_count(statement.params().len(), parameters)?;
        sink.columns(&names(statement.columns()))?;
        let failed = match self.client.query_raw(statement, parameters.iter().copied().map(Bound)) {
            Ok(mut rows) => loop {
                match rows.next() {
                    Ok(Some(row)) => sink.row(&value::row(&row)?)?,
                    Ok(None) => {
                        return Ok(StatementStats {
                            affected: rows.rows_affected(),
                            ..StatementStats::default()
                        });
                    }
                    Err(error) => break error,
                }
            },
            Err(error) => error,
        };
        Err(self.error(&failed))
    }

    fn release(&mut self, prepared: &PreparedStatement) {
        self.prepared.remove(prepared);
    }

    fn bulk_in(
        &mut self,
        statement: &str,
        documents: &mut dyn DocumentSource,
        sink: &mut dyn LoadSink,
    ) -> Result<u64> {
        load::copy(self, statement, documents, sink)
    }

    fn place(&self) -> EngineLocation {
        self.endpoint.place()
    }

    fn close(self: Box<Self>) -> Result<()> {
        // An error is ignored, because the server ends the session when the connection breaks, and nothing is
        // lost.
        self.client.close().ok();
        Ok(())
    }
}

fn names(columns: &[Column]) -> Vec<&str> {
    columns.iter().map(Column::name).collect()
}

/// Logs in and sets the time zone to UTC. The server executes that statement only when it is ready.
fn connect(endpoint: &Endpoint) -> std::result::Result<Client, ConnectFailure> {
    let mut config = Config::new();
    match endpoint.socket.as_deref().and_then(Path::parent) {
        // The client library derives the socket's file name from the port.
        Some(folder) => config.host_path(folder),
        None => config.host(&endpoint.host),
    };
    config
        .port(endpoint.port)
        .user(&endpoint.user)
        .password(&endpoint.password.0)
        .dbname(&endpoint.database)
        .application_name("jsonathlon")
        .connect_timeout(endpoint.step_timeout());
    let client = match &endpoint.tls {
        Some(encrypted) => {
            let encrypted =
                tls::client(encrypted).map_err(|error| ConnectFailure::Permanent(error.to_string()))?;
            config.ssl_mode(SslMode::Require).connect(MakeRustlsConnect::new(encrypted))
        }
        None => config.ssl_mode(SslMode::Disable).connect(NoTls),
    };
    let connected = client.and_then(|mut client| {
        client.batch_execute("SET TIME ZONE 'UTC'")?;
        Ok(client)
    });
    connected.map_err(|error| match error.code() {
        None if message(&error).contains("does not support TLS") => {
            ConnectFailure::Permanent(format!("{}: ?tls=off, if that is meant", message(&error)))
        }
        // The server is starting up, recovering, or not listening yet.
        None | Some(&SqlState::CANNOT_CONNECT_NOW) => ConnectFailure::Transient(message(&error)),
        Some(_) => ConnectFailure::Permanent(format!("the server refused the session: {}", message(&error))),
    })
}

/// Classifies an error of the server by its SQLSTATE.
fn refusal(state: &str, words: String) -> DriverError {
    match state {
        // Serialization failure, deadlock, lock not available.
        "40001" | "40P01" | "55P03" => DriverError::Conflict(words),
        "23505" => DriverError::Duplicate(words),
        state if state.starts_with(EXHAUSTED) => DriverError::Exhausted(words),
        _ => DriverError::Refused(words),
    }
}

/// Classifies an error. [`DriverError::Crashed`] only if the connection is broken.
fn verdict(error: &postgres::Error, client: &Client) -> DriverError {
    match error.as_db_error().map(|said| said.parsed_severity()) {
        Some(Some(Severity::Error) | None) if !client.is_closed() => {
            refusal(error.code().map(SqlState::code).unwrap_or_default(), message(error))
        }
        // No message of the server, or its last one.
        _ => DriverError::Crashed(message(error)),
    }
}

/// Returns the server's message with its detail, or the client library's if the error is not the server's.
fn message(error: &postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => match said.detail() {
            Some(detail) => format!("{}: {detail}", said.message()),
            None => said.message().to_owned(),
        },
        None => match std::error::Error::source(error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        },
    }
}
