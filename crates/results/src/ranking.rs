//! Which configurations may stand in one ranking: those of one preparation class, one memory profile and one set of
//! further rules.

use serde::{Deserialize, Serialize};

/// What a system was told about the documents before they came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preparation {
    /// Nothing: one JSON column, collection or index, and no index, hint, sort key or column on any path.
    AsIs,
    /// The paths of the questions: an index, type hints or a sort key. Documents stay whole, and questions name paths.
    Prepared,
    /// The paths of the questions are columns beside the document, and questions name the columns.
    Extracted,
    /// Whatever a user's own folder of questions says: no class, and ranked together.
    Own,
}

impl Preparation {
    /// All classes, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::AsIs, Self::Prepared, Self::Extracted, Self::Own];

    /// The word used in files and tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::AsIs => "as-is",
            Self::Prepared => "prepared",
            Self::Extracted => "extracted",
            Self::Own => "own",
        }
    }
}

/// How a system's memory was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Every system had the same budget, spent as its makers advise.
    Sized,
    /// As the package sets it.
    Stock,
}

impl Profile {
    /// The word used in files and tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Sized => "sized",
            Self::Stock => "stock",
        }
    }

    /// The profile of this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Sized, Self::Stock].into_iter().find(|profile| profile.word() == word)
    }
}

/// One memory setting of a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemorySetting {
    /// What it is called.
    pub name: String,
    /// Its value.
    pub value: String,
    /// What the package does by itself.
    pub stock: String,
    /// Where the makers advise it.
    pub source: String,
}
