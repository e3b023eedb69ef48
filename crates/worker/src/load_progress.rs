//! Counts and hashes exported documents as they arrive.

use std::hash::{BuildHasher, Hasher};

use foldhash::quality::FixedState;
use jsonathlon_dataset::nested;

/// Totals of the documents received so far.
pub(super) struct LoadProgress {
    hash: FixedState,
    pub(super) documents: u64,
    pub(super) bytes: u64,
    pub(super) texts: u64,
    /// Sum of the documents' digests as JSON values. `None` unless requested.
    pub(super) values: Option<u64>,
    /// Error of the first text that is not JSON.
    pub(super) error: Option<String>,
}

impl LoadProgress {
    pub(super) fn new(values: bool) -> Self {
        let values = values.then_some(0);
        Self { hash: FixedState::with_seed(1), documents: 0, bytes: 0, texts: 0, values, error: None }
    }

    pub(super) fn add(&mut self, text: &[u8]) {
        self.bytes += text.len() as u64;
        let mut hasher = self.hash.build_hasher();
        hasher.write(text);
        self.texts = self.texts.wrapping_add(hasher.finish());
        if let Some(sum) = &mut self.values {
            match nested::digest(text) {
                Ok(digest) => *sum = sum.wrapping_add(digest),
                Err(error) => {
                    let number = self.documents + 1;
                    self.error.get_or_insert_with(|| format!("document {number} that came out is {error}"));
                }
            }
        }
        self.documents += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress_of(texts: &[&str]) -> LoadProgress {
        let mut progress = LoadProgress::new(true);
        texts.iter().for_each(|text| progress.add(text.as_bytes()));
        progress
    }

    #[test]
    fn order_of_documents_does_not_matter_and_their_texts_do() {
        let first = progress_of(&[r#"{"a":1,"b":2}"#, "{}"]);
        let reordered = progress_of(&["{}", r#"{"a":1,"b":2}"#]);
        assert_eq!((first.documents, first.bytes), (2, 15));
        assert_eq!((first.texts, first.values), (reordered.texts, reordered.values));
        let respelt = progress_of(&[r#"{"b": 2, "a": 1}"#, "{}"]);
        assert!(respelt.values == first.values && respelt.texts != first.texts);
        assert_ne!(progress_of(&["{}", "{}"]).values, first.values);
        assert_eq!(
            progress_of(&["{}", "{"]).error.as_deref(),
            Some("document 2 that came out is not JSON at byte 1")
        );
    }
}
