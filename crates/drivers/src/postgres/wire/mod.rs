//! Client of the protocol: sends and receives its messages in reusable buffers.

mod copy;
pub(super) mod message;
pub(super) mod startup;

use std::os::fd::{AsFd, BorrowedFd};

use jsonathlon_driver_api::driver::{DriverError, Result};
use jsonathlon_driver_api::endpoint::Endpoint;

use crate::socket::{Inbox, Socket};
use message::ErrorResponse;

/// Message `CopyFail` without a reason: no rows will be sent.
const NO_ROWS: &[u8] = b"f\0\0\0\x05\0";

/// Connection after a successful login.
pub(super) struct Wire {
    socket: Socket,
    endpoint: Endpoint,
    inbox: Inbox,
    /// End of the messages that have arrived completely and belong to the current answer.
    seen: usize,
    /// Start of the first error message among them. `None` if there is none.
    first_error: Option<usize>,
}

impl Wire {
    /// Logs in to a server, waiting until it is ready, and executes `statements`.
    ///
    /// # Errors
    /// As for opening a connection, and the server's error for a statement.
    pub(super) fn open(endpoint: &Endpoint, statements: &[String]) -> Result<Self> {
        Self::begin(endpoint, statements, endpoint.connect_with_retry(startup::login)?)
    }

    /// As [`Wire::open`], but without waiting, for a server to which another session is open already.
    ///
    /// # Errors
    /// As for [`Wire::open`].
    pub(super) fn open_sibling(endpoint: &Endpoint, statements: &[String]) -> Result<Self> {
        let socket = startup::login(endpoint).map_err(|failure| endpoint.connect_error(failure))?;
        Self::begin(endpoint, statements, socket)
    }

    fn begin(endpoint: &Endpoint, statements: &[String], socket: Socket) -> Result<Self> {
        let endpoint = endpoint.clone();
        let mut wire = Self { socket, endpoint, inbox: Inbox::default(), seen: 0, first_error: None };
        statements.iter().try_for_each(|statement| wire.run(statement))?;
        Ok(wire)
    }

    pub(super) fn lost_connection_error(&self, reason: &dyn std::fmt::Display) -> DriverError {
        self.endpoint.with_server_context(DriverError::Crashed(reason.to_string()))
    }

    /// Sends a request. Must not be called before the answer to the last one is consumed.
    pub(super) fn write(&mut self, request: &[u8]) -> Result<()> {
        self.seen = 0;
        self.first_error = None;
        self.socket.send(request).map_err(|error| self.lost_connection_error(&error))
    }

    /// Executes statements and ignores their answers except for errors.
    pub(super) fn run(&mut self, statements: &str) -> Result<()> {
        self.ask(&startup::query(statements), |_| Ok(()))
    }

    /// Sends a request, waits for the answer, and passes it to `decode`.
    pub(super) fn ask<T>(&mut self, request: &[u8], decode: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        self.write(request)?;
        self.complete(true)?;
        let result = match self.error() {
            Some(error) => Err(error),
            None => decode(self.answer()),
        };
        self.forget();
        result
    }

    /// Passes type and body of each message of an answer to `take` as they arrive. The answer is read to its
    /// end even after an error, because the next one follows it.
    ///
    /// # Errors
    /// If the connection is lost; otherwise the first error of the server or of `take`.
    pub(super) fn messages(&mut self, take: &mut dyn FnMut(u8, &[u8]) -> Result<()>) -> Result<()> {
        let (mut error, mut is_extended) = (None, false);
        loop {
            while let Some((kind, body, end)) = message::parse_at(self.inbox.bytes(), self.seen)? {
                match kind {
                    b'E' => error = Some(self.check(body)?.error()),
                    // The statement would read rows from this connection, which has none.
                    b'G' => {
                        // In the extended protocol the server has skipped the end of the request.
                        let end = if is_extended { message::SYNC } else { &[] };
                        self.socket
                            .send_both(NO_ROWS, end)
                            .map_err(|error| self.lost_connection_error(&error))?;
                    }
                    b'2' => is_extended = true,
                    _ if error.is_none() => error = take(kind, body).err(),
                    _ => {}
                }
                self.seen = end;
                if kind == b'Z' {
                    self.forget();
                    return error.map_or(Ok(()), Err);
                }
            }
            self.forget();
            self.inbox.fill(&mut self.socket, true).map_err(|error| self.lost_connection_error(&error))?;
        }
    }

    /// Reads until the server is ready for the next request. Returns `false` if the answer is incomplete,
    /// which is possible only without `wait`.
    pub(super) fn complete(&mut self, wait: bool) -> Result<bool> {
        self.until(|kind| kind == b'Z', wait).map(|kind| kind.is_some())
    }

    /// Reads up to the end of the next message of a wanted type and returns that type. `None` if it has not
    /// arrived, which is possible only without `wait`.
    fn until(&mut self, is_match: impl Fn(u8) -> bool, wait: bool) -> Result<Option<u8>> {
        loop {
            while let Some((kind, body, end)) = message::parse_at(self.inbox.bytes(), self.seen)? {
                if kind == b'E' {
                    self.first_error.get_or_insert(self.seen);
                    self.check(body)?;
                }
                self.seen = end;
                if is_match(kind) {
                    return Ok(Some(kind));
                }
            }
            match self.inbox.fill(&mut self.socket, wait) {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(error) => return Err(self.lost_connection_error(&error)),
            }
        }
    }

    /// Decodes an error message. A fatal one becomes an error, because the server then closes the connection
    /// without becoming ready again.
    fn check(&self, body: &[u8]) -> Result<ErrorResponse> {
        let response = ErrorResponse::read(body)?;
        if response.is_fatal { Err(self.lost_connection_error(&response.message)) } else { Ok(response) }
    }

    /// Returns the messages of a complete answer.
    pub(super) fn answer(&self) -> &[u8] {
        &self.inbox.bytes()[..self.seen]
    }

    /// Returns the server's error in the answer. `None` if the statement succeeded.
    pub(super) fn error(&self) -> Option<DriverError> {
        self.said().map(|response| response.map_or_else(|error| error, ErrorResponse::error))
    }

    fn said(&self) -> Option<Result<ErrorResponse>> {
        let (_, body, _) = message::parse_at(self.inbox.bytes(), self.first_error?).ok()??;
        Some(ErrorResponse::read(body))
    }

    /// Consumes the answer and makes room for the next one.
    pub(super) fn forget(&mut self) {
        self.inbox.take(self.seen);
        self.seen = 0;
        self.first_error = None;
    }
}

impl AsFd for Wire {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        // An error is ignored, because the server also ends the session when the connection breaks.
        self.socket.send(b"X\0\0\0\x04").ok();
    }
}
