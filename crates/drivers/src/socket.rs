//! Sockets of connections, encrypted or not, and a reusable buffer for received bytes.

use std::io::{self, ErrorKind, IoSlice, Read};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use jsonathlon_driver_api::endpoint::{ConnectFailure, Endpoint};

use crate::socket_calls::{receive_once, send_once, send_parts_once};
use crate::tls::TlsStream;

/// Initial size of a receive buffer in bytes; every read asks for at least half of it.
const INITIAL_SIZE: usize = 16 << 10;
/// Maximum free space in bytes for which a receive buffer is enlarged. Smaller than a core's own cache.
const LARGEST_READ: usize = 256 << 10;

/// Connection to a server.
#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
    Tls(Box<TlsStream>),
}

/// Failure of a login whose exchange with the server was interrupted, which may succeed when tried again.
pub(crate) fn transient(error: io::Error) -> ConnectFailure {
    ConnectFailure::Transient(match error.kind() {
        ErrorKind::WouldBlock => "no answer to the login".to_owned(),
        _ => error.to_string(),
    })
}

/// Who between client and server can read what is sent, which decides how a password is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Privacy {
    /// Everyone on the network can read it.
    Exposed,
    /// It does not leave the machine, but is not encrypted.
    OnThisMachine,
    /// Only client and server can read it.
    Encrypted,
}

impl Socket {
    /// Connects without encryption. `limit` is the timeout for each address of the host.
    pub(crate) fn connect(endpoint: &Endpoint, limit: Duration) -> io::Result<Self> {
        match &endpoint.socket {
            Some(path) => UnixStream::connect(path).map(Self::Unix),
            None => dial(endpoint, limit).map(Self::Tcp),
        }
    }

    /// Encrypts the connection if the endpoint asks for it. The server must be waiting for the handshake, and
    /// nothing that it sent may be in a buffer. A Unix socket, which stays on this machine, remains as it is.
    ///
    /// # Errors
    /// [`ConnectFailure::Permanent`] if the endpoint's certificates or its host name cannot be used, or the
    /// server's certificate is not accepted.
    pub(crate) fn encrypt(self, endpoint: &Endpoint) -> Result<Self, ConnectFailure> {
        match (self, &endpoint.tls) {
            (Self::Tcp(stream), Some(tls)) => {
                Ok(Self::Tls(Box::new(TlsStream::connect(stream, endpoint, tls)?)))
            }
            (other, _) => Ok(other),
        }
    }

    /// Returns who between client and server can read what is sent.
    pub(crate) fn privacy(&self) -> Privacy {
        match self {
            Self::Tcp(_) => Privacy::Exposed,
            Self::Unix(_) => Privacy::OnThisMachine,
            Self::Tls(_) => Privacy::Encrypted,
        }
    }

    /// Sets the timeout of reads. `None` for no timeout, which is the default.
    pub(crate) fn wait(&self, limit: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_read_timeout(limit),
            Self::Unix(stream) => stream.set_read_timeout(limit),
            Self::Tls(encrypted) => encrypted.stream.set_read_timeout(limit),
        }
    }

    /// Sends all bytes, blocking as needed. Cannot deadlock, because servers read a whole request before they
    /// answer.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Tls(encrypted) => encrypted.send(&[bytes]),
            plain => send_plain(plain.as_fd(), bytes),
        }
    }

    /// Sends two parts in order without copying them into one buffer.
    pub(crate) fn send_both(&mut self, head: &[u8], body: &[u8]) -> io::Result<()> {
        if let Self::Tls(encrypted) = self {
            return encrypted.send(&[head, body]);
        }
        let parts = [IoSlice::new(head), IoSlice::new(body)];
        let sent = send_parts_once(self.as_fd(), &parts)?;
        let sent_length = |part: &[u8], before: usize| sent.saturating_sub(before).min(part.len());
        send_plain(self.as_fd(), &head[sent_length(head, 0)..])?;
        send_plain(self.as_fd(), &body[sent_length(body, head.len())..])
    }

    /// Reads once; 0 bytes mean that the server has closed the connection. `None` if nothing has arrived,
    /// which is possible only without `wait`.
    pub(crate) fn receive(&mut self, buffer: &mut [u8], wait: bool) -> io::Result<Option<usize>> {
        if let Self::Tls(encrypted) = self {
            return encrypted.receive(buffer, wait);
        }
        match receive_once(self.as_fd(), buffer, wait) {
            Ok(count) => Ok(Some(count)),
            Err(error) if error.kind() == ErrorKind::WouldBlock && !wait => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn send_plain(socket: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        bytes = &bytes[send_once(socket, bytes)?..];
    }
    Ok(())
}

/// Connects to the first address of a host that accepts. `limit` is the timeout for each address.
fn dial(endpoint: &Endpoint, limit: Duration) -> io::Result<TcpStream> {
    let host = &endpoint.host;
    let mut last_error = io::Error::new(ErrorKind::NotFound, format!("{host} has no address"));
    for address in (host.as_str(), endpoint.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, limit) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last_error = error,
        }
    }
    Err(last_error)
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
            Self::Tls(encrypted) => encrypted.stream.as_fd(),
        }
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.receive(buffer, true).map(Option::unwrap_or_default)
    }
}

/// Received bytes that are not consumed yet, in a buffer that is reused.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    bytes: Vec<u8>,
    /// Start of the bytes in the buffer that are not consumed yet.
    start: usize,
    end: usize,
}

impl Inbox {
    /// Returns the received bytes that are not consumed yet.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Enlarges the buffer for large answers, so that each read may return up to the largest size.
    pub(crate) fn expect_much(&mut self) {
        if self.bytes.len() < 2 * LARGEST_READ {
            self.bytes.resize(2 * LARGEST_READ, 0);
        }
    }

    /// Reads once from the socket. Returns `false` if nothing has arrived, which is possible only without
    /// `wait`.
    pub(crate) fn fill(&mut self, socket: &mut Socket, wait: bool) -> io::Result<bool> {
        self.make_room();
        match socket.receive(&mut self.bytes[self.end..], wait)? {
            Some(0) => Err(io::Error::new(ErrorKind::UnexpectedEof, "the connection was closed")),
            Some(count) => {
                self.end += count;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// Makes room behind the received bytes. Moves them to the front, and at least doubles a buffer that is
    /// too small, so that a long answer takes few reads.
    fn make_room(&mut self) {
        let min_free = (self.bytes.len() / 2).clamp(INITIAL_SIZE / 2, LARGEST_READ);
        if self.bytes.len() - self.end >= min_free {
            return;
        }
        self.bytes.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.bytes.len() - self.end < min_free {
            self.bytes.resize((self.bytes.len() * 2).max(INITIAL_SIZE), 0);
        }
    }

    /// Consumes the first `count` bytes.
    pub(crate) fn take(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }
}
