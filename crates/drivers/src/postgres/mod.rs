//! Driver for the PostgreSQL protocol, version 3, over TCP, TLS or a Unix socket.

mod answer;
mod load;
mod nonblocking;
mod value;
mod wire;

use jsonathlon_driver_api::driver::{
    Connection, DocumentSource, DriverError, EngineLocation, LoadSink, Result, SessionOptions,
};
use jsonathlon_driver_api::endpoint::Endpoint;
use jsonathlon_driver_api::nonblocking::NonblockingConnection;
use jsonathlon_driver_api::prepared::{Parameter, PreparedStatement};
use jsonathlon_driver_api::rows::{RowSink, StatementStats};

use crate::bulk;
pub use nonblocking::PostgresNonblocking;
use wire::Wire;

/// SQLSTATE class of exhausted resources, which do not depend on the statement.
const EXHAUSTED: &str = "53";

/// Session with one server, which waits for each answer.
pub struct Postgres {
    client: PostgresNonblocking,
    endpoint: Endpoint,
    /// Statements that are executed in every further session.
    statements: Vec<String>,
    /// Number of sessions that a bulk load uses.
    connections: usize,
}

impl Postgres {
    /// Logs in to the server of `open`.
    ///
    /// # Errors
    /// [`DriverError::Unavailable`] if the server cannot be reached or denies the session.
    pub fn open(open: &SessionOptions) -> Result<Self> {
        let endpoint = Endpoint::from_options(open)?;
        let client = PostgresNonblocking::with_wire(Wire::open(&endpoint, &[])?, true);
        let (statements, connections) = (open.statements.clone(), bulk::connections(open.cores));
        Ok(Self { client, endpoint, statements, connections })
    }

    /// Opens a further connection and executes the statements of this one on it.
    fn another(&self) -> Result<Wire> {
        Wire::open_sibling(&self.endpoint, &self.statements)
    }
}

impl Connection for Postgres {
    fn version(&mut self) -> Result<String> {
        self.collect("SHOW server_version")?.version()
    }

    fn ask(&mut self, statement: &str, sink: &mut dyn RowSink) -> Result<StatementStats> {
        self.client.ask(statement, sink)
    }

    fn export(&mut self, statement: &str, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.client.wire.copy_out(statement, take)
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
        load::copy(self, statement, documents, sink)
    }

    fn send_rows(&mut self, statement: &str, rows: &str) -> Result<()> {
        match self.client.wire.copy_in(statement, rows.as_bytes())? {
            None => Ok(()),
            Some(error) => Err(refusal(&error.state, error.message)),
        }
    }

    fn location(&self) -> EngineLocation {
        self.endpoint.location()
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// Classifies an error of the server by its SQLSTATE.
fn refusal(state: &str, message: String) -> DriverError {
    match state {
        // Serialization failure, deadlock, lock not available.
        "40001" | "40P01" | "55P03" => DriverError::Conflict(message),
        "23505" => DriverError::Duplicate(message),
        state if state.starts_with(EXHAUSTED) => DriverError::Exhausted(message),
        _ => DriverError::Refused(message),
    }
}
