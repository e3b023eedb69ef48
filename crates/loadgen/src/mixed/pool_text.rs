//! Documents that writers insert, in memory.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use jsonathlon_mixed::{documents_of_writer, pool_position};

/// Bytes of documents that are kept at most.
const MAX_BYTES: u64 = 1 << 30;
/// Bytes that are read at once.
const BUFFER_BYTES: usize = 1 << 20;

/// Up to where a pool is read into memory. Writers take its last documents first, so the last ones are kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct PoolLimits {
    /// Number of documents that all writers together can need.
    pub(super) documents: u64,
    /// Largest size of the documents that are read, in bytes.
    pub(super) bytes: u64,
}

impl Default for PoolLimits {
    fn default() -> Self {
        Self { documents: u64::MAX, bytes: MAX_BYTES }
    }
}

/// File with one document a line, of which writers share the last ones.
#[derive(Debug, Clone, Copy)]
pub(super) struct PoolFile<'p> {
    pub(super) path: &'p Path,
    /// Number of documents in the file.
    pub(super) documents: u64,
    /// Number of the last documents that writers share.
    pub(super) dealt: u64,
    pub(super) writers: u32,
}

/// Texts of a pool's last documents, in the order of the data.
#[derive(Debug)]
pub(super) struct PoolText {
    text: Vec<u8>,
    /// Offset of the newline of each document that is kept.
    ends: Vec<usize>,
    /// Number of documents of all writers, kept or not.
    dealt: u64,
    writers: u64,
}

impl PoolText {
    /// Reads a file, and keeps the last ones of the documents that writers share, within the limits.
    ///
    /// # Errors
    /// If the file cannot be read or holds another number of documents.
    pub(super) fn read(file: PoolFile<'_>, limits: PoolLimits) -> Result<Self, String> {
        let PoolFile { path, documents, .. } = file;
        let read = Self::read_file(file, limits);
        let (pool, found) = read.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        if found != documents {
            return Err(format!("{} holds {found} documents instead of {documents}", path.display()));
        }
        Ok(pool)
    }

    /// Reads a file. Returns also the number of documents in it.
    fn read_file(pool_file: PoolFile<'_>, limits: PoolLimits) -> std::io::Result<(Self, u64)> {
        let PoolFile { path, documents, dealt, writers } = pool_file;
        let file = File::open(path)?;
        let skipped_bytes = file.metadata()?.len().saturating_sub(limits.bytes);
        let skipped_documents = documents.saturating_sub(limits.documents.min(dealt));
        let mut pool = Self { text: Vec::new(), ends: Vec::new(), dealt, writers: u64::from(writers) };
        let mut reader = BufReader::with_capacity(BUFFER_BYTES, file);
        let (mut line, mut found, mut offset) = (Vec::new(), 0, 0);
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line)?;
            if length == 0 {
                return Ok((pool, found));
            }
            if found >= skipped_documents && offset >= skipped_bytes {
                if line.last() != Some(&b'\n') {
                    line.push(b'\n');
                }
                pool.text.extend_from_slice(&line);
                pool.ends.push(pool.text.len() - 1);
            }
            found += 1;
            offset += length as u64;
        }
    }

    /// Number of documents that a writer has, kept or not.
    pub(super) fn documents_of(&self, writer: u32) -> u64 {
        documents_of_writer(self.dealt, self.writers, u64::from(writer))
    }

    /// Number of a writer's documents that are kept, which are its first ones.
    pub(super) fn kept_documents_of(&self, writer: u32) -> u64 {
        documents_of_writer(self.ends.len() as u64, self.writers, u64::from(writer))
    }

    /// Documents of a writer from number `first` up to, but not including, number `end`.
    pub(super) fn documents(&self, writer: u32, first: u64, end: u64) -> Vec<&[u8]> {
        (first..end).filter_map(|number| self.document(writer, number)).collect()
    }

    fn document(&self, writer: u32, number: u64) -> Option<&[u8]> {
        // Positions from the end are the same among the kept documents.
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

    fn file(path: &Path, documents: u64, dealt: u64) -> PoolFile<'_> {
        PoolFile { path, documents, dealt, writers: 2 }
    }

    fn texts(pool: &PoolText, writer: u32) -> Vec<String> {
        let documents = pool.documents(writer, 0, pool.documents_of(writer));
        documents.into_iter().map(|text| String::from_utf8(text.to_vec()).unwrap()).collect()
    }

    #[test]
    fn the_last_document_comes_first_and_every_document_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pool.ndjson");
        std::fs::write(&path, "a\nbb\nc\nd\neee").unwrap();
        let pool = PoolText::read(file(&path, 5, 5), PoolLimits::default()).unwrap();
        assert_eq!(texts(&pool, 0), ["eee", "c", "a"]);
        assert_eq!(texts(&pool, 1), ["d", "bb"]);
        assert_eq!(pool.documents(0, 1, 2), [b"c"]);
        let error = PoolText::read(file(&path, 4, 4), PoolLimits::default()).unwrap_err();
        assert!(error.ends_with("holds 5 documents instead of 4"), "{error}");
    }

    #[test]
    fn writers_that_share_fewer_documents_begin_with_the_same_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pool.ndjson");
        std::fs::write(&path, "a\nbb\nc\nd\neee\n").unwrap();
        let pool = PoolText::read(file(&path, 5, 3), PoolLimits::default()).unwrap();
        assert_eq!(texts(&pool, 0), ["eee", "c"]);
        assert_eq!(texts(&pool, 1), ["d"]);
        // Nothing was left out for want of memory: these are all documents of the writers.
        assert_eq!([0, 1].map(|writer| pool.kept_documents_of(writer)), [2, 1]);
        assert_eq!([0, 1].map(|writer| pool.documents_of(writer)), [2, 1]);
    }

    #[test]
    fn only_the_documents_that_are_needed_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pool.ndjson");
        std::fs::write(&path, "a\nbb\nc\nd\neee\n").unwrap();
        let read =
            |documents, bytes| PoolText::read(file(&path, 5, 5), PoolLimits { documents, bytes }).unwrap();
        for pool in [read(3, MAX_BYTES), read(u64::MAX, 8), read(u64::MAX, 9)] {
            assert_eq!([0, 1].map(|writer| pool.documents_of(writer)), [3, 2]);
            assert_eq!([0, 1].map(|writer| pool.kept_documents_of(writer)), [2, 1]);
            assert_eq!(pool.documents(0, 0, 3), [&b"eee"[..], b"c"]);
            assert_eq!(pool.documents(1, 0, 2), [b"d"]);
        }
        assert_eq!(read(u64::MAX, 3).kept_documents_of(0), 0);
    }
}
