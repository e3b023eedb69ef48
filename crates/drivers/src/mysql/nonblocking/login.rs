//! Login of a nonblocking connection.

use std::io;

use jsonathlon_driver_api::driver::Result;
use jsonathlon_driver_api::endpoint::{ConnectFailure, Endpoint};
use mysql_common::scramble::{scramble_native, scramble_sha256};

use super::super::{GONE, SETTINGS, connect};
use super::packet::{self, Reader, close, open, read_error, text};
use crate::socket::{Inbox, Socket};

const LONG_PASSWORD: u32 = 1;
const LONG_FLAG: u32 = 1 << 2;
const WITH_DATABASE: u32 = 1 << 3;
const PROTOCOL_41: u32 = 1 << 9;
const TRANSACTIONS: u32 = 1 << 13;
const SECURE: u32 = 1 << 15;
const PLUGINS: u32 = 1 << 19;
/// Capability flag: rows end with an OK packet instead of an EOF packet.
pub(super) const WITHOUT_EOF: u32 = 1 << 24;
/// Character set utf8mb4_general_ci, used until `SET NAMES` is executed.
const CHARSET: u8 = 45;

type LoginResult<T> = std::result::Result<T, ConnectFailure>;

/// Connection after a successful login.
pub(super) struct Session {
    pub(super) socket: Socket,
    pub(super) without_eof: bool,
}

/// Logs in. `None` if the server requires an authentication method that is not supported here.
pub(super) fn login(endpoint: &Endpoint) -> LoginResult<Option<Session>> {
    if let Some(session) = attempt(endpoint)? {
        return Ok(Some(session));
    }
    // The server may need the password once, encrypted, before it can authenticate this user by a hash. The
    // client library can send it.
    drop(connect(endpoint)?);
    attempt(endpoint)
}

fn yet(error: io::Error) -> ConnectFailure {
    ConnectFailure::Transient(error.to_string())
}

fn ever(why: impl std::fmt::Display) -> ConnectFailure {
    ConnectFailure::Permanent(format!("the server refused the session: {why}"))
}

struct Handshake {
    socket: Socket,
    inbox: Inbox,
}

impl Handshake {
    /// Reads the next packet and its sequence number.
    fn next(&mut self) -> LoginResult<(Vec<u8>, u8)> {
        loop {
            if let Some((packet, end)) = packet::at(self.inbox.bytes(), 0).map_err(ever)? {
                let (packet, sequence) = (packet.to_vec(), self.inbox.bytes()[3]);
                self.inbox.take(end);
                if packet.first() == Some(&0xFF) {
                    let (code, words) = read_error(&packet).map_err(ever)?;
                    return Err(if GONE.contains(&code) {
                        ConnectFailure::Transient(words)
                    } else {
                        ever(words)
                    });
                }
                return Ok((packet, sequence));
            }
            self.inbox.fill(&self.socket, true).map_err(yet)?;
        }
    }

    fn send(&self, sequence: u8, fill: impl FnOnce(&mut Vec<u8>)) -> LoginResult<()> {
        let mut out = Vec::new();
        let start = open(sequence, &mut out);
        fill(&mut out);
        close(start, &mut out).map_err(ever)?;
        self.socket.send(&out).map_err(yet)
    }

    /// Answers the server's greeting with the user and the encoded password.
    fn respond(
        &self,
        sequence: u8,
        greeting: &HandshakePacket,
        secret: &[u8],
        endpoint: &Endpoint,
    ) -> LoginResult<()> {
        let mut flags = LONG_PASSWORD | LONG_FLAG | PROTOCOL_41 | TRANSACTIONS | SECURE | PLUGINS;
        if !endpoint.database.is_empty() {
            flags |= WITH_DATABASE;
        }
        if greeting.can_omit_eof() {
            flags |= WITHOUT_EOF;
        }
        self.send(sequence, |out| {
            out.extend_from_slice(&flags.to_le_bytes());
            out.extend_from_slice(&(1_u32 << 30).to_le_bytes());
            out.push(CHARSET);
            out.extend_from_slice(&[0; 23]);
            out.extend_from_slice(endpoint.user.as_bytes());
            out.push(0);
            text(secret, out);
            if !endpoint.database.is_empty() {
                out.extend_from_slice(endpoint.database.as_bytes());
                out.push(0);
            }
            out.extend_from_slice(&greeting.plugin);
            out.push(0);
        })
    }

    /// Exchanges packets until the server accepts the user. Returns `false` if it requires a method that is
    /// not supported here.
    fn authenticate(&mut self, password: &str) -> LoginResult<bool> {
        loop {
            let (packet, sequence) = self.next()?;
            match packet.as_slice() {
                [0, ..] => return Ok(true),
                // The server requests another plugin, with its own nonce.
                [0xFE, rest @ ..] => {
                    let mut reader = Reader(rest);
                    let plugin = reader.until_zero();
                    let Some(secret) = scrambled(plugin, reader.until_zero(), password) else {
                        return Ok(false);
                    };
                    self.send(sequence.wrapping_add(1), |out| out.extend_from_slice(&secret))?;
                }
                // Fast authentication succeeded: the server has cached the hash.
                [1, 3] => {}
                // The password may be sent in clear text over a Unix socket, which stays on this machine.
                [1, 4] if matches!(self.socket, Socket::Unix(_)) => {
                    self.send(sequence.wrapping_add(1), |out| {
                        out.extend_from_slice(password.as_bytes());
                        out.push(0);
                    })?;
                }
                _ => return Ok(false),
            }
        }
    }

    /// Sends the statements of [`SETTINGS`] one by one.
    fn apply_settings(&mut self) -> LoginResult<()> {
        for (index, setting) in SETTINGS.into_iter().enumerate() {
            self.send(0, |out| {
                out.push(super::QUERY);
                out.extend_from_slice(setting.as_bytes());
            })?;
            match self.next() {
                Ok(_) => {}
                // A server that does not know one of the other settings does not need it.
                Err(ConnectFailure::Permanent(_)) if index > 0 => {}
                Err(other) => return Err(other),
            }
        }
        Ok(())
    }
}

/// Fields of a server's greeting that the login needs.
struct HandshakePacket {
    capabilities: u32,
    nonce: Vec<u8>,
    plugin: Vec<u8>,
}

impl HandshakePacket {
    /// Returns `true` if the server can omit EOF packets; see [`WITHOUT_EOF`].
    fn can_omit_eof(&self) -> bool {
        self.capabilities & WITHOUT_EOF != 0
    }
}

fn greeting(packet: &[u8]) -> Result<HandshakePacket> {
    let mut reader = Reader(packet);
    if reader.u8()? != 10 {
        return Err(packet::malformed());
    }
    reader.until_zero();
    reader.u32()?;
    let mut nonce = reader.bytes(8)?.to_vec();
    reader.u8()?;
    let low = reader.u16()?;
    reader.bytes(3)?;
    let capabilities = u32::from(reader.u16()?) << 16 | u32::from(low);
    let length = usize::from(reader.u8()?).saturating_sub(8).max(13);
    reader.bytes(10)?;
    nonce.extend_from_slice(reader.bytes(length.min(reader.0.len()))?.strip_suffix(&[0]).unwrap_or_default());
    nonce.truncate(20);
    Ok(HandshakePacket { capabilities, nonce, plugin: reader.until_zero().to_vec() })
}

/// Encodes the password for an authentication plugin. `None` for an unsupported plugin.
fn scrambled(plugin: &[u8], nonce: &[u8], password: &str) -> Option<Vec<u8>> {
    if password.is_empty() {
        return Some(Vec::new());
    }
    match plugin {
        b"mysql_native_password" => scramble_native(nonce, password.as_bytes()).map(Vec::from),
        b"caching_sha2_password" => scramble_sha256(nonce, password.as_bytes()).map(Vec::from),
        _ => None,
    }
}

fn attempt(endpoint: &Endpoint) -> LoginResult<Option<Session>> {
    let socket = Socket::connect(endpoint, endpoint.step_timeout()).map_err(yet)?;
    socket.wait(Some(endpoint.step_timeout())).map_err(yet)?;
    let mut talk = Handshake { socket, inbox: Inbox::default() };
    let (packet, sequence) = talk.next()?;
    let greeting = greeting(&packet).map_err(ever)?;
    let password = &endpoint.password.0;
    let Some(secret) = scrambled(&greeting.plugin, &greeting.nonce, password) else { return Ok(None) };
    talk.respond(sequence.wrapping_add(1), &greeting, &secret, endpoint)?;
    if !talk.authenticate(password)? {
        return Ok(None);
    }
    talk.apply_settings()?;
    talk.socket.wait(None).map_err(yet)?;
    Ok(Some(Session { socket: talk.socket, without_eof: greeting.can_omit_eof() }))
}
