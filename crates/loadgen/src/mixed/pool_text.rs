//! Documents that writers insert, in memory.

use std::path::Path;

use jsonathlon_mixed::{documents_of_writer, pool_position};

/// Texts of a pool's documents, in the order of the data.
#[derive(Debug)]
pub(super) struct PoolText {
    text: Vec<u8>,
    /// Offset of each document's newline.
    ends: Vec<usize>,
    writers: u64,
}

impl PoolText {
    /// Reads a file with one document a line, which `writers` writers share.
    ///
    /// # Errors
    /// If the file cannot be read or holds another number of documents.
    pub(super) fn read(path: &Path, documents: u64, writers: u32) -> Result<Self, String> {
        let mut text =
            std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        if text.last().is_some_and(|byte| *byte != b'\n') {
            text.push(b'\n');
        }
        let ends: Vec<usize> =
            text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(end, _)| end).collect();
        if ends.len() as u64 != documents {
            let found = ends.len();
            return Err(format!("{} holds {found} documents instead of {documents}", path.display()));
        }
        Ok(Self { text, ends, writers: u64::from(writers) })
    }

    /// Number of documents that a writer has.
    pub(super) fn documents_of(&self, writer: u32) -> u64 {
        documents_of_writer(self.ends.len() as u64, self.writers, u64::from(writer))
    }

    /// Documents of a writer from number `first` up to, but not including, number `end`.
    pub(super) fn documents(&self, writer: u32, first: u64, end: u64) -> Vec<&[u8]> {
        (first..end).filter_map(|number| self.document(writer, number)).collect()
    }

    fn document(&self, writer: u32, number: u64) -> Option<&[u8]> {
        let position = pool_position(self.ends.len() as u64, self.writers, u64::from(writer), number)?;
        let position = usize::try_from(position).ok()?;
        let start = match position.checked_sub(1) {
            Some(previous) => self.ends.get(previous)? + 1,
            None => 0,
        };
        self.text.get(start..*self.ends.get(position)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_document_comes_first_and_every_document_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pool.ndjson");
        std::fs::write(&file, "a\nbb\nc\nd\neee").unwrap();
        let pool = PoolText::read(&file, 5, 2).unwrap();
        let texts = |writer: u32| -> Vec<String> {
            let documents = pool.documents(writer, 0, pool.documents_of(writer));
            documents.into_iter().map(|text| String::from_utf8(text.to_vec()).unwrap()).collect()
        };
        assert_eq!(texts(0), ["eee", "c", "a"]);
        assert_eq!(texts(1), ["d", "bb"]);
        assert_eq!(pool.documents(0, 1, 2), [b"c"]);
        let error = PoolText::read(&file, 4, 2).unwrap_err();
        assert!(error.ends_with("holds 5 documents instead of 4"), "{error}");
    }
}
