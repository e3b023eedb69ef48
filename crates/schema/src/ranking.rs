//! Criteria of rankings: preparation class, memory profile and further rules, which must be equal for
//! configurations to be ranked together.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Preparation class: what a system was told about the documents before they were loaded. Configurations are
/// ranked only within their class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum PreparationClass {
    /// Nothing: one JSON column, collection or index, and no index, hint, sort key or column on any path.
    AsIs,
    /// The paths of the questions, as index, type hints or sort key. Documents stay whole, and questions use
    /// paths.
    Prepared,
    /// The paths of the questions are columns next to the document, and questions use the columns.
    Extracted,
    /// Whatever the user's own folder of questions says. These configurations are ranked with each other, and
    /// no system's folder can state the class.
    #[serde(rename = "own")]
    UserDefined,
}

impl PreparationClass {
    /// All classes, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::AsIs, Self::Prepared, Self::Extracted, Self::UserDefined];

    /// Word for the class in folders, files and tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::AsIs => "as-is",
            Self::Prepared => "prepared",
            Self::Extracted => "extracted",
            Self::UserDefined => "own",
        }
    }
}

impl fmt::Display for PreparationClass {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

/// Memory profile: how a system's memory settings were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum MemoryProfile {
    /// All systems have the same budget, distributed as their vendors advise.
    Sized,
    /// The settings of the package are unchanged.
    Stock,
}

impl MemoryProfile {
    /// Both profiles, in the order in which they are shown.
    pub const ALL: [Self; 2] = [Self::Sized, Self::Stock];

    /// Word for the profile in files and tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Sized => "sized",
            Self::Stock => "stock",
        }
    }

    /// Finds the profile with this word. `None` if the word is unknown.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.word() == word)
    }
}

/// One memory setting of a configuration, and its origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MemorySetting {
    /// Name of the setting in the system's configuration.
    pub name: String,
    /// Value that the run uses.
    pub value: String,
    /// Default value of the package.
    pub stock: String,
    /// Place where the vendor recommends the value.
    pub source: String,
}
