//! A connection by messages of the protocol, in memory that is used again.

mod copy;
pub(super) mod message;
pub(super) mod startup;

use std::os::fd::{AsFd, BorrowedFd};

use jsonathlon_connection::driver::{DriverError, Result};
use jsonathlon_connection::endpoint::Endpoint;

use crate::socket::{Inbox, Socket};
use message::Said;

/// A connection that somebody has logged in to.
pub(super) struct Wire {
    socket: Socket,
    endpoint: Endpoint,
    inbox: Inbox,
    /// Messages up to here have come whole, and the answer does not end before it.
    seen: usize,
    /// Where the first error is among them.
    failed: Option<usize>,
}

impl Wire {
    /// Logs in to a server as soon as it is ready, and runs statements. None where that takes what is not here: encryption,
    /// or an old way to ask for a password.
    ///
    /// # Errors
    /// As when a connection is opened, and whatever the server says against a statement.
    pub(super) fn open(endpoint: &Endpoint, statements: &[String]) -> Result<Option<Self>> {
        if endpoint.tls.is_some() {
            return Ok(None);
        }
        Self::begin(endpoint, statements, endpoint.reach(startup::login)?)
    }

    /// The same beside a session that is open, for which the server must be ready.
    ///
    /// # Errors
    /// As for [`Wire::open`].
    pub(super) fn beside(endpoint: &Endpoint, statements: &[String]) -> Result<Option<Self>> {
        if endpoint.tls.is_some() {
            return Ok(None);
        }
        let socket = startup::login(endpoint).map_err(|why| endpoint.refused(why))?;
        Self::begin(endpoint, statements, socket)
    }

    fn begin(endpoint: &Endpoint, statements: &[String], socket: Option<Socket>) -> Result<Option<Self>> {
        let Some(socket) = socket else { return Ok(None) };
        let endpoint = endpoint.clone();
        let mut wire = Self { socket, endpoint, inbox: Inbox::default(), seen: 0, failed: None };
        statements.iter().try_for_each(|statement| wire.run(statement))?;
        Ok(Some(wire))
    }

    pub(super) fn lost(&self, words: &dyn std::fmt::Display) -> DriverError {
        self.endpoint.told(DriverError::Crashed(words.to_string()))
    }

    /// Sends a request, behind whose answer nothing is to come.
    pub(super) fn write(&mut self, request: &[u8]) -> Result<()> {
        self.seen = 0;
        self.failed = None;
        self.socket.send(request).map_err(|error| self.lost(&error))
    }

    /// Runs statements, of whose answers nothing but errors is looked at.
    pub(super) fn run(&mut self, statements: &str) -> Result<()> {
        self.ask(&startup::query(statements), |_| Ok(()))
    }

    /// Sends, waits, and has the answer looked at.
    pub(super) fn ask<T>(&mut self, request: &[u8], look: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        self.write(request)?;
        self.complete(true)?;
        let looked = match self.error() {
            Some(error) => Err(error),
            None => look(self.answer()),
        };
        self.forget();
        looked
    }

    /// Reads until the server is ready again, or nothing more has come; whether it is.
    pub(super) fn complete(&mut self, wait: bool) -> Result<bool> {
        self.until(|kind| kind == b'Z', wait).map(|kind| kind.is_some())
    }

    /// Reads to the end of the next message of such a kind, which it gives; none where nothing more has come.
    fn until(&mut self, is_wanted: impl Fn(u8) -> bool, wait: bool) -> Result<Option<u8>> {
        loop {
            while let Some((kind, body, end)) = message::at(self.inbox.bytes(), self.seen)? {
                if kind == b'E' {
                    self.failed.get_or_insert(self.seen);
                    self.check(body)?;
                }
                self.seen = end;
                if is_wanted(kind) {
                    return Ok(Some(kind));
                }
            }
            match self.inbox.fill(&self.socket, wait) {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(error) => return Err(self.lost(&error)),
            }
        }
    }

    /// What the server says in a message; its last words, after which it closes the connection without being ready again, are
    /// an error.
    fn check(&self, body: &[u8]) -> Result<Said> {
        let said = Said::read(body)?;
        if said.is_fatal { Err(self.lost(&said.words)) } else { Ok(said) }
    }

    /// The messages of an answer that is complete.
    pub(super) fn answer(&self) -> &[u8] {
        &self.inbox.bytes()[..self.seen]
    }

    /// What the server says in it against the statement, if anything.
    pub(super) fn error(&self) -> Option<DriverError> {
        self.said().map(|said| said.map_or_else(|error| error, Said::error))
    }

    fn said(&self) -> Option<Result<Said>> {
        let (_, body, _) = message::at(self.inbox.bytes(), self.failed?).ok()??;
        Some(Said::read(body))
    }

    /// Makes room for the next answer.
    pub(super) fn forget(&mut self) {
        self.inbox.take(self.seen);
        self.seen = 0;
        self.failed = None;
    }
}

impl AsFd for Wire {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        // The server ends the session too when the connection breaks.
        self.socket.send(b"X\0\0\0\x04").ok();
    }
}
