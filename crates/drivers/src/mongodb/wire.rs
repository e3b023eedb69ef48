//! Messages of the protocol: OP_MSG, which is all that servers since 3.6 need.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};

use crate::endpoint::Endpoint;
use crate::tls;

const OP_MSG: i32 = 2013;
const HEADER: usize = 16;
/// A reply holds one document of at most 16 MiB and what surrounds it; one of several times that is none.
const LONGEST_REPLY: usize = 64 << 20;
/// A flag that says that a checksum follows the sections.
const CHECKSUM: u32 = 1;

/// What carries the bytes.
#[derive(Debug)]
enum Stream {
    Tcp(TcpStream),
    Encrypted(Box<StreamOwned<ClientConnection, TcpStream>>),
    Unix(UnixStream),
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(into),
            Self::Encrypted(stream) => stream.read(into),
            Self::Unix(stream) => stream.read(into),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Encrypted(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.flush(),
            Self::Encrypted(stream) => stream.flush(),
            Self::Unix(stream) => stream.flush(),
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
        let stream = match &endpoint.socket {
            Some(path) => Stream::Unix(UnixStream::connect(path)?),
            None => {
                let stream = dial(&endpoint.host, endpoint.port, limit)?;
                stream.set_nodelay(true)?;
                match &endpoint.tls {
                    None => Stream::Tcp(stream),
                    Some(encrypted) => {
                        let config = tls::client(encrypted).map_err(io::Error::other)?;
                        let name = ServerName::try_from(endpoint.host.clone()).map_err(io::Error::other)?;
                        let connection =
                            ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
                        Stream::Encrypted(Box::new(StreamOwned::new(connection, stream)))
                    }
                }
            }
        };
        Ok(Self { stream, request: 0, reply: Vec::new() })
    }

    /// How long a reply is waited for; without an end unless told otherwise.
    pub(super) fn wait(&self, limit: Option<Duration>) -> io::Result<()> {
        match &self.stream {
            Stream::Tcp(stream) => stream.set_read_timeout(limit),
            Stream::Encrypted(stream) => stream.sock.set_read_timeout(limit),
            Stream::Unix(stream) => stream.set_read_timeout(limit),
        }
    }

    pub(super) fn send(&mut self, body: &[u8], documents: Option<&Documents<'_>>) -> io::Result<()> {
        self.request = self.request.wrapping_add(1);
        let mut head = Vec::with_capacity(HEADER + 5 + body.len() + 64);
        head.extend_from_slice(&[0; 4]);
        head.extend_from_slice(&self.request.to_le_bytes());
        head.extend_from_slice(&0_i32.to_le_bytes());
        head.extend_from_slice(&OP_MSG.to_le_bytes());
        // Flags, and a section that is one document.
        head.extend_from_slice(&[0; 5]);
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
        let mut header = [0; HEADER + 5];
        self.stream.read_exact(&mut header)?;
        let word = |at: usize| {
            let mut bytes = [0; 4];
            bytes.copy_from_slice(&header[at..at + 4]);
            i32::from_le_bytes(bytes)
        };
        let length = usize::try_from(word(0)).unwrap_or(0);
        let fits = (header.len()..=LONGEST_REPLY).contains(&length);
        if !fits || word(8) != self.request || word(12) != OP_MSG || header[HEADER + 4] != 0 {
            return Err(unreadable("a reply is out of protocol"));
        }
        self.reply.resize(length - header.len(), 0);
        self.stream.read_exact(&mut self.reply)?;
        let checksum = if word(HEADER).cast_unsigned() & CHECKSUM == 0 { 0 } else { 4 };
        let end = self.reply.len().checked_sub(checksum);
        end.and_then(|end| self.reply.get(..end)).ok_or_else(|| unreadable("a reply is too short"))
    }
}

/// The first of a host's addresses that answers.
fn dial(host: &str, port: u16, limit: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, format!("{host} has no address"));
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, limit) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn unreadable(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn length(bytes: usize) -> io::Result<[u8; 4]> {
    let length = i32::try_from(bytes).map_err(|_| unreadable("a request of 2 GiB or more"))?;
    Ok(length.to_le_bytes())
}
