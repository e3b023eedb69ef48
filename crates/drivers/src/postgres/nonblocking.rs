//! Nonblocking PostgreSQL connection. One execution is one write and, as a rule, one read, and allocates no
//! memory.
//!
//! Values are sent and received as text. Columns of the types that JSON has, and dates and timestamps, become
//! typed cells.

use std::os::fd::{AsFd, BorrowedFd};

use jsonathlon_driver_api::driver::{Result, SessionOptions};
use jsonathlon_driver_api::endpoint::Endpoint;
use jsonathlon_driver_api::nonblocking::{NonblockingConnection, no_request_pending};
use jsonathlon_driver_api::prepared::{Parameter, PreparedStatement, StatementTable, check_parameter_count};
use jsonathlon_driver_api::rows::{RowSink, StatementStats};

use super::answer::AnswerReader;
use super::value::Columns;
use super::wire::message::{self, Bind};
use super::wire::{Wire, startup};

/// Connection of one client.
pub struct PostgresNonblocking {
    pub(super) wire: Wire,
    outbox: Vec<u8>,
    /// Whether statements are prepared on the server; otherwise each execution parses its text anew.
    prepare: bool,
    statements: StatementTable<Statement>,
    /// Number of statement names used so far.
    name_count: u64,
    /// Statement whose answer is pending. `None` if nothing was sent.
    current: Option<PreparedStatement>,
}

/// Statement in its encoded form, with the columns of its answer.
struct Statement {
    bind: Bind,
    /// What the server knows of a prepared statement. `None` if the statement is sent as text each time.
    prepared: Option<Prepared>,
    columns: Columns,
}

struct Prepared {
    name: String,
    parameters: usize,
}

impl PostgresNonblocking {
    /// Logs in to the server of `open` and executes its statements.
    ///
    /// # Errors
    /// As for opening a connection, and the server's error for a statement.
    pub fn open(open: &SessionOptions, prepare: bool) -> Result<Self> {
        Ok(Self::with_wire(Wire::open(&Endpoint::from_options(open)?, &open.statements)?, prepare))
    }

    pub(super) fn with_wire(wire: Wire, prepare: bool) -> Self {
        let (outbox, statements) = (Vec::new(), StatementTable::default());
        Self { wire, outbox, prepare, statements, name_count: 0, current: None }
    }

    /// Executes a text in one round trip and passes the rows to `sink` as they arrive. Of several statements
    /// in the text the last one's answer counts.
    pub(super) fn ask(&mut self, text: &str, sink: &mut dyn RowSink) -> Result<StatementStats> {
        sink.columns(&[])?;
        self.wire.write(&startup::query(text))?;
        rows(&mut self.wire, &mut Columns::default(), sink)
    }

    /// Executes a prepared statement and passes its rows to `sink` as they arrive.
    pub(super) fn execute(
        &mut self,
        prepared: &PreparedStatement,
        parameters: &[Parameter<'_>],
        sink: &mut dyn RowSink,
    ) -> Result<StatementStats> {
        self.send(prepared, parameters)?;
        self.current = None;
        let statement = self.statements.get_mut(prepared)?;
        rows(&mut self.wire, &mut statement.columns, sink)
    }

    /// Releases a statement here and on the server.
    pub(super) fn release(&mut self, prepared: &PreparedStatement) {
        if let Some(Statement { prepared: Some(Prepared { name, .. }), .. }) =
            self.statements.remove(prepared)
        {
            // An error is ignored, because the statement is released with the session at the latest.
            self.wire.ask(&startup::release(&name), |_| Ok(())).ok();
        }
    }
}

impl NonblockingConnection for PostgresNonblocking {
    fn prepare(&mut self, text: &str) -> Result<PreparedStatement> {
        let (bind, prepared) = if self.prepare {
            self.name_count += 1;
            let name = format!("s{}", self.name_count);
            let parameters = self.wire.ask(&startup::prepare(&name, text), startup::parameters)?;
            (Bind::new(&name, Vec::new()), Some(Prepared { name, parameters }))
        } else {
            let mut parse = Vec::new();
            message::parse("", text, &mut parse);
            (Bind::new("", parse), None)
        };
        Ok(self.statements.insert(Statement { bind, prepared, columns: Columns::default() }))
    }

    fn send(&mut self, prepared: &PreparedStatement, parameters: &[Parameter<'_>]) -> Result<()> {
        let statement = self.statements.get(prepared)?;
        if let Some(prepared) = &statement.prepared {
            check_parameter_count(prepared.parameters, parameters)?;
        }
        let mut request = std::mem::take(&mut self.outbox);
        let encoded = statement.bind.execution(parameters, &mut request);
        let result = encoded.and_then(|()| self.wire.write(&request));
        self.outbox = request;
        self.current = Some(prepared.clone());
        result
    }

    fn receive(&mut self, wait: bool, sink: &mut dyn RowSink) -> Result<Option<StatementStats>> {
        if !self.wire.complete(wait)? {
            return Ok(None);
        }
        let report = match (self.wire.error(), self.current.take()) {
            (Some(error), _) => Err(error),
            (None, Some(current)) => {
                let statement = self.statements.get_mut(&current)?;
                answer(self.wire.answer(), &mut statement.columns, sink)
            }
            (None, None) => Err(no_request_pending()),
        };
        self.wire.forget();
        report.map(Some)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.wire.as_fd())
    }

    fn close(self: Box<Self>) {}
}

/// Passes the rows of a complete answer without error to `sink`.
fn answer(messages: &[u8], columns: &mut Columns, sink: &mut dyn RowSink) -> Result<StatementStats> {
    let (mut position, mut reader) = (0, AnswerReader::new(columns));
    while let Some((kind, body, end)) = message::parse_at(messages, position)? {
        reader.message(kind, body, sink)?;
        position = end;
    }
    Ok(reader.report())
}

/// Passes the rows of the answer to the last request to `sink` as they arrive.
fn rows(wire: &mut Wire, columns: &mut Columns, sink: &mut dyn RowSink) -> Result<StatementStats> {
    let mut reader = AnswerReader::new(columns);
    wire.messages(&mut |kind, body| reader.message(kind, body, sink))?;
    Ok(reader.report())
}
