//! Nonblocking MySQL connection. One execution is one write and, as a rule, one read, and allocates no
//! memory.

mod answer;
mod login;
mod packet;
mod statement;

use std::os::fd::{AsFd, BorrowedFd};

use jsonathlon_driver_api::driver::{DriverError, Result, SessionOptions};
use jsonathlon_driver_api::endpoint::Endpoint;
use jsonathlon_driver_api::nonblocking::{NonblockingConnection, no_request_pending};
use jsonathlon_driver_api::prepared::{Parameter, PreparedStatement, StatementTable};
use jsonathlon_driver_api::rows::{RowSink, StatementStats};

use super::{NOT_PREPARED, refusal};
use crate::socket::{Inbox, Socket};
use answer::{Columns, Progress};
use packet::{Reader, read_error};
use statement::Statement;

/// Command byte: execute a statement given as text.
pub(super) const QUERY: u8 = 3;
const PREPARE: u8 = 0x16;

/// Connection of one client over this crate's own implementation of the protocol, without TLS.
pub struct MysqlNonblocking {
    socket: Socket,
    endpoint: Endpoint,
    without_eof: bool,
    inbox: Inbox,
    outbox: Vec<u8>,
    prepare: bool,
    statements: StatementTable<(Statement, Columns)>,
    /// Statement whose answer is pending. `None` if nothing was sent.
    current: Option<PreparedStatement>,
    progress: Progress,
}

impl MysqlNonblocking {
    /// Logs in to the server of `open` and executes its statements. `None` if that requires what this client
    /// lacks: TLS, or another authentication method.
    ///
    /// # Errors
    /// As for opening a connection, and the server's error for a statement.
    pub fn open(open: &SessionOptions, prepare: bool) -> Result<Option<Self>> {
        let endpoint = Endpoint::of(open)?;
        if endpoint.tls.is_some() {
            return Ok(None);
        }
        let Some(session) = endpoint.connect_with_retry(login::login)? else { return Ok(None) };
        let mut lane = Self {
            socket: session.socket,
            endpoint,
            without_eof: session.without_eof,
            inbox: Inbox::default(),
            outbox: Vec::new(),
            prepare,
            statements: StatementTable::default(),
            current: None,
            progress: Progress::default(),
        };
        for statement in &open.statements {
            let prepared = lane.keep(Statement::of_text(statement));
            lane.send(&prepared, &[])?;
            lane.receive(true, &mut jsonathlon_driver_api::rows::ResultSet::default())?;
            lane.statements.remove(&prepared);
        }
        Ok(Some(lane))
    }

    fn keep(&mut self, statement: Statement) -> PreparedStatement {
        self.statements.insert((statement, Columns::default()))
    }

    fn lost(&self, words: &dyn std::fmt::Display) -> DriverError {
        self.endpoint.with_server_context(DriverError::Crashed(words.to_string()))
    }

    /// Reads the next packet, blocking.
    fn packet(&mut self) -> Result<Vec<u8>> {
        loop {
            if let Some((packet, end)) = packet::at(self.inbox.bytes(), 0)? {
                let packet = packet.to_vec();
                self.inbox.take(end);
                return Ok(packet);
            }
            self.inbox.fill(&self.socket, true).map_err(|error| self.lost(&error))?;
        }
    }

    /// Has the server prepare a statement. Returns its text if the server cannot prepare this kind of
    /// statement.
    fn prepared(&mut self, statement: &str) -> Result<Statement> {
        let mut request = Vec::new();
        let start = packet::open(0, &mut request);
        request.push(PREPARE);
        request.extend_from_slice(statement.as_bytes());
        packet::close(start, &mut request)?;
        self.socket.send(&request).map_err(|error| self.lost(&error))?;
        let answer = self.packet()?;
        if answer.first() == Some(&0xFF) {
            let (code, words) = read_error(&answer)?;
            if code == NOT_PREPARED {
                return Ok(Statement::of_text(statement));
            }
            return Err(self.endpoint.with_server_context(refusal(code, words)));
        }
        let mut reader = Reader(&answer);
        reader.u8()?;
        let (number, columns, parameters) = (reader.u32()?, reader.u16()?, reader.u16()?);
        // Parameters and columns are described by one packet each; a list ends with an EOF packet unless
        // deprecated.
        for count in [parameters, columns] {
            let ends = u16::from(count > 0 && !self.without_eof);
            for _ in 0..count + ends {
                self.packet()?;
            }
        }
        Ok(Statement::Prepared(number, parameters.into()))
    }
}

impl NonblockingConnection for MysqlNonblocking {
    fn prepare(&mut self, statement: &str) -> Result<PreparedStatement> {
        let statement = if self.prepare { self.prepared(statement)? } else { Statement::of_text(statement) };
        Ok(self.keep(statement))
    }

    fn send(&mut self, prepared: &PreparedStatement, parameters: &[Parameter<'_>]) -> Result<()> {
        let (statement, _) = self.statements.get(prepared)?;
        statement.execution(parameters, &mut self.outbox)?;
        self.progress = Progress::default();
        self.current = Some(prepared.clone());
        self.socket.send(&self.outbox).map_err(|error| self.lost(&error))
    }

    fn receive(&mut self, wait: bool, sink: &mut dyn RowSink) -> Result<Option<StatementStats>> {
        let current = self.current.as_ref().ok_or_else(no_request_pending)?;
        let (statement, columns) = self.statements.get_mut(current)?;
        while !self.progress.follow(self.inbox.bytes(), self.without_eof)? {
            match self.inbox.fill(&self.socket, wait) {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(error) => {
                    return Err(self.endpoint.with_server_context(DriverError::Crashed(error.to_string())));
                }
            }
        }
        let end = self.progress.end();
        let answer = &self.inbox.bytes()[..end];
        let report = match self.progress.failed() {
            Some(at) => match packet::at(answer, at)? {
                Some((packet, _)) => read_error(packet).and_then(|(code, words)| Err(refusal(code, words))),
                None => Err(packet::malformed()),
            },
            None => answer::hand_over(answer, statement.is_binary(), self.without_eof, columns, sink),
        };
        self.inbox.take(end);
        self.current = None;
        report.map(Some).map_err(|error| self.endpoint.with_server_context(error))
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }

    fn close(self: Box<Self>) {
        // An error is ignored, because the server also ends the session when the connection breaks.
        self.socket.send(&[1, 0, 0, 0, 1]).ok();
    }
}
