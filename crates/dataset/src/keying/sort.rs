//! Sorts the records of a data set by their keys in bounded memory.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::DataError;
use crate::own_records::IndexEntry;

/// Receives a key and the entry of its record.
type VisitKey<'v> = dyn FnMut(&[u8], IndexEntry) -> Result<(), DataError> + 'v;

/// Bytes of keys and entries that are sorted in memory; more are written to files and merged.
const MEMORY_BYTES: usize = 48 << 20;
/// Size of the buffer that each file is read with.
const BUFFER_BYTES: usize = 64 << 10;
/// Bytes before a key that hold its length.
const LENGTH_BYTES: usize = 2;

/// Collects entries with their keys, to pass them on in the order of the keys' bytes; equal keys come in the
/// order of the documents.
pub(super) struct KeySorter {
    folder: PathBuf,
    memory_bytes: usize,
    /// Length of the key, key and entry, one behind the other.
    arena: Vec<u8>,
    starts: Vec<usize>,
    runs: Vec<PathBuf>,
}

impl KeySorter {
    pub(super) fn new(folder: &Path) -> Self {
        Self::with_memory(folder, MEMORY_BYTES)
    }

    pub(super) fn with_memory(folder: &Path, memory_bytes: usize) -> Self {
        Self {
            folder: folder.to_path_buf(),
            memory_bytes,
            arena: Vec::new(),
            starts: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// Adds an entry; entries must come in the order of their documents. Keys have at most 65,535 bytes.
    pub(super) fn push(&mut self, key: &[u8], entry: &IndexEntry) -> Result<(), DataError> {
        let needed = LENGTH_BYTES + key.len() + IndexEntry::LENGTH + size_of::<usize>();
        if self.arena.len() + size_of_val(self.starts.as_slice()) + needed > self.memory_bytes
            && !self.starts.is_empty()
        {
            self.write_run()?;
        }
        self.starts.push(self.arena.len());
        let length = u16::try_from(key.len()).unwrap_or(u16::MAX);
        self.arena.extend_from_slice(&length.to_le_bytes());
        self.arena.extend_from_slice(key.get(..usize::from(length)).unwrap_or(key));
        self.arena.extend_from_slice(&entry.encode());
        Ok(())
    }

    fn sort(&mut self) {
        let arena = &self.arena;
        // Stable: equal keys stay in the order of their documents.
        self.starts.sort_by(|left, right| key_at(arena, *left).cmp(key_at(arena, *right)));
    }

    fn write_run(&mut self) -> Result<(), DataError> {
        self.sort();
        let path = self.folder.join(format!("keys-{}.run", self.runs.len()));
        self.runs.push(path.clone());
        let write = || -> io::Result<()> {
            let mut file = BufWriter::with_capacity(BUFFER_BYTES, File::create(&path)?);
            for start in &self.starts {
                let length = LENGTH_BYTES + key_at(&self.arena, *start).len() + IndexEntry::LENGTH;
                file.write_all(self.arena.get(*start..start + length).unwrap_or_default())?;
            }
            file.flush()
        };
        write().map_err(|error| DataError::io("write", &path, error))?;
        self.arena.clear();
        self.starts.clear();
        Ok(())
    }

    /// Passes all entries with their keys to `visit`, in order.
    pub(super) fn finish(mut self, visit: &mut VisitKey<'_>) -> Result<(), DataError> {
        if self.runs.is_empty() {
            self.sort();
            for start in &self.starts {
                let key = key_at(&self.arena, *start);
                let entry = self.arena.get(start + LENGTH_BYTES + key.len()..).unwrap_or_default();
                visit(key, IndexEntry::decode(entry))?;
            }
            return Ok(());
        }
        self.write_run()?;
        self.arena = Vec::new();
        let mut readers = Vec::new();
        let mut heads = BinaryHeap::new();
        for (run, path) in self.runs.iter().enumerate() {
            let mut reader = RunReader::open(path)?;
            heads.extend(reader.next(run)?);
            readers.push(reader);
        }
        while let Some(head) = heads.pop() {
            visit(&head.key, head.entry)?;
            if let Some(reader) = readers.get_mut(head.run) {
                heads.extend(reader.next(head.run)?);
            }
        }
        Ok(())
    }
}

impl Drop for KeySorter {
    fn drop(&mut self) {
        for path in &self.runs {
            // Best effort: a file that cannot be removed is left behind.
            let _ = std::fs::remove_file(path);
        }
    }
}

fn key_at(arena: &[u8], start: usize) -> &[u8] {
    let length =
        arena.get(start..).and_then(|rest| rest.first_chunk()).map_or(0, |chunk| u16::from_le_bytes(*chunk));
    let start = start + LENGTH_BYTES;
    arena.get(start..start + usize::from(length)).unwrap_or_default()
}

/// First entry of a run that has not been passed on.
struct Head {
    key: Vec<u8>,
    entry: IndexEntry,
    run: usize,
}

impl Ord for Head {
    /// The greatest is the one that comes first.
    fn cmp(&self, other: &Self) -> Ordering {
        (&other.key, other.entry.ordinal).cmp(&(&self.key, self.entry.ordinal))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Head {}

struct RunReader {
    path: PathBuf,
    file: BufReader<File>,
}

impl RunReader {
    fn open(path: &Path) -> Result<Self, DataError> {
        let file = File::open(path).map_err(|error| DataError::io("read", path, error))?;
        Ok(Self { path: path.to_path_buf(), file: BufReader::with_capacity(BUFFER_BYTES, file) })
    }

    fn next(&mut self, run: usize) -> Result<Option<Head>, DataError> {
        let mut length = [0; LENGTH_BYTES];
        match self.file.read_exact(&mut length) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            outcome => outcome.map_err(|error| DataError::io("read", &self.path, error))?,
        }
        let mut key = vec![0; usize::from(u16::from_le_bytes(length))];
        let mut entry = [0; IndexEntry::LENGTH];
        let outcome = self.file.read_exact(&mut key).and_then(|()| self.file.read_exact(&mut entry));
        outcome.map_err(|error| DataError::io("read", &self.path, error))?;
        Ok(Some(Head { key, entry: IndexEntry::decode(&entry), run }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::own_records::UpdateSlot;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn files_are_merged_as_memory_is_sorted(
            keys in prop::collection::vec(prop::collection::vec(0_u8..4, 0..4), 0..200),
            memory_bytes in 60_usize..2_000,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut sorter = KeySorter::with_memory(folder.path(), memory_bytes);
            let mut expected = Vec::new();
            for (ordinal, key) in (0_u64..).zip(&keys) {
                let entry = IndexEntry {
                    ordinal,
                    offset: ordinal * 7,
                    is_suspect: false,
                    length: 1,
                    digest: ordinal,
                    value_hash: 2,
                    slot: UpdateSlot::Unfit,
                    key: 3,
                    key_length: key.len() as u32,
                };
                sorter.push(key, &entry).unwrap();
                expected.push((key.clone(), ordinal));
            }
            expected.sort();
            let mut found = Vec::new();
            sorter.finish(&mut |key, entry| {
                assert_eq!(entry.digest, entry.ordinal);
                found.push((key.to_vec(), entry.ordinal));
                Ok(())
            }).unwrap();
            prop_assert_eq!(found, expected);
            prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }
}
