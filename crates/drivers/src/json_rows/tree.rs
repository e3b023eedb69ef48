//! Answers as the mapping sees them, however a driver holds them.

use jsonathlon_dataset::value::Value;
use serde_json::Value as Json;

/// A value of JSON with everything below it.
pub(crate) trait Tree: Sized {
    /// The member of an object, if it is one and has it.
    fn member(&self, name: &str) -> Option<&Self>;

    /// The elements of a list, if it is one.
    fn elements(&self) -> Option<&[Self]>;

    /// What it is, and its value when nothing is below it.
    fn leaf(&self) -> Leaf<'_>;

    /// It as JSON text, without white space between its parts.
    fn json(&self) -> String;
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Leaf<'a> {
    Null,
    Bool(bool),
    Int(i64),
    /// A whole number outside of 64 bits with a sign.
    Large,
    Float(f64),
    Text(&'a str),
    List,
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

impl Tree for Json {
    fn member(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name)
    }

    fn elements(&self) -> Option<&[Self]> {
        self.as_array().map(Vec::as_slice)
    }

    fn leaf(&self) -> Leaf<'_> {
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

    fn json(&self) -> String {
        self.to_string()
    }
}
