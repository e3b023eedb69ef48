//! JSON trees that keep the source text of every value.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::tree::{Leaf, Tree};

/// Maximum nesting depth. Answers are shallow, so a deeper text is rejected.
const LEVELS: usize = 400;

/// Members of an object in source order, each with the source text of its value.
#[derive(Debug)]
pub struct RawMembers<'a>(pub Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for RawMembers<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OrderedVisitor;
        impl<'de> Visitor<'de> for OrderedVisitor {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(OrderedVisitor).map(RawMembers)
    }
}

/// JSON value together with its source text.
#[derive(Debug, Clone, PartialEq)]
pub struct RawJson<'a> {
    text: &'a str,
    content: Content<'a>,
}

#[derive(Debug, Clone, PartialEq)]
enum Content<'a> {
    /// Scalar: neither a list nor an object.
    One(Json),
    List(Vec<RawJson<'a>>),
    Object(Vec<(String, RawJson<'a>)>),
}

impl<'a> RawJson<'a> {
    /// Parses a text that is one JSON value, with white space around it allowed.
    ///
    /// # Errors
    /// If the text is not one JSON value, or is nested deeper than 400 levels.
    pub fn read(text: &'a str) -> Result<Self, String> {
        Self::parse_nested(text.trim_ascii(), 0)
    }

    // Every level scans the text of the levels below it again, which is cheap for trees as shallow as
    // answers.
    fn parse_nested(text: &'a str, level: usize) -> Result<Self, String> {
        if level > LEVELS {
            return Err(format!("JSON of more than {LEVELS} levels"));
        }
        let to_message = |error: serde_json::Error| error.to_string();
        let content = match text.as_bytes().first() {
            Some(b'[') => {
                let elements: Vec<&RawValue> = serde_json::from_str(text).map_err(to_message)?;
                let elements = elements.into_iter().map(|raw| Self::parse_nested(raw.get(), level + 1));
                Content::List(elements.collect::<Result<_, _>>()?)
            }
            Some(b'{') => {
                let RawMembers(members) = serde_json::from_str(text).map_err(to_message)?;
                let members = members
                    .into_iter()
                    .map(|(name, raw)| Ok((name, Self::parse_nested(raw.get(), level + 1)?)));
                Content::Object(members.collect::<Result<_, String>>()?)
            }
            _ => Content::One(serde_json::from_str(text).map_err(to_message)?),
        };
        Ok(Self { text, content })
    }
}

impl<'a, 'w> Tree<'a> for &'a RawJson<'w> {
    type Elements = std::slice::Iter<'a, RawJson<'w>>;

    fn member(self, name: &str) -> Option<Self> {
        match &self.content {
            Content::Object(members) => members.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    fn elements(self) -> Option<Self::Elements> {
        match &self.content {
            Content::List(elements) => Some(elements.iter()),
            _ => None,
        }
    }

    fn leaf(self) -> Leaf<'a> {
        match &self.content {
            Content::One(scalar) => scalar.leaf(),
            Content::List(_) => Leaf::List,
            Content::Object(_) => Leaf::Object,
        }
    }

    fn write(self, out: &mut String) {
        out.push_str(self.text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_taken_whole_is_as_it_was_written() {
        let text = r#" {"a": [{"z": 1.0, "b" : "\u00e9", "n": 99999999999999999999}, 2], "e": {}} "#;
        let tree = RawJson::read(text).unwrap();
        let elements: Vec<_> = (&tree).member("a").unwrap().elements().unwrap().collect();
        assert_eq!(elements[0].json(), r#"{"z": 1.0, "b" : "\u00e9", "n": 99999999999999999999}"#);
        assert_eq!(elements[0].member("b").unwrap().leaf(), Leaf::Text("é"));
        assert_eq!(elements[1].leaf(), Leaf::Int(2));
        assert_eq!((&tree).member("e").unwrap().leaf(), Leaf::Object);
        assert!((&tree).member("f").is_none() && (&tree).elements().is_none());
    }

    #[test]
    fn what_is_no_json_or_too_deep_is_an_error() {
        for text in ["", "{", "[1,]", "{\"a\" 1}", "1 2", "nul"] {
            assert!(RawJson::read(text).is_err(), "{text}");
        }
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(RawJson::read(&deep(300)).is_ok());
        assert!(RawJson::read(&deep(500)).unwrap_err().contains("400 levels"));
    }
}
