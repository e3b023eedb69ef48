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
    let mut walker = JsonWalker { text, position: 0 };
    let mut fields = ExtractedFields::default();
    walker.value(|walker| walker.event(&mut fields))?;
    walker.space();
    if walker.position < text.len() { Err(walker.stumbled("the end")) } else { Ok(fields) }
}

/// Checks that the yardstick can load a document.
///
/// # Errors
/// If the document is not UTF-8 or the scan fails; the message says where.
pub fn check_document(document: &[u8]) -> Result<(), String> {
    extract(document).map(|_| ())
}

/// Reads a document from front to back; holds the current position.
struct JsonWalker<'a> {
    text: &'a str,
    position: usize,
}

type Step<T> = Result<T, String>;

impl<'a> JsonWalker<'a> {
    fn event(&mut self, fields: &mut ExtractedFields<'a>) -> Step<()> {
        self.members(|walker, name| {
            match name {
                "did" => fields.user = walker.text()?,
                "time_us" => fields.time = walker.literal()?.parse().ok(),
                "kind" => fields.kind = walker.text()?,
                "commit" => {
                    (fields.operation, fields.collection, fields.language) = (None, None, None);
                    walker.value(|walker| walker.commit(fields))?;
                }
                _ => walker.pass()?,
            }
            Ok(())
        })
    }

    fn commit(&mut self, fields: &mut ExtractedFields<'a>) -> Step<()> {
        self.members(|walker, name| {
            match name {
                "operation" => fields.operation = walker.text()?,
                "collection" => fields.collection = walker.text()?,
                "record" => {
                    fields.language = None;
                    walker.value(|walker| {
                        walker.members(|walker, name| match name {
                            "langs" => {
                                fields.language = walker.first_element()?;
                                Ok(())
                            }
                            _ => walker.pass(),
                        })
                    })?;
                }
                _ => walker.pass()?,
            }
            Ok(())
        })
    }

    /// Calls `object` if the value is an object, and skips values of other types.
    fn value(&mut self, read_object: impl FnOnce(&mut Self) -> Step<()>) -> Step<()> {
        self.space();
        if self.peek() == Some(b'{') { read_object(self) } else { self.pass() }
    }

    /// Calls `read_member` for each member of the object that begins here; `read_member` must consume the
    /// value.
    fn members(&mut self, mut read_member: impl FnMut(&mut Self, &str) -> Step<()>) -> Step<()> {
        self.position += 1;
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
                read_member(self, &unescaped(quoted)?)?;
            } else {
                read_member(self, quoted)?;
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
        let start = self.position;
        self.position += 1;
        self.space();
        let element = if self.peek() == Some(b'"') { self.text()? } else { None };
        self.position = start;
        self.pass()?;
        Ok(element)
    }

    /// Source text of a value of any type.
    fn literal(&mut self) -> Step<&'a str> {
        let start = self.position;
        self.pass()?;
        Ok(&self.text[start..self.position])
    }

    /// Skips a value of any type and depth.
    fn pass(&mut self) -> Step<()> {
        let bytes = self.text.as_bytes();
        let mut depth = 0_usize;
        loop {
            match bytes.get(self.position) {
                Some(b'"') => {
                    self.quoted()?;
                }
                Some(b'{' | b'[') => {
                    self.position += 1;
                    depth += 1;
                    continue;
                }
                Some(b'}' | b']') if depth > 0 => {
                    self.position += 1;
                    depth -= 1;
                }
                Some(b',' | b':' | b' ' | b'\t' | b'\n' | b'\r') if depth > 0 => {
                    self.position += 1;
                    continue;
                }
                Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
                    let rest = &bytes[self.position..];
                    let is_end =
                        |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
                    self.position += rest.iter().position(is_end).unwrap_or(rest.len());
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
        if bytes.get(self.position) != Some(&b'"') {
            return Err(self.stumbled("a string"));
        }
        let start = self.position + 1;
        let mut index = start;
        let mut escaped = false;
        loop {
            let rest = bytes.get(index..).unwrap_or_default();
            let distance = if escaped { memchr2(b'"', b'\\', rest) } else { self.end_or_escape(index) };
            let Some(distance) = distance else {
                return Err(self.stumbled("the end of a string"));
            };
            index += distance;
            if bytes[index] == b'"' {
                self.position = index + 1;
                return Ok((&self.text[start..index], escaped));
            }
            escaped = true;
            index += 2;
        }
    }

    /// Distance from `index` to the next quote or backslash. Two words are checked inline, because most
    /// strings of an event are short and a call of `memchr2` costs more.
    #[inline]
    fn end_or_escape(&self, index: usize) -> Option<usize> {
        let rest = self.text.as_bytes().get(index..)?;
        let mut offset = 0;
        while offset < 2 * WORD
            && let Some(word) = rest.get(offset..).and_then(|rest| rest.first_chunk())
        {
            let word = u64::from_le_bytes(*word);
            let matches = zero_bytes(word ^ (REPEATED * u64::from(b'"')))
                | zero_bytes(word ^ (REPEATED * u64::from(b'\\')));
            if matches != 0 {
                return Some(offset + matches.trailing_zeros() as usize / 8);
            }
            offset += WORD;
        }
        memchr2(b'"', b'\\', rest.get(offset..)?).map(|distance| distance + offset)
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    #[inline]
    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.position += usize::from(is_next);
        is_next
    }

    #[inline]
    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.position += 1;
        }
    }

    #[cold]
    fn stumbled(&self, expected: &str) -> String {
        format!("{expected} expected at byte {}", self.position)
    }
}

const WORD: usize = size_of::<u64>();
const REPEATED: u64 = u64::MAX / 255;

/// Sets the highest bit of the first zero byte and none below it. Higher bits may be set for other bytes, too
/// (Mycroft's test, after Warren, *Hacker's Delight*, 2nd ed., §6-1).
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

    fn fields_of(text: &str) -> ExtractedFields<'_> {
        extract(text.as_bytes()).unwrap()
    }

    #[test]
    fn the_last_of_several_members_counts_as_a_whole() {
        let text = r#"{"did":"a","did":"b","time_us":1,"time_us":"x","kind":3,"kind":"commit",
            "commit":{"operation":"create","record":{"langs":["en"]}},"commit":{"collection":"d"}}"#;
        let fields = fields_of(text);
        assert_eq!(
            (fields.user.as_deref(), fields.time, fields.kind.as_deref()),
            (Some("b"), None, Some("commit"))
        );
        assert_eq!((fields.operation, fields.language), (None, None));
        assert_eq!(fields.collection.as_deref(), Some("d"));
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
            assert_eq!(fields_of(&format!("{{\"time_us\": {literal} }}")).time, time, "{literal}");
        }
    }

    #[test]
    fn values_of_other_types_hold_nothing() {
        for text in
            ["[]", "7", "null", "\"did\"", "{}", r#"{"did":{"did":"a"},"commit":[{"operation":"create"}]}"#]
        {
            assert_eq!(fields_of(text), ExtractedFields::default(), "{text}");
        }
        for langs in ["\"en\"", "{}", "[]", "[7,\"en\"]", "[null]", "[[\"en\"]]", "true", "-1.5e3"] {
            let text = format!(r#"{{"commit":{{"record":{{"langs":{langs}}}}}}}"#);
            assert_eq!(fields_of(&text).language, None, "{langs}");
        }
        assert_eq!(
            fields_of(r#"{"commit":{"record":{"lang\u0073":["\u0065n",3]}}}"#).language.as_deref(),
            Some("en")
        );
    }

    #[test]
    fn nesting_has_no_limit() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        for text in [deep.clone(), format!(r#"{{"did":{deep},"x":{deep},"commit":{{"record":{deep}}}}}"#)] {
            assert_eq!(fields_of(&text), ExtractedFields::default());
        }
    }

    #[test]
    fn a_walk_that_stumbles_refuses() {
        let malformed: [&[u8]; 9] = [
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
        for document in malformed {
            assert!(extract(document).is_err(), "{}", String::from_utf8_lossy(document));
        }
        assert!(extract(br#"{"text":"\ud800"}"#).is_ok());
    }
}
