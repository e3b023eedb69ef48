//! Kinds of queries that are run on an indexed table, and the answers expected from them.

use serde::{Deserialize, Serialize};

/// Kind of a query on an indexed table, by what it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// The value of one member in every document.
    Extract,
    /// Keys of the documents in which a member equals a given value.
    Filter,
    /// Keys of all documents, in the order of a member's value.
    Order,
    /// Keys of the documents that contain a given JSON fragment.
    Contains,
    /// Keys of the documents that have a given member.
    Exists,
}

impl Operation {
    /// All operations, in the order in which tables list them.
    pub const ALL: [Self; 5] = [Self::Extract, Self::Filter, Self::Order, Self::Contains, Self::Exists];

    /// Returns the operation's name in system files, results and tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Extract => "extract",
            Self::Filter => "filter",
            Self::Order => "order",
            Self::Contains => "contains",
            Self::Exists => "exists",
        }
    }

    /// Returns `true` if there is a test of the same name, which is timed both with and without an index.
    #[must_use]
    pub fn is_test(self) -> bool {
        matches!(self, Self::Extract | Self::Filter | Self::Order)
    }

    /// Returns the expected answer of queries of this kind, which a query may override in its definition.
    pub(super) fn default_answer(self) -> QueryAnswer {
        match self {
            Self::Extract => QueryAnswer::AllNumbers,
            Self::Filter | Self::Contains => QueryAnswer::KeysOfTen,
            Self::Order => QueryAnswer::OrderedKeys,
            Self::Exists => QueryAnswer::KeysWithRare,
        }
    }
}

/// Expected answer to a query. `l` is the top-level number of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum QueryAnswer {
    /// The `l` of every document, in any order.
    #[serde(rename = "l")]
    AllNumbers,
    /// The keys of the documents whose `l` is 10, in any order.
    #[serde(rename = "ten")]
    KeysOfTen,
    /// All keys, ordered by `l` and then by key.
    #[serde(rename = "order")]
    OrderedKeys,
    /// The keys of the documents that have a member `rare`, in any order.
    #[serde(rename = "rare")]
    KeysWithRare,
    /// All keys, in any order.
    #[serde(rename = "all")]
    AllKeys,
}
