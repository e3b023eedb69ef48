//! Digest of JSON text that ignores member order, white space, and the spelling of numbers and strings.
//!
//! The digest of an object is computed from the sum of its members' digests. Hence a document of any size is
//! read once, with memory proportional to its depth.

use super::mix;

/// Maximum number of nesting levels; deeper text is an error.
const DEEPEST: u32 = 1000;

/// Salts that separate the kinds of values.
const OF_OBJECT: u64 = 0x6f62_6a65_6374_0001;
const OF_ARRAY: u64 = 0x6172_7261_7900_0002;
const OF_TEXT: u64 = 0x7465_7874_0000_0003;
const OF_NUMBER: u64 = 0x6e75_6d62_6572_0004;
const OF_FRACTION: u64 = 0x6672_6163_7400_0005;
const OF_WORD: u64 = 0x776f_7264_0000_0006;
const OF_MEMBER: u64 = 0x6d65_6d62_6572_0007;

/// Error for text that is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not JSON at byte {position}")]
pub struct DigestError {
    /// Byte offset of the fault, from 0.
    pub position: usize,
}

/// Integer whose digest is computed.
pub(super) struct JsonInteger(pub(super) i64);

impl JsonInteger {
    pub(super) fn digest(&self) -> u64 {
        mix(OF_NUMBER ^ mix(self.0.cast_unsigned()))
    }
}

/// Returns the digest of an object with these members, plus further members whose digests sum up to `below`.
pub(super) fn object_digest<'a>(members: impl Iterator<Item = (&'a str, u64)>, below: u64) -> u64 {
    let sum =
        members.fold(below, |sum, (name, value)| sum.wrapping_add(member_digest(name.as_bytes(), value)));
    mix(OF_OBJECT ^ sum)
}

/// Returns what a member adds to the sum of its object.
pub(super) fn member_digest(name: &[u8], value: u64) -> u64 {
    mix(mix(OF_MEMBER ^ bytes(name)).wrapping_mul(3) ^ value)
}

/// Returns a 64-bit hash of bytes.
fn bytes(text: &[u8]) -> u64 {
    let (words, rest) = text.as_chunks::<8>();
    let mut hash = text.len() as u64;
    for word in words {
        hash = mix(hash ^ u64::from_le_bytes(*word));
    }
    let last_word = rest.iter().rev().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
    mix(hash ^ last_word)
}

/// Returns the digest of one JSON text.
///
/// # Errors
/// If the text is not JSON, is nested more than 1,000 levels deep, or is followed by more text.
pub fn digest(text: &[u8]) -> Result<u64, DigestError> {
    let mut reader = Reader { text, position: 0 };
    let value = reader.value(0)?;
    reader.blanks();
    match reader.position == text.len() {
        true => Ok(value),
        false => Err(reader.error()),
    }
}

struct Reader<'a> {
    text: &'a [u8],
    position: usize,
}

impl Reader<'_> {
    fn error(&self) -> DigestError {
        DigestError { position: self.position }
    }

    fn next(&self) -> Option<u8> {
        self.text.get(self.position).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.next(), Some(b' ' | b'\n' | b'\t' | b'\r')) {
            self.position += 1;
        }
    }

    /// Consumes the next byte and returns `true` if it is `byte`.
    fn takes(&mut self, byte: u8) -> bool {
        let is_match = self.next() == Some(byte);
        self.position += usize::from(is_match);
        is_match
    }

    fn value(&mut self, depth: u32) -> Result<u64, DigestError> {
        if depth > DEEPEST {
            return Err(self.error());
        }
        self.blanks();
        match self.next() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(mix(OF_TEXT ^ self.text()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => {
                for (index, word) in [&b"null"[..], b"true", b"false"].into_iter().enumerate() {
                    if self.text.get(self.position..).is_some_and(|rest| rest.starts_with(word)) {
                        self.position += word.len();
                        return Ok(mix(OF_WORD ^ index as u64));
                    }
                }
                Err(self.error())
            }
        }
    }

    fn object(&mut self, depth: u32) -> Result<u64, DigestError> {
        self.position += 1;
        let mut sum = 0_u64;
        self.blanks();
        if !self.takes(b'}') {
            loop {
                self.blanks();
                if self.next() != Some(b'"') {
                    return Err(self.error());
                }
                let name = self.text()?;
                self.blanks();
                if !self.takes(b':') {
                    return Err(self.error());
                }
                let value = self.value(depth + 1)?;
                sum = sum.wrapping_add(mix(mix(OF_MEMBER ^ name).wrapping_mul(3) ^ value));
                self.blanks();
                if self.takes(b'}') {
                    break;
                }
                if !self.takes(b',') {
                    return Err(self.error());
                }
            }
        }
        Ok(mix(OF_OBJECT ^ sum))
    }

    fn array(&mut self, depth: u32) -> Result<u64, DigestError> {
        self.position += 1;
        let mut hash = OF_ARRAY;
        self.blanks();
        if !self.takes(b']') {
            loop {
                hash = mix(hash ^ self.value(depth + 1)?);
                self.blanks();
                if self.takes(b']') {
                    break;
                }
                if !self.takes(b',') {
                    return Err(self.error());
                }
            }
        }
        Ok(mix(hash))
    }

    /// Parses a string and returns the hash of its decoded content.
    fn text(&mut self) -> Result<u64, DigestError> {
        let start = self.position;
        self.position += 1;
        let rest = self.text.get(self.position..).unwrap_or_default();
        let end = memchr::memchr2(b'"', b'\\', rest).ok_or_else(|| self.error())?;
        if rest.get(end) == Some(&b'"') {
            self.position += end + 1;
            return Ok(bytes(rest.get(..end).unwrap_or_default()));
        }
        // Escapes are rare, so they are decoded by serde_json.
        loop {
            let rest = self.text.get(self.position..).unwrap_or_default();
            let end = memchr::memchr2(b'"', b'\\', rest).ok_or_else(|| self.error())?;
            self.position += end + 1;
            if rest.get(end) == Some(&b'"') {
                break;
            }
            self.position += 1;
        }
        let quoted = self.text.get(start..self.position).unwrap_or_default();
        let text: String = serde_json::from_slice(quoted).map_err(|_| DigestError { position: start })?;
        Ok(bytes(text.as_bytes()))
    }

    fn number(&mut self) -> Result<u64, DigestError> {
        let start = self.position;
        while matches!(self.next(), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
            self.position += 1;
        }
        let digits = self.text.get(start..self.position).unwrap_or_default();
        let text = std::str::from_utf8(digits).map_err(|_| DigestError { position: start })?;
        if let Ok(integer) = text.parse::<i64>() {
            return Ok(JsonInteger(integer).digest());
        }
        let number: f64 = text.parse().map_err(|_| DigestError { position: start })?;
        // Some systems return a whole number with a decimal point.
        let is_whole = number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0;
        Ok(if is_whole { JsonInteger(number as i64).digest() } else { mix(OF_FRACTION ^ number.to_bits()) })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn digest_of(text: &str) -> u64 {
        digest(text.as_bytes()).unwrap()
    }

    #[test]
    fn order_of_members_spacing_and_spelling_do_not_matter() {
        let expected = digest_of(r#"{"a": 1, "b": [1, {"c": "é"}], "d": null}"#);
        assert_eq!(expected, digest_of("{\"d\":null,\n\"b\":[1.0,{\"c\":\"\\u00e9\"}],\"a\":1e0}"));
    }

    #[test]
    fn everything_else_does() {
        let texts = [
            r#"{"a":1,"b":2}"#,
            r#"{"a":2,"b":1}"#,
            r#"{"a":1}"#,
            r#"{"a":"1","b":2}"#,
            r#"{"a":1,"b":2,"c":0}"#,
            r#"{"a":[1,2]}"#,
            r#"{"a":[2,1]}"#,
            r#"{"a":{"b":1}}"#,
            r#"{"a":{},"b":1}"#,
            "{}",
            "[]",
            "null",
            "true",
            "false",
            "0",
            "-1",
            "0.5",
            r#""""#,
            r#"{"a":null}"#,
            r#"{"a":1,"a":1}"#,
        ];
        let digests: std::collections::HashSet<u64> = texts.iter().map(|text| digest_of(text)).collect();
        assert_eq!(digests.len(), texts.len());
    }

    #[test]
    fn what_is_no_json_is_refused_where_it_ends_to_be() {
        for (text, position) in
            [("", 0), ("{", 1), (r#"{"a"}"#, 4), ("[1,]", 3), ("{} {}", 3), ("\"a", 1), ("nul", 0)]
        {
            assert_eq!(digest(text.as_bytes()), Err(DigestError { position }), "{text}");
        }
        assert!(digest("[".repeat(100_000).as_bytes()).is_err());
    }

    fn values() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            ".{0,12}".prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Into::into),
                prop::collection::btree_map("[a-d\"]{0,3}", inner, 0..5)
                    .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn equal_values_and_only_these_have_equal_digests(left in values(), right in values()) {
            let spaced = serde_json::to_string_pretty(&left).unwrap();
            prop_assert_eq!(digest_of(&left.to_string()), digest_of(&spaced));
            prop_assert_eq!(left == right, digest_of(&left.to_string()) == digest_of(&right.to_string()));
        }
    }
}
