//! Login: greeting, encryption, and the exchange by which the server authenticates the user.

use jsonathlon_driver_api::driver::Result;
use jsonathlon_driver_api::endpoint::{ConnectFailure, Endpoint};

use super::packet::{self, Reader, ServerError, close, open, text};
use super::password::{self, Plugin};
use super::{GONE, SETTINGS, ever};
use crate::socket::{Inbox, Socket, transient};

const LONG_PASSWORD: u32 = 1;
const LONG_FLAG: u32 = 1 << 2;
const WITH_DATABASE: u32 = 1 << 3;
const LOCAL_FILES: u32 = 1 << 7;
const PROTOCOL_41: u32 = 1 << 9;
const ENCRYPTED: u32 = 1 << 11;
const TRANSACTIONS: u32 = 1 << 13;
const SECURE: u32 = 1 << 15;
/// Capability flags: several statements in one text, and several answers to it.
const MULTIPLE: u32 = 1 << 16 | 1 << 17 | 1 << 18;
const PLUGINS: u32 = 1 << 19;
/// Capability flag: rows end with an OK packet instead of an EOF packet.
const WITHOUT_EOF: u32 = 1 << 24;
/// Flags that are set if the server knows them.
const REQUESTED_FLAGS: u32 =
    LONG_PASSWORD | LONG_FLAG | PROTOCOL_41 | TRANSACTIONS | SECURE | MULTIPLE | PLUGINS | WITHOUT_EOF;
/// Character set utf8mb4_general_ci, used until `SET NAMES` is executed.
const CHARSET: u8 = 45;
/// Maximum packet length in bytes that the client states, which servers do not use.
const LONGEST_PACKET: u32 = 1 << 30;

type LoginResult<T> = std::result::Result<T, ConnectFailure>;

/// Connection after a successful login.
pub(super) struct Session {
    pub(super) socket: Socket,
    pub(super) without_eof: bool,
}

/// Logs in and sets the session's settings, which also shows that the server executes statements. With
/// `sends_files` the server may ask for the content of a file.
pub(super) fn login(endpoint: &Endpoint, sends_files: bool) -> LoginResult<Session> {
    let socket = Socket::connect(endpoint, endpoint.step_timeout()).map_err(transient)?;
    socket.wait(Some(endpoint.step_timeout())).map_err(transient)?;
    let mut handshake = Handshake { socket, inbox: Inbox::default(), sequence: 0 };
    let greeting = greeting(&handshake.next_packet()?).map_err(ever)?;
    let mut flags = REQUESTED_FLAGS;
    if !endpoint.database.is_empty() {
        flags |= WITH_DATABASE;
    }
    if sends_files {
        flags |= LOCAL_FILES;
    }
    flags &= greeting.capabilities;
    if endpoint.tls.is_some() {
        if greeting.capabilities & ENCRYPTED == 0 {
            let reason = "the server does not support TLS: ?tls=off, if that is meant";
            return Err(ConnectFailure::Permanent(reason.to_owned()));
        }
        flags |= ENCRYPTED;
        handshake.send(|out| out.extend_from_slice(&head(flags)))?;
        handshake.socket = handshake.socket.encrypt(endpoint)?;
    }
    handshake.authenticate(&greeting, flags, endpoint)?;
    handshake.apply_settings()?;
    handshake.socket.wait(None).map_err(transient)?;
    Ok(Session { socket: handshake.socket, without_eof: flags & WITHOUT_EOF != 0 })
}

/// Encodes what the answer to a greeting begins with. Alone it asks for encryption.
fn head(flags: u32) -> [u8; 32] {
    let mut head = [0; 32];
    head[..4].copy_from_slice(&flags.to_le_bytes());
    head[4..8].copy_from_slice(&LONGEST_PACKET.to_le_bytes());
    head[8] = CHARSET;
    head
}

struct Handshake {
    socket: Socket,
    inbox: Inbox,
    /// Sequence number of the next packet that is sent.
    sequence: u8,
}

impl Handshake {
    /// Reads the next packet, which is no error.
    fn next_packet(&mut self) -> LoginResult<Vec<u8>> {
        loop {
            if let Some((packet, end)) = packet::message(self.inbox.bytes(), 0) {
                let packet = packet.into_owned();
                self.sequence = self.inbox.bytes()[3].wrapping_add(1);
                self.inbox.take(end);
                if packet.first() == Some(&0xFF) {
                    let ServerError { code, message, .. } = ServerError::read(&packet).map_err(ever)?;
                    return Err(if GONE.contains(&code) {
                        ConnectFailure::Transient(message)
                    } else {
                        ever(message)
                    });
                }
                return Ok(packet);
            }
            self.inbox.fill(&mut self.socket, true).map_err(transient)?;
        }
    }

    fn send(&mut self, fill: impl FnOnce(&mut Vec<u8>)) -> LoginResult<()> {
        let mut out = Vec::new();
        let start = open(self.sequence, &mut out);
        fill(&mut out);
        close(start, &mut out);
        self.sequence = self.sequence.wrapping_add(1);
        self.socket.send(&out).map_err(transient)
    }

    /// Answers the greeting with the user and the encoded password, and exchanges packets until the server
    /// accepts the user.
    fn authenticate(&mut self, greeting: &Greeting, flags: u32, endpoint: &Endpoint) -> LoginResult<()> {
        let privacy = self.socket.privacy();
        let password = &endpoint.password.0;
        // For a plugin that is not supported the usual one is taken: the server says which the user needs.
        let mut plugin = Plugin::from_name(&greeting.plugin).unwrap_or(Plugin::NativePassword);
        let mut nonce = greeting.nonce.clone();
        let secret = plugin.secret(&nonce, password, privacy)?;
        self.send(|out| {
            out.extend_from_slice(&head(flags));
            out.extend_from_slice(endpoint.user.as_bytes());
            out.push(0);
            text(&secret, out);
            if flags & WITH_DATABASE != 0 {
                out.extend_from_slice(endpoint.database.as_bytes());
                out.push(0);
            }
            if flags & PLUGINS != 0 {
                out.extend_from_slice(plugin.name().as_bytes());
                out.push(0);
            }
        })?;
        loop {
            let packet = self.next_packet()?;
            match packet.as_slice() {
                [0, ..] => return Ok(()),
                [0xFE] => return Err(ever(password::BEFORE_4_1)),
                // The server requests another plugin, with its own nonce.
                [0xFE, rest @ ..] => {
                    let mut reader = Reader(rest);
                    let name = reader.until_zero();
                    plugin = Plugin::from_name(name).ok_or_else(|| password::unsupported(name))?;
                    nonce = reader.until_zero().to_vec();
                    let secret = plugin.secret(&nonce, password, privacy)?;
                    self.send(|out| out.extend_from_slice(&secret))?;
                }
                [1, data @ ..] => {
                    if let Some(answer) = plugin.answer(data, &nonce, password, privacy)? {
                        self.send(|out| out.extend_from_slice(&answer))?;
                    }
                }
                _ => return Err(ever(packet::malformed())),
            }
        }
    }

    /// Sends the statements of [`SETTINGS`] one by one.
    fn apply_settings(&mut self) -> LoginResult<()> {
        for (index, setting) in SETTINGS.into_iter().enumerate() {
            self.sequence = 0;
            self.send(|out| {
                out.push(packet::QUERY);
                out.extend_from_slice(setting.as_bytes());
            })?;
            match self.next_packet() {
                Ok(_) => {}
                // A server that does not know one of the other settings does not need it.
                Err(ConnectFailure::Permanent(_)) if index > 0 => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Fields of a server's greeting that the login needs.
#[derive(Debug)]
struct Greeting {
    capabilities: u32,
    nonce: Vec<u8>,
    plugin: Vec<u8>,
}

fn greeting(packet: &[u8]) -> Result<Greeting> {
    let mut reader = Reader(packet);
    if reader.u8()? != 10 {
        return Err(packet::malformed());
    }
    reader.until_zero();
    reader.u32()?;
    let mut nonce = reader.bytes(8)?.to_vec();
    reader.u8()?;
    let low_flags = reader.u16()?;
    reader.bytes(3)?;
    let capabilities = u32::from(reader.u16()?) << 16 | u32::from(low_flags);
    let length = usize::from(reader.u8()?).saturating_sub(8).max(13);
    reader.bytes(10)?;
    nonce.extend_from_slice(reader.bytes(length.min(reader.0.len()))?.strip_suffix(&[0]).unwrap_or_default());
    nonce.truncate(20);
    Ok(Greeting { capabilities, nonce, plugin: reader.until_zero().to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_holds_capabilities_nonce_and_plugin() {
        let packet = [
            b"\x0a9.7.4\0\x07\0\0\0abcdefgh\0".as_slice(),
            &[0xFF, 0xF7, 45, 2, 0, 0xFF, 0xDF, 21],
            &[0; 10],
            b"ijklmnopqrst\0caching_sha2_password\0",
        ]
        .concat();
        let greeting = greeting(&packet).unwrap();
        assert_eq!(greeting.nonce, b"abcdefghijklmnopqrst");
        assert_eq!(greeting.plugin, b"caching_sha2_password");
        assert_eq!(greeting.capabilities, 0xDFFF_F7FF);
        assert!(super::greeting(&packet[..30]).is_err() && super::greeting(b"\x09").is_err());
    }
}
