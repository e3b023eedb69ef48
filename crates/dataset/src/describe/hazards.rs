//! Finds what systems may change or refuse in documents: unusual keys, numbers, texts, sizes and depths.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::tokens::Token;
use crate::fidelity::display_bytes;
use crate::scan::Traits;
use crate::source::Place;

/// Size in bytes that systems with a limit of 16 MiB accept at most.
const VERY_LARGE_ABOVE_BYTES: usize = 16 << 20;
/// Largest integer up to which a double represents every integer: 2⁵³.
const MAX_EXACT_INTEGER: u128 = 1 << 53;
/// Significant decimal digits that always suffice to distinguish doubles; RFC 8259 §6 expects no more
/// precision than that of a double.
const MAX_DIGITS: usize = 17;
/// Maximum length of an example in bytes.
const EXAMPLE_BYTES: usize = 60;

/// A property of documents because of which systems may change or refuse them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hazard {
    /// A key contains a dot.
    DottedKey,
    /// A key is the empty string.
    EmptyKey,
    /// A key begins with `$`.
    DollarKey,
    /// Two members of an object have the same key; see [`Traits::DUPLICATE_KEYS`].
    DuplicateKeys,
    /// An integer without fraction and exponent is beyond ±2⁵³.
    LargeInteger,
    /// A number with a fraction or exponent has more than 17 significant digits; zeros at the end do not count.
    ManyDigits,
    /// A number is beyond 64-bit integers or doubles; see [`Traits::BIG_NUMBER`].
    BigNumber,
    /// A string contains `\u0000`.
    NulEscape,
    /// A string contains half of a surrogate pair.
    LoneSurrogate,
    /// Nested more than 100 levels deep.
    Deep,
    /// 1 MiB or larger.
    Large,
    /// Larger than 16 MiB.
    VeryLarge,
    /// The document is an array, a string or another value that is no object.
    NotObject,
}

/// Hazards that the scanner has found already.
const BY_TRAIT: [(Traits, Hazard); 7] = [
    (Traits::DUPLICATE_KEYS, Hazard::DuplicateKeys),
    (Traits::BIG_NUMBER, Hazard::BigNumber),
    (Traits::NUL_ESCAPE, Hazard::NulEscape),
    (Traits::LONE_SURROGATE, Hazard::LoneSurrogate),
    (Traits::DEEP, Hazard::Deep),
    (Traits::LARGE, Hazard::Large),
    (Traits::NOT_OBJECT, Hazard::NotObject),
];

impl Hazard {
    /// Returns what kinds of systems do with such documents, as a sentence without a full stop.
    #[must_use]
    pub fn consequence(self) -> &'static str {
        match self {
            Hazard::DottedKey => {
                "systems that write paths with dots store them as nested objects, refuse them, or cannot \
                 address the value"
            }
            Hazard::EmptyKey => {
                "search engines and some column stores refuse the document or lose the member, and many path \
                 languages cannot address it"
            }
            Hazard::DollarKey => {
                "document databases take them for operators or types of their own: they refuse the document, \
                 or store a value of another type"
            }
            Hazard::DuplicateKeys => {
                "binary formats keep one of the members, most of them the last; strict parsers refuse the \
                 document; only systems that store the text keep both"
            }
            Hazard::LargeInteger => {
                "systems and clients whose numbers are doubles round them; those with 64-bit integers or \
                 decimals do not"
            }
            Hazard::ManyDigits => "systems whose numbers are doubles round them; those with decimals do not",
            Hazard::BigNumber => {
                "systems without decimals of any size round them, return another type, or refuse the document"
            }
            Hazard::NulEscape => {
                "systems whose texts cannot contain U+0000 refuse the document or cut the text there"
            }
            Hazard::LoneSurrogate => {
                "it is no character: systems that store UTF-8 refuse the document or replace the escape"
            }
            Hazard::Deep => {
                "parsers with a limit of about 100 levels, which are frequent, refuse the document"
            }
            Hazard::Large => {
                "they are loaded one by one; systems with limits on packets, statements or rows may refuse them"
            }
            Hazard::VeryLarge => {
                "document databases and network protocols with a limit of 16 MiB refuse the document"
            }
            Hazard::NotObject => "systems that store only objects, such as document databases, refuse them",
        }
    }
}

impl fmt::Display for Hazard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Hazard::DottedKey => "key with a dot",
            Hazard::EmptyKey => "empty key",
            Hazard::DollarKey => "key beginning with $",
            Hazard::DuplicateKeys => "duplicate keys",
            Hazard::LargeInteger => "integer beyond 2⁵³",
            Hazard::ManyDigits => "number with more than 17 digits",
            Hazard::BigNumber => "number beyond 64 bits",
            Hazard::NulEscape => "\\u0000 in a string",
            Hazard::LoneSurrogate => "half a surrogate pair",
            Hazard::Deep => "more than 100 levels",
            Hazard::Large => "1 MiB or larger",
            Hazard::VeryLarge => "larger than 16 MiB",
            Hazard::NotObject => "no object",
        })
    }
}

/// Documents with a hazard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HazardFinding {
    /// What systems may change or refuse.
    pub hazard: Hazard,
    /// Number of documents with this hazard.
    pub documents: u64,
    /// Input and line of the first one, as text.
    pub first: String,
    /// The first such key or number, shortened if it is long. `None` if the hazard is not about a single one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
}

/// Counts documents by hazard.
#[derive(Debug, Default)]
pub(super) struct HazardTally {
    found: BTreeMap<Hazard, HazardFinding>,
    /// Bits of the hazards that the current document is already counted for.
    in_document: u32,
}

impl HazardTally {
    /// Starts a document with these traits and this number of bytes.
    pub(super) fn start(&mut self, traits: Traits, bytes: usize, place: &dyn Fn() -> Place) {
        self.in_document = 0;
        for (bit, hazard) in BY_TRAIT {
            if traits.intersects(bit) {
                self.note(hazard, None, place);
            }
        }
        if bytes > VERY_LARGE_ABOVE_BYTES {
            self.note(Hazard::VeryLarge, None, place);
        }
    }

    /// Looks at a token of the current document.
    pub(super) fn token(&mut self, token: &Token<'_>, place: &dyn Fn() -> Place) {
        match token {
            Token::Key(name) => {
                let name = name.decode();
                if name.is_empty() {
                    self.note(Hazard::EmptyKey, None, place);
                }
                if name.first() == Some(&b'$') {
                    self.note(Hazard::DollarKey, Some(&name), place);
                }
                if memchr::memchr(b'.', &name).is_some() {
                    self.note(Hazard::DottedKey, Some(&name), place);
                }
            }
            Token::Number(number) => {
                if let Some(hazard) = number_hazard(number) {
                    self.note(hazard, Some(number), place);
                }
            }
            _ => {}
        }
    }

    fn note(&mut self, hazard: Hazard, example: Option<&[u8]>, place: &dyn Fn() -> Place) {
        let bit = 1 << hazard as u32;
        if self.in_document & bit != 0 {
            return;
        }
        self.in_document |= bit;
        let first = || HazardFinding {
            hazard,
            documents: 0,
            first: place().to_string(),
            example: example.map(|example| display_bytes(example, EXAMPLE_BYTES)),
        };
        self.found.entry(hazard).or_insert_with(first).documents += 1;
    }

    /// Returns the hazards that were found, in order of their declaration.
    pub(super) fn finish(self) -> Vec<HazardFinding> {
        self.found.into_values().collect()
    }
}

/// Returns why a double cannot hold a number. Numbers that overflow doubles have a trait of their own.
fn number_hazard(number: &[u8]) -> Option<Hazard> {
    let number = number.strip_prefix(b"-").unwrap_or(number);
    // 15 digits always fit.
    if number.len() <= 15 {
        return None;
    }
    let mantissa = number.iter().position(|byte| matches!(byte, b'e' | b'E'));
    let mantissa = number.get(..mantissa.unwrap_or(number.len())).unwrap_or_default();
    if mantissa.len() == number.len() && !number.contains(&b'.') {
        let value = std::str::from_utf8(number).ok().and_then(|number| number.parse::<u128>().ok());
        return value.is_none_or(|value| value > MAX_EXACT_INTEGER).then_some(Hazard::LargeInteger);
    }
    let digits = || mantissa.iter().filter(|byte| **byte != b'.');
    let zeros_before = digits().take_while(|digit| **digit == b'0').count();
    let zeros_behind = digits().rev().take_while(|digit| **digit == b'0').count();
    let significant = digits().count().saturating_sub(zeros_before + zeros_behind);
    (significant > MAX_DIGITS).then_some(Hazard::ManyDigits)
}

#[cfg(test)]
mod tests {
    use super::super::tokens::Tokens;
    use super::*;
    use crate::scan::scan;
    use crate::source::PlaceUnit;

    fn found_in(lines: &[&str]) -> Vec<(Hazard, u64, String, Option<String>)> {
        let mut tally = HazardTally::default();
        for (number, line) in (1..).zip(lines) {
            let place = || Place { input: "a".into(), number, unit: PlaceUnit::Line, byte: None };
            tally.start(scan(line.as_bytes()).traits, line.len(), &place);
            Tokens::new(line.as_bytes()).for_each(|token| tally.token(&token, &place));
        }
        let finding = |found: HazardFinding| (found.hazard, found.documents, found.first, found.example);
        tally.finish().into_iter().map(finding).collect()
    }

    #[test]
    fn keys_are_judged_without_their_escapes_and_once_a_document() {
        let lines = [
            r#"{"a":".","b":"$","c":""}"#,
            r#"{"a.b":1,"a.c":{"\u002e":1}}"#,
            r#"{"a":[{"":1}],"\u0024oid":"x","$":1}"#,
            r#"{"a":{"x\u002ey":1}}"#,
        ];
        let example = |text: &str| Some(text.to_owned());
        assert_eq!(
            found_in(&lines),
            [
                (Hazard::DottedKey, 2, "a, line 2".to_owned(), example("a.b")),
                (Hazard::EmptyKey, 1, "a, line 3".to_owned(), None),
                (Hazard::DollarKey, 1, "a, line 3".to_owned(), example("$oid")),
            ]
        );
        assert!(found_in(&[r#"{"a":"x.y","b":["$z",""]}"#]).is_empty(), "these are values");
    }

    #[test]
    fn numbers_that_a_double_cannot_hold_are_found() {
        let (integer, digits) = (Some(Hazard::LargeInteger), Some(Hazard::ManyDigits));
        for (number, expected) in [
            ("9007199254740992", None),
            ("-9007199254740992", None),
            ("9007199254740993", integer),
            ("-9007199254740993", integer),
            ("99999999999999999999999999999999999999999999999", integer),
            ("1234567890.1234567", None),
            ("1.2345678901234567", None),
            ("1.23456789012345678", digits),
            ("-0.0000000000000000000012345678901234567", None),
            ("1.00000000000000000000000", None),
            ("0.00000000000000000000000e5", None),
            ("12345678901234567800000e-3", digits),
            ("1234567890123456700000e-3", None),
            ("1e400", None),
        ] {
            assert_eq!(number_hazard(number.as_bytes()), expected, "{number}");
        }
    }

    #[test]
    fn traits_of_the_scanner_are_hazards() {
        let deep = format!("{}{}", "[".repeat(101), "]".repeat(101));
        let large = format!(r#"{{"a":"{}"}}"#, "x".repeat(VERY_LARGE_ABOVE_BYTES));
        let lines = [r#"{"a":1,"a":"\u0000\ud800","b":1e999}"#, &deep, &large, r#""text""#];
        let found: Vec<(Hazard, u64)> =
            found_in(&lines).into_iter().map(|(hazard, documents, ..)| (hazard, documents)).collect();
        assert_eq!(
            found,
            [
                (Hazard::DuplicateKeys, 1),
                (Hazard::BigNumber, 1),
                (Hazard::NulEscape, 1),
                (Hazard::LoneSurrogate, 1),
                (Hazard::Deep, 1),
                (Hazard::Large, 1),
                (Hazard::VeryLarge, 1),
                (Hazard::NotObject, 2),
            ]
        );
        let exact = format!(r#"{{"a":"{}"}}"#, "x".repeat(VERY_LARGE_ABOVE_BYTES - 8));
        assert_eq!(exact.len(), VERY_LARGE_ABOVE_BYTES);
        assert_eq!(found_in(&[&exact]).len(), 1, "16 MiB are large, and not larger than 16 MiB");
    }
}
