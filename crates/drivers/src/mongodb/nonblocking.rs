//! Nonblocking MongoDB connection: requests and replies in reusable buffers, rows decoded in place.

use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};

use jsonathlon_driver_api::driver::{Connection, DriverError, Result, SessionOptions};
use jsonathlon_driver_api::endpoint::Endpoint;
use jsonathlon_driver_api::nonblocking::{NonblockingConnection, no_request_pending};
use jsonathlon_driver_api::prepared::{Parameter, PreparedStatement, StatementTable};
use jsonathlon_driver_api::rows::{RowSink, StatementStats};

use super::bson::Bson;
use super::request::Template;
use super::{Mongodb, begin, cursor_left, hand_over, more_of, reported, well, wire};
use crate::socket::{Inbox, Socket};

/// Connection of one client.
struct MongodbNonblocking {
    channel: Channel,
    prepared: StatementTable<Template>,
    /// Statement whose answer is pending. `None` if nothing was sent.
    current: Option<PreparedStatement>,
    /// Reusable buffer for cells that are JSON text.
    text: String,
}

/// Socket with its buffers and the state of the current answer.
struct Channel {
    socket: Socket,
    endpoint: Endpoint,
    inbox: Inbox,
    outbox: Vec<u8>,
    /// Id of the last request.
    request: i32,
    /// Documents of the answer received so far (one per batch of a cursor); `parsed` is the end of the last
    /// one.
    documents: Vec<Range<usize>>,
    parsed: usize,
}

/// Logs in to the server of `open` and executes its statements.
///
/// # Errors
/// As for opening a connection, and the server's error for a statement.
pub fn open_nonblocking(open: &SessionOptions) -> Result<Box<dyn NonblockingConnection>> {
    let mut session = Mongodb::open(open)?;
    for statement in &open.statements {
        session.collect(statement)?;
    }
    let Mongodb { wire, endpoint, .. } = session;
    let socket = wire.into_socket();
    let (inbox, outbox, documents) = (Inbox::default(), Vec::new(), Vec::new());
    let channel = Channel { socket, endpoint, inbox, outbox, request: 0, documents, parsed: 0 };
    Ok(Box::new(MongodbNonblocking {
        channel,
        prepared: StatementTable::default(),
        current: None,
        text: String::new(),
    }))
}

impl Channel {
    fn connection_error(&self, error: &io::Error) -> DriverError {
        self.endpoint.with_server_context(DriverError::Crashed(error.to_string()))
    }

    /// Sends a request whose body `fill` writes.
    fn send(&mut self, fill: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        self.request = self.request.wrapping_add(1);
        self.outbox.clear();
        wire::begin(self.request, &mut self.outbox);
        fill(&mut self.outbox)?;
        let length = wire::length(self.outbox.len());
        let length = length.map_err(|error| DriverError::Refused(error.to_string()))?;
        self.outbox[..4].copy_from_slice(&length);
        self.socket.send(&self.outbox).map_err(|error| self.connection_error(&error))
    }

    /// Reads the answer and fetches further batches of its cursor. Returns `false` if the answer is
    /// incomplete, which is possible only without `wait`.
    fn complete(&mut self, wait: bool, database: &str) -> Result<bool> {
        loop {
            let bytes = &self.inbox.bytes()[self.parsed..];
            let reply = wire::reply(bytes, self.request).map_err(|error| self.connection_error(&error))?;
            let Some((document, end)) = reply else {
                match self.inbox.fill(&mut self.socket, wait) {
                    Ok(true) => continue,
                    Ok(false) => return Ok(false),
                    Err(error) => return Err(self.connection_error(&error)),
                }
            };
            let answer = Bson::read(&bytes[document.clone()]).and_then(well);
            let cursor = answer.map(cursor_left);
            let next_command = cursor.and_then(|cursor| {
                cursor.map(|(id, collection)| more_of(id, collection, database)).transpose()
            });
            self.documents.push(self.parsed + document.start..self.parsed + document.end);
            self.parsed += end;
            match next_command? {
                None => return Ok(true),
                Some(body) => self.send(|out| {
                    out.extend_from_slice(&body);
                    Ok(())
                })?,
            }
        }
    }

    fn clear(&mut self) {
        self.inbox.take(self.parsed);
        self.parsed = 0;
        self.documents.clear();
    }
}

impl NonblockingConnection for MongodbNonblocking {
    fn prepare(&mut self, statement: &str) -> Result<PreparedStatement> {
        Ok(self.prepared.insert(Template::read(statement, &self.channel.endpoint.database)?))
    }

    fn send(&mut self, prepared: &PreparedStatement, parameters: &[Parameter<'_>]) -> Result<()> {
        let template = self.prepared.get(prepared)?;
        self.channel.send(|out| template.write(parameters, out))?;
        self.current = Some(prepared.clone());
        Ok(())
    }

    fn receive(&mut self, wait: bool, sink: &mut dyn RowSink) -> Result<Option<StatementStats>> {
        let template = self.prepared.get(self.current.as_ref().ok_or_else(no_request_pending)?)?;
        let channel = &mut self.channel;
        let report = match channel.complete(wait, &template.database) {
            Ok(false) => return Ok(None),
            Ok(true) => {
                let mapping = template.rows.as_deref();
                let mut report = begin(mapping, sink).map(|()| StatementStats::default());
                for (index, document) in channel.documents.iter().enumerate() {
                    let answer = Bson::from_checked(&channel.inbox.bytes()[document.clone()]);
                    report = report.and_then(|report| {
                        hand_over(answer, mapping, &mut self.text, sink)?;
                        Ok(if index == 0 { reported(answer) } else { report })
                    });
                }
                report
            }
            Err(error) => Err(error),
        };
        channel.clear();
        self.current = None;
        report.map(Some)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.channel.socket.as_fd())
    }

    fn close(self: Box<Self>) {}
}
