//! Answers as the mapping sees them, however a driver holds them.

use std::fmt::Write;

use jsonathlon_dataset::value::Value;
use serde_json::Value as Json;

/// A value of JSON with everything below it.
pub trait Tree<'a>: Copy {
    /// The elements of a list.
    type Elements: Iterator<Item = Self>;

    /// The member of an object, if it is one and has it.
    fn member(self, name: &str) -> Option<Self>;

    /// The elements of a list, if it is one.
    fn elements(self) -> Option<Self::Elements>;

    /// What it is, and its value when nothing is below it.
    fn leaf(self) -> Leaf<'a>;

    /// Appends it as JSON text, without white space between its parts.
    fn write(self, out: &mut String);

    /// It as JSON text.
    fn json(self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }
}

/// Appends a string of JSON.
pub fn quote(text: &str, out: &mut String) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut rest = text;
    while let Some(at) = escaped(rest.as_bytes()) {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0C => out.push_str("\\f"),
            byte @ (b'"' | b'\\') => {
                out.push('\\');
                out.push(char::from(byte));
            }
            byte => {
                // Memory takes all that is written.
                write!(out, "\\u{byte:04x}").ok();
            }
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

/// Where the first byte is that is escaped in a string of JSON.
#[inline]
fn escaped(text: &[u8]) -> Option<usize> {
    const TOGETHER: usize = 32;
    let is_escaped = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    let (chunks, rest) = text.as_chunks::<TOGETHER>();
    for (index, chunk) in chunks.iter().enumerate() {
        // All of them, without a branch for each: so the compiler compares many at a time.
        if chunk.iter().fold(false, |any, byte| any | is_escaped(*byte)) {
            let at = chunk.iter().position(|byte| is_escaped(*byte));
            return at.map(|at| index * TOGETHER + at);
        }
    }
    let at = rest.iter().position(|byte| is_escaped(*byte));
    at.map(|at| chunks.len() * TOGETHER + at)
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Leaf<'a> {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A whole number outside of 64 bits with a sign.
    Large,
    /// A double.
    Float(f64),
    /// An instant, in microseconds since 1970, of a format that has a type for them.
    Time(i64),
    /// A string.
    Text(&'a str),
    /// A list, whose elements are asked of the tree.
    List,
    /// An object, whose members are asked of the tree.
    Object,
}

impl Leaf<'_> {
    /// What it is, for people.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Leaf::Null => "null",
            Leaf::Bool(_) => "a boolean",
            Leaf::Int(_) => "an integer",
            Leaf::Large => "an integer beyond 64 bits",
            Leaf::Float(_) => "a float",
            Leaf::Time(_) => "a time",
            Leaf::Text(_) => "text",
            Leaf::List => "a list",
            Leaf::Object => "an object",
        }
    }

    /// Whether it is this value.
    pub(super) fn is(&self, value: &Value) -> bool {
        match (self, value) {
            (Leaf::Null, Value::Null) => true,
            (Leaf::Bool(one), Value::Bool(other)) => one == other,
            (Leaf::Int(one), Value::Int(other)) => one == other,
            (Leaf::Float(one), Value::Float(other)) => one == other,
            (Leaf::Float(one), Value::Int(other)) => *one == *other as f64,
            (Leaf::Text(one), Value::Text(other)) => one == other,
            _ => false,
        }
    }
}

impl<'a> Tree<'a> for &'a Json {
    type Elements = std::slice::Iter<'a, Json>;

    fn member(self, name: &str) -> Option<Self> {
        self.as_object()?.get(name)
    }

    fn elements(self) -> Option<Self::Elements> {
        self.as_array().map(|elements| elements.iter())
    }

    fn leaf(self) -> Leaf<'a> {
        match self {
            Json::Null => Leaf::Null,
            Json::Bool(truth) => Leaf::Bool(*truth),
            Json::Number(number) => match number.as_i64() {
                Some(number) => Leaf::Int(number),
                None if number.is_u64() => Leaf::Large,
                None => number.as_f64().map_or(Leaf::Large, Leaf::Float),
            },
            Json::String(text) => Leaf::Text(text),
            Json::Array(_) => Leaf::List,
            Json::Object(_) => Leaf::Object,
        }
    }

    fn write(self, out: &mut String) {
        out.push_str(&self.to_string());
    }
}
