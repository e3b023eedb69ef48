//! BSON as answers hold it: read whole, with the order of keys kept.

use crate::driver::{DriverError, Result};
use crate::json_rows::{Leaf, Tree};

/// Nesting of answers; a server's plan of a statement is deeper than the statement.
const LEVELS: usize = 400;

/// A value. What JSON has no type for is an object that says what it is, as in MongoDB's extended JSON.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Bson {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Bson>),
    Document(Vec<(String, Bson)>),
}

impl Bson {
    /// The document that these bytes are, and nothing else.
    pub(super) fn read(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader { bytes };
        let document = Self::Document(reader.elements(0)?);
        if reader.bytes.is_empty() { Ok(document) } else { Err(malformed("something follows a document")) }
    }

    /// Takes a member out of a document, leaving null in its place.
    pub(super) fn take(&mut self, name: &str) -> Option<Self> {
        self.get_mut(name).map(|value| std::mem::replace(value, Self::Null))
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Self> {
        match self {
            Self::Document(members) => {
                members.iter_mut().find(|(key, _)| key == name).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// A member that is a whole number, however it is written.
    pub(super) fn int(&self, name: &str) -> Option<i64> {
        match self.member(name)? {
            Self::Int(number) => Some(*number),
            // It is whole and far from the bounds.
            Self::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => Some(*number as i64),
            Self::Bool(truth) => Some(i64::from(*truth)),
            _ => None,
        }
    }

    /// A member that is text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match self.member(name)? {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
            Self::Int(number) => out.push_str(&number.to_string()),
            // JSON has no words for these.
            Self::Float(number) if !number.is_finite() => write_text(&number.to_string(), out),
            Self::Float(number) => out.push_str(&serde_json::Value::from(*number).to_string()),
            Self::Text(text) => write_text(text, out),
            Self::List(elements) => {
                out.push('[');
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    element.write(out);
                }
                out.push(']');
            }
            Self::Document(members) => {
                out.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write_text(name, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    /// It as JSON text over several lines, for people.
    pub(super) fn pretty(&self) -> String {
        let mut out = String::new();
        self.write_pretty("\n", &mut out);
        out
    }

    fn write_pretty(&self, line: &str, out: &mut String) {
        let inner = format!("{line}  ");
        match self {
            Self::List(elements) if !elements.is_empty() => {
                for (index, element) in elements.iter().enumerate() {
                    out.push(if index == 0 { '[' } else { ',' });
                    out.push_str(&inner);
                    element.write_pretty(&inner, out);
                }
                out.push_str(line);
                out.push(']');
            }
            Self::Document(members) if !members.is_empty() => {
                for (index, (name, value)) in members.iter().enumerate() {
                    out.push(if index == 0 { '{' } else { ',' });
                    out.push_str(&inner);
                    write_text(name, out);
                    out.push_str(": ");
                    value.write_pretty(&inner, out);
                }
                out.push_str(line);
                out.push('}');
            }
            other => other.write(out),
        }
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

impl Tree for Bson {
    fn member(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Document(members) => members.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    fn elements(&self) -> Option<&[Self]> {
        match self {
            Self::List(elements) => Some(elements),
            _ => None,
        }
    }

    fn leaf(&self) -> Leaf<'_> {
        match self {
            Self::Null => Leaf::Null,
            Self::Bool(truth) => Leaf::Bool(*truth),
            Self::Int(number) => Leaf::Int(*number),
            Self::Float(number) => Leaf::Float(*number),
            Self::Text(text) => Leaf::Text(text),
            Self::List(_) => Leaf::List,
            Self::Document(_) => Leaf::Object,
        }
    }

    fn json(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }
}

fn malformed(what: &str) -> DriverError {
    DriverError::Protocol(format!("a document of BSON that is none: {what}"))
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) =
            self.bytes.split_at_checked(count).ok_or_else(|| malformed("it ends too early"))?;
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.take(N)?.try_into().map_err(|_| malformed("it ends too early"))
    }

    fn length(&mut self, least: usize) -> Result<usize> {
        usize::try_from(i32::from_le_bytes(self.array()?))
            .ok()
            .filter(|length| *length >= least)
            .ok_or_else(|| malformed("a length is impossible"))
    }

    fn name(&mut self) -> Result<String> {
        let end = memchr::memchr(0, self.bytes).ok_or_else(|| malformed("a name does not end"))?;
        let name = utf8(self.take(end)?)?;
        self.take(1)?;
        Ok(name)
    }

    fn text(&mut self) -> Result<String> {
        let length = self.length(1)?;
        match self.take(length)? {
            [text @ .., 0] => utf8(text),
            _ => Err(malformed("a string does not end")),
        }
    }

    /// The elements of a document, from its length to its end.
    fn elements(&mut self, level: usize) -> Result<Vec<(String, Bson)>> {
        if level > LEVELS {
            return Err(DriverError::Unsupported(format!(
                "the answer is nested more than {LEVELS} levels deep"
            )));
        }
        let length = self.length(5)? - 4;
        let mut inside = Reader { bytes: self.take(length)? };
        let mut elements = Vec::new();
        loop {
            let [kind] = inside.array()?;
            if kind == 0 {
                break;
            }
            let name = inside.name()?;
            let value = inside.value(kind, &name, level)?;
            elements.push((name, value));
        }
        if inside.bytes.is_empty() { Ok(elements) } else { Err(malformed("something follows its end")) }
    }

    fn value(&mut self, kind: u8, name: &str, level: usize) -> Result<Bson> {
        let typed = |name: &str, value: Bson| Bson::Document(vec![(name.to_owned(), value)]);
        Ok(match kind {
            0x01 => Bson::Float(f64::from_le_bytes(self.array()?)),
            0x02 | 0x0D | 0x0E => Bson::Text(self.text()?),
            0x03 => Bson::Document(self.elements(level + 1)?),
            0x04 => Bson::List(self.elements(level + 1)?.into_iter().map(|(_, value)| value).collect()),
            0x05 => {
                let length = self.length(0)?;
                let [_subtype] = self.array()?;
                typed("$binary", Bson::Text(hexadecimal(self.take(length)?)))
            }
            0x06 | 0x0A => Bson::Null,
            0x07 => typed("$oid", Bson::Text(hexadecimal(self.take(12)?))),
            0x08 => Bson::Bool(self.array::<1>()? != [0]),
            0x09 => typed("$date", Bson::Int(i64::from_le_bytes(self.array()?))),
            0x0B => {
                let (pattern, options) = (self.name()?, self.name()?);
                typed("$regex", Bson::Text(format!("/{pattern}/{options}")))
            }
            0x10 => Bson::Int(i32::from_le_bytes(self.array()?).into()),
            0x11 => typed("$timestamp", Bson::Int(i64::from_le_bytes(self.array()?))),
            0x12 => Bson::Int(i64::from_le_bytes(self.array()?)),
            0x7F => typed("$maxKey", Bson::Int(1)),
            0xFF => typed("$minKey", Bson::Int(1)),
            0x13 => {
                return Err(DriverError::Unsupported(format!(
                    "`{name}` in the answer is a decimal of 128 bits: convert it with $toLong, $toDouble or $toString"
                )));
            }
            other => return Err(malformed(&format!("`{name}` is of type {other:#04x}"))),
        })
    }
}

fn utf8(bytes: &[u8]) -> Result<String> {
    simdutf8::basic::from_utf8(bytes)
        .map(str::to_owned)
        .map_err(|_| DriverError::Protocol("a text in the answer is not UTF-8".into()))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
