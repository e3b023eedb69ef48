//! Operations: what one client asks for in one go.

use serde::{Deserialize, Serialize};

/// One kind of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// A whole document by its key.
    Read,
    /// Some of a document's values.
    ReadPaths,
    /// Documents by an indexed nested value, up to a limit.
    Find,
    /// How many these are.
    Count,
    /// The elements of one document's array, or the entries of its object, that satisfy a condition.
    Unwrap,
    /// How many elements of all documents' arrays satisfy the condition.
    UnwrapAll,
    /// One top-level field set.
    Update,
    /// Every field set.
    UpdateAll,
    /// One nested value set.
    UpdatePath,
    /// One element of an array set.
    UpdateElement,
    /// A new document.
    Insert,
    /// Several new documents at once.
    InsertBatch,
    /// A document removed.
    Delete,
    /// Documents in the order of their keys.
    Scan,
    /// A document read, one field of it set, and nothing lost in between.
    ReadModifyWrite,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::Read,
        Self::ReadPaths,
        Self::Find,
        Self::Count,
        Self::Unwrap,
        Self::UnwrapAll,
        Self::Update,
        Self::UpdateAll,
        Self::UpdatePath,
        Self::UpdateElement,
        Self::Insert,
        Self::InsertBatch,
        Self::Delete,
        Self::Scan,
        Self::ReadModifyWrite,
    ];

    /// The word used in files, tables and mixes.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::ReadPaths => "read-paths",
            Self::Find => "find",
            Self::Count => "count",
            Self::Unwrap => "unwrap",
            Self::UnwrapAll => "unwrap-all",
            Self::Update => "update",
            Self::UpdateAll => "update-all",
            Self::UpdatePath => "update-path",
            Self::UpdateElement => "update-element",
            Self::Insert => "insert",
            Self::InsertBatch => "insert-batch",
            Self::Delete => "delete",
            Self::Scan => "scan",
            Self::ReadModifyWrite => "read-modify-write",
        }
    }

    /// The operation of a word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.word() == word)
    }

    /// The name of its statement file in a system's folder, without its ending.
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Self::ReadPaths => "read_paths",
            // `count` is how many documents there are.
            Self::Count => "count_matching",
            Self::UnwrapAll => "unwrap_all",
            Self::UpdateAll => "update_all",
            Self::UpdatePath => "update_path",
            Self::UpdateElement => "update_element",
            Self::InsertBatch => "insert_batch",
            Self::ReadModifyWrite => "read_modify_write",
            other => other.word(),
        }
    }

    /// Whether it changes documents.
    #[must_use]
    pub fn writes(self) -> bool {
        match self {
            Self::Read
            | Self::ReadPaths
            | Self::Find
            | Self::Count
            | Self::Unwrap
            | Self::UnwrapAll
            | Self::Scan => false,
            Self::Update
            | Self::UpdateAll
            | Self::UpdatePath
            | Self::UpdateElement
            | Self::Insert
            | Self::InsertBatch
            | Self::Delete
            | Self::ReadModifyWrite => true,
        }
    }
}

impl std::fmt::Display for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}
