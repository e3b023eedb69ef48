//! Encoding and decoding of the protocol's packets.

use std::borrow::Cow;

use jsonathlon_driver_api::driver::{DriverError, Result};

use super::refusal;

/// Command byte: execute a statement given as text.
pub(super) const QUERY: u8 = 3;
/// Maximum payload of a packet in bytes. A packet of this length is continued in the next one.
const LONGEST: usize = 0xFF_FFFF;
/// Size in bytes of a packet's length and sequence number.
const HEADER: usize = 4;

/// Encodes length and sequence number of a packet with `length` bytes, at most [`LONGEST`].
pub(super) fn header(length: usize, sequence: u8) -> [u8; HEADER] {
    let [a, b, c, _] = (length as u32).to_le_bytes();
    [a, b, c, sequence]
}

/// Begins a message with the sequence number `sequence`. Returns its start, which [`close`] needs.
pub(super) fn open(sequence: u8, out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&header(0, sequence));
    start
}

/// Fills in the length of the message that began at `start` and ends here. A message that is too long for one
/// packet is divided into several.
pub(super) fn close(start: usize, out: &mut Vec<u8>) {
    let sequence = out[start + 3];
    let length = out.len() - start - HEADER;
    if length < LONGEST {
        out[start..start + HEADER].copy_from_slice(&header(length, sequence));
        return;
    }
    let payload = out.split_off(start + HEADER);
    out.truncate(start);
    let (mut rest, mut sequence) = (payload.as_slice(), sequence);
    loop {
        let (part, remaining) = rest.split_at(rest.len().min(LONGEST));
        out.extend_from_slice(&header(part.len(), sequence));
        out.extend_from_slice(part);
        // A part of the maximum length is followed by another one, if only an empty one.
        if part.len() < LONGEST {
            return;
        }
        rest = remaining;
        sequence = sequence.wrapping_add(1);
    }
}

/// Returns the payload of the packet that begins at `start`, and the end of the whole message, which
/// continues in further packets if the payload has the maximum length. `None` if it has not arrived
/// completely.
pub(super) fn first(bytes: &[u8], start: usize) -> Option<(&[u8], usize)> {
    let (first, mut end) = single(bytes, start)?;
    let mut length = first.len();
    while length == LONGEST {
        let (part, part_end) = single(bytes, end)?;
        (length, end) = (part.len(), part_end);
    }
    Some((first, end))
}

/// Returns payload and end of the message that begins at `start`. `None` if it has not arrived completely.
/// Only a message of several packets is copied.
pub(super) fn message(bytes: &[u8], start: usize) -> Option<(Cow<'_, [u8]>, usize)> {
    let (payload, end) = first(bytes, start)?;
    if payload.len() < LONGEST {
        return Some((Cow::Borrowed(payload), end));
    }
    let (mut joined, mut position) = (Vec::with_capacity(end - start), start);
    while position < end {
        let (part, part_end) = single(bytes, position)?;
        joined.extend_from_slice(part);
        position = part_end;
    }
    Some((Cow::Owned(joined), end))
}

fn single(bytes: &[u8], start: usize) -> Option<(&[u8], usize)> {
    let &[a, b, c, _] = bytes.get(start..start + HEADER)? else { return None };
    let end = start + HEADER + u32::from_le_bytes([a, b, c, 0]) as usize;
    bytes.get(start + HEADER..end).map(|payload| (payload, end))
}

pub(super) fn malformed() -> DriverError {
    DriverError::Protocol("a packet is not as its kind should be".to_owned())
}

/// Appends a text after its length-encoded length.
pub(super) fn text(bytes: &[u8], out: &mut Vec<u8>) {
    let length = bytes.len() as u64;
    match bytes.len() {
        // Each cast fits, because the range bounds the length.
        0..251 => out.push(length as u8),
        251..0x1_0000 => {
            out.push(0xFC);
            out.extend_from_slice(&length.to_le_bytes()[..2]);
        }
        0x1_0000..0x100_0000 => {
            out.push(0xFD);
            out.extend_from_slice(&length.to_le_bytes()[..3]);
        }
        _ => {
            out.push(0xFE);
            out.extend_from_slice(&length.to_le_bytes());
        }
    }
    out.extend_from_slice(bytes);
}

/// Cursor over the payload of a packet.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or_else(malformed)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or_else(malformed)?;
        self.0 = rest;
        Ok(*bytes)
    }

    pub(super) fn u8(&mut self) -> Result<u8> {
        self.array().map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Reads a length-encoded integer.
    pub(super) fn number(&mut self) -> Result<u64> {
        let little_endian =
            |bytes: &[u8]| bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        match self.u8()? {
            small @ 0..=0xFA => Ok(small.into()),
            0xFC => self.bytes(2).map(little_endian),
            0xFD => self.bytes(3).map(little_endian),
            0xFE => self.bytes(8).map(little_endian),
            _ => Err(malformed()),
        }
    }

    /// Reads bytes that follow their length-encoded number.
    pub(super) fn counted(&mut self) -> Result<&'a [u8]> {
        let length = usize::try_from(self.number()?).map_err(|_| malformed())?;
        self.bytes(length)
    }

    /// Reads a value of a text-protocol row. `None` for NULL.
    pub(super) fn column(&mut self) -> Result<Option<&'a [u8]>> {
        if self.0.first() == Some(&0xFB) {
            self.bytes(1)?;
            return Ok(None);
        }
        self.counted().map(Some)
    }

    /// Reads bytes up to a zero byte, which is skipped, or to the end.
    pub(super) fn until_zero(&mut self) -> &'a [u8] {
        let end = memchr::memchr(0, self.0).unwrap_or(self.0.len());
        let bytes = &self.0[..end];
        self.0 = self.0.get(end + 1..).unwrap_or_default();
        bytes
    }
}

/// Error of the server.
#[derive(Debug)]
pub(super) struct ServerError {
    pub(super) code: u16,
    /// SQLSTATE; empty if the server sent none.
    pub(super) state: String,
    pub(super) message: String,
}

impl ServerError {
    /// Decodes an error packet.
    pub(super) fn read(packet: &[u8]) -> Result<Self> {
        let mut reader = Reader(packet);
        reader.u8()?;
        let code = reader.u16()?;
        let (state, message) = match reader.0 {
            [b'#', a, b, c, d, e, message @ ..] => (vec![*a, *b, *c, *d, *e], message),
            message => (Vec::new(), message),
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Self { code, state: text(&state), message: text(message) })
    }

    pub(super) fn error(self) -> DriverError {
        refusal(self.code, self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_divided_where_a_packet_must_be() {
        for length in [0, 1, LONGEST - 1, LONGEST, LONGEST + 1, 2 * LONGEST, 2 * LONGEST + 7] {
            let payload: Vec<u8> = (0..length).map(|index| (index % 251) as u8).collect();
            let mut out = vec![9];
            let start = open(3, &mut out);
            out.extend_from_slice(&payload);
            close(start, &mut out);
            assert_eq!(out.len(), 1 + payload.len() + HEADER * (payload.len() / LONGEST + 1), "{length}");
            let (decoded, end) = message(&out, 1).unwrap();
            assert!(decoded == payload && end == out.len(), "{length}");
            assert_eq!(matches!(decoded, Cow::Borrowed(_)), length < LONGEST);
            let (first_part, end) = first(&out, 1).unwrap();
            assert_eq!((first_part.len(), end), (length.min(LONGEST), out.len()));
            assert!(message(&out[..out.len() - 1], 1).is_none() && message(&out[..1], 1).is_none());
            let sequence_position = 1 + (length / LONGEST) * (LONGEST + HEADER) + 3;
            assert_eq!(out[sequence_position], 3 + (length / LONGEST) as u8);
        }
    }

    #[test]
    fn an_error_is_number_state_and_words() {
        let ServerError { code, state, message } =
            ServerError::read(b"\xff\x15\x04#28000Access denied").unwrap();
        assert_eq!((code, state.as_str(), message.as_str()), (1045, "28000", "Access denied"));
        let error = ServerError::read(b"\xff\x10\x04Too many connections").unwrap();
        assert_eq!((error.state.as_str(), error.message.as_str()), ("", "Too many connections"));
        assert!(ServerError::read(b"\xff\x10").is_err());
    }
}
