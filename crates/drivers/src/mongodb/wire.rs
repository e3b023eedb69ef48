//! Messages of the protocol: OP_MSG, the only kind that servers since 3.6 need.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use std::time::Duration;

use jsonathlon_driver_api::endpoint::Endpoint;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};

use crate::socket::{Socket, dial};
use crate::tls;

const OP_MSG: i32 = 2013;
const HEADER: usize = 16;
/// Plausible lengths of a reply in bytes. A reply holds one document of at most 16 MiB and its envelope.
const LENGTHS: RangeInclusive<usize> = HEADER + 5..=64 << 20;
/// Flag of a message with a checksum after its sections.
const CHECKSUM: u32 = 1;

/// Plain or TLS byte stream.
#[derive(Debug)]
enum Stream {
    Plain(Socket),
    Encrypted(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(into),
            Self::Encrypted(stream) => stream.read(into),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Encrypted(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Encrypted(stream) => stream.flush(),
        }
    }
}

/// Blocking connection, which carries one request at a time.
#[derive(Debug)]
pub(super) struct Wire {
    stream: Stream,
    request: i32,
    /// Buffer with the last reply.
    reply: Vec<u8>,
}

/// Documents that are sent beside the body of a command: the name of their list, and their BSON.
pub(super) struct Documents<'a> {
    pub(super) list: &'a str,
    pub(super) bytes: &'a [u8],
}

impl Wire {
    pub(super) fn connect(endpoint: &Endpoint, limit: Duration) -> io::Result<Self> {
        let stream = match &endpoint.tls {
            Some(encrypted) if endpoint.socket.is_none() => {
                let config = tls::client(encrypted).map_err(io::Error::other)?;
                let name = ServerName::try_from(endpoint.host.clone()).map_err(io::Error::other)?;
                let connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
                Stream::Encrypted(Box::new(StreamOwned::new(connection, dial(endpoint, limit)?)))
            }
            _ => Stream::Plain(Socket::connect(endpoint, limit)?),
        };
        Ok(Self { stream, request: 0, reply: Vec::new() })
    }

    /// Sets the timeout of a reply. `None` for no timeout, which is the default.
    pub(super) fn wait(&self, limit: Option<Duration>) -> io::Result<()> {
        match &self.stream {
            Stream::Plain(stream) => stream.wait(limit),
            Stream::Encrypted(stream) => stream.sock.set_read_timeout(limit),
        }
    }

    pub(super) fn send(&mut self, body: &[u8], documents: Option<&Documents<'_>>) -> io::Result<()> {
        self.request = self.request.wrapping_add(1);
        let mut head = Vec::with_capacity(HEADER + 5 + body.len() + 64);
        begin(self.request, &mut head);
        head.extend_from_slice(body);
        let mut rest: &[u8] = &[];
        if let Some(Documents { list, bytes }) = documents {
            // Section of kind 1: a sequence of documents.
            head.push(1);
            head.extend_from_slice(&length(4 + list.len() + 1 + bytes.len())?);
            head.extend_from_slice(list.as_bytes());
            head.push(0);
            rest = bytes;
        }
        let whole = length(head.len() + rest.len())?;
        head[..4].copy_from_slice(&whole);
        self.stream.write_all(&head)?;
        self.stream.write_all(rest)?;
        self.stream.flush()
    }

    /// Reads the reply to the last request and returns its document.
    pub(super) fn receive(&mut self) -> io::Result<&[u8]> {
        self.reply.resize(HEADER, 0);
        self.stream.read_exact(&mut self.reply)?;
        let length = usize::try_from(word(&self.reply, 0)).unwrap_or(0);
        if !LENGTHS.contains(&length) {
            return Err(unreadable("a reply is out of protocol"));
        }
        self.reply.resize(length, 0);
        self.stream.read_exact(&mut self.reply[HEADER..])?;
        match reply(&self.reply, self.request)? {
            Some((document, _)) => Ok(&self.reply[document]),
            None => Err(unreadable("a reply is too short")),
        }
    }

    /// Returns the socket, or the connection itself if it uses TLS.
    pub(super) fn into_socket(self) -> Result<Socket, Box<Self>> {
        match self.stream {
            Stream::Plain(socket) => Ok(socket),
            stream @ Stream::Encrypted(_) => Err(Box::new(Self { stream, ..self })),
        }
    }
}

/// Begins a request whose body follows. The caller must fill in the length in the first four bytes.
pub(super) fn begin(request: i32, out: &mut Vec<u8>) {
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&request.to_le_bytes());
    out.extend_from_slice(&0_i32.to_le_bytes());
    out.extend_from_slice(&OP_MSG.to_le_bytes());
    // No flags, and a section of kind 0: a single document.
    out.extend_from_slice(&[0; 5]);
}

/// Returns the range of the document in the reply to `request` at the beginning of `bytes`, and the end of
/// that reply. `None` if it has not arrived completely.
pub(super) fn reply(bytes: &[u8], request: i32) -> io::Result<Option<(Range<usize>, usize)>> {
    if bytes.len() < HEADER + 5 {
        return Ok(None);
    }
    let length = usize::try_from(word(bytes, 0)).unwrap_or(0);
    let fits = LENGTHS.contains(&length);
    if !fits || word(bytes, 8) != request || word(bytes, 12) != OP_MSG || bytes[HEADER + 4] != 0 {
        return Err(unreadable("a reply is out of protocol"));
    }
    let checksum = if word(bytes, HEADER).cast_unsigned() & CHECKSUM == 0 { 0 } else { 4 };
    let end = length - checksum;
    if end < HEADER + 5 {
        return Err(unreadable("a reply is too short"));
    }
    Ok((bytes.len() >= length).then_some((HEADER + 5..end, length)))
}

/// Reads a little-endian integer at `at`. `bytes` must contain its four bytes.
fn word(bytes: &[u8], at: usize) -> i32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    i32::from_le_bytes(word)
}

fn unreadable(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

pub(super) fn length(bytes: usize) -> io::Result<[u8; 4]> {
    let length = i32::try_from(bytes).map_err(|_| unreadable("a request of 2 GiB or more"))?;
    Ok(length.to_le_bytes())
}
