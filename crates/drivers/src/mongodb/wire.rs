//! Messages of the protocol: OP_MSG, the only kind that servers since 3.6 need.

use std::io::{self, Read};
use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use jsonathlon_driver_api::endpoint::{ConnectFailure, Endpoint};

use crate::socket::Socket;

const OP_MSG: i32 = 2013;
const HEADER: usize = 16;
/// Plausible lengths of a reply in bytes. A reply holds one document of at most 16 MiB and its envelope.
const LENGTHS: RangeInclusive<usize> = HEADER + 5..=64 << 20;
/// Flag of a message with a checksum after its sections.
const CHECKSUM: u32 = 1;

/// Blocking connection, which carries one request at a time.
#[derive(Debug)]
pub(super) struct Wire {
    socket: Socket,
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
    /// Connects, encrypted if the endpoint asks for it. `limit` is the timeout of each step.
    pub(super) fn connect(endpoint: &Endpoint, limit: Duration) -> Result<Self, ConnectFailure> {
        let transient = |error: io::Error| ConnectFailure::Transient(error.to_string());
        let socket = Socket::connect(endpoint, limit).map_err(transient)?;
        socket.wait(Some(limit)).map_err(transient)?;
        let socket = socket.encrypt(endpoint)?;
        socket.wait(None).map_err(transient)?;
        Ok(Self { socket, request: 0, reply: Vec::new() })
    }

    /// Sets the timeout of a reply. `None` for no timeout, which is the default.
    pub(super) fn wait(&self, limit: Option<Duration>) -> io::Result<()> {
        self.socket.wait(limit)
    }

    pub(super) fn send(&mut self, body: &[u8], documents: Option<&Documents<'_>>) -> io::Result<()> {
        self.request = self.request.wrapping_add(1);
        let mut head = Vec::with_capacity(HEADER + 5 + body.len() + 64);
        begin(self.request, &mut head);
        head.extend_from_slice(body);
        let mut document_bytes: &[u8] = &[];
        if let Some(Documents { list, bytes }) = documents {
            // Section of kind 1: a sequence of documents.
            head.push(1);
            head.extend_from_slice(&length(4 + list.len() + 1 + bytes.len())?);
            head.extend_from_slice(list.as_bytes());
            head.push(0);
            document_bytes = bytes;
        }
        let total_length = length(head.len() + document_bytes.len())?;
        head[..4].copy_from_slice(&total_length);
        self.socket.send_both(&head, document_bytes)
    }

    /// Reads the reply to the last request and returns its document.
    pub(super) fn receive(&mut self) -> io::Result<&[u8]> {
        self.reply.resize(HEADER, 0);
        self.socket.read_exact(&mut self.reply)?;
        let length = usize::try_from(read_i32(&self.reply, 0)).unwrap_or(0);
        if !LENGTHS.contains(&length) {
            return Err(invalid_data("a reply is out of protocol"));
        }
        self.reply.resize(length, 0);
        self.socket.read_exact(&mut self.reply[HEADER..])?;
        match reply(&self.reply, self.request)? {
            Some((document, _)) => Ok(&self.reply[document]),
            None => Err(invalid_data("a reply is too short")),
        }
    }

    pub(super) fn into_socket(self) -> Socket {
        self.socket
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
    let length = usize::try_from(read_i32(bytes, 0)).unwrap_or(0);
    let is_plausible = LENGTHS.contains(&length);
    if !is_plausible
        || read_i32(bytes, 8) != request
        || read_i32(bytes, 12) != OP_MSG
        || bytes[HEADER + 4] != 0
    {
        return Err(invalid_data("a reply is out of protocol"));
    }
    let checksum = if read_i32(bytes, HEADER).cast_unsigned() & CHECKSUM == 0 { 0 } else { 4 };
    let end = length - checksum;
    if end < HEADER + 5 {
        return Err(invalid_data("a reply is too short"));
    }
    Ok((bytes.len() >= length).then_some((HEADER + 5..end, length)))
}

/// Reads a little-endian integer at `position`. `bytes` must contain its four bytes.
fn read_i32(bytes: &[u8], position: usize) -> i32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[position..position + 4]);
    i32::from_le_bytes(number)
}

fn invalid_data(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

pub(super) fn length(bytes: usize) -> io::Result<[u8; 4]> {
    let length = i32::try_from(bytes).map_err(|_| invalid_data("a request of 2 GiB or more"))?;
    Ok(length.to_le_bytes())
}
