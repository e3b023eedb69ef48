//! Chooses the key of documents and the path that updates set, from what a profile says about their paths.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::paths::{JsonType, PathProfile, json_pointer};

/// Maximum length of a text that can be a key, in bytes.
pub const MAX_KEY_BYTES: u64 = 255;
/// Minimum length in bytes of the texts that updates replace: they begin with 8 hexadecimal digits.
pub const MIN_UPDATED_BYTES: u64 = 8;
/// Names of keys by preference. Names that end with [`KEY_SUFFIX`] follow.
const KEY_NAMES: [&str; 4] = ["_id", "id", "key", "uuid"];
/// End of the names that refer to a key.
const KEY_SUFFIX: &str = "_id";

/// Type of the values of a key or of an updated path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScalarType {
    /// Strings of any length and content.
    Text,
    /// Signed 64-bit integers without fraction and exponent.
    Integer,
}

impl fmt::Display for ScalarType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            ScalarType::Text => "text",
            ScalarType::Integer => "integer",
        })
    }
}

/// A path whose values can be keys: it is in every document, and no two documents have the same value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeyCandidate {
    /// Member names that lead to the path, from the outermost on.
    pub steps: Vec<String>,
    /// The path as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// Type of all values.
    #[serde(rename = "type")]
    pub scalar_type: ScalarType,
    /// Length of the longest text in bytes. Zero for integers.
    pub max_bytes: u64,
    /// Share (0 to 1) of distinct values that were compared with all others. 1 proves that the path is unique;
    /// otherwise it only seems so, because comparing all would have taken too much memory.
    pub compared_share: f64,
}

impl KeyCandidate {
    /// Returns `true` if it is proved that all values are different.
    #[must_use]
    pub fn is_proved(&self) -> bool {
        self.compared_share >= 1.0
    }
}

/// Why a path cannot be the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyFault {
    /// A document does not have the path.
    Missing,
    /// A document has a value of another type there, e.g. a fraction or null.
    OtherType,
    /// A text is longer than [`MAX_KEY_BYTES`].
    TooLong,
    /// A text contains U+0000 or half of a surrogate pair, which not all systems can store.
    Characters,
    /// A document has the member twice.
    DuplicateMember,
    /// Two documents have the same value.
    DuplicateValue,
}

impl fmt::Display for KeyFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            KeyFault::Missing => "not in every document",
            KeyFault::OtherType => "not always a text or not always an integer",
            KeyFault::TooLong => "a text longer than 255 bytes",
            KeyFault::Characters => "a text with U+0000 or half a surrogate pair",
            KeyFault::DuplicateMember => "twice in a document",
            KeyFault::DuplicateValue => "two documents have the same value",
        })
    }
}

/// A path with the name of a key that cannot be the key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedKey {
    /// The path as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// Why the path cannot be the key.
    pub reason: KeyFault,
    /// Input and line of the first document with the fault, as text. `None` for duplicate values.
    pub first: Option<String>,
}

/// Key that is proposed for documents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyProposal {
    /// JSON pointer (RFC 6901) of the key. `None` if the number of the document is the key, because no path is
    /// fit.
    pub pointer: Option<String>,
    /// Type of the key.
    #[serde(rename = "type")]
    pub scalar_type: ScalarType,
    /// Why this key is proposed, as part of a sentence.
    pub reason: String,
}

/// What stands for a key that is the number of the document.
pub const LINE: &str = "line";

impl KeyProposal {
    /// Returns the pointer, or `line` if the number of the document is the key.
    #[must_use]
    pub fn name(&self) -> &str {
        self.pointer.as_deref().unwrap_or(LINE)
    }
}

/// Path that updates are proposed to set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdateProposal {
    /// JSON pointer (RFC 6901) of the path.
    pub pointer: String,
    /// Type of the values that are replaced.
    #[serde(rename = "type")]
    pub scalar_type: ScalarType,
    /// Number of documents that have a value of this type there.
    pub documents: u64,
    /// Why this path is proposed, as part of a sentence.
    pub reason: String,
}

/// Order in which paths are taken as keys; the least is taken. Paths named like a key come first, those with
/// fewer steps before others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KeyPreference {
    is_unnamed: bool,
    steps: usize,
    name: usize,
}

impl KeyPreference {
    pub(super) fn from_steps(steps: &[String]) -> Self {
        let name = key_name_rank(steps);
        KeyPreference { is_unnamed: name.is_none(), steps: steps.len(), name: name.unwrap_or_default() }
    }

    /// Returns `true` if the path is named like a key.
    pub(super) fn is_named(self) -> bool {
        !self.is_unnamed
    }
}

/// Returns the rank of a path's name among those of keys, from 0. `None` if it is not named like a key.
fn key_name_rank(steps: &[String]) -> Option<usize> {
    // MongoDB Extended JSON writes a key as `{"_id":{"$oid":"…"}}`.
    let name = steps.iter().rev().find(|step| !step.starts_with('$'))?;
    let rank = KEY_NAMES.iter().position(|key_name| key_name == name);
    rank.or_else(|| name.ends_with(KEY_SUFFIX).then_some(KEY_NAMES.len()))
}

/// Proposes a key: the first candidate named `_id`, `id`, `key`, `uuid` or `*_id`, with the fewest steps, else
/// the first other one with the fewest steps, else the number of the document.
#[must_use]
pub fn propose_key(candidates: &[KeyCandidate]) -> KeyProposal {
    // Of equal elements, the first one is the minimum.
    let Some(best) = candidates.iter().min_by_key(|candidate| KeyPreference::from_steps(&candidate.steps))
    else {
        return KeyProposal {
            pointer: None,
            scalar_type: ScalarType::Integer,
            reason: format!(
                "no path is in every document with different integers or texts of up to {MAX_KEY_BYTES} bytes"
            ),
        };
    };
    let unique = match best.is_proved() {
        true => Cow::from("unique"),
        false => Cow::from(format!(
            "seems unique (1 in {:.0} of its values were compared)",
            1.0 / best.compared_share
        )),
    };
    let name = match KeyPreference::from_steps(&best.steps).is_named() {
        true => "named like a key",
        false => "nothing that is named like a key is unique and in every document",
    };
    KeyProposal {
        pointer: Some(best.pointer.clone()),
        scalar_type: best.scalar_type,
        reason: format!("in every document, {unique}; {name}"),
    }
}

/// Paths that updates must not set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Excluded<'a> {
    /// JSON pointer of the key. `None` or `line` if the number of the document is the key.
    pub(super) key: Option<&'a str>,
    /// Paths, as profiles write them, with integers beyond signed 64 bits, which are not updated as integers.
    pub(super) large: &'a [String],
}

/// Proposes the path that updates set: outside of arrays, not the key, with texts of at least
/// [`MIN_UPDATED_BYTES`] or integers in most of the documents. Of paths in equally many documents, those that
/// are not named like a key come first, then texts, then those with the fewest steps. `documents` is the number
/// of all documents. `None` if no path is fit.
pub(super) fn propose_update(
    paths: &[PathProfile],
    documents: u64,
    excluded: &Excluded<'_>,
) -> Option<UpdateProposal> {
    let options = paths.iter().filter_map(|path| {
        let steps = path.steps().filter(|steps| !steps.is_in_array)?.keys;
        let pointer = json_pointer(&steps);
        // Members with `$` belong to values of types that JSON lacks, such as dates.
        let is_part_of_type = steps.iter().any(|step| step.starts_with('$'));
        let (scalar_type, count) = updated_type(path, !excluded.large.contains(&path.path))?;
        let rank = (Reverse(count), key_name_rank(&steps).is_some(), scalar_type == ScalarType::Integer);
        let is_fit = !is_part_of_type && excluded.key != Some(pointer.as_str());
        is_fit.then_some(((rank, steps.len()), pointer, scalar_type, count))
    });
    let (_, pointer, scalar_type, count) = options.min_by_key(|(rank, ..)| *rank)?;
    let share = match count == documents {
        true => Cow::from("in every document"),
        false => Cow::from(format!("in {count} of {documents} documents")),
    };
    let reason = match scalar_type {
        ScalarType::Text => format!("a text of at least {MIN_UPDATED_BYTES} bytes, {share}"),
        ScalarType::Integer => format!("an integer, {share}; no such text is in as many"),
    };
    Some(UpdateProposal { pointer, scalar_type, documents: count, reason })
}

/// Returns the type that updates of a path have, with the number of documents. `None` if it can have none.
fn updated_type(path: &PathProfile, are_integers_fit: bool) -> Option<(ScalarType, u64)> {
    let options = path.types.iter().filter_map(|entry| match entry.json_type {
        JsonType::String if entry.length?.min >= MIN_UPDATED_BYTES => {
            Some((ScalarType::Text, entry.documents))
        }
        JsonType::Integer if are_integers_fit => Some((ScalarType::Integer, entry.documents)),
        _ => None,
    });
    options.max_by_key(|(scalar_type, count)| (*count, *scalar_type == ScalarType::Text))
}

#[cfg(test)]
mod tests {
    use super::super::paths::{Lengths, TypeProfile};
    use super::*;

    fn candidate(steps: &[&str]) -> KeyCandidate {
        let steps: Vec<String> = steps.iter().map(|step| (*step).to_owned()).collect();
        let pointer = json_pointer(&steps);
        KeyCandidate { steps, pointer, scalar_type: ScalarType::Text, max_bytes: 9, compared_share: 1.0 }
    }

    fn key_of(paths: &[&[&str]]) -> String {
        let candidates: Vec<KeyCandidate> = paths.iter().map(|steps| candidate(steps)).collect();
        propose_key(&candidates).name().to_owned()
    }

    #[test]
    fn names_of_keys_come_first_then_the_top_level_then_the_order_of_the_documents() {
        let order: [&[&str]; 8] = [
            &["_id"],
            &["id"],
            &["key"],
            &["uuid"],
            &["user_id"],
            &["meta", "id"],
            &["title"],
            &["meta", "title"],
        ];
        for (index, expected) in order.iter().enumerate() {
            let mut remaining = order[index..].to_vec();
            remaining.reverse();
            assert_eq!(key_of(&remaining), format!("/{}", expected.join("/")));
        }
        assert_eq!(key_of(&[&["b"], &["a"]]), "/b", "the first one in the documents");
        assert_eq!(key_of(&[&["title"], &["_id", "$oid"]]), "/_id/$oid");
        assert_eq!(key_of(&[&["title"], &["$oid"]]), "/title");
        assert_eq!(key_of(&[&["a/b~c"]]), "/a~1b~0c");
        assert_eq!(key_of(&[]), "line");
    }

    #[test]
    fn a_reason_is_given_and_says_when_uniqueness_is_not_proved() {
        let named = propose_key(&[candidate(&["id"])]);
        assert_eq!(named.reason, "in every document, unique; named like a key");
        let sampled = KeyCandidate { compared_share: 0.25, ..candidate(&["title"]) };
        let reason = propose_key(&[sampled]).reason;
        assert!(reason.contains("seems unique (1 in 4 of its values were compared); nothing"), "{reason}");
        let none = propose_key(&[]);
        assert_eq!((none.pointer, none.scalar_type), (None, ScalarType::Integer));
        assert!(none.reason.contains("255 bytes"), "{}", none.reason);
    }

    /// A path with values of one type in so many documents, of at least so many bytes.
    fn path(path: &str, json_type: JsonType, documents: u64, min: u64) -> PathProfile {
        let length = (json_type == JsonType::String).then_some(Lengths { min, mean: 20.0, max: 40 });
        let types = vec![TypeProfile { json_type, values: documents, documents, length }];
        PathProfile { path: path.to_owned(), documents, types }
    }

    fn update_of(paths: &[PathProfile]) -> Option<UpdateProposal> {
        propose_update(paths, 10, &Excluded { key: Some("/id"), large: &[] })
    }

    #[test]
    fn updates_set_the_path_in_most_documents_and_texts_before_integers() {
        let (text, integer) = (JsonType::String, JsonType::Integer);
        let mut paths = vec![
            path("id", text, 10, 8),
            path("a.deep", text, 10, 8),
            path("name", text, 10, 8),
            path("size", integer, 10, 0),
            path("user_id", text, 10, 8),
            path("rare", text, 9, 8),
            path("few", integer, 8, 0),
        ];
        for (expected, scalar_type) in [
            ("/name", ScalarType::Text),
            ("/a/deep", ScalarType::Text),
            ("/size", ScalarType::Integer),
            ("/user_id", ScalarType::Text),
            ("/rare", ScalarType::Text),
            ("/few", ScalarType::Integer),
        ] {
            let found = update_of(&paths).unwrap();
            assert_eq!((found.pointer.as_str(), found.scalar_type), (expected, scalar_type));
            paths.retain(|path| json_pointer(&path.steps().unwrap().keys) != expected);
        }
        assert_eq!(update_of(&paths), None, "the key is not updated");
        let reason = update_of(&[path("rare", text, 9, 8)]).unwrap().reason;
        assert_eq!(reason, "a text of at least 8 bytes, in 9 of 10 documents");
    }

    #[test]
    fn integers_that_need_more_than_signed_64_bits_are_not_updated() {
        let paths = [path("a", JsonType::Integer, 10, 0)];
        let large = ["a".to_owned()];
        assert_eq!(propose_update(&paths, 10, &Excluded { key: None, large: &large }), None);
        assert!(propose_update(&paths, 10, &Excluded::default()).is_some());
    }

    #[test]
    fn what_cannot_hold_a_version_is_not_updated() {
        for unfit in [
            path("a", JsonType::String, 10, 7),
            path("a", JsonType::Float, 10, 0),
            path("a", JsonType::Boolean, 10, 0),
            path("a[]", JsonType::String, 10, 8),
            path("a[].b", JsonType::Integer, 10, 0),
            path("at.$date", JsonType::String, 10, 20),
            path("$", JsonType::Integer, 10, 0),
        ] {
            assert_eq!(update_of(std::slice::from_ref(&unfit)), None, "{unfit:?}");
        }
    }
}
