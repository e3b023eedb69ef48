//! Messages of the protocol: OP_MSG, which is all that servers since 3.6 need.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use std::time::Duration;

use jsonathlon_connection::endpoint::Endpoint;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};

use crate::socket::{Socket, dial};
use crate::tls;

const OP_MSG: i32 = 2013;
const HEADER: usize = 16;
/// A reply holds one document of at most 16 MiB and what surrounds it; one of several times that is none.
const LENGTHS: RangeInclusive<usize> = HEADER + 5..=64 << 20;
/// A flag that says that a checksum follows the sections.
const CHECKSUM: u32 = 1;

/// What carries the bytes.
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

/// A connection. One request is under way at a time.
#[derive(Debug)]
pub(super) struct Wire {
    stream: Stream,
    request: i32,
    /// The last reply.
    reply: Vec<u8>,
}

/// Documents beside the body of a request: the list of the command that they are, and their bytes.
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

    /// How long a reply is waited for; without an end unless told otherwise.
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
            // A section that is a sequence of documents.
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

    /// The document that answers the last request.
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

    /// What carries the bytes, unless they are encrypted.
    pub(super) fn into_socket(self) -> Result<Socket, Box<Self>> {
        match self.stream {
            Stream::Plain(socket) => Ok(socket),
            stream @ Stream::Encrypted(_) => Err(Box::new(Self { stream, ..self })),
        }
    }
}

/// Begins a request whose body follows; its length stands in the first four bytes.
pub(super) fn begin(request: i32, out: &mut Vec<u8>) {
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&request.to_le_bytes());
    out.extend_from_slice(&0_i32.to_le_bytes());
    out.extend_from_slice(&OP_MSG.to_le_bytes());
    // Flags, and a section that is one document.
    out.extend_from_slice(&[0; 5]);
}

/// Where the document lies in the reply to `request` that these bytes begin with, and where that ends; none while it has
/// not all come.
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

/// The number at `at`, which is there.
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
