//! What the user can set about a run of large documents.

use jsonathlon_dataset::ordinal::{Data, LARGEST, Table};
use serde::{Deserialize, Serialize};

/// Settings of this workload alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DocumentsSettings {
    /// Ordinals of the documents, one table each.
    pub sizes: Vec<u32>,
    /// Bytes of each table.
    pub total: u64,
    /// What inner objects hold, one table each.
    pub data: Vec<Data>,
    /// Seed of distinct documents.
    pub seed: u64,
    /// Trials of each read in one round.
    pub reads: u32,
    /// Whether every variant of an index is built, and not the best alone.
    pub all_indexes: bool,
    /// Whether reads are timed once with nothing in memory.
    pub cold: bool,
    /// Whether numbers deep inside a document are changed.
    pub update_path: bool,
    /// Versions of one document that are written one after the other; none for no such test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<u32>,
    /// Ordinals of documents that are offered one by one, the smallest first, until one is refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<u32>,
}

impl DocumentsSettings {
    /// The tables, smallest documents first.
    ///
    /// # Errors
    /// A size that no document has, or none at all.
    pub fn tables(&self) -> Result<Vec<Table>, String> {
        if let Some(n) = self.limits.iter().find(|n| **n > LARGEST) {
            return Err(format!("D({n}); documents up to D({LARGEST}) can be made"));
        }
        if self.sizes.is_empty() || self.data.is_empty() {
            return Err("name a size of documents and a data set at least".to_owned());
        }
        let of =
            |data: Data| self.sizes.iter().map(move |n| Table::of_total(*n, self.total, data, self.seed));
        self.data
            .iter()
            .flat_map(|data| of(*data))
            .collect::<Result<_, _>>()
            .map_err(|error| error.to_string())
    }
}

/// A size of documents in a word: `64KiB`, `1MiB`.
#[must_use]
pub fn size_word(n: u32) -> String {
    let bytes = Table::nominal_bytes_of(n.min(LARGEST));
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
