//! Login, and requests that prepare statements.

use std::io::{self, ErrorKind};

use jsonathlon_driver_api::driver::Result;
use jsonathlon_driver_api::endpoint::{ConnectFailure, Endpoint};

use super::message::{ErrorResponse, Reader, at, message, startup, text};
use crate::scram::Scram;
use crate::socket::{Inbox, Socket};

const MECHANISM: &str = "SCRAM-SHA-256";
const CANNOT_CONNECT_NOW: &str = "57P03";

type StartupResult<T> = std::result::Result<T, ConnectFailure>;

/// Logs in. `None` if the server requires an authentication method that is not supported here.
pub(in super::super) fn login(endpoint: &Endpoint) -> StartupResult<Option<Socket>> {
    let socket = Socket::connect(endpoint, endpoint.step_timeout()).map_err(yet)?;
    socket.wait(Some(endpoint.step_timeout())).map_err(yet)?;
    let mut session = Session { socket, inbox: Inbox::default() };
    session.socket.send(&startup(&endpoint.user, &endpoint.database)).map_err(yet)?;
    let mut scram = None;
    loop {
        let (kind, body) = session.next()?;
        match kind {
            b'Z' => break,
            b'R' => {
                let mut reader = Reader(&body);
                match reader.u32().map_err(ever)? {
                    0 => {}
                    // Clear text password, which is the method that the server has chosen for this user.
                    3 => session.answer(|out| text(&endpoint.password.0, out))?,
                    10 if offers(reader) => {
                        let begun = Scram::new(&endpoint.user, &endpoint.password.0).map_err(yet)?;
                        let first = begun.first();
                        scram = Some(begun);
                        session.answer(|out| {
                            text(MECHANISM, out);
                            out.extend_from_slice(&(first.len() as u32).to_be_bytes());
                            out.extend_from_slice(first.as_bytes());
                        })?;
                    }
                    step @ (11 | 12) => {
                        let server = std::str::from_utf8(reader.0).map_err(ever)?;
                        let Some(scram) = &mut scram else { return Err(ever("an answer to nothing")) };
                        if step == 12 {
                            scram.verify(server).map_err(ever)?;
                        } else {
                            let last = scram.answer(server).map_err(ever)?;
                            session.answer(|out| out.extend_from_slice(last.as_bytes()))?;
                        }
                    }
                    _ => return Ok(None),
                }
            }
            b'E' => {
                let said = ErrorResponse::read(&body).map_err(ever)?;
                return Err(if said.state == CANNOT_CONNECT_NOW {
                    ConnectFailure::Transient(said.words)
                } else {
                    ever(said.words)
                });
            }
            _ => {}
        }
    }
    session.socket.wait(None).map_err(yet)?;
    Ok(Some(session.socket))
}

fn yet(error: io::Error) -> ConnectFailure {
    ConnectFailure::Transient(error.to_string())
}

fn ever(why: impl std::fmt::Display) -> ConnectFailure {
    ConnectFailure::Permanent(format!("the server refused the session: {why}"))
}

/// Returns `true` if the supported mechanism is among those that the server offers.
fn offers(mut names: Reader<'_>) -> bool {
    loop {
        match names.text() {
            Ok(name) if name == MECHANISM => return true,
            Ok("") | Err(_) => return false,
            Ok(_) => {}
        }
    }
}

struct Session {
    socket: Socket,
    inbox: Inbox,
}

impl Session {
    fn next(&mut self) -> StartupResult<(u8, Vec<u8>)> {
        loop {
            if let Some((kind, body, end)) = at(self.inbox.bytes(), 0).map_err(ever)? {
                let body = body.to_vec();
                self.inbox.take(end);
                return Ok((kind, body));
            }
            self.inbox.fill(&self.socket, true).map_err(|error| match error.kind() {
                ErrorKind::WouldBlock => ConnectFailure::Transient("no answer to the login".to_owned()),
                _ => yet(error),
            })?;
        }
    }

    fn answer(&self, fill: impl FnOnce(&mut Vec<u8>)) -> StartupResult<()> {
        let mut out = Vec::new();
        message(b'p', &mut out, fill);
        self.socket.send(&out).map_err(yet)
    }
}

/// Encodes a statement of the simple query protocol.
pub(in super::super) fn query(statement: &str) -> Vec<u8> {
    let mut out = Vec::new();
    message(b'Q', &mut out, |out| text(statement, out));
    out
}

/// Encodes a request that prepares a statement under a name and asks for its parameters.
pub(in super::super) fn prepare(name: &str, statement: &str) -> Vec<u8> {
    let mut out = Vec::new();
    super::message::parse(name, statement, &mut out);
    message(b'D', &mut out, |out| {
        out.push(b'S');
        text(name, out);
    });
    out.extend_from_slice(super::message::SYNC);
    out
}

/// Returns the number of parameters in the server's description of a statement.
pub(in super::super) fn parameters(answer: &[u8]) -> Result<usize> {
    let mut next = 0;
    while let Some((kind, body, end)) = at(answer, next)? {
        if kind == b't' {
            return Reader(body).u16();
        }
        next = end;
    }
    Err(super::message::malformed())
}
