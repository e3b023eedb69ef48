//! Records of the serving workload: keys and documents that are functions of number, path and version.
//!
//! [`Records`] describes a set and is part of configurations; [`RecordSet`] generates its documents and
//! verifies answers. Every string value begins with a tag: eight hexadecimal digits of the version with which
//! it was written. The rest of the value follows from seed, record, path and version, so that a reader can
//! verify each value alone.

use std::fmt;

use serde::{Deserialize, Serialize};

mod answer_error;
mod answers;
mod check;
mod cursor;
mod key;
mod set;
mod shape;
mod value;

pub use answer_error::{AnswerError, AnswerFault};
pub use answers::{ContainerKind, ElementVerifier, ScanVerifier, SortedKeys};
pub use check::{ExpectedSubtree, Scratch, SeenVersions, WriteScope};
pub use key::KEY_LENGTH;
pub use set::{RECORDS_PER_GROUP, RecordSet};
pub use shape::{MAX_DOCUMENT_BYTES, MAX_MEMBERS, MIN_DOCUMENT_BYTES, Path, PathSegment};

/// Version of the mapping from (seed, number, version) to documents. Must be incremented whenever any byte
/// changes.
pub const RECORDS_VERSION: u32 = 1;

/// Parameters that determine every record of a set, except their number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Records {
    /// Shape of the documents, e.g. `Flat`.
    pub kind: Kind,
    /// Kind of text that values consist of.
    pub values: Values,
    /// Seed of the values, which also depend on record number, path and version.
    pub seed: u64,
    /// Order of the keys in which records are loaded.
    pub key_order: KeyOrder,
    /// Type of the keys: text or integer.
    pub key_type: KeyType,
    /// Name of the member that holds the document's own key, generated as first member. `None` if documents
    /// do not contain their key.
    #[serde(default)]
    pub key_member: Option<String>,
}

impl Records {
    /// Default of a run: documents of ten text fields with hashed text keys.
    #[must_use]
    pub fn flat(seed: u64) -> Self {
        Self {
            kind: Kind::Flat,
            values: Values::Text,
            seed,
            key_order: KeyOrder::Hashed,
            key_type: KeyType::Text,
            key_member: None,
        }
    }
}

/// Shape of the documents of a record set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Kind {
    /// Three fields of 32 characters, `field0` to `field2`.
    Small,
    /// Ten fields of 100 characters, `field0` to `field9`.
    Flat,
    /// A hundred fields of 200 characters, `field0` to `field99`.
    Large,
    /// A tree of objects with 88 values of 100 characters.
    Nested,
    /// Ten fields; the compact JSON text, without a key member, has exactly `bytes` bytes.
    Size {
        /// Size of the document's text, from [`MIN_DOCUMENT_BYTES`] to [`MAX_DOCUMENT_BYTES`] bytes.
        bytes: u32,
    },
    /// An array of objects, `list`, and an object of as many objects, `map`.
    Items {
        /// Number of objects in each of the two, from 1 to [`MAX_MEMBERS`].
        members: u32,
    },
}

/// Kind of text that values consist of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Values {
    /// English words, which compress like natural text.
    Text,
    /// Random printable characters including `"` and `\`, which hardly compress.
    Random,
}

/// Order of the keys in which records are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyOrder {
    /// Scattered over the whole key range by a bijection.
    Hashed,
    /// Ascending: the key of a record is its number.
    Ordered,
}

/// Type of the keys of a record set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyType {
    /// `user` followed by 19 digits.
    Text,
    /// A non-negative signed 64-bit integer.
    Bigint,
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Small => formatter.write_str("small"),
            Kind::Flat => formatter.write_str("flat"),
            Kind::Large => formatter.write_str("large"),
            Kind::Nested => formatter.write_str("nested"),
            Kind::Size { bytes } => write!(formatter, "{bytes}-byte"),
            Kind::Items { members } => write!(formatter, "{members}-item"),
        }
    }
}

impl fmt::Display for Values {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Values::Text => "text",
            Values::Random => "random",
        })
    }
}
