//! User settings of a run with large documents.

use jsonathlon_dataset::nested::{InnerContent, MAX_ORDINAL, NestedTable};
use serde::{Deserialize, Serialize};

/// Settings that only this workload has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DocumentsSettings {
    /// Ordinals n of the documents D(n); each gets a table of its own.
    pub document_sizes: Vec<u32>,
    /// Total size in bytes of the documents of each table.
    pub table_size: u64,
    /// Kinds of content of the inner objects; each gets a table of its own.
    pub content: Vec<InnerContent>,
    /// Seed of the contents of distinct documents.
    pub seed: u64,
    /// Number of trials of each read in one round.
    pub reads: u32,
    /// Whether all variants of an index are built, not only the best one.
    pub all_indexes: bool,
    /// Whether each read is also timed once with a cold cache.
    pub cold: bool,
    /// Whether updates of numbers deep inside a document are tested.
    pub update_path: bool,
    /// Number of consecutive versions of one document to write; `None` skips this test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<u32>,
    /// Ordinals of single documents that are loaded in ascending order until one is rejected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub max_size_search: Vec<u32>,
}

impl DocumentsSettings {
    /// Tables of the run, smallest documents first within each kind of content.
    ///
    /// # Errors
    /// If an ordinal is too large, or no size or kind of content is given.
    pub fn tables(&self) -> Result<Vec<NestedTable>, String> {
        if let Some(n) = self.max_size_search.iter().find(|n| **n > MAX_ORDINAL) {
            return Err(format!("D({n}); documents up to D({MAX_ORDINAL}) can be made"));
        }
        if self.document_sizes.is_empty() || self.content.is_empty() {
            return Err("name a size of documents and a data set at least".to_owned());
        }
        let tables_of = |content: InnerContent| {
            let sizes = self.document_sizes.iter();
            sizes.map(move |n| NestedTable::with_total_bytes(*n, self.table_size, content, self.seed))
        };
        self.content
            .iter()
            .flat_map(|content| tables_of(*content))
            .collect::<Result<_, _>>()
            .map_err(|error| error.to_string())
    }
}

/// Size of a document D(n) as text, e.g. `64KiB` or `1MiB`.
#[must_use]
pub fn size_word(n: u32) -> String {
    let bytes = NestedTable::nominal_bytes_of(n.min(MAX_ORDINAL));
    match bytes {
        bytes if bytes >= 1 << 30 => format!("{}GiB", bytes >> 30),
        bytes if bytes >= 1 << 20 => format!("{}MiB", bytes >> 20),
        bytes if bytes >= 1 << 10 => format!("{}KiB", bytes >> 10),
        bytes => format!("{bytes}B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_as_people_do() {
        assert_eq!(
            [0, 6, 12, 14, 16, 20, 26].map(size_word),
            ["16B", "1KiB", "64KiB", "256KiB", "1MiB", "16MiB", "1GiB"]
        );
    }
}
