//! Files of keyed documents: the index of the records in key order, their keys, and their documents.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::error::DataError;
use crate::records::KeyType;

/// File of the rows that systems load, in the folder of own records.
pub const ROWS_FILE: &str = "rows.ndjson";
/// Rows of suspects, which are loaded one by one.
pub const SUSPECT_ROWS_FILE: &str = "suspects.bin";
/// Index of the records, in the order of their keys.
pub const INDEX_FILE: &str = "records.bin";
/// Text keys, one behind the other, in the order of the index.
pub const KEYS_FILE: &str = "keys.bin";

/// Marks the offset of a document in the file of suspects.
const IN_SUSPECTS: u64 = 1 << 63;

/// What stands at the update path of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UpdateSlot {
    /// Nothing that can bear a version.
    Unfit,
    /// An integer that 64 bits hold.
    Integer,
    /// A text of this many bytes.
    Text(u32),
}

impl UpdateSlot {
    const UNFIT: u32 = u32::MAX;
    const INTEGER: u32 = u32::MAX - 1;

    fn encode(self) -> u32 {
        match self {
            Self::Unfit => Self::UNFIT,
            Self::Integer => Self::INTEGER,
            Self::Text(bytes) => bytes.min(Self::INTEGER - 1),
        }
    }

    fn decode(word: u32) -> Self {
        match word {
            Self::UNFIT => Self::Unfit,
            Self::INTEGER => Self::Integer,
            bytes => Self::Text(bytes),
        }
    }
}

/// Entry of the index: one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexEntry {
    /// Number of the document in the data, from 0.
    pub(crate) ordinal: u64,
    /// Byte offset of the document in its file of rows.
    pub(crate) offset: u64,
    /// Whether that file is the one of suspects.
    pub(crate) is_suspect: bool,
    /// Length of the document in bytes.
    pub(crate) length: u32,
    /// Digest by value, without the values at key path and update path.
    pub(crate) digest: u64,
    /// Hash of the value at the update path; 0 if there is none.
    pub(crate) value_hash: u32,
    pub(crate) slot: UpdateSlot,
    /// The key if it is an integer, otherwise its offset in the file of keys.
    pub(crate) key: u64,
    /// Length of a text key in bytes.
    pub(crate) key_length: u32,
}

impl IndexEntry {
    /// Length of an encoded entry in bytes.
    pub(crate) const LENGTH: usize = 48;

    pub(crate) fn encode(&self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        let offset = self.offset | if self.is_suspect { IN_SUSPECTS } else { 0 };
        let fields: [&[u8]; 8] = [
            &self.ordinal.to_le_bytes(),
            &offset.to_le_bytes(),
            &self.digest.to_le_bytes(),
            &self.key.to_le_bytes(),
            &self.length.to_le_bytes(),
            &self.value_hash.to_le_bytes(),
            &self.slot.encode().to_le_bytes(),
            &self.key_length.to_le_bytes(),
        ];
        for (target, byte) in bytes.iter_mut().zip(fields.into_iter().flatten()) {
            *target = *byte;
        }
        bytes
    }

    /// Decodes an entry; missing bytes count as 0.
    pub(crate) fn decode(bytes: &[u8]) -> Self {
        let long = |at: usize| {
            bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |chunk| u64::from_le_bytes(*chunk))
        };
        let word = |at: usize| {
            bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |chunk| u32::from_le_bytes(*chunk))
        };
        Self {
            ordinal: long(0),
            offset: long(8) & !IN_SUSPECTS,
            is_suspect: long(8) & IN_SUSPECTS != 0,
            digest: long(16),
            key: long(24),
            length: word(32),
            value_hash: word(36),
            slot: UpdateSlot::decode(word(40)),
            key_length: word(44),
        }
    }
}

/// Open files of own records, shared by all threads; reads name their position.
#[derive(Debug)]
pub(crate) struct RecordFiles {
    folder: PathBuf,
    index: File,
    rows: File,
    /// `None` if there are no suspects.
    suspects: Option<File>,
    /// `None` if keys are integers.
    keys: Option<File>,
}

impl RecordFiles {
    /// Opens the files and checks that the index has as many records as expected.
    pub(crate) fn open(folder: &Path, documents: u64) -> Result<Self, DataError> {
        let open = |name: &str| {
            let path = folder.join(name);
            File::open(&path).map_err(|error| DataError::io("read", &path, error))
        };
        let optional = |name: &str| folder.join(name).is_file().then(|| open(name)).transpose();
        let index = open(INDEX_FILE)?;
        let path = folder.join(INDEX_FILE);
        let bytes = index.metadata().map_err(|error| DataError::io("read", &path, error))?.len();
        let found = bytes / IndexEntry::LENGTH as u64;
        if found != documents {
            return Err(DataError::Changed { path, expected: documents, found });
        }
        Ok(Self {
            folder: folder.to_path_buf(),
            index,
            rows: open(ROWS_FILE)?,
            suspects: optional(SUSPECT_ROWS_FILE)?,
            keys: optional(KEYS_FILE)?,
        })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reads the entry of a record that was keyed.
    pub(crate) fn entry(&self, number: u64) -> io::Result<IndexEntry> {
        let mut bytes = [0; IndexEntry::LENGTH];
        self.index.read_exact_at(&mut bytes, number.saturating_mul(IndexEntry::LENGTH as u64))?;
        Ok(IndexEntry::decode(&bytes))
    }

    /// Appends the text key of an entry.
    pub(crate) fn key(&self, entry: &IndexEntry, out: &mut Vec<u8>) -> io::Result<()> {
        let Some(keys) = &self.keys else { return Err(io::Error::other("there is no file of text keys")) };
        append_at(keys, entry.key, entry.key_length as usize, out)
    }

    /// Key of an entry as text: the characters of a text, or the digits of an integer.
    pub(crate) fn key_text(&self, entry: &IndexEntry, key_type: KeyType) -> io::Result<String> {
        match key_type {
            KeyType::Bigint => Ok(entry.key.cast_signed().to_string()),
            KeyType::Text => {
                let mut key = Vec::new();
                self.key(entry, &mut key)?;
                Ok(String::from_utf8_lossy(&key).into_owned())
            }
        }
    }

    /// Appends the document of an entry.
    pub(crate) fn document(&self, entry: &IndexEntry, out: &mut Vec<u8>) -> io::Result<()> {
        let file = match (entry.is_suspect, &self.suspects) {
            (false, _) => &self.rows,
            (true, Some(suspects)) => suspects,
            (true, None) => return Err(io::Error::other("there is no file of suspects")),
        };
        append_at(file, entry.offset, entry.length as usize, out)
    }
}

/// Appends bytes of a file from an offset on.
pub(super) fn append_at(file: &File, offset: u64, length: usize, out: &mut Vec<u8>) -> io::Result<()> {
    let start = out.len();
    out.resize(start + length, 0);
    match out.get_mut(start..) {
        Some(target) => file.read_exact_at(target, offset),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_as_they_were_written() {
        for (slot, is_suspect) in
            [(UpdateSlot::Unfit, false), (UpdateSlot::Integer, true), (UpdateSlot::Text(12), true)]
        {
            let entry = IndexEntry {
                ordinal: 1 << 40,
                offset: 3 << 41,
                is_suspect,
                length: 16 << 20,
                digest: u64::MAX - 4,
                value_hash: u32::MAX - 5,
                slot,
                key: (-7_i64).cast_unsigned(),
                key_length: 255,
            };
            assert_eq!(IndexEntry::decode(&entry.encode()), entry);
        }
    }
}
