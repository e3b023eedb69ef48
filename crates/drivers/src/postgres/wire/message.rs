//! Messages of the protocol as bytes.

use std::io::Write;

use jsonathlon_connection::driver::{DriverError, Result};
use jsonathlon_connection::prepared::Parameter;

use super::super::refusal;

/// Describe the portal without a name, execute it without a limit, and be ready again.
pub(in super::super) const RUN: &[u8] = b"D\0\0\0\x06P\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04";
/// Be ready again.
pub(in super::super) const SYNC: &[u8] = b"S\0\0\0\x04";
/// Type and length.
const HEADER: usize = 5;
/// Version 3.0.
const VERSION: i32 = 196_608;
/// What a server sends in one message at most, and more.
const LONGEST: usize = 1 << 30;

/// What stands before a body of so many bytes.
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

/// Writes the length of what began at `start`, itself included.
fn close(start: usize, out: &mut [u8]) {
    // A message of 2 GiB and more is out of protocol, and the server says so.
    let length = u32::try_from(out.len() - start).unwrap_or(u32::MAX);
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

/// A text that ends with a zero byte.
pub(in super::super) fn text(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

/// The first message of a session.
pub(in super::super) fn startup(user: &str, database: &str) -> Vec<u8> {
    let mut out = vec![0; 4];
    out.extend_from_slice(&VERSION.to_be_bytes());
    for (name, value) in [
        ("user", user),
        ("database", database),
        ("application_name", "jsonathlon"),
        ("client_encoding", "UTF8"),
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

/// Parses a statement under a name.
pub(in super::super) fn parse(name: &str, statement: &str, out: &mut Vec<u8>) {
    message(b'P', out, |out| {
        text(name, out);
        text(statement, out);
        // All types are for the server to find.
        out.extend_from_slice(&[0, 0]);
    });
}

/// A statement as it is sent: what is the same each time, up to the values of its parameters.
#[derive(Debug)]
pub(in super::super) struct Bind {
    head: Vec<u8>,
    /// Where the length of the message is that binds.
    length_at: usize,
}

impl Bind {
    /// Of a statement that the server knows by a name, or with the message before it that parses one without.
    pub(in super::super) fn new(name: &str, mut before: Vec<u8>) -> Self {
        before.push(b'B');
        let length_at = before.len();
        before.extend_from_slice(&[0; 4]);
        // A portal without a name.
        before.push(0);
        text(name, &mut before);
        // All parameters are text.
        before.extend_from_slice(&[0, 0]);
        Self { head: before, length_at }
    }

    /// One execution, in `out` and nothing else.
    pub(in super::super) fn execution(&self, parameters: &[Parameter<'_>], out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        out.extend_from_slice(&self.head);
        let count = u16::try_from(parameters.len())
            .map_err(|_| DriverError::Refused("more parameters than a statement can have".to_owned()))?;
        out.extend_from_slice(&count.to_be_bytes());
        for parameter in parameters {
            value(parameter, out);
        }
        // All columns are text.
        out.extend_from_slice(&[0, 0]);
        close(self.length_at, out);
        out.extend_from_slice(RUN);
        Ok(())
    }
}

/// A value as text, after its length.
fn value(parameter: &Parameter<'_>, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    let written = match *parameter {
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
    // Memory takes all that is written.
    written.ok();
    let length = u32::try_from(out.len() - start - 4).unwrap_or(u32::MAX);
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

/// The message that begins at `at`, if all of it is there: its kind, its body, and where the next one begins.
pub(in super::super) fn at(bytes: &[u8], at: usize) -> Result<Option<(u8, &[u8], usize)>> {
    let Some(&[kind, a, b, c, d]) = bytes.get(at..at + HEADER) else { return Ok(None) };
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    if !(4..LONGEST).contains(&length) {
        return Err(malformed());
    }
    let end = at + 1 + length;
    Ok(bytes.get(at + HEADER..end).map(|body| (kind, body, end)))
}

pub(in super::super) fn malformed() -> DriverError {
    DriverError::Protocol("a message is not as its kind should be".to_owned())
}

/// Takes a message apart.
#[derive(Clone, Copy)]
pub(in super::super) struct Reader<'a>(pub(in super::super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(in super::super) fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk().ok_or_else(malformed)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(in super::super) fn u16(&mut self) -> Result<usize> {
        self.array().map(u16::from_be_bytes).map(usize::from)
    }

    pub(in super::super) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// The next column of a row; none for null.
    pub(in super::super) fn column(&mut self) -> Result<Option<&'a [u8]>> {
        match usize::try_from(i32::from_be_bytes(self.array()?)) {
            Ok(length) => self.bytes(length).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// A text up to its zero byte.
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

/// What the server says in an error, by what it blames.
pub(in super::super) struct Said {
    pub(in super::super) state: String,
    pub(in super::super) words: String,
    /// Where it was, with the line of a bulk load.
    pub(in super::super) context: String,
    /// Whether the session is over.
    pub(in super::super) is_fatal: bool,
}

impl Said {
    pub(in super::super) fn read(body: &[u8]) -> Result<Self> {
        let mut reader = Reader(body);
        let (state, words, context) = (String::new(), String::new(), String::new());
        let mut said = Self { state, words, context, is_fatal: false };
        let mut detail = "";
        loop {
            let kind = reader.bytes(1)?;
            if kind == [0] {
                break;
            }
            let text = reader.text()?;
            match kind {
                b"V" => said.is_fatal = matches!(text, "FATAL" | "PANIC"),
                b"C" => text.clone_into(&mut said.state),
                b"M" => text.clone_into(&mut said.words),
                b"D" => detail = text,
                b"W" => text.clone_into(&mut said.context),
                _ => {}
            }
        }
        if !detail.is_empty() {
            said.words = format!("{}: {detail}", said.words);
        }
        Ok(said)
    }

    pub(in super::super) fn error(self) -> DriverError {
        if self.is_fatal { DriverError::Crashed(self.words) } else { refusal(&self.state, self.words) }
    }
}
