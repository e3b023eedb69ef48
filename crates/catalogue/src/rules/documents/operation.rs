//! Operations of queries under an index, and the answers that are expected of them.

use serde::{Deserialize, Serialize};

/// What a query under an index returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// A value of every document.
    Extract,
    /// Documents that have a certain value.
    Filter,
    /// All documents, in the order of a value.
    Order,
    /// Documents that contain a certain part.
    Contains,
    /// Documents that have a certain member.
    Exists,
}

impl Operation {
    /// All operations, in the order in which they are shown.
    pub const ALL: [Self; 5] = [Self::Extract, Self::Filter, Self::Order, Self::Contains, Self::Exists];

    /// Returns the word used in files and tables.
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

    /// Returns `true` if the operation is also a test of its own, which is timed with and without an index.
    #[must_use]
    pub fn is_test(self) -> bool {
        matches!(self, Self::Extract | Self::Filter | Self::Order)
    }

    /// Returns the answer of a query of this operation, unless the query states another one.
    pub(super) fn usual(self) -> Expected {
        match self {
            Self::Extract => Expected::L,
            Self::Filter | Self::Contains => Expected::Ten,
            Self::Order => Expected::Order,
            Self::Exists => Expected::Rare,
        }
    }
}

/// Answer that is expected of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// The value `l` of every document, in any order.
    L,
    /// The keys of the documents whose `l` is 10, in any order.
    Ten,
    /// All keys, ordered by `l` and then by key.
    Order,
    /// The keys of the documents that have a member `rare`, in any order.
    Rare,
    /// All keys, in any order.
    All,
}
