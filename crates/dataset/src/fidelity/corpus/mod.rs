//! Built-in corpus: documents made from RFC 8259 (JSON), RFC 7493 (I-JSON) and appendix B of RFC 8785
//! (numbers of JCS), each with the RFC's requirement.
//!
//! A parser must accept every text of the grammar and may accept others (RFC 8259, section 9), but a
//! generator must keep to the grammar (section 10). A database does both, so text outside the grammar must be
//! rejected. If the RFC allows a limit and a text exceeds what every reader can be expected to accept, it is
//! the implementation's choice.

mod arrays;
mod encoding;
mod numbers;
mod objects;
mod strings;
mod structure;

use jsonathlon_schema::settings::fidelity::RfcRequirement;

/// Name of the top-level member whose value is extracted.
pub const MEMBER: &str = "v";

/// A document with the requirement that it tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Name of lower-case letters, digits and `-`, unique in the corpus. The file name for a document from a
    /// folder.
    pub name: String,
    /// Requirement of the RFC, or that of the file's name or the grammar.
    pub requirement: RfcRequirement,
    /// Section that states the requirement, e.g. `RFC 8259 §4`. The file name for a document from a folder.
    pub source: String,
    /// Short description of what the document tests.
    pub probes: String,
    /// The document, which may be invalid JSON or invalid UTF-8.
    pub bytes: Vec<u8>,
}

impl Case {
    /// Returns `true` if the case decides whether a system is I-JSON-safe: an I-JSON object that must be
    /// accepted.
    #[must_use]
    pub fn decides_i_json(&self) -> bool {
        self.requirement == RfcRequirement::Accept && super::strict::is_i_json_object(&self.bytes)
    }

    /// Returns `true` if the document is JSON with the top-level member [`MEMBER`].
    #[must_use]
    pub fn has_member(&self) -> bool {
        super::strict::read(&self.bytes).is_ok_and(|tree| !tree.members(MEMBER).is_empty())
    }

    /// Returns `true` if the document contains no line feed and no carriage return.
    #[must_use]
    pub fn is_one_line(&self) -> bool {
        !self.bytes.iter().any(|byte| matches!(byte, b'\n' | b'\r'))
    }
}

/// Returns the built-in corpus, always in the same order.
#[must_use]
pub fn cases() -> Vec<Case> {
    let mut corpus = Corpus::default();
    structure::add(&mut corpus);
    objects::add(&mut corpus);
    arrays::add(&mut corpus);
    numbers::add(&mut corpus);
    strings::add(&mut corpus);
    encoding::add(&mut corpus);
    corpus.cases
}

/// Builder for the cases of the built-in corpus.
#[derive(Default)]
struct Corpus {
    cases: Vec<Case>,
}

impl Corpus {
    fn add(
        &mut self,
        requirement: RfcRequirement,
        name: &str,
        source: &str,
        probes: &str,
        bytes: impl Into<Vec<u8>>,
    ) {
        let [name, source, probes] = [name, source, probes].map(str::to_owned);
        self.cases.push(Case { name, requirement, source, probes, bytes: bytes.into() });
    }

    fn accept(&mut self, name: &str, source: &str, probes: &str, text: impl Into<Vec<u8>>) {
        self.add(RfcRequirement::Accept, name, source, probes, text);
    }

    fn reject(&mut self, name: &str, source: &str, probes: &str, text: impl Into<Vec<u8>>) {
        self.add(RfcRequirement::Reject, name, source, probes, text);
    }

    fn choose(&mut self, name: &str, source: &str, probes: &str, text: impl Into<Vec<u8>>) {
        self.add(RfcRequirement::Choose, name, source, probes, text);
    }

    /// Adds an object whose member [`MEMBER`] has this value.
    fn value(
        &mut self,
        requirement: RfcRequirement,
        name: &str,
        source: &str,
        probes: &str,
        value: impl AsRef<[u8]>,
    ) {
        let bytes = [br#"{"v":"#.as_slice(), value.as_ref(), b"}"].concat();
        self.add(requirement, name, source, probes, bytes);
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
        let corpus = cases();
        assert!(corpus.len() >= 250, "{}", corpus.len());
        let names: BTreeSet<&str> = corpus.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), corpus.len());
        for (index, case) in corpus.iter().enumerate() {
            assert!(
                case.name
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
                "{}",
                case.name
            );
            let duplicate = corpus.iter().take(index).find(|other| other.bytes == case.bytes);
            assert_eq!(duplicate.map(|duplicate| &duplicate.name), None, "the same as {}", case.name);
            assert!(case.source.starts_with("RFC ") && !case.probes.is_empty(), "{}", case.name);
        }
        for requirement in [RfcRequirement::Accept, RfcRequirement::Reject, RfcRequirement::Choose] {
            assert!(
                corpus.iter().filter(|case| case.requirement == requirement).count() > 30,
                "{requirement:?}"
            );
        }
        assert_eq!(corpus, cases());
    }

    #[test]
    fn verdicts_are_those_of_a_strict_reader() {
        for case in cases() {
            let read = strict::read(&case.bytes);
            match case.requirement {
                RfcRequirement::Accept => assert_eq!(read.map(|_| ()), Ok(()), "{}", case.name),
                RfcRequirement::Reject => assert!(read.is_err(), "{}", case.name),
                RfcRequirement::Choose => {}
            }
        }
    }

    /// The library has limits where the RFC allows them; such cases are the implementation's choice here.
    #[test]
    fn verdicts_are_those_of_a_library() {
        for case in cases() {
            let value = serde_json::from_slice::<serde_json::Value>(&case.bytes);
            match case.requirement {
                RfcRequirement::Accept => assert!(value.is_ok(), "{}: {}", case.name, value.unwrap_err()),
                RfcRequirement::Reject => {
                    let text = std::str::from_utf8(&case.bytes);
                    assert!(
                        text.is_err() || serde_json::from_slice::<IgnoredAny>(&case.bytes).is_err(),
                        "{}",
                        case.name
                    );
                }
                RfcRequirement::Choose => {}
            }
        }
    }

    #[test]
    fn enough_cases_decide_and_extract() {
        let corpus = cases();
        assert!(corpus.iter().filter(|case| case.decides_i_json()).count() >= 80);
        assert!(corpus.iter().filter(|case| case.has_member()).count() >= 120);
        assert!(corpus.iter().any(|case| !case.is_one_line()));
    }
}
