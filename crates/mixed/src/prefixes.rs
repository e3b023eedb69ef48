//! Prefixes: how many of its documents, from the first, each writer has got so far.

use serde::{Deserialize, Serialize};

/// Number of documents seen (or sent, or acknowledged) of each writer. The index is the number of the writer.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prefixes(Vec<u64>);

impl Prefixes {
    /// Nothing of any of these writers.
    #[must_use]
    pub fn none(writers: usize) -> Self {
        Self(vec![0; writers])
    }

    /// Number of writers that have a prefix, an empty one included.
    #[must_use]
    pub fn writers(&self) -> usize {
        self.0.len()
    }

    /// Prefix of one writer; 0 for a writer that has none.
    #[must_use]
    pub fn of(&self, writer: usize) -> u64 {
        self.0.get(writer).copied().unwrap_or(0)
    }

    /// Prefixes of all writers in the order of their numbers.
    #[must_use]
    pub fn as_slice(&self) -> &[u64] {
        &self.0
    }

    /// Number of documents of all writers together.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Raises each prefix to that of `other` where the latter is longer. Returns whether `other` was shorter
    /// anywhere.
    pub(crate) fn raise(&mut self, other: &Prefixes) -> bool {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        let mut is_shorter = false;
        for (writer, prefix) in self.0.iter_mut().enumerate() {
            is_shorter |= other.of(writer) < *prefix;
            *prefix = other.of(writer).max(*prefix);
        }
        is_shorter
    }

    pub(crate) fn set(&mut self, writer: usize, prefix: u64) {
        if let Some(slot) = self.0.get_mut(writer) {
            *slot = prefix;
        }
    }
}

impl From<Vec<u64>> for Prefixes {
    fn from(prefixes: Vec<u64>) -> Self {
        Self(prefixes)
    }
}
