//! Records of the serving workload: keys and documents that are functions of a number, of paths and of versions.
//!
//! [`Records`] says what a set holds and stands in configurations; [`RecordSet`] makes its documents and checks answers.
//! Every string value begins with its own tag, eight hexadecimal digits of the version that it was written with; the rest
//! of it follows from seed, record, path and version, so that a reader can check each value on its own.

use std::fmt;

use serde::{Deserialize, Serialize};

mod answers;
mod check;
mod cursor;
mod key;
mod set;
mod shape;
mod value;
mod wrong;

pub use answers::{Elements, Form, Scan, SortedKeys};
pub use check::{Part, Scratch, Seen, Written};
pub use key::KEY_LENGTH;
pub use set::{GROUP, RecordSet};
pub use shape::{LARGEST, MOST_MEMBERS, Path, SMALLEST, Step};
pub use wrong::{Fault, Wrong};

/// Version of the law from (seed, number, version) to documents. It changes with every change of any byte.
pub const RECORDS_VERSION: u32 = 1;

/// A set of records: everything that decides what is in them, but their number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Records {
    /// The shape of documents.
    pub kind: Kind,
    /// What values are made of.
    pub values: Values,
    /// What they depend on, besides key, path and version.
    pub seed: u64,
    /// In which order keys are loaded.
    pub key_order: KeyOrder,
    /// What keys are.
    pub key_type: KeyType,
    /// What documents call their own key, where they hold it: their first member as they are made.
    #[serde(default)]
    pub key_member: Option<String>,
}

impl Records {
    /// Documents of ten fields of text, whose keys are texts in no order: what a run has where nothing else is said.
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

/// The shape of documents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Kind {
    /// Three fields of 32 characters, `field0` to `field2`.
    Small,
    /// Ten fields of 100 characters, `field0` to `field9`.
    Flat,
    /// A hundred fields of 200 characters.
    Large,
    /// A tree of objects with 88 values of 100 characters.
    Nested,
    /// A document of ten fields whose compact JSON text, without a key member, has exactly so many bytes.
    Size {
        /// Bytes.
        bytes: u32,
    },
    /// An array of objects, `list`, and an object of as many objects, `map`.
    Items {
        /// How many each of the two has.
        members: u32,
    },
}

/// What values are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Values {
    /// Words, which compress as text does.
    Text,
    /// Printable characters at random, `"` and `\` among them, which hardly compress.
    Random,
}

/// In which order keys are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyOrder {
    /// Scattered over the whole range.
    Hashed,
    /// Ascending.
    Ordered,
}

/// What keys are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyType {
    /// `user` and 19 digits.
    Text,
    /// An integer of 64 bits.
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
