//! Interface of JSON trees for the row mapping, independent of how a driver stores them.

use std::fmt::Write;

use jsonathlon_schema::value::Value;
use serde_json::Value as Json;

/// JSON value together with the values nested in it.
pub trait Tree<'a>: Copy {
    /// Iterator over the elements of a list.
    type Elements: Iterator<Item = Self>;

    /// Returns a member of an object by name. `None` if the value is no object or lacks the member.
    fn member(self, name: &str) -> Option<Self>;

    /// Returns the elements of a list. `None` if the value is no list.
    fn elements(self) -> Option<Self::Elements>;

    /// Returns the type of the value, and its content if it is a scalar.
    fn leaf(self) -> Leaf<'a>;

    /// Appends the value as JSON text. A tree that keeps its source text appends that, other trees write no
    /// white space.
    fn write(self, out: &mut String);

    /// Returns the value as JSON text, as [`Tree::write`] writes it.
    fn json(self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }
}

/// Appends a text as a JSON string, with quotes and escapes.
pub fn quote(text: &str, out: &mut String) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut rest = text;
    while let Some(position) = find_escaped(rest.as_bytes()) {
        out.push_str(&rest[..position]);
        match rest.as_bytes()[position] {
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
                // Writing to a `String` cannot fail.
                write!(out, "\\u{byte:04x}").ok();
            }
        }
        rest = &rest[position + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

/// Returns the index of the first byte that must be escaped in a JSON string.
#[inline]
fn find_escaped(text: &[u8]) -> Option<usize> {
    const CHUNK: usize = 32;
    let is_escaped = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    let (chunks, rest) = text.as_chunks::<CHUNK>();
    for (index, chunk) in chunks.iter().enumerate() {
        // Folding over all bytes without a branch for each lets the compiler vectorize the comparison.
        if chunk.iter().fold(false, |any, byte| any | is_escaped(*byte)) {
            let position = chunk.iter().position(|byte| is_escaped(*byte));
            return position.map(|position| index * CHUNK + position);
        }
    }
    let position = rest.iter().position(|byte| is_escaped(*byte));
    position.map(|position| chunks.len() * CHUNK + position)
}

/// Type of a value, with its content if it is a scalar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Leaf<'a> {
    /// JSON `null`, or a format's equivalent.
    Null,
    /// Boolean of JSON or the format.
    Bool(bool),
    /// Integer of 64 bits with a sign.
    Int(i64),
    /// Number or instant that does not fit into a signed 64-bit integer.
    Large,
    /// Floating-point number of 64 bits.
    Float(f64),
    /// Instant in microseconds since 1970, from a format that has a type for instants.
    Time(i64),
    /// String, with escapes resolved.
    Text(&'a str),
    /// List; its elements come from [`Tree::elements`].
    List,
    /// Object; its members come from [`Tree::member`].
    Object,
}

impl Leaf<'_> {
    /// Describes the type for error messages, with an article.
    pub(super) fn type_name(&self) -> &'static str {
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

    /// Returns `true` if the scalar equals `value`. A float equals an integer of the same value.
    pub(super) fn is(&self, value: &Value) -> bool {
        match (self, value) {
            (Leaf::Null, Value::Null) => true,
            (Leaf::Bool(left), Value::Bool(right)) => left == right,
            (Leaf::Int(left), Value::Int(right)) => left == right,
            (Leaf::Float(left), Value::Float(right)) => left == right,
            (Leaf::Float(left), Value::Int(right)) => *left == *right as f64,
            (Leaf::Text(left), Value::Text(right)) => left == right,
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
