//! Extracts the six values of the questions from a document.
//!
//! The scanner is independent of the reference's, so that agreement of both is evidence. It follows the paths
//! of the questions and skips everything else. It does not validate: invalid JSON is rejected only where the
//! scan fails. The coordinator sets lines without JSON aside before any system gets a document, so the
//! yardstick measures a program that can trust its input.

use std::borrow::Cow;

use memchr::memchr2;

/// Values that the questions use. A value is `None` if its path is absent or has another type. If a member is
/// repeated, the last one counts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ExtractedFields<'a> {
    pub(super) user: Option<Cow<'a, str>>,
    pub(super) time: Option<i64>,
    pub(super) kind: Option<Cow<'a, str>>,
    pub(super) operation: Option<Cow<'a, str>>,
    pub(super) collection: Option<Cow<'a, str>>,
    pub(super) language: Option<Cow<'a, str>>,
}

/// Scans one document and extracts its values.
///
/// Unpaired surrogates in names or in extracted texts are an error, because a UTF-8 string cannot contain
/// them.
pub(super) fn extract(document: &[u8]) -> Result<ExtractedFields<'_>, String> {
    let text = simdutf8::basic::from_utf8(document).map_err(|error| error.to_string())?;
    let mut walk = JsonWalker { text, at: 0 };
    let mut found = ExtractedFields::default();
    walk.value(|walk| walk.event(&mut found))?;
    walk.space();
    if walk.at < text.len() { Err(walk.stumbled("the end")) } else { Ok(found) }
}

/// Checks that the yardstick can load a document.
///
/// # Errors
/// If the document is not UTF-8 or the scan fails; the message says where.
pub fn check(document: &[u8]) -> Result<(), String> {
    extract(document).map(|_| ())
}

/// Reads a document from front to back; holds the current position.
struct JsonWalker<'a> {
    text: &'a str,
    at: usize,
}

type Step<T> = Result<T, String>;

impl<'a> JsonWalker<'a> {
    fn event(&mut self, found: &mut ExtractedFields<'a>) -> Step<()> {
        self.members(|walk, name| {
            match name {
                "did" => found.user = walk.text()?,
                "time_us" => found.time = walk.literal()?.parse().ok(),
                "kind" => found.kind = walk.text()?,
                "commit" => {
                    (found.operation, found.collection, found.language) = (None, None, None);
                    walk.value(|walk| walk.commit(found))?;
                }
                _ => walk.pass()?,
            }
            Ok(())
        })
    }

    fn commit(&mut self, found: &mut ExtractedFields<'a>) -> Step<()> {
        self.members(|walk, name| {
            match name {
                "operation" => found.operation = walk.text()?,
                "collection" => found.collection = walk.text()?,
                "record" => {
                    found.language = None;
                    walk.value(|walk| {
                        walk.members(|walk, name| match name {
                            "langs" => {
                                found.language = walk.first_element()?;
                                Ok(())
                            }
                            _ => walk.pass(),
                        })
                    })?;
                }
                _ => walk.pass()?,
            }
            Ok(())
        })
    }

    /// Calls `object` if the value is an object, and skips values of other types.
    fn value(&mut self, object: impl FnOnce(&mut Self) -> Step<()>) -> Step<()> {
        self.space();
        if self.peek() == Some(b'{') { object(self) } else { self.pass() }
    }

    /// Calls `member` for each member of the object that begins here; `member` must consume the value.
    fn members(&mut self, mut member: impl FnMut(&mut Self, &str) -> Step<()>) -> Step<()> {
        self.at += 1;
        self.space();
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            self.space();
            let (quoted, escaped) = self.quoted()?;
            self.space();
            if !self.take(b':') {
                return Err(self.stumbled("a colon"));
            }
            self.space();
            if escaped {
                member(self, &unescaped(quoted)?)?;
            } else {
                member(self, quoted)?;
            }
            self.space();
            if self.take(b'}') {
                return Ok(());
            }
            if !self.take(b',') {
                return Err(self.stumbled("a comma or the end of an object"));
            }
        }
    }

    /// Text of a string value; `None` for other types.
    fn text(&mut self) -> Step<Option<Cow<'a, str>>> {
        if self.peek() != Some(b'"') {
            self.pass()?;
            return Ok(None);
        }
        let (quoted, escaped) = self.quoted()?;
        Ok(Some(if escaped { Cow::Owned(unescaped(quoted)?) } else { Cow::Borrowed(quoted) }))
    }

    /// Text of the first element of an array; `None` if the value is no array or its first element no string.
    fn first_element(&mut self) -> Step<Option<Cow<'a, str>>> {
        if self.peek() != Some(b'[') {
            self.pass()?;
            return Ok(None);
        }
        let list = self.at;
        self.at += 1;
        self.space();
        let first = if self.peek() == Some(b'"') { self.text()? } else { None };
        self.at = list;
        self.pass()?;
        Ok(first)
    }

    /// Source text of a value of any type.
    fn literal(&mut self) -> Step<&'a str> {
        let begun = self.at;
        self.pass()?;
        Ok(&self.text[begun..self.at])
    }

    /// Skips a value of any type and depth.
    fn pass(&mut self) -> Step<()> {
        let bytes = self.text.as_bytes();
        let mut depth = 0_usize;
        loop {
            match bytes.get(self.at) {
                Some(b'"') => {
                    self.quoted()?;
                }
                Some(b'{' | b'[') => {
                    self.at += 1;
                    depth += 1;
                    continue;
                }
                Some(b'}' | b']') if depth > 0 => {
                    self.at += 1;
                    depth -= 1;
                }
                Some(b',' | b':' | b' ' | b'\t' | b'\n' | b'\r') if depth > 0 => {
                    self.at += 1;
                    continue;
                }
                Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
                    let rest = &bytes[self.at..];
                    let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
                    self.at += rest.iter().position(ends).unwrap_or(rest.len());
                }
                _ => return Err(self.stumbled("a value")),
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Raw text between the quotes of the string that begins here; `true` if it contains escapes.
    fn quoted(&mut self) -> Step<(&'a str, bool)> {
        let bytes = self.text.as_bytes();
        if bytes.get(self.at) != Some(&b'"') {
            return Err(self.stumbled("a string"));
        }
        let begun = self.at + 1;
        let mut at = begun;
        let mut escaped = false;
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            let Some(found) = (if escaped { memchr2(b'"', b'\\', rest) } else { self.end_or_escape(at) })
            else {
                return Err(self.stumbled("the end of a string"));
            };
            at += found;
            if bytes[at] == b'"' {
                self.at = at + 1;
                return Ok((&self.text[begun..at], escaped));
            }
            escaped = true;
            at += 2;
        }
    }

    /// Distance from `at` to the next quote or backslash. Two words are checked inline, because most strings
    /// of an event are short and a call of `memchr2` costs more.
    #[inline]
    fn end_or_escape(&self, at: usize) -> Option<usize> {
        let rest = self.text.as_bytes().get(at..)?;
        let mut near = 0;
        while near < 2 * WORD
            && let Some(word) = rest.get(near..).and_then(|rest| rest.first_chunk())
        {
            let word = u64::from_le_bytes(*word);
            let found = zero_bytes(word ^ (REPEATED * u64::from(b'"')))
                | zero_bytes(word ^ (REPEATED * u64::from(b'\\')));
            if found != 0 {
                return Some(near + found.trailing_zeros() as usize / 8);
            }
            near += WORD;
        }
        memchr2(b'"', b'\\', rest.get(near..)?).map(|place| place + near)
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn take(&mut self, wanted: u8) -> bool {
        let there = self.peek() == Some(wanted);
        self.at += usize::from(there);
        there
    }

    #[inline]
    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    #[cold]
    fn stumbled(&self, wanted: &str) -> String {
        format!("{wanted} expected at byte {}", self.at)
    }
}

const WORD: usize = size_of::<u64>();
const REPEATED: u64 = u64::MAX / 255;

/// Sets the highest bit of each zero byte up to and including the first one; bits above that may be set for
/// other bytes, too (Mycroft's test, after Warren, *Hacker's Delight*, 2nd ed., §6-1).
#[inline]
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(REPEATED) & !word & REPEATED << 7
}

/// Decodes a string with escapes.
#[cold]
fn unescaped(quoted: &str) -> Step<String> {
    serde_json::from_str(&format!("\"{quoted}\"")).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> ExtractedFields<'_> {
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
            assert_eq!(of(text), ExtractedFields::default(), "{text}");
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
            assert_eq!(of(&text), ExtractedFields::default());
        }
    }

    #[test]
    fn a_walk_that_stumbles_refuses() {
        let bad: [&[u8]; 9] = [
            b"",
            b"{",
            b"{}}",
            b"{\"a\" 1}",
            b"{\"a\":1 \"b\":2}",
            b"\xef\xbb\xbf{}",
            b"{\"x\":\"\xff\"}",
            b"{\"x\":\"",
            b"{\"did\":\"\\ud800\"}",
        ];
        for document in bad {
            assert!(extract(document).is_err(), "{}", String::from_utf8_lossy(document));
        }
        assert!(extract(br#"{"text":"\ud800"}"#).is_ok());
    }
}
