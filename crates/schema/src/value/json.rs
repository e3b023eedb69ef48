//! Lossless serialization of cells as JSON.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Value, named_float, not_finite};

/// Name of the single member of an object that stands for a number that JSON lacks.
const FLOAT: &str = "float";

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(truth) => serializer.serialize_bool(*truth),
            Value::Int(number) => serializer.serialize_i64(*number),
            Value::Float(number) => match not_finite(*number) {
                None => serializer.serialize_f64(*number),
                Some(name) => {
                    let mut map = serializer.serialize_map(Some(1))?;
                    map.serialize_entry(FLOAT, name)?;
                    map.end()
                }
            },
            Value::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CellVisitor)
    }
}

struct CellVisitor;

impl<'de> Visitor<'de> for CellVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("null, a truth value, a number, a text or {\"float\":…}")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Value, E> {
        Ok(Value::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Int(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        i64::try_from(number)
            .map(Value::Int)
            .map_err(|_| E::custom(format_args!("integer {number} is outside 64 bits with a sign")))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Float(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::Text(text))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let Some((member, name)) = map.next_entry::<String, String>()? else {
            return Err(A::Error::custom("a cell that is an object must be {\"float\":…}"));
        };
        match (member.as_str(), named_float(&name), map.next_key::<String>()?) {
            (FLOAT, Some(number), None) => Ok(Value::Float(number)),
            _ => Err(A::Error::custom(format_args!("no cell is an object with `{member}`: `{name}`"))),
        }
    }
}
