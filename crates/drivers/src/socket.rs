//! Unencrypted sockets, and a reusable buffer for received bytes.

use std::io::{self, IoSlice, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use jsonathlon_driver_api::endpoint::Endpoint;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, sendmsg};

/// Initial size of a receive buffer in bytes; every read asks for at least half of it.
const ROOM: usize = 16 << 10;
/// Maximum free space in bytes for which a receive buffer is enlarged. Smaller than a core's own cache.
const MOST: usize = 256 << 10;

/// Unencrypted connection to a server.
#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    pub(crate) fn connect(endpoint: &Endpoint, limit: Duration) -> io::Result<Self> {
        match &endpoint.socket {
            Some(path) => UnixStream::connect(path).map(Self::Unix),
            None => dial(endpoint, limit).map(Self::Tcp),
        }
    }

    /// Sets the timeout of reads. `None` for no timeout, which is the default.
    pub(crate) fn wait(&self, limit: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_read_timeout(limit),
            Self::Unix(stream) => stream.set_read_timeout(limit),
        }
    }

    /// Sends all bytes, blocking as needed. Cannot deadlock, because servers read a whole request before they
    /// answer.
    pub(crate) fn send(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match rustix::net::send(self, bytes, SendFlags::NOSIGNAL) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Sends two parts in order without copying them into one buffer.
    pub(crate) fn send_both(&self, head: &[u8], body: &[u8]) -> io::Result<()> {
        let parts = [IoSlice::new(head), IoSlice::new(body)];
        let sent = loop {
            match sendmsg(self, &parts, &mut SendAncillaryBuffer::default(), SendFlags::NOSIGNAL) {
                Ok(sent) => break sent,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        };
        let rest = |part: &[u8], before: usize| sent.saturating_sub(before).min(part.len());
        self.send(&head[rest(head, 0)..])?;
        self.send(&body[rest(body, head.len())..])
    }
}

/// Connects to the first address of a host that accepts. `limit` is the timeout for each address.
pub(crate) fn dial(endpoint: &Endpoint, limit: Duration) -> io::Result<TcpStream> {
    let host = &endpoint.host;
    let mut last = io::Error::new(io::ErrorKind::NotFound, format!("{host} has no address"));
    for address in (host.as_str(), endpoint.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, limit) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
        }
    }
}

impl Read for Socket {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(into),
            Self::Unix(stream) => stream.read(into),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Received bytes that are not consumed yet, in a buffer that is reused.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    bytes: Vec<u8>,
    /// Start of the bytes in the buffer that are not consumed yet.
    taken: usize,
    filled: usize,
}

impl Inbox {
    /// Returns the received bytes that are not consumed yet.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[self.taken..self.filled]
    }

    /// Enlarges the buffer for large answers, so that each read may return up to the largest size.
    pub(crate) fn expect_much(&mut self) {
        if self.bytes.len() < 2 * MOST {
            self.bytes.resize(2 * MOST, 0);
        }
    }

    /// Reads once from the socket. Returns `false` if nothing has arrived, which is possible only without
    /// `wait`.
    pub(crate) fn fill(&mut self, socket: &Socket, wait: bool) -> io::Result<bool> {
        self.make_room();
        let flags = if wait { RecvFlags::empty() } else { RecvFlags::DONTWAIT };
        loop {
            match rustix::net::recv(socket, &mut self.bytes[self.filled..], flags) {
                Ok((0, _)) => {
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the connection was closed"));
                }
                Ok((count, _)) => {
                    self.filled += count;
                    return Ok(true);
                }
                Err(Errno::AGAIN) if !wait => return Ok(false),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Makes room behind the received bytes. Moves them to the front, and at least doubles a buffer that is
    /// too small, so that a long answer takes few reads.
    fn make_room(&mut self) {
        let least = (self.bytes.len() / 2).clamp(ROOM / 2, MOST);
        if self.bytes.len() - self.filled >= least {
            return;
        }
        self.bytes.copy_within(self.taken..self.filled, 0);
        self.filled -= self.taken;
        self.taken = 0;
        if self.bytes.len() - self.filled < least {
            self.bytes.resize((self.bytes.len() * 2).max(ROOM), 0);
        }
    }

    /// Consumes the first `count` bytes.
    pub(crate) fn take(&mut self, count: usize) {
        self.taken = (self.taken + count).min(self.filled);
        if self.taken == self.filled {
            (self.taken, self.filled) = (0, 0);
        }
    }
}
