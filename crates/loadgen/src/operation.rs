//! Operations: the logical requests of a client, each consisting of one or more statements.

use serde::{Deserialize, Serialize};

/// Kind of a client's operation; a mix gives each kind a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Reads a whole document by its key.
    Read,
    /// Reads some values of one document.
    ReadPaths,
    /// Reads the documents with a given value at an indexed nested path, up to a limit.
    Find,
    /// Counts the documents that [`Self::Find`] would match without a limit.
    Count,
    /// Reads the elements of one document's array that satisfy a condition.
    Unwrap,
    /// Counts the elements of all documents' arrays that satisfy the condition.
    UnwrapAll,
    /// Sets one top-level field of a document.
    Update,
    /// Sets every field of a document.
    UpdateAll,
    /// Sets one nested value of a document.
    UpdatePath,
    /// Sets the value of one element of a document's array.
    UpdateElement,
    /// Inserts one new document.
    Insert,
    /// Inserts several new documents at once.
    InsertBatch,
    /// Deletes one document by its key.
    Delete,
    /// Reads documents in the order of their keys, from a given key on.
    Scan,
    /// Reads a document and sets one field of it such that no concurrent update is lost.
    ReadModifyWrite,
}

impl Operation {
    /// All operations, in the order of their numbers.
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

    /// Name of the operation in files, tables and mixes, for example `read-paths`.
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

    /// Finds the operation with this name. `None` if there is none.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.word() == word)
    }

    /// File name, without extension, of the operation's statement in a system's folder.
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Self::ReadPaths => "read_paths",
            // `count` already names the statement that counts all documents.
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

    /// Returns why the operation cannot be run over the user's own documents. `None` if it can.
    #[must_use]
    pub fn own_documents_obstacle(self) -> Option<&'static str> {
        match self {
            Self::Find | Self::Count => {
                Some("it searches for a value that ten documents share, which generated documents have alone")
            }
            Self::Unwrap | Self::UnwrapAll | Self::UpdateElement => {
                Some("it works on elements of arrays that generated documents of kind items have alone")
            }
            _ => None,
        }
    }

    /// Returns `true` if the operation changes, inserts or deletes documents.
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
