//! Decoding of BSON answers: validated as a whole, then read in place.

use std::fmt::Write;

use jsonathlon_driver_api::codecs::json_rows::{Leaf, Tree, quote};
use jsonathlon_driver_api::driver::{DriverError, Result};
use jsonathlon_schema::instant;

/// Maximum nesting of answers. A server's plan of a statement is nested deeper than the statement.
const LEVELS: usize = 400;

/// Number of bytes of a name that are searched without `memchr`.
const SHORT_NAME: usize = 16;

const DOUBLE: u8 = 0x01;
const DOCUMENT: u8 = 0x03;
const LIST: u8 = 0x04;
const DATE: u8 = 0x09;
const INT32: u8 = 0x10;
const TIMESTAMP: u8 = 0x11;
const INT64: u8 = 0x12;

/// BSON value. A type that JSON lacks is presented as an object that names the type, as in MongoDB's extended
/// JSON.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bson<'a> {
    kind: u8,
    bytes: &'a [u8],
}

impl<'a> Bson<'a> {
    /// Validates bytes that must be exactly one document.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self> {
        let document = Self::from_checked(bytes);
        if length_of(DOCUMENT, bytes)? != bytes.len() {
            return Err(malformed("something follows a document"));
        }
        document.check(0)?;
        Ok(document)
    }

    /// Wraps a document that was validated before.
    pub(super) fn from_checked(bytes: &'a [u8]) -> Self {
        Self { kind: DOCUMENT, bytes }
    }

    /// Returns a member as an integer. `None` if the member is missing or not integral. Booleans are 0 or 1.
    pub(super) fn int(self, name: &str) -> Option<i64> {
        match self.member(name)?.leaf() {
            Leaf::Int(number) => Some(number),
            // The cast is exact: the number is integral and far below the limits of i64.
            Leaf::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => Some(number as i64),
            Leaf::Bool(truth) => Some(i64::from(truth)),
            _ => None,
        }
    }

    /// Returns a member that is text. `None` if the member is missing or of another type.
    pub(super) fn text(self, name: &str) -> Option<&'a str> {
        match self.member(name)?.leaf() {
            Leaf::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Validates the value and everything nested in it.
    fn check(self, level: usize) -> Result<()> {
        if level > LEVELS {
            return Err(DriverError::Unsupported(format!(
                "the answer is nested more than {LEVELS} levels deep"
            )));
        }
        match self.kind {
            DOCUMENT | LIST => {
                let mut rest = self.inner_bytes().ok_or_else(|| malformed("it does not end"))?;
                while !rest.is_empty() {
                    let (name, value);
                    (name, value, rest) = split(rest)?;
                    utf8(name)?;
                    value.check(level + 1)?;
                }
            }
            0x02 | 0x0D | 0x0E => {
                utf8(self.string_bytes().ok_or_else(|| malformed("a string does not end"))?)?;
            }
            0x0B => self.regex_parts().map(|_| ())?,
            _ => {}
        }
        Ok(())
    }

    /// Returns the elements of a document or list, without its length and its final zero byte.
    fn inner_bytes(self) -> Option<&'a [u8]> {
        match self.bytes.get(4..)? {
            [inner_bytes @ .., 0] => Some(inner_bytes),
            _ => None,
        }
    }

    fn members(self) -> Members<'a> {
        Members(self.raw_elements())
    }

    fn raw_elements(self) -> RawElements<'a> {
        let inner_bytes = if matches!(self.kind, DOCUMENT | LIST) { self.inner_bytes() } else { None };
        RawElements { rest: inner_bytes.unwrap_or_default() }
    }

    /// Returns the bytes of a string without its length and its final zero byte.
    fn string_bytes(self) -> Option<&'a [u8]> {
        match self.bytes.get(4..)? {
            [string_bytes @ .., 0] => Some(string_bytes),
            _ => None,
        }
    }

    /// Returns pattern and options of a regular expression.
    fn regex_parts(self) -> Result<(&'a str, &'a str)> {
        let (pattern, rest) = name(self.bytes)?;
        Ok((utf8(pattern)?, utf8(name(rest)?.0)?))
    }

    fn fixed_bytes<const N: usize>(self) -> [u8; N] {
        self.bytes.first_chunk().copied().unwrap_or([0; N])
    }

    /// Returns a date or timestamp in microseconds since 1970. `None` if it does not fit into 64 bits.
    fn instant(self) -> Option<i64> {
        let number = u64::from_le_bytes(self.fixed_bytes());
        match self.kind {
            DATE => instant::from_ticks(number.cast_signed(), 3),
            // The upper half is seconds; the lower half counts events within one second.
            _ => instant::from_ticks((number >> 32).cast_signed(), 0),
        }
    }

    /// Appends a value of a type that JSON lacks, as an object that names the type.
    fn write_typed(self, out: &mut String) {
        let (kind, text) = match self.kind {
            0x05 => ("$binary", hexadecimal(self.bytes.get(5..).unwrap_or_default())),
            0x07 => ("$oid", hexadecimal(self.bytes)),
            0x0B => {
                let (pattern, options) = self.regex_parts().unwrap_or_default();
                ("$regex", format!("/{pattern}/{options}"))
            }
            kind => {
                let name = match kind {
                    DATE => "$date",
                    TIMESTAMP => "$timestamp",
                    0x7F => "$maxKey",
                    _ => "$minKey",
                };
                let number =
                    if matches!(kind, DATE | TIMESTAMP) { i64::from_le_bytes(self.fixed_bytes()) } else { 1 };
                write!(out, "{{\"{name}\":{number}}}").ok();
                return;
            }
        };
        write!(out, "{{\"{kind}\":").ok();
        quote(&text, out);
        out.push('}');
    }

    /// Formats the value as indented JSON text.
    pub(super) fn pretty(self) -> String {
        let mut out = String::new();
        self.write_pretty("\n", &mut out);
        out
    }

    fn write_pretty(self, line: &str, out: &mut String) {
        let (opening, closing) = if self.kind == LIST { ('[', ']') } else { ('{', '}') };
        let inner_line = format!("{line}  ");
        let mut separator = opening;
        for (name, value) in self.members() {
            out.push(separator);
            out.push_str(&inner_line);
            if self.kind == DOCUMENT {
                quote(name, out);
                out.push_str(": ");
            }
            value.write_pretty(&inner_line, out);
            separator = ',';
        }
        if separator == opening {
            return self.write(out);
        }
        out.push_str(line);
        out.push(closing);
    }
}

impl<'a> Tree<'a> for Bson<'a> {
    type Elements = Elements<'a>;

    fn member(self, name: &str) -> Option<Self> {
        match (self.kind, name) {
            // A mapping may address the value under its name in extended JSON; the instant is the same.
            (DATE, "$date") | (TIMESTAMP, "$timestamp") => Some(self),
            (DOCUMENT, _) => {
                // In later batches of a cursor `nextBatch` takes the place of `firstBatch`.
                let later_name = if name == "firstBatch" { "nextBatch" } else { name };
                let is_match = |key: &[u8]| key == name.as_bytes() || key == later_name.as_bytes();
                self.raw_elements().find(|(key, _)| is_match(key)).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    fn elements(self) -> Option<Elements<'a>> {
        (self.kind == LIST).then(|| Elements(self.raw_elements()))
    }

    fn leaf(self) -> Leaf<'a> {
        match self.kind {
            DOUBLE => Leaf::Float(f64::from_le_bytes(self.fixed_bytes())),
            0x02 | 0x0D | 0x0E => {
                Leaf::Text(utf8(self.string_bytes().unwrap_or_default()).unwrap_or_default())
            }
            LIST => Leaf::List,
            0x06 | 0x0A => Leaf::Null,
            0x08 => Leaf::Bool(self.bytes != [0]),
            INT32 => Leaf::Int(i32::from_le_bytes(self.fixed_bytes()).into()),
            INT64 => Leaf::Int(i64::from_le_bytes(self.fixed_bytes())),
            DATE | TIMESTAMP => self.instant().map_or(Leaf::Large, Leaf::Time),
            _ => Leaf::Object,
        }
    }

    fn write(self, out: &mut String) {
        // Writing to a `String` cannot fail.
        match self.leaf() {
            Leaf::Null => out.push_str("null"),
            Leaf::Large | Leaf::Time(_) => self.write_typed(out),
            Leaf::Bool(truth) => out.push_str(if truth { "true" } else { "false" }),
            Leaf::Int(number) => {
                write!(out, "{number}").ok();
            }
            // JSON has no representation of NaN and infinity, so they become strings.
            Leaf::Float(number) if !number.is_finite() => quote(&number.to_string(), out),
            Leaf::Float(number) => out.push_str(&serde_json::Value::from(number).to_string()),
            Leaf::Text(text) => quote(text, out),
            Leaf::List => {
                out.push('[');
                for (index, (_, element)) in self.raw_elements().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    element.write(out);
                }
                out.push(']');
            }
            Leaf::Object if self.kind == DOCUMENT => {
                out.push('{');
                for (index, (name, value)) in self.members().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    quote(name, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
            Leaf::Object => self.write_typed(out),
        }
    }
}

/// Iterator over names and values of a validated document.
#[derive(Debug, Clone)]
pub(super) struct Members<'a>(RawElements<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, Bson<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.0.next()?;
        Some((utf8(name).ok()?, value))
    }
}

/// As [`Members`], but with names as bytes.
#[derive(Debug, Clone)]
struct RawElements<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for RawElements<'a> {
    type Item = (&'a [u8], Bson<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        // Checked first, because `split` would build an error message at the end.
        if self.rest.is_empty() {
            return None;
        }
        let (name, value, rest) = split(self.rest).ok()?;
        self.rest = rest;
        Some((name, value))
    }
}

/// Iterator over the values of a list.
#[derive(Debug, Clone)]
pub(super) struct Elements<'a>(RawElements<'a>);

impl<'a> Iterator for Elements<'a> {
    type Item = Bson<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(_, value)| value)
    }
}

/// Splits off the first element: its name, its value, and the remaining elements.
#[inline]
fn split(elements: &[u8]) -> Result<(&[u8], Bson<'_>, &[u8])> {
    let (kind, rest) = elements.split_first().ok_or_else(truncated)?;
    let (name, rest) = name(rest)?;
    let length = match length_of(*kind, rest) {
        Err(DriverError::Unsupported(reason)) => {
            return Err(DriverError::Unsupported(format!("`{}` in the answer is {reason}", utf8(name)?)));
        }
        other => other?,
    };
    let (bytes, rest) = rest.split_at_checked(length).ok_or_else(truncated)?;
    Ok((name, Bson { kind: *kind, bytes }, rest))
}

/// Splits off a name that ends with a zero byte.
#[inline]
fn name(bytes: &[u8]) -> Result<(&[u8], &[u8])> {
    // Most names are short, and a plain loop finds their end before `memchr` has started.
    let end = bytes.iter().take(SHORT_NAME).position(|byte| *byte == 0).or_else(|| memchr::memchr(0, bytes));
    let end = end.ok_or_else(|| malformed("a name does not end"))?;
    Ok((&bytes[..end], &bytes[end + 1..]))
}

/// Returns the length in bytes of a value of type `kind` at the beginning of `bytes`.
#[inline]
fn length_of(kind: u8, bytes: &[u8]) -> Result<usize> {
    let read_length = |minimum: usize| {
        let length = bytes.first_chunk().map(|length| i32::from_le_bytes(*length)).ok_or_else(truncated)?;
        let length = usize::try_from(length).ok().filter(|length| *length >= minimum);
        length.ok_or_else(|| malformed("a length is impossible"))
    };
    Ok(match kind {
        DOUBLE | DATE | TIMESTAMP | INT64 => 8,
        0x02 | 0x0D | 0x0E => 4 + read_length(1)?,
        DOCUMENT | LIST => read_length(5)?,
        0x05 => 5 + read_length(0)?,
        0x06 | 0x0A | 0x7F | 0xFF => 0,
        0x07 => 12,
        0x08 => 1,
        0x0B => {
            let (pattern, rest) = name(bytes)?;
            pattern.len() + name(rest)?.0.len() + 2
        }
        INT32 => 4,
        0x13 => {
            let reason = "a decimal of 128 bits: convert it with $toLong, $toDouble or $toString";
            return Err(DriverError::Unsupported(reason.to_owned()));
        }
        other => return Err(malformed(&format!("a value is of type {other:#04x}"))),
    })
}

fn truncated() -> DriverError {
    malformed("it ends too early")
}

fn malformed(description: &str) -> DriverError {
    DriverError::Protocol(format!("a document of BSON that is none: {description}"))
}

fn utf8(bytes: &[u8]) -> Result<&str> {
    simdutf8::basic::from_utf8(bytes)
        .map_err(|_| DriverError::Protocol("a text in the answer is not UTF-8".into()))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
