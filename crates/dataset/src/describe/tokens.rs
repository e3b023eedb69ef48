//! Splits a valid JSON text into tokens, at any depth and without recursion.
//!
//! Deserializers cannot read every valid document: they refuse deep nesting, halves of surrogate pairs and
//! numbers beyond a double. Those are the documents that a profile has to report.

use std::borrow::Cow;

use memchr::memchr2;

use crate::scan::decode;

/// A string or member name between its quotes, with escapes as they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RawText<'a> {
    bytes: &'a [u8],
    is_escaped: bool,
}

impl<'a> RawText<'a> {
    /// Returns the text without escapes. Halves of surrogate pairs are kept, so that it may not be UTF-8.
    pub(super) fn decode(self) -> Cow<'a, [u8]> {
        if self.is_escaped { Cow::Owned(decode(self.bytes)) } else { Cow::Borrowed(self.bytes) }
    }
}

/// A part of a JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// `{`: the start of an object.
    ObjectStart,
    /// `[`: the start of an array.
    ArrayStart,
    /// `}` or `]`: the end of the innermost object or array.
    End,
    /// Name of the member whose value follows.
    Key(RawText<'a>),
    /// A string that is a value.
    String(RawText<'a>),
    /// A number as it is written.
    Number(&'a [u8]),
    /// `true`, `false` or `null` as a value.
    Literal,
}

/// Iterator over the tokens of a JSON text. The text must be valid, otherwise the tokens mean nothing.
#[derive(Clone, Debug)]
pub(super) struct Tokens<'a> {
    text: &'a [u8],
    position: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Tokens { text, position: 0 }
    }

    /// Reads the string whose opening quote has been consumed.
    fn string(&mut self) -> RawText<'a> {
        let (start, mut is_escaped) = (self.position, false);
        let rest = |position: usize| self.text.get(position..).unwrap_or_default();
        let mut end = start;
        while let Some(offset) = memchr2(b'"', b'\\', rest(end)) {
            end += offset;
            if self.text.get(end) == Some(&b'"') {
                break;
            }
            is_escaped = true;
            end += 2;
        }
        self.position = end + 1;
        RawText { bytes: self.text.get(start..end).unwrap_or_default(), is_escaped }
    }

    /// Returns `true` if the next byte that is no white space is a colon: the string before is a name.
    fn is_before_colon(&self) -> bool {
        let rest = self.text.get(self.position..).unwrap_or_default();
        rest.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) == Some(&b':')
    }

    /// Reads bytes from `start` on as long as they belong to a number or literal.
    fn word(&mut self, start: usize) -> &'a [u8] {
        let rest = self.text.get(start..).unwrap_or_default();
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let length = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        self.position = start + length;
        rest.get(..length).unwrap_or_default()
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let start = self.position;
            let byte = *self.text.get(start)?;
            self.position += 1;
            return Some(match byte {
                b'{' => Token::ObjectStart,
                b'[' => Token::ArrayStart,
                b'}' | b']' => Token::End,
                b'"' => {
                    let text = self.string();
                    if self.is_before_colon() { Token::Key(text) } else { Token::String(text) }
                }
                b'-' | b'0'..=b'9' => Token::Number(self.word(start)),
                b't' | b'f' | b'n' => {
                    self.word(start);
                    Token::Literal
                }
                _ => continue,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// Tokens as text: names end with a colon.
    fn spelled(text: &str) -> Vec<String> {
        let decoded = |text: RawText<'_>| String::from_utf8_lossy(&text.decode()).into_owned();
        let spell = |token| match token {
            Token::ObjectStart => "{".to_owned(),
            Token::ArrayStart => "[".to_owned(),
            Token::End => "end".to_owned(),
            Token::Key(name) => format!("{}:", decoded(name)),
            Token::String(text) => format!("'{}'", decoded(text)),
            Token::Number(number) => String::from_utf8(number.to_vec()).unwrap(),
            Token::Literal => "literal".to_owned(),
        };
        Tokens::new(text.as_bytes()).map(spell).collect()
    }

    #[test]
    fn strings_are_names_only_before_a_colon() {
        let text = r#" {"a\"\\" : [-1.5e+3,"b:",":"],"":{"c":null , "\u00e9":"\\"}, "d":true,"n":12} "#;
        let expected = [
            "{", "a\"\\:", "[", "-1.5e+3", "'b:'", "':'", "end", ":", "{", "c:", "literal", "é:", "'\\'",
            "end", "d:", "literal", "n:", "12", "end",
        ];
        assert_eq!(spelled(text), expected);
        assert_eq!(spelled(r#""x""#), ["'x'"]);
        assert_eq!(spelled("7"), ["7"]);
        assert_eq!(Tokens::new(&[b'['; 100_000]).count(), 100_000);
    }

    fn expected(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                found.push("{".to_owned());
                for (name, value) in members {
                    found.push(format!("{name}:"));
                    expected(value, found);
                }
                found.push("end".to_owned());
            }
            Value::Array(elements) => {
                found.push("[".to_owned());
                elements.iter().for_each(|element| expected(element, found));
                found.push("end".to_owned());
            }
            Value::String(text) => found.push(format!("'{text}'")),
            Value::Number(number) => found.push(number.to_string()),
            Value::Bool(_) | Value::Null => found.push("literal".to_owned()),
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let text = r#"[a":\\{}\[\], \u{0}\u{e9}]{0,6}"#;
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            text.prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(text, inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn tokens_are_those_of_the_value(value in value()) {
            let mut tokens = Vec::new();
            expected(&value, &mut tokens);
            prop_assert_eq!(spelled(&value.to_string()), tokens.clone());
            prop_assert_eq!(spelled(&serde_json::to_string_pretty(&value).unwrap()), tokens);
        }
    }
}
