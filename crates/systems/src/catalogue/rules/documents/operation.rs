//! What queries do, and what they must answer.

use serde::{Deserialize, Serialize};

/// What a query under an index does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// A value of every document.
    Extract,
    /// Documents by a value.
    Filter,
    /// Documents in the order of a value.
    Order,
    /// Documents that contain something.
    Contains,
    /// Documents that have a member.
    Exists,
}

impl Operation {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 5] = [Self::Extract, Self::Filter, Self::Order, Self::Contains, Self::Exists];

    /// The word used in files and tables.
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

    /// Whether it is a test of its own too, which is timed with and without an index.
    #[must_use]
    pub fn is_test(self) -> bool {
        matches!(self, Self::Extract | Self::Filter | Self::Order)
    }

    /// What a query of it answers, unless it says otherwise.
    pub(super) fn usual(self) -> Expected {
        match self {
            Self::Extract => Expected::L,
            Self::Filter | Self::Contains => Expected::Ten,
            Self::Order => Expected::Order,
            Self::Exists => Expected::Rare,
        }
    }
}

/// What a query must answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// The value `l` of every document, in any order.
    L,
    /// The keys of the documents whose `l` is 10, in any order.
    Ten,
    /// All keys in the order of `l`, then of themselves.
    Order,
    /// The keys of the documents that have a member `rare`, in any order.
    Rare,
    /// All keys, in any order.
    All,
}
