//! Preparation classes: what a system was told about the documents before they came.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a system was told about the documents before they came. Configurations are ranked within their class only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preparation {
    /// Nothing: one JSON column, collection or index, and no index, hint, sort key or column on any path.
    AsIs,
    /// The paths of the questions: an index, type hints or a sort key. Documents stay whole, and questions name paths.
    Prepared,
    /// The paths of the questions are columns beside the document, and questions name the columns.
    Extracted,
    /// Whatever a user's own folder of questions says. No class: all such are ranked together, and no system's folder
    /// states it.
    #[serde(skip_deserializing)]
    Own,
}

impl Preparation {
    /// All classes that folders state, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::AsIs, Self::Prepared, Self::Extracted];

    /// The word used in folders, files and tables.
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

impl fmt::Display for Preparation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}
