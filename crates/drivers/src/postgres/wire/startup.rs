//! Login, and requests that prepare statements.

use std::io::Read;

use jsonathlon_driver_api::driver::Result;
use jsonathlon_driver_api::endpoint::{ConnectFailure, Endpoint};
use md5::{Digest, Md5};

use super::message::{ErrorResponse, Reader, message, parse_at, startup, text};
use crate::scram::Scram;
use crate::socket::{Inbox, Socket, transient};

const MECHANISM: &str = "SCRAM-SHA-256";
const CANNOT_CONNECT_NOW: &str = "57P03";
/// Message that asks the server whether it encrypts: its length, and a number in place of a version.
const ENCRYPTION_REQUEST: &[u8] = &[0, 0, 0, 8, 0x04, 0xD2, 0x16, 0x2F];

type StartupResult<T> = std::result::Result<T, ConnectFailure>;

/// Connects, encrypts if the endpoint asks for it, and logs in.
pub(in super::super) fn login(endpoint: &Endpoint) -> StartupResult<Socket> {
    let socket = Socket::connect(endpoint, endpoint.step_timeout()).map_err(transient)?;
    socket.wait(Some(endpoint.step_timeout())).map_err(transient)?;
    let mut session = Session { socket: encrypt(socket, endpoint)?, inbox: Inbox::default() };
    session.socket.send(&startup(&endpoint.user, &endpoint.database)).map_err(transient)?;
    let mut scram = None;
    loop {
        let (kind, body) = session.next_message()?;
        match kind {
            b'Z' => break,
            b'R' => session.authenticate(&body, endpoint, &mut scram)?,
            b'E' => {
                let error = ErrorResponse::read(&body).map_err(permanent)?;
                return Err(if error.state == CANNOT_CONNECT_NOW {
                    ConnectFailure::Transient(error.message)
                } else {
                    permanent(error.message)
                });
            }
            _ => {}
        }
    }
    session.socket.wait(None).map_err(transient)?;
    Ok(session.socket)
}

/// Encrypts the connection if the endpoint asks for it.
fn encrypt(mut socket: Socket, endpoint: &Endpoint) -> StartupResult<Socket> {
    if endpoint.tls.is_none() {
        return Ok(socket);
    }
    socket.send(ENCRYPTION_REQUEST).map_err(transient)?;
    // No more than this byte may be read: what follows it belongs to the handshake.
    let mut answer = [0];
    socket.read_exact(&mut answer).map_err(transient)?;
    match answer {
        [b'S'] => socket.encrypt(endpoint),
        [b'N'] => Err(ConnectFailure::Permanent(
            "the server does not support TLS: ?tls=off, if that is meant".to_owned(),
        )),
        _ => Err(permanent("it does not know what encryption is")),
    }
}

fn permanent(reason: impl std::fmt::Display) -> ConnectFailure {
    ConnectFailure::Permanent(format!("the server refused the session: {reason}"))
}

/// Error for a server that asks for a login which is not supported.
fn unsupported(login: &str) -> ConnectFailure {
    permanent(format!(
        "it asks for a login by {login}; supported are {MECHANISM}, md5, password and certificate, which \
         pg_hba.conf sets"
    ))
}

/// Answers a request for an md5 login: a hash of the server's salt and of what the server itself has stored.
fn md5_answer(user: &str, password: &str, salt: &[u8]) -> String {
    let stored_hash = hex(&Md5::new().chain_update(password).chain_update(user).finalize());
    format!("md5{}", hex(&Md5::new().chain_update(stored_hash).chain_update(salt).finalize()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns `true` if the supported mechanism is among those that the server offers.
fn offers(names: Reader<'_>) -> bool {
    mechanisms(names).contains(&MECHANISM)
}

/// Returns the names of the mechanisms that the server offers.
fn mechanisms(mut names: Reader<'_>) -> Vec<&str> {
    std::iter::from_fn(|| names.text().ok().filter(|name| !name.is_empty())).collect()
}

struct Session {
    socket: Socket,
    inbox: Inbox,
}

impl Session {
    /// Takes the next step of the login that the server has chosen for this user.
    fn authenticate(
        &mut self,
        body: &[u8],
        endpoint: &Endpoint,
        scram: &mut Option<Scram>,
    ) -> StartupResult<()> {
        let (user, password) = (&endpoint.user, &endpoint.password.0);
        let mut reader = Reader(body);
        match reader.u32().map_err(permanent)? {
            0 => Ok(()),
            3 => self.answer(|out| text(password, out)),
            5 => self.answer(|out| text(&md5_answer(user, password, reader.0), out)),
            10 if offers(reader) => {
                let new_scram = Scram::new(user, password).map_err(transient)?;
                let first_message = new_scram.first();
                *scram = Some(new_scram);
                self.answer(|out| {
                    text(MECHANISM, out);
                    out.extend_from_slice(&(first_message.len() as u32).to_be_bytes());
                    out.extend_from_slice(first_message.as_bytes());
                })
            }
            step @ (11 | 12) => {
                let server_message = std::str::from_utf8(reader.0).map_err(permanent)?;
                let Some(scram) = scram else { return Err(permanent("an answer to nothing")) };
                if step == 12 {
                    return scram.verify(server_message).map_err(permanent);
                }
                let last_message = scram.answer(server_message).map_err(permanent)?;
                self.answer(|out| out.extend_from_slice(last_message.as_bytes()))
            }
            2 => Err(unsupported("Kerberos V5")),
            6 => Err(unsupported("the credentials of a socket")),
            7..=9 => Err(unsupported("GSSAPI or SSPI")),
            10 => Err(unsupported(&format!("the SASL mechanism {}", mechanisms(reader).join(" or ")))),
            method => Err(unsupported(&format!("method {method}"))),
        }
    }

    fn next_message(&mut self) -> StartupResult<(u8, Vec<u8>)> {
        loop {
            if let Some((kind, body, end)) = parse_at(self.inbox.bytes(), 0).map_err(permanent)? {
                let body = body.to_vec();
                self.inbox.take(end);
                return Ok((kind, body));
            }
            self.inbox.fill(&mut self.socket, true).map_err(transient)?;
        }
    }

    fn answer(&mut self, fill: impl FnOnce(&mut Vec<u8>)) -> StartupResult<()> {
        let mut out = Vec::new();
        message(b'p', &mut out, fill);
        self.socket.send(&out).map_err(transient)
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

/// Encodes a request that releases a prepared statement.
pub(in super::super) fn release(name: &str) -> Vec<u8> {
    let mut out = Vec::new();
    message(b'C', &mut out, |out| {
        out.push(b'S');
        text(name, out);
    });
    out.extend_from_slice(super::message::SYNC);
    out
}

/// Returns the number of parameters in the server's description of a statement.
pub(in super::super) fn parameters(answer: &[u8]) -> Result<usize> {
    let mut position = 0;
    while let Some((kind, body, end)) = parse_at(answer, position)? {
        if kind == b't' {
            return Reader(body).u16();
        }
        position = end;
    }
    Err(super::message::malformed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_md5_login_answers_as_the_manual_says() {
        // concat('md5', md5(concat(md5(concat(password, username)), random-salt))), by md5sum.
        assert_eq!(md5_answer("me", "secret", &[1, 2, 3, 4]), "md58322d584bf59f0253d58346307bb6ba3");
    }

    #[test]
    fn mechanisms_are_a_list_that_an_empty_name_ends() {
        assert_eq!(mechanisms(Reader(b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0")).len(), 2);
        assert!(offers(Reader(b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0")));
        assert!(!offers(Reader(b"OAUTHBEARER\0\0")) && !offers(Reader(b"\0")));
    }
}
