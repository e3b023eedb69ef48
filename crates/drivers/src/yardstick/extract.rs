//! Six values out of one document, read with serde_json and nothing of the reference's own scanner: if both
//! agree, they agree for two reasons.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// What the questions look at. A path that is absent or of another type is `None`, and of members of one name
/// the last counts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Extract<'a> {
    pub(super) user: Option<Cow<'a, str>>,
    pub(super) time: Option<i64>,
    pub(super) kind: Option<Cow<'a, str>>,
    pub(super) operation: Option<Cow<'a, str>>,
    pub(super) collection: Option<Cow<'a, str>>,
    pub(super) language: Option<Cow<'a, str>>,
}

/// Reads one document.
///
/// Beside what is no JSON, two oddities are refused because serde_json cannot turn them into values: half of a
/// surrogate pair in a name or a text that is asked for, and a number that no double holds where an object or a
/// list is asked for.
pub(super) fn extract(document: &[u8]) -> Result<Extract<'_>, String> {
    // serde_json checks only the strings that it turns into values, so the whole line is checked here.
    let text = simdutf8::basic::from_utf8(document).map_err(|error| error.to_string())?;
    let Part(event) = serde_json::from_str::<Part<Extract<'_>>>(text).map_err(|error| error.to_string())?;
    Ok(event)
}

/// A string's text, or nothing for a value of any other type.
struct Text<'a>(Option<Cow<'a, str>>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        let Some(quoted) = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
            return Ok(Self(None));
        };
        if memchr::memchr(b'\\', quoted.as_bytes()).is_none() {
            return Ok(Self(Some(Cow::Borrowed(quoted))));
        }
        let text: String = serde_json::from_str(raw).map_err(serde::de::Error::custom)?;
        Ok(Self(Some(Cow::Owned(text))))
    }
}

/// An integer literal that 64 bits hold, or nothing. The literal itself is looked at: serde_json takes `-0` for
/// a double.
struct Integer(Option<i64>);

impl<'de> Deserialize<'de> for Integer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(<&RawValue>::deserialize(deserializer)?.get().parse().ok()))
    }
}

/// What is looked for within an object or a list. A value of another type holds nothing.
trait Wanted<'de>: Default {
    /// Takes what is wanted out of a member.
    fn member<A: MapAccess<'de>>(&mut self, name: Name, members: &mut A) -> Result<(), A::Error> {
        let _ = name;
        members.next_value::<IgnoredAny>().map(drop)
    }

    /// Takes what is wanted out of the elements of a list.
    fn elements<A: SeqAccess<'de>>(&mut self, elements: &mut A) -> Result<(), A::Error> {
        let _ = elements;
        Ok(())
    }
}

impl<'de> Wanted<'de> for Extract<'de> {
    fn member<A: MapAccess<'de>>(&mut self, name: Name, members: &mut A) -> Result<(), A::Error> {
        match name {
            Name::Did => self.user = members.next_value::<Text<'de>>()?.0,
            Name::TimeUs => self.time = members.next_value::<Integer>()?.0,
            Name::Kind => self.kind = members.next_value::<Text<'de>>()?.0,
            Name::Commit => {
                let Part(Commit { operation, collection, language }) = members.next_value()?;
                (self.operation, self.collection, self.language) = (operation, collection, language);
            }
            _ => drop(members.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }
}

#[derive(Default)]
struct Commit<'a> {
    operation: Option<Cow<'a, str>>,
    collection: Option<Cow<'a, str>>,
    language: Option<Cow<'a, str>>,
}

impl<'de> Wanted<'de> for Commit<'de> {
    fn member<A: MapAccess<'de>>(&mut self, name: Name, members: &mut A) -> Result<(), A::Error> {
        match name {
            Name::Operation => self.operation = members.next_value::<Text<'de>>()?.0,
            Name::Collection => self.collection = members.next_value::<Text<'de>>()?.0,
            Name::Record => self.language = members.next_value::<Part<Record<'de>>>()?.0.language,
            _ => drop(members.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }
}

#[derive(Default)]
struct Record<'a> {
    language: Option<Cow<'a, str>>,
}

impl<'de> Wanted<'de> for Record<'de> {
    fn member<A: MapAccess<'de>>(&mut self, name: Name, members: &mut A) -> Result<(), A::Error> {
        match name {
            Name::Langs => self.language = members.next_value::<Part<First<'de>>>()?.0.0,
            _ => drop(members.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }
}

#[derive(Default)]
struct First<'a>(Option<Cow<'a, str>>);

impl<'de> Wanted<'de> for First<'de> {
    fn elements<A: SeqAccess<'de>>(&mut self, elements: &mut A) -> Result<(), A::Error> {
        self.0 = elements.next_element::<Text<'de>>()?.and_then(|text| text.0);
        Ok(())
    }
}

/// A value in which something is looked for.
struct Part<W>(W);

impl<'de, W: Wanted<'de>> Deserialize<'de> for Part<W> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PartVisitor(PhantomData)).map(Part)
    }
}

struct PartVisitor<W>(PhantomData<W>);

impl<'de, W: Wanted<'de>> Visitor<'de> for PartVisitor<W> {
    type Value = W;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<W, A::Error> {
        let mut wanted = W::default();
        while let Some(name) = members.next_key()? {
            wanted.member(name, &mut members)?;
        }
        Ok(wanted)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<W, A::Error> {
        let mut wanted = W::default();
        wanted.elements(&mut elements)?;
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(wanted)
    }

    fn visit_unit<E>(self) -> Result<W, E> {
        Ok(W::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<W, E> {
        Ok(W::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<W, E> {
        Ok(W::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<W, E> {
        Ok(W::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<W, E> {
        Ok(W::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<W, E> {
        Ok(W::default())
    }
}

/// A member's name, as far as it matters.
#[derive(Clone, Copy)]
enum Name {
    Did,
    TimeUs,
    Kind,
    Commit,
    Operation,
    Collection,
    Record,
    Langs,
    Other,
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl Visitor<'_> for NameVisitor {
            type Value = Name;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a name")
            }

            fn visit_str<E>(self, name: &str) -> Result<Name, E> {
                Ok(match name {
                    "did" => Name::Did,
                    "time_us" => Name::TimeUs,
                    "kind" => Name::Kind,
                    "commit" => Name::Commit,
                    "operation" => Name::Operation,
                    "collection" => Name::Collection,
                    "record" => Name::Record,
                    "langs" => Name::Langs,
                    _ => Name::Other,
                })
            }
        }
        deserializer.deserialize_str(NameVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Extract<'_> {
        extract(text.as_bytes()).unwrap()
    }

    #[test]
    fn the_last_of_several_members_counts_as_a_whole() {
        let text = r#"{"did":"a","did":"b","time_us":1,"time_us":"x","kind":3,"kind":"commit",
            "commit":{"operation":"create","record":{"langs":["en"]}},"commit":{"collection":"d"}}"#;
        let found = of(text);
        assert_eq!(
            (found.user.as_deref(), found.time, found.kind.as_deref()),
            (Some("b"), None, Some("commit"))
        );
        assert_eq!((found.operation, found.language), (None, None));
        assert_eq!(found.collection.as_deref(), Some("d"));
    }

    #[test]
    fn only_integer_literals_that_fit_are_times() {
        for (literal, time) in [
            ("-0", Some(0)),
            ("9223372036854775807", Some(i64::MAX)),
            ("9223372036854775808", None),
            ("-9223372036854775808", Some(i64::MIN)),
            ("1.0", None),
            ("1e3", None),
            ("1e999", None),
            ("\"1\"", None),
        ] {
            assert_eq!(of(&format!("{{\"time_us\": {literal} }}")).time, time, "{literal}");
        }
    }

    #[test]
    fn values_of_other_types_hold_nothing() {
        for text in
            ["[]", "7", "null", "\"did\"", "{}", r#"{"did":{"did":"a"},"commit":[{"operation":"create"}]}"#]
        {
            assert_eq!(of(text), Extract::default(), "{text}");
        }
        for langs in ["\"en\"", "{}", "[]", "[7,\"en\"]", "[null]", "[[\"en\"]]", "true", "-1.5e3"] {
            let text = format!(r#"{{"commit":{{"record":{{"langs":{langs}}}}}}}"#);
            assert_eq!(of(&text).language, None, "{langs}");
        }
        assert_eq!(
            of(r#"{"commit":{"record":{"lang\u0073":["\u0065n",3]}}}"#).language.as_deref(),
            Some("en")
        );
    }

    #[test]
    fn nesting_has_no_limit() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        for text in [deep.clone(), format!(r#"{{"did":{deep},"x":{deep},"commit":{{"record":{deep}}}}}"#)] {
            assert_eq!(of(&text), Extract::default());
        }
    }

    #[test]
    fn what_is_no_json_is_refused() {
        let bad: [&[u8]; 9] = [
            b"",
            b"{",
            b"{}}",
            b"{\"a\":01}",
            b"\xef\xbb\xbf{}",
            b"{\"x\":\"\xff\"}",
            b"{\"x\":\"\\q\"}",
            b"{\"x\":\"\n\"}",
            b"{\"did\":\"\\ud800\"}",
        ];
        for document in bad {
            assert!(extract(document).is_err(), "{}", String::from_utf8_lossy(document));
        }
        assert!(extract(br#"{"text":"\ud800"}"#).is_ok());
    }
}
