//! Sockets, and what has come over them.

use std::io::{self, IoSlice, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use jsonathlon_connection::endpoint::Endpoint;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, sendmsg};

/// Bytes that are asked for at a time at least.
const ROOM: usize = 16 << 10;
/// Bytes for which memory is made, if need be: fewer than a core keeps near itself.
const MOST: usize = 256 << 10;

/// A connection that is not encrypted.
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

    /// How long a read waits; without an end unless told otherwise.
    pub(crate) fn wait(&self, limit: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_read_timeout(limit),
            Self::Unix(stream) => stream.set_read_timeout(limit),
        }
    }

    /// Sends all of it. Whoever answers reads the whole request first, so that this waits for nothing but that.
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

    /// Sends one after the other, without putting them together first.
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

/// The first of a host's addresses that answers.
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

/// What has come and was not taken yet, in memory that is used again.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    bytes: Vec<u8>,
    /// What came before was taken.
    taken: usize,
    filled: usize,
}

impl Inbox {
    /// What has come.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[self.taken..self.filled]
    }

    /// From now on asks for as many bytes at a time as memory is made for.
    pub(crate) fn expect_much(&mut self) {
        if self.bytes.len() < 2 * MOST {
            self.bytes.resize(2 * MOST, 0);
        }
    }

    /// Reads once. False when nothing has come, which is possible only without `wait`.
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

    /// Makes room behind what is there; at least twice as much memory where there is too little, so that a long answer takes
    /// few turns.
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

    /// Forgets the first bytes.
    pub(crate) fn take(&mut self, count: usize) {
        self.taken = (self.taken + count).min(self.filled);
        if self.taken == self.filled {
            (self.taken, self.filled) = (0, 0);
        }
    }
}
