//! Documents made from RFC 8259 (JSON), RFC 7493 (I-JSON) and appendix B of RFC 8785 (numbers of JCS), each with what
//! the RFC says about it.
//!
//! A parser must take every text of the grammar and may take others (RFC 8259, section 9), but what writes JSON must
//! keep to the grammar (section 10), and a database does both: so what is outside of the grammar must be rejected
//! here. Where the RFC allows a limit and a text goes beyond what every reader can be expected to take, it is the
//! implementation's choice.

mod arrays;
mod encoding;
mod numbers;
mod objects;
mod strings;
mod structure;

use serde::{Deserialize, Serialize};

/// The member whose value is extracted.
pub const MEMBER: &str = "v";

/// What the RFC says about a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Must {
    /// It must be accepted.
    Accept,
    /// It must be rejected.
    Reject,
    /// The implementation may choose.
    Choose,
}

impl Must {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Accept => "must be accepted",
            Self::Reject => "must be rejected",
            Self::Choose => "implementation’s choice",
        }
    }
}

/// One document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Its name; lower-case letters, digits and `-`, a file's name where it comes from one.
    pub name: String,
    /// What the RFC says.
    pub must: Must,
    /// Where it says so: `RFC 8259 §4`; the file where it comes from one.
    pub source: String,
    /// What it probes, in a few words.
    pub probes: String,
    /// The document.
    pub bytes: Vec<u8>,
}

impl Case {
    /// Whether it decides if a system is I-JSON-safe: an object that is a message of I-JSON and must be accepted.
    #[must_use]
    pub fn decides(&self) -> bool {
        self.must == Must::Accept && super::strict::is_i_json_object(&self.bytes)
    }

    /// Whether it holds the member whose value is extracted.
    #[must_use]
    pub fn has_member(&self) -> bool {
        super::strict::read(&self.bytes).is_ok_and(|tree| !tree.members(MEMBER).is_empty())
    }

    /// Whether it is one line of text.
    #[must_use]
    pub fn is_one_line(&self) -> bool {
        !self.bytes.iter().any(|byte| matches!(byte, b'\n' | b'\r'))
    }
}

/// All of them, in an order that never changes.
#[must_use]
pub fn cases() -> Vec<Case> {
    let mut all = Corpus::default();
    structure::add(&mut all);
    objects::add(&mut all);
    arrays::add(&mut all);
    numbers::add(&mut all);
    strings::add(&mut all);
    encoding::add(&mut all);
    all.cases
}

/// Collects cases.
#[derive(Default)]
struct Corpus {
    cases: Vec<Case>,
}

impl Corpus {
    fn add(&mut self, must: Must, name: &str, source: &str, probes: &str, bytes: impl Into<Vec<u8>>) {
        let [name, source, probes] = [name, source, probes].map(str::to_owned);
        self.cases.push(Case { name, must, source, probes, bytes: bytes.into() });
    }

    fn accept(&mut self, name: &str, source: &str, probes: &str, text: impl Into<Vec<u8>>) {
        self.add(Must::Accept, name, source, probes, text);
    }

    fn reject(&mut self, name: &str, source: &str, probes: &str, text: impl Into<Vec<u8>>) {
        self.add(Must::Reject, name, source, probes, text);
    }

    fn choose(&mut self, name: &str, source: &str, probes: &str, text: impl Into<Vec<u8>>) {
        self.add(Must::Choose, name, source, probes, text);
    }

    /// An object whose member is this value.
    fn value(&mut self, must: Must, name: &str, source: &str, probes: &str, value: impl AsRef<[u8]>) {
        let bytes = [br#"{"v":"#.as_slice(), value.as_ref(), b"}"].concat();
        self.add(must, name, source, probes, bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde::de::IgnoredAny;

    use super::super::strict;
    use super::*;

    #[test]
    fn there_are_many_and_no_two_are_alike() {
        let all = cases();
        assert!(all.len() >= 250, "{}", all.len());
        let names: BTreeSet<&str> = all.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), all.len());
        for (index, case) in all.iter().enumerate() {
            assert!(
                case.name
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
                "{}",
                case.name
            );
            let twin = all.iter().take(index).find(|other| other.bytes == case.bytes);
            assert_eq!(twin.map(|twin| &twin.name), None, "the same as {}", case.name);
            assert!(case.source.starts_with("RFC ") && !case.probes.is_empty(), "{}", case.name);
        }
        for must in [Must::Accept, Must::Reject, Must::Choose] {
            assert!(all.iter().filter(|case| case.must == must).count() > 30, "{must:?}");
        }
        assert_eq!(all, cases());
    }

    #[test]
    fn verdicts_are_those_of_a_strict_reader() {
        for case in cases() {
            let read = strict::read(&case.bytes);
            match case.must {
                Must::Accept => assert_eq!(read.map(|_| ()), Ok(()), "{}", case.name),
                Must::Reject => assert!(read.is_err(), "{}", case.name),
                Must::Choose => {}
            }
        }
    }

    /// The library has limits where the RFC allows them, which are cases of choice here.
    #[test]
    fn verdicts_are_those_of_a_library() {
        for case in cases() {
            let value = serde_json::from_slice::<serde_json::Value>(&case.bytes);
            match case.must {
                Must::Accept => assert!(value.is_ok(), "{}: {}", case.name, value.unwrap_err()),
                Must::Reject => {
                    let text = std::str::from_utf8(&case.bytes);
                    assert!(
                        text.is_err() || serde_json::from_slice::<IgnoredAny>(&case.bytes).is_err(),
                        "{}",
                        case.name
                    );
                }
                Must::Choose => {}
            }
        }
    }

    #[test]
    fn enough_cases_decide_and_extract() {
        let all = cases();
        assert!(all.iter().filter(|case| case.decides()).count() >= 80);
        assert!(all.iter().filter(|case| case.has_member()).count() >= 120);
        assert!(all.iter().any(|case| !case.is_one_line()));
    }
}
