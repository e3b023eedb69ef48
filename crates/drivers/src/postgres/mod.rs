//! The PostgreSQL protocol, version 3, over TCP.

mod load;
mod value;

use std::net::Ipv4Addr;
use std::time::Duration;

use jsonathlon_dataset::value::Row;
use postgres::error::{Severity, SqlState};
use postgres::{Client, Config, NoTls, SimpleQueryMessage};

use crate::driver::{Documents, Driver, DriverError, LoadSink, Open, Outcome, Result};
use crate::server::{Endpoint, NotReady, Server};
use crate::several::may_be_several;

/// How long a server that has cut the connection is waited for, to learn how it ended.
const AUTOPSY: Duration = Duration::from_secs(2);
/// A connection on the loopback interface that takes longer than this will not come.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// A session with one server.
pub(crate) struct Postgres {
    client: Client,
    server: Server,
    endpoint: Endpoint,
    /// Run again when the session has to be opened again.
    statements: Vec<String>,
    /// Client and server no longer agree on whose turn it is.
    out_of_step: bool,
}

impl Postgres {
    /// Starts the server that `open` describes and logs in.
    pub(crate) fn open(open: &Open) -> Result<Self> {
        let launch = open.server.as_ref().ok_or_else(|| {
            DriverError::Unavailable(format!("protocol `{}` needs a server to be started", open.protocol))
        })?;
        let (server, (client, endpoint)) =
            Server::start(open, launch, |endpoint| Ok((connect(endpoint)?, endpoint.clone())))?;
        Ok(Self { client, server, endpoint, statements: open.statements.clone(), out_of_step: false })
    }

    /// What the system said, or how it ended.
    fn error(&mut self, error: &postgres::Error) -> DriverError {
        match error.as_db_error().map(|said| said.parsed_severity()) {
            Some(Some(Severity::Error) | None) if !self.client.is_closed() => {
                DriverError::Refused(message(error))
            }
            // No words of the server, or its last.
            _ => self.crashed(&message(error)),
        }
    }

    fn crashed(&mut self, words: &str) -> DriverError {
        let text = match self.server.ended(AUTOPSY) {
            Some(status) => format!("the server ended ({status}): {words}"),
            None => format!("the server cut the connection: {words}"),
        };
        DriverError::Crashed(self.server.with_log(&text))
    }

    /// Another session in place of this one, which the server ends and rolls back.
    fn reconnect(&mut self) -> Result<()> {
        self.client = connect(&self.endpoint)
            .map_err(|(NotReady::Yet(why) | NotReady::Ever(why))| self.crashed(&why))?;
        self.out_of_step = false;
        for statement in self.statements.clone() {
            self.run(&statement)?;
        }
        Ok(())
    }

    fn run(&mut self, statement: &str) -> Result<()> {
        self.client.batch_execute(statement).map_err(|error| self.error(&error))
    }

    /// One statement, in one round trip.
    fn ask(&mut self, statement: &str) -> Result<Outcome> {
        let answered = self.client.query_typed(statement, &[]).map_err(|error| self.error(&error))?;
        let Some(first) = answered.first() else {
            return Ok(Outcome { columns: self.columns(statement), ..Outcome::default() });
        };
        let columns: Vec<String> = first.columns().iter().map(|column| column.name().to_owned()).collect();
        let rows = answered.iter().map(value::row).collect::<Result<Vec<Row>>>()?;
        Ok(Outcome { columns, rows, ..Outcome::default() })
    }

    /// The columns of an answer without rows, which the client library gives with rows only. A statement
    /// that cannot be described any more (what it names may just have been dropped) has none.
    fn columns(&mut self, statement: &str) -> Vec<String> {
        let described = self.client.prepare(statement);
        described.map_or_else(
            |_| Vec::new(),
            |described| described.columns().iter().map(|column| column.name().to_owned()).collect(),
        )
    }
}

impl Driver for Postgres {
    fn version(&mut self) -> Result<String> {
        match self.ask("SHOW server_version")?.rows.into_iter().flatten().next() {
            Some(jsonathlon_dataset::value::Value::Text(version)) => Ok(version),
            other => Err(DriverError::Protocol(format!("a version is text, not {other:?}"))),
        }
    }

    fn execute(&mut self, statement: &str) -> Result<Outcome> {
        if !may_be_several(statement) {
            return self.ask(statement);
        }
        // The part of the protocol that tells types takes one statement only. The server's parser alone
        // knows whether there are several; describing runs nothing.
        match self.client.prepare(statement) {
            Err(error) if error.code() == Some(&SqlState::SYNTAX_ERROR) => {}
            _ => return self.ask(statement),
        }
        let messages = self.client.simple_query(statement).map_err(|error| self.error(&error))?;
        if messages.iter().any(|message| matches!(message, SimpleQueryMessage::Row(_))) {
            return Err(DriverError::Unsupported(
                "several statements at once give no typed answer: send the one that gives rows by itself"
                    .into(),
            ));
        }
        Ok(Outcome::default())
    }

    fn load_rows(
        &mut self,
        statement: &str,
        documents: &mut dyn Documents,
        sink: &mut dyn LoadSink,
    ) -> Result<u64> {
        self.run("BEGIN")?;
        let loaded = load::copy(self, statement, documents, sink).and_then(|accepted| {
            self.run("COMMIT")?;
            Ok(accepted)
        });
        if self.out_of_step {
            self.reconnect()?;
        } else if loaded.is_err() && !self.client.is_closed() {
            // The first failure is the one to be told.
            self.client.batch_execute("ROLLBACK").ok();
        }
        loaded
    }

    fn server_pid(&self) -> Option<u32> {
        Some(self.server.pid())
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { client, server, .. } = *self;
        // The server ends the session too, so that nothing is lost when the client cannot.
        client.close().ok();
        server.stop()
    }
}

/// Logs in, which is a real query's worth of work for the server, and asks one.
fn connect(endpoint: &Endpoint) -> std::result::Result<Client, NotReady> {
    let mut config = Config::new();
    config
        .hostaddr(Ipv4Addr::LOCALHOST.into())
        .port(endpoint.port)
        .user(&endpoint.user)
        .password(&endpoint.password)
        .dbname(&endpoint.database)
        .application_name("jsonathlon")
        .connect_timeout(CONNECT_LIMIT);
    let connected = config.connect(NoTls).and_then(|mut client| {
        client.batch_execute("SELECT 1")?;
        Ok(client)
    });
    connected.map_err(|error| match error.code() {
        // Starting up, recovering, or not listening yet.
        None | Some(&SqlState::CANNOT_CONNECT_NOW) => NotReady::Yet(message(&error)),
        Some(_) => NotReady::Ever(format!("the server refused the session: {}", message(&error))),
    })
}

/// The server's own words where there are any.
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
