//! Preparation classes: what is configured about the documents before they are loaded.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What is configured about the documents before they are loaded. Configurations are ranked only within their
/// class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PreparationClass {
    /// Nothing is configured: one JSON column, collection or index, and no index, hint, sort key or column on
    /// any path.
    AsIs,
    /// An index, type hints or a sort key cover the paths of the questions. Documents stay whole, and
    /// statements name paths.
    Prepared,
    /// The paths of the questions are columns beside the document, and statements name the columns.
    Extracted,
    /// Whatever a user's own folder of questions sets up. Not a class: all such configurations are ranked
    /// together, and no system's folder can state it.
    #[serde(skip_deserializing)]
    Own,
}

impl PreparationClass {
    /// All classes that folders can state, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::AsIs, Self::Prepared, Self::Extracted];

    /// Returns the word used in folders, files and tables.
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

impl fmt::Display for PreparationClass {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}
