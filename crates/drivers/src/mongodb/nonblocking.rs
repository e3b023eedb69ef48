//! Nonblocking MongoDB connection: requests and replies in reusable buffers, rows decoded in place.

use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};

use jsonathlon_driver_api::driver::{Connection, DriverError, Result, SessionOptions};
use jsonathlon_driver_api::endpoint::Endpoint;
use jsonathlon_driver_api::nonblocking::{BlockingAdapter, NonblockingConnection, no_request_pending};
use jsonathlon_driver_api::prepared::{Parameter, PreparedStatement, StatementTable};
use jsonathlon_driver_api::rows::{RowSink, StatementStats};

use super::bson::Bson;
use super::request::Template;
use super::{Mongodb, begin, cursor_left, hand_over, more_of, reported, well, wire};
use crate::socket::{Inbox, Socket};

/// Connection of one client without TLS. One with TLS blocks, see [`BlockingAdapter`].
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
    /// Documents of the answer received so far (one per batch of a cursor); `seen` is the end of the last
    /// one.
    parts: Vec<Range<usize>>,
    seen: usize,
}

/// Logs in to the server of `open` and executes its statements. A TLS connection blocks for its answers.
///
/// # Errors
/// As for opening a connection, and the server's error for a statement.
pub fn lane(open: &SessionOptions) -> Result<Box<dyn NonblockingConnection>> {
    let mut session = Mongodb::open(open)?;
    for statement in &open.statements {
        session.collect(statement)?;
    }
    let Mongodb { wire, endpoint, limits, connections, prepared } = session;
    let socket = match wire.into_socket() {
        Ok(socket) => socket,
        Err(wire) => {
            let session = Mongodb { wire: *wire, endpoint, limits, connections, prepared };
            return Ok(Box::new(BlockingAdapter::new(Box::new(session), true)));
        }
    };
    let (inbox, outbox, parts) = (Inbox::default(), Vec::new(), Vec::new());
    let channel = Channel { socket, endpoint, inbox, outbox, request: 0, parts, seen: 0 };
    Ok(Box::new(MongodbNonblocking {
        channel,
        prepared: StatementTable::default(),
        current: None,
        text: String::new(),
    }))
}

impl Channel {
    fn lost(&self, error: &io::Error) -> DriverError {
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
        self.socket.send(&self.outbox).map_err(|error| self.lost(&error))
    }

    /// Reads the answer and fetches further batches of its cursor. Returns `false` if the answer is
    /// incomplete, which is possible only without `wait`.
    fn complete(&mut self, wait: bool, database: &str) -> Result<bool> {
        loop {
            let bytes = &self.inbox.bytes()[self.seen..];
            let reply = wire::reply(bytes, self.request).map_err(|error| self.lost(&error))?;
            let Some((document, end)) = reply else {
                match self.inbox.fill(&self.socket, wait) {
                    Ok(true) => continue,
                    Ok(false) => return Ok(false),
                    Err(error) => return Err(self.lost(&error)),
                }
            };
            let answer = Bson::read(&bytes[document.clone()]).and_then(well);
            let left = answer.map(cursor_left);
            let more = left
                .and_then(|left| left.map(|(id, collection)| more_of(id, collection, database)).transpose());
            self.parts.push(self.seen + document.start..self.seen + document.end);
            self.seen += end;
            match more? {
                None => return Ok(true),
                Some(body) => self.send(|out| {
                    out.extend_from_slice(&body);
                    Ok(())
                })?,
            }
        }
    }

    fn forget(&mut self) {
        self.inbox.take(self.seen);
        self.seen = 0;
        self.parts.clear();
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
                for (index, part) in channel.parts.iter().enumerate() {
                    let answer = Bson::of_read(&channel.inbox.bytes()[part.clone()]);
                    report = report.and_then(|report| {
                        hand_over(answer, mapping, &mut self.text, sink)?;
                        Ok(if index == 0 { reported(answer) } else { report })
                    });
                }
                report
            }
            Err(error) => Err(error),
        };
        channel.forget();
        self.current = None;
        report.map(Some)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.channel.socket.as_fd())
    }

    fn close(self: Box<Self>) {}
}
