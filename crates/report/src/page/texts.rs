//! Long texts of a run, each kept once.

use std::collections::HashMap;

/// Texts by their index.
#[derive(Debug, Default)]
pub(super) struct Texts {
    all: Vec<String>,
    known: HashMap<String, usize>,
}

impl Texts {
    /// The index of a text, which is taken in if it is new.
    pub(super) fn index(&mut self, text: &str) -> usize {
        if let Some(index) = self.known.get(text) {
            return *index;
        }
        let index = self.all.len();
        self.known.insert(text.to_owned(), index);
        self.all.push(text.to_owned());
        index
    }

    /// All of them, in the order of their indexes.
    pub(super) fn into_all(self) -> Vec<String> {
        self.all
    }
}
