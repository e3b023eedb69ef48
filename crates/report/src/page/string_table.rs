//! Long texts of a run, each stored once and referred to by its index.

use std::collections::HashMap;

/// Distinct texts, in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct StringTable {
    texts: Vec<String>,
    indexes: HashMap<String, usize>,
}

impl StringTable {
    /// Index of a text, which is added if it is new.
    pub(super) fn index(&mut self, text: &str) -> usize {
        if let Some(index) = self.indexes.get(text) {
            return *index;
        }
        let index = self.texts.len();
        self.indexes.insert(text.to_owned(), index);
        self.texts.push(text.to_owned());
        index
    }

    /// All texts, in the order of their indexes.
    pub(super) fn into_all(self) -> Vec<String> {
        self.texts
    }
}
