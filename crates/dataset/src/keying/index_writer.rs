//! Writes the index of the records in key order.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::DataError;
use crate::own_records::{INDEX_FILE, IndexEntry, KEYS_FILE, NEW_KEY_MARKS, NEW_KEYS, NewKeys};
use crate::records::KeyType;

pub(super) struct IndexWriter {
    path: PathBuf,
    index: BufWriter<File>,
    keys_path: PathBuf,
    keys: Option<BufWriter<File>>,
    key_offset: u64,
    longest_key: u32,
    /// Which of [`NEW_KEY_MARKS`] keys of the data use, as bits.
    marks: u8,
    least: i64,
    greatest: i64,
}

impl IndexWriter {
    pub(super) fn create(folder: &Path) -> Result<Self, DataError> {
        let path = folder.join(INDEX_FILE);
        let file = File::create(&path).map_err(|error| DataError::io("write", &path, error))?;
        Ok(Self {
            path,
            index: BufWriter::with_capacity(1 << 18, file),
            keys_path: folder.join(KEYS_FILE),
            keys: None,
            key_offset: 0,
            longest_key: 0,
            marks: 0,
            least: i64::MAX,
            greatest: i64::MIN,
        })
    }

    /// Adds the next record. `key` is its text key; it is not used for an integer key, whose entry has no
    /// length of a key. An empty text key is told by [`Self::finish`] knowing the type.
    pub(super) fn add(&mut self, key: &[u8], entry: &IndexEntry) -> Result<(), DataError> {
        let mut entry = *entry;
        if entry.key_length > 0 {
            let failed = |error| DataError::io("write", &self.keys_path, error);
            let keys = match &mut self.keys {
                Some(keys) => keys,
                slot => {
                    let file = File::create(&self.keys_path).map_err(failed)?;
                    slot.insert(BufWriter::with_capacity(1 << 18, file))
                }
            };
            keys.write_all(key).map_err(failed)?;
            entry.key = self.key_offset;
            self.key_offset += u64::from(entry.key_length);
            self.longest_key = self.longest_key.max(entry.key_length);
            self.marks |= NewKeys::marks_in(key);
        } else {
            self.least = self.least.min(entry.key.cast_signed());
            self.greatest = self.greatest.max(entry.key.cast_signed());
        }
        self.index.write_all(&entry.encode()).map_err(|error| DataError::io("write", &self.path, error))
    }

    /// Completes the files. Returns how keys of new records are made, and the length of the longest text key,
    /// new ones included.
    ///
    /// # Errors
    ///
    /// [`DataError::Key`] if there is no room for keys of new records, or the files cannot be written.
    pub(super) fn finish(mut self, key_type: KeyType) -> Result<(NewKeys, u32), DataError> {
        self.index.flush().map_err(|error| DataError::io("write", &self.path, error))?;
        if let Some(keys) = &mut self.keys {
            keys.flush().map_err(|error| DataError::io("write", &self.keys_path, error))?;
        }
        if key_type == KeyType::Text {
            if self.keys.is_none() {
                // The only key is the empty text.
                File::create(&self.keys_path)
                    .map_err(|error| DataError::io("write", &self.keys_path, error))?;
            }
            let unused = NEW_KEY_MARKS.iter().zip(0..).find(|(_, bit)| self.marks >> bit & 1 == 0);
            let Some((mark, _)) = unused else {
                return Err(no_room(
                    "all marks of new keys (`-new-` to `-new7-` and nine digits) are in use",
                ));
            };
            let growth = u32::try_from(NewKeys::text_growth(mark)).unwrap_or_default();
            return Ok((NewKeys::Marked((*mark).to_owned()), self.longest_key + growth));
        }
        if self.greatest < i64::MAX - NEW_KEYS {
            Ok((NewKeys::Upward(self.greatest.saturating_add(1).max(1)), 0))
        } else if self.least > i64::MIN + NEW_KEYS {
            Ok((NewKeys::Downward(self.least.saturating_sub(1)), 0))
        } else {
            Err(no_room("integer keys reach from the smallest to the greatest integer of 64 bits"))
        }
    }
}

fn no_room(reason: &str) -> DataError {
    DataError::Key { reason: format!("{reason}, so that new records have no keys; use `--key line`") }
}
