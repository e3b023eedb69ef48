//! Nonblocking MySQL connection. An execution makes one write system call and usually one read, and does not
//! allocate memory.

use std::os::fd::{AsFd, BorrowedFd};

use jsonathlon_driver_api::driver::{DriverError, Result, SessionOptions};
use jsonathlon_driver_api::endpoint::{ConnectFailure, Endpoint};
use jsonathlon_driver_api::nonblocking::{NonblockingConnection, no_request_pending};
use jsonathlon_driver_api::prepared::{Parameter, PreparedStatement, StatementTable};
use jsonathlon_driver_api::rows::{ResultSet, RowSink, StatementStats};
use jsonathlon_schema::value::Value;

use super::NOT_PREPARED;
use super::answer::{self, AnswerError, AnswerReader, Columns, Completion, Continuation, Progress};
use super::login::{self, Session};
use super::packet::{self, QUERY, Reader, ServerError, close, header, open};
use super::statement::Statement;
use crate::socket::{Inbox, Socket};

/// Command byte: end the session.
const QUIT: u8 = 1;
/// Command byte: prepare a statement.
const PREPARE: u8 = 0x16;
/// Command byte: release a prepared statement.
const CLOSE_STATEMENT: u8 = 0x19;
/// Maximum payload in bytes of a packet with a part of a file.
const FILE_CHUNK_BYTES: usize = 1 << 18;

/// Connection of one client to a server, with at most one request at a time.
pub struct MysqlNonblocking {
    socket: Socket,
    endpoint: Endpoint,
    /// Whether the server omits the EOF packets that end the lists of parameters and columns.
    without_eof: bool,
    /// Maximum length in bytes of a request; the server ends the session after a longer one. `None` if
    /// unknown.
    max_request_bytes: Option<usize>,
    inbox: Inbox,
    outbox: Vec<u8>,
    /// Whether the server prepares statements. Otherwise they are sent as text with each execution.
    server_prepares: bool,
    statements: StatementTable<(Statement, Columns)>,
    /// Statement whose answer is pending. `None` if nothing was sent.
    current: Option<PreparedStatement>,
    progress: Progress,
}

/// Answer to a statement that may read a file from the client.
pub(super) struct FileAnswer {
    /// Whether the server has requested the content of the file.
    pub(super) is_read: bool,
    pub(super) ended: std::result::Result<Completion, AnswerError>,
}

impl MysqlNonblocking {
    /// Connects to the server that `options` name and executes the statements that they list. With
    /// `server_prepares` the server prepares statements; otherwise each execution sends the text.
    ///
    /// # Errors
    /// If the server cannot be reached, rejects the login, or fails to execute a statement.
    pub fn open(options: &SessionOptions, server_prepares: bool) -> Result<Self> {
        let mut client = Self::connect(&Endpoint::from_options(options)?, server_prepares)?;
        client.run_all(&options.statements)?;
        Ok(client)
    }

    /// Connects and logs in, waiting until the server is ready.
    ///
    /// # Errors
    /// If the server does not become ready in time, or rejects the login.
    pub(super) fn connect(endpoint: &Endpoint, server_prepares: bool) -> Result<Self> {
        let session = endpoint.connect_with_retry(|endpoint| login::login(endpoint, false))?;
        Self::from_session(session, endpoint, server_prepares)
    }

    /// Connects without retries, because another session with the server is already open, and executes
    /// `statements`. The server may request the content of a file in this session.
    ///
    /// # Errors
    /// If the server cannot be reached, rejects the login, or fails to execute a statement.
    pub(super) fn connect_sibling(endpoint: &Endpoint, statements: &[String]) -> Result<Self> {
        let session = login::login(endpoint, true)
            .map_err(|failure: ConnectFailure| endpoint.connect_error(failure))?;
        let mut client = Self::from_session(session, endpoint, true)?;
        client.run_all(statements)?;
        Ok(client)
    }

    /// Creates a client on a session that is logged in, and reads the server's limit on requests.
    fn from_session(session: Session, endpoint: &Endpoint, server_prepares: bool) -> Result<Self> {
        let mut client = Self {
            socket: session.socket,
            endpoint: endpoint.clone(),
            without_eof: session.without_eof,
            max_request_bytes: None,
            inbox: Inbox::default(),
            outbox: Vec::new(),
            server_prepares,
            statements: StatementTable::default(),
            current: None,
            progress: Progress::default(),
        };
        let mut answer = ResultSet::default();
        client.ask("SELECT @@max_allowed_packet", &mut answer)?;
        if let Some([Value::Int(bytes)]) = answer.rows.first().map(Vec::as_slice) {
            client.max_request_bytes = usize::try_from(*bytes).ok();
        }
        Ok(client)
    }

    fn run_all(&mut self, statements: &[String]) -> Result<()> {
        statements.iter().try_for_each(|statement| self.run(statement))
    }

    /// Error for a connection that broke because of `cause`.
    fn connection_lost(&self, cause: &dyn std::fmt::Display) -> DriverError {
        self.endpoint.with_server_context(DriverError::Crashed(cause.to_string()))
    }

    /// Sends the request in the outbox, unless the server would end the session because of its length.
    fn send_request(&mut self) -> Result<()> {
        let length = self.outbox.len();
        if let Some(limit) = self.max_request_bytes.filter(|limit| length > *limit) {
            return Err(DriverError::Unsupported(format!(
                "a request of {length} bytes is longer than the server's max_allowed_packet, {limit}"
            )));
        }
        self.socket.send(&self.outbox).map_err(|error| self.connection_lost(&error))
    }

    /// Sends a command byte and its argument as one packet.
    fn send_command(&mut self, command: u8, argument: &[u8]) -> Result<()> {
        self.outbox.clear();
        let start = open(0, &mut self.outbox);
        self.outbox.push(command);
        self.outbox.extend_from_slice(argument);
        close(start, &mut self.outbox);
        self.send_request()
    }

    /// Waits for the next packet and returns a copy of it.
    fn read_packet(&mut self) -> Result<Vec<u8>> {
        loop {
            if let Some((packet, end)) = packet::message(self.inbox.bytes(), 0) {
                let packet = packet.into_owned();
                self.inbox.take(end);
                return Ok(packet);
            }
            self.inbox.fill(&mut self.socket, true).map_err(|error| self.connection_lost(&error))?;
        }
    }

    /// Executes one or more statements given as text and ignores their answers except for errors.
    pub(super) fn run(&mut self, text: &str) -> Result<()> {
        self.ask(text, &mut ResultSet::default()).map(|_| ())
    }

    /// Executes one or more statements given as text, and passes their rows to `sink` as they arrive. Returns
    /// the statistics of the last statement.
    pub(super) fn ask(&mut self, text: &str, sink: &mut dyn RowSink) -> Result<StatementStats> {
        self.ask_with_file(text, None, sink)?
            .ended
            .map(Completion::stats)
            .map_err(|error| self.classified(error))
    }

    /// Executes statements as [`MysqlNonblocking::ask`] does, and sends `file` if the server requests the
    /// content of a file; `None` is sent as an empty file.
    pub(super) fn ask_with_file(
        &mut self,
        text: &str,
        file: Option<&[u8]>,
        sink: &mut dyn RowSink,
    ) -> Result<FileAnswer> {
        sink.columns(&[])?;
        self.send_command(QUERY, text.as_bytes())?;
        self.read_answer(false, &mut Columns::default(), file, sink)
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
        let (statement, columns) = self.statements.get_mut(prepared)?;
        let (is_binary, mut columns) = (statement.is_binary(), std::mem::take(columns));
        let answer = self.read_answer(is_binary, &mut columns, None, sink);
        self.statements.get_mut(prepared)?.1 = columns;
        answer?.ended.map(Completion::stats).map_err(|error| self.classified(error))
    }

    /// Converts the error of an answer to the driver's error type; if the connection broke, the message names
    /// the server.
    pub(super) fn classified(&self, error: AnswerError) -> DriverError {
        self.endpoint.with_server_context(error.error())
    }

    /// Reads an answer to its end and passes its rows to `sink` as they arrive.
    fn read_answer(
        &mut self,
        is_binary: bool,
        columns: &mut Columns,
        file: Option<&[u8]>,
        sink: &mut dyn RowSink,
    ) -> Result<FileAnswer> {
        let mut reader = AnswerReader::new(is_binary, self.without_eof, columns);
        let mut is_read = false;
        loop {
            let Some((packet, end)) = packet::message(self.inbox.bytes(), 0) else {
                self.inbox.fill(&mut self.socket, true).map_err(|error| self.connection_lost(&error))?;
                continue;
            };
            let continuation = reader.packet(&packet, sink);
            drop(packet);
            let sequence = self.inbox.bytes()[3].wrapping_add(1);
            self.inbox.take(end);
            match continuation {
                Ok(Continuation::Packet) => {}
                Ok(Continuation::File) => {
                    is_read = true;
                    self.send_file(file.unwrap_or_default(), sequence)?;
                }
                Ok(Continuation::Nothing(completion)) => {
                    return Ok(FileAnswer { is_read, ended: Ok(completion) });
                }
                Err(error) => return Ok(FileAnswer { is_read, ended: Err(error) }),
            }
        }
    }

    /// Sends the content of a file and the empty packet that ends it; the first packet has the number
    /// `sequence`. After an error the server still reads everything and discards it.
    fn send_file(&mut self, file: &[u8], mut sequence: u8) -> Result<()> {
        for chunk in file.chunks(FILE_CHUNK_BYTES).chain([&[][..]]) {
            self.socket
                .send_both(&header(chunk.len(), sequence), chunk)
                .map_err(|error| self.connection_lost(&error))?;
            sequence = sequence.wrapping_add(1);
        }
        Ok(())
    }

    /// Prepares a statement on the server. A statement that the server cannot prepare is sent as text.
    fn prepare_on_server(&mut self, statement: &str) -> Result<Statement> {
        self.send_command(PREPARE, statement.as_bytes())?;
        let answer = self.read_packet()?;
        if answer.first() == Some(&0xFF) {
            let error = ServerError::read(&answer)?;
            if error.code == NOT_PREPARED {
                return Ok(Statement::from_text(statement));
            }
            return Err(self.endpoint.with_server_context(error.error()));
        }
        let mut reader = Reader(&answer);
        reader.u8()?;
        let (statement_id, columns, parameters) = (reader.u32()?, reader.u16()?, reader.u16()?);
        // Skip the descriptions: one packet for each parameter and each column, and after each list that is
        // not empty an EOF packet, unless the session has none.
        for count in [parameters, columns] {
            let eof_packets = u16::from(count > 0 && !self.without_eof);
            for _ in 0..count + eof_packets {
                self.read_packet()?;
            }
        }
        Ok(Statement::Prepared(statement_id, parameters.into()))
    }

    /// Releases a prepared statement in this connection and on the server.
    pub(super) fn release(&mut self, prepared: &PreparedStatement) {
        if let Some((Statement::Prepared(statement_id, _), _)) = self.statements.remove(prepared) {
            // The server sends no answer. An error is ignored, because the statement is released with the
            // session at the latest.
            self.send_command(CLOSE_STATEMENT, &statement_id.to_le_bytes()).ok();
        }
    }
}

impl NonblockingConnection for MysqlNonblocking {
    fn prepare(&mut self, statement: &str) -> Result<PreparedStatement> {
        let statement = match self.server_prepares {
            true => self.prepare_on_server(statement)?,
            false => Statement::from_text(statement),
        };
        Ok(self.statements.insert((statement, Columns::default())))
    }

    fn send(&mut self, prepared: &PreparedStatement, parameters: &[Parameter<'_>]) -> Result<()> {
        let (statement, _) = self.statements.get(prepared)?;
        statement.execution(parameters, &mut self.outbox)?;
        self.progress = Progress::default();
        self.current = Some(prepared.clone());
        self.send_request()
    }

    fn receive(&mut self, wait: bool, sink: &mut dyn RowSink) -> Result<Option<StatementStats>> {
        let current = self.current.as_ref().ok_or_else(no_request_pending)?;
        let (statement, columns) = self.statements.get_mut(current)?;
        while !self.progress.follow(self.inbox.bytes(), self.without_eof)? {
            match self.inbox.fill(&mut self.socket, wait) {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(error) => {
                    return Err(self.endpoint.with_server_context(DriverError::Crashed(error.to_string())));
                }
            }
        }
        let end = self.progress.end();
        let answer = &self.inbox.bytes()[..end];
        let reader = AnswerReader::new(statement.is_binary(), self.without_eof, columns);
        let stats = answer::hand_over(answer, reader, sink);
        self.inbox.take(end);
        self.current = None;
        stats.map(Some).map_err(|error| self.endpoint.with_server_context(error))
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }

    fn close(self: Box<Self>) {}
}

impl Drop for MysqlNonblocking {
    fn drop(&mut self) {
        // An error is ignored, because the server also ends the session when the connection breaks.
        self.send_command(QUIT, &[]).ok();
    }
}
