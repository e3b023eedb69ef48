//! Encoding and decoding of the protocol's messages.

use std::io::Write;

use jsonathlon_driver_api::driver::{DriverError, Result};
use jsonathlon_driver_api::prepared::Parameter;

use super::super::refusal;

/// Messages that describe the unnamed portal, execute it without a row limit, and end the request (`Sync`).
pub(in super::super) const RUN: &[u8] = b"D\0\0\0\x06P\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04";
/// Message `Sync`, which ends a request.
pub(in super::super) const SYNC: &[u8] = b"S\0\0\0\x04";
/// Size in bytes of a message's type and length.
const HEADER: usize = 5;
/// Version 3.0 of the protocol.
const VERSION: i32 = 196_608;
/// Upper bound of the length of a server's message in bytes; real messages are shorter.
const LONGEST: usize = 1 << 30;

/// Encodes type and length of a message with a body of `body` bytes.
pub(in super::super) fn header(kind: u8, body: usize) -> [u8; HEADER] {
    let [a, b, c, d] = u32::try_from(body + 4).unwrap_or(u32::MAX).to_be_bytes();
    [kind, a, b, c, d]
}

/// Appends a message whose body `fill` writes.
pub(in super::super) fn message(kind: u8, out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    out.push(kind);
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    fill(out);
    close(start, out);
}

/// Fills in the length of the message part that began at `start`; the length includes its own four bytes.
fn close(start: usize, out: &mut [u8]) {
    // A message of 2 GiB or more violates the protocol; the server reports that.
    let length = u32::try_from(out.len() - start).unwrap_or(u32::MAX);
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

/// Appends a text and a zero byte.
pub(in super::super) fn text(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

/// Encodes the startup message of a session.
pub(in super::super) fn startup(user: &str, database: &str) -> Vec<u8> {
    let mut out = vec![0; 4];
    out.extend_from_slice(&VERSION.to_be_bytes());
    for (name, value) in [
        ("user", user),
        ("database", database),
        ("application_name", "jsonathlon"),
        ("client_encoding", "UTF8"),
        ("DateStyle", "ISO"),
        ("TimeZone", "UTC"),
    ] {
        if !value.is_empty() {
            text(name, &mut out);
            text(value, &mut out);
        }
    }
    out.push(0);
    close(0, &mut out);
    out
}

/// Appends a message that parses `statement` under `name`; an empty name means the unnamed statement.
pub(in super::super) fn parse(name: &str, statement: &str, out: &mut Vec<u8>) {
    message(b'P', out, |out| {
        text(name, out);
        text(statement, out);
        // The number of given parameter types is zero, so the server infers all of them.
        out.extend_from_slice(&[0, 0]);
    });
}

/// Encoded execution of a statement up to the values of its parameters, which is the same each time.
#[derive(Debug)]
pub(in super::super) struct Bind {
    prefix: Vec<u8>,
    /// Position of the length field of the Bind message.
    length_position: usize,
}

impl Bind {
    /// Prepares executions of the statement `name`. `prefix` holds a message that parses the unnamed
    /// statement, or is empty.
    pub(in super::super) fn new(name: &str, mut prefix: Vec<u8>) -> Self {
        prefix.push(b'B');
        let length_position = prefix.len();
        prefix.extend_from_slice(&[0; 4]);
        // The portal is unnamed.
        prefix.push(0);
        text(name, &mut prefix);
        // No format codes: all parameters are text.
        prefix.extend_from_slice(&[0, 0]);
        Self { prefix, length_position }
    }

    /// Replaces the content of `out` with one execution.
    pub(in super::super) fn execution(&self, parameters: &[Parameter<'_>], out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        out.extend_from_slice(&self.prefix);
        let count = u16::try_from(parameters.len())
            .map_err(|_| DriverError::Refused("more parameters than a statement can have".to_owned()))?;
        out.extend_from_slice(&count.to_be_bytes());
        for parameter in parameters {
            value(parameter, out);
        }
        // No format codes: all columns are text.
        out.extend_from_slice(&[0, 0]);
        close(self.length_position, out);
        out.extend_from_slice(RUN);
        Ok(())
    }
}

/// Appends a parameter as text after its length.
fn value(parameter: &Parameter<'_>, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    let result = match *parameter {
        Parameter::Null => {
            out[start..].copy_from_slice(&(-1_i32).to_be_bytes());
            return;
        }
        Parameter::Bool(truth) => out.write_all(if truth { b"t" } else { b"f" }),
        Parameter::Int(number) => write!(out, "{number}"),
        Parameter::Float(number) if number.is_infinite() => {
            out.write_all(if number > 0.0 { b"Infinity" } else { b"-Infinity" })
        }
        Parameter::Float(number) => write!(out, "{number:?}"),
        Parameter::Text(text) | Parameter::Json(text) => out.write_all(text.as_bytes()),
    };
    // Writing to a `Vec` cannot fail.
    result.ok();
    let length = u32::try_from(out.len() - start - 4).unwrap_or(u32::MAX);
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

/// Returns type, body and end of the message that begins at `start`. `None` if it has not arrived completely.
pub(in super::super) fn parse_at(bytes: &[u8], start: usize) -> Result<Option<(u8, &[u8], usize)>> {
    let Some(&[kind, a, b, c, d]) = bytes.get(start..start + HEADER) else { return Ok(None) };
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    if !(4..LONGEST).contains(&length) {
        return Err(malformed());
    }
    let end = start + 1 + length;
    Ok(bytes.get(start + HEADER..end).map(|body| (kind, body, end)))
}

pub(in super::super) fn malformed() -> DriverError {
    DriverError::Protocol("a message is not as its kind should be".to_owned())
}

/// Cursor over the body of a message.
#[derive(Clone, Copy)]
pub(in super::super) struct Reader<'a>(pub(in super::super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(in super::super) fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or_else(malformed)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or_else(malformed)?;
        self.0 = rest;
        Ok(*bytes)
    }

    pub(in super::super) fn u16(&mut self) -> Result<usize> {
        self.array().map(u16::from_be_bytes).map(usize::from)
    }

    pub(in super::super) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// Reads the next column of a row. `None` for NULL.
    pub(in super::super) fn column(&mut self) -> Result<Option<&'a [u8]>> {
        match usize::try_from(i32::from_be_bytes(self.array()?)) {
            Ok(length) => self.bytes(length).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// Reads a text up to its zero byte, which is skipped.
    pub(in super::super) fn text(&mut self) -> Result<&'a str> {
        let end = memchr::memchr(0, self.0).ok_or_else(malformed)?;
        let text = utf8(self.bytes(end)?)?;
        self.bytes(1)?;
        Ok(text)
    }
}

pub(in super::super) fn utf8(bytes: &[u8]) -> Result<&str> {
    simdutf8::basic::from_utf8(bytes).map_err(|_| malformed())
}

/// Fields of a server's error message that classify it.
pub(in super::super) struct ErrorResponse {
    pub(in super::super) state: String,
    pub(in super::super) message: String,
    /// Context of the error, which names the line of a bulk load; empty if there is none.
    pub(in super::super) context: String,
    /// Whether the error ends the session (severity FATAL or PANIC).
    pub(in super::super) is_fatal: bool,
}

impl ErrorResponse {
    pub(in super::super) fn read(body: &[u8]) -> Result<Self> {
        let mut reader = Reader(body);
        let (state, message, context) = (String::new(), String::new(), String::new());
        let mut response = Self { state, message, context, is_fatal: false };
        let mut detail = "";
        loop {
            let kind = reader.bytes(1)?;
            if kind == [0] {
                break;
            }
            let text = reader.text()?;
            match kind {
                b"V" => response.is_fatal = matches!(text, "FATAL" | "PANIC"),
                b"C" => text.clone_into(&mut response.state),
                b"M" => text.clone_into(&mut response.message),
                b"D" => detail = text,
                b"W" => text.clone_into(&mut response.context),
                _ => {}
            }
        }
        if !detail.is_empty() {
            response.message = format!("{}: {detail}", response.message);
        }
        Ok(response)
    }

    pub(in super::super) fn error(self) -> DriverError {
        if self.is_fatal { DriverError::Crashed(self.message) } else { refusal(&self.state, self.message) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execution_is_one_piece_of_bytes() {
        let mut out = vec![1, 2, 3];
        let bind = Bind::new("s1", Vec::new());
        bind.execution(&[Parameter::Int(-7), Parameter::Null, Parameter::Text("é")], &mut out).unwrap();
        let expected = b"B\0\0\0\x1e\0s1\0\0\0\0\x03\0\0\0\x02-7\xff\xff\xff\xff\0\0\0\x02\xc3\xa9\0\0";
        assert_eq!(out, [expected.as_slice(), RUN].concat());
    }

    #[test]
    fn messages_that_lie_about_their_length_are_refused() {
        assert!(parse_at(b"Z\0\0\0\x05", 0).unwrap().is_none());
        assert!(parse_at(b"Z\0\0\0\x03I", 0).is_err());
        assert!(parse_at(b"Z\x7f\xff\xff\xffI", 0).is_err());
        assert_eq!(parse_at(b"Z\0\0\0\x05Iabc", 0).unwrap(), Some((b'Z', &b"I"[..], 6)));
    }
}
