//! Keys of own records by their number, and numbers by their keys.

use std::cmp::Ordering;
use std::io;

use serde::{Deserialize, Serialize};

use super::files::RecordFiles;
use super::packed_keys::{KeyForm, PackedKeys};

/// Memory in bytes that the keys may take: as many bytes a record, and a fixed number.
const BYTES_A_RECORD: u64 = 16;
const FIXED_BYTES: u64 = 4 << 20;
/// Digits of the number in the text key of a new record.
const NEW_KEY_DIGITS: usize = 9;
/// Marks between the key that a new text key begins with and its number. The first one is used with which no
/// key of the data ends.
pub(crate) const NEW_KEY_MARKS: [&str; 8] =
    ["-new-", "-new1-", "-new2-", "-new3-", "-new4-", "-new5-", "-new6-", "-new7-"];
/// Number of new keys for which there must be room.
pub(crate) const NEW_KEYS: i64 = 1 << 28;

/// A key of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OwnKey<'a> {
    /// An integer of 64 bits.
    Integer(i64),
    /// A text in UTF-8. Texts are in the order of their bytes.
    Text(&'a [u8]),
}

/// How keys of new records are made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NewKeys {
    /// Integers from this one on upward.
    Upward(i64),
    /// Integers from this one on downward.
    Downward(i64),
    /// The key of the document that is inserted again, this mark, and nine digits.
    Marked(String),
}

impl NewKeys {
    /// Appends the text key of the new record at `index` (from 0), whose document has the key `key`.
    pub(super) fn write_text(mark: &str, index: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(mark.as_bytes());
        out.extend_from_slice(format!("{index:0NEW_KEY_DIGITS$}").as_bytes());
    }

    /// Integer key of the new record at `index` (from 0). 0 for text keys.
    pub(super) fn integer(&self, index: u64) -> i64 {
        match self {
            Self::Upward(first) => first.saturating_add_unsigned(index),
            Self::Downward(first) => first.saturating_sub_unsigned(index),
            Self::Marked(_) => 0,
        }
    }

    /// Index of the new record with an integer key. `None` if no new record has it.
    pub(super) fn index_of_integer(&self, key: i64) -> Option<u64> {
        let distance = match self {
            Self::Upward(first) => i128::from(key) - i128::from(*first),
            Self::Downward(first) => i128::from(*first) - i128::from(key),
            Self::Marked(_) => return None,
        };
        u64::try_from(distance).ok().filter(|index| *index < NEW_KEYS.unsigned_abs())
    }

    /// Index of the new record that a text key names, and the key that it begins with. `None` if the key is
    /// not made like that of a new record.
    pub(super) fn index_of_text<'k>(&self, key: &'k [u8]) -> Option<(u64, &'k [u8])> {
        let Self::Marked(mark) = self else { return None };
        let (rest, digits) = key.split_at_checked(key.len().checked_sub(NEW_KEY_DIGITS)?)?;
        let source = rest.strip_suffix(mark.as_bytes())?;
        let is_number = digits.iter().all(u8::is_ascii_digit);
        let index = std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()?;
        Some((index, source))
    }

    /// Returns which of [`NEW_KEY_MARKS`] a loaded key ends with, before nine digits, as bits.
    pub(crate) fn marks_in(key: &[u8]) -> u8 {
        let Some((rest, digits)) =
            key.len().checked_sub(NEW_KEY_DIGITS).and_then(|at| key.split_at_checked(at))
        else {
            return 0;
        };
        if !digits.iter().all(u8::is_ascii_digit) {
            return 0;
        }
        let marks = NEW_KEY_MARKS.iter().enumerate();
        marks.map(|(index, mark)| u8::from(rest.ends_with(mark.as_bytes())) << index).sum()
    }

    /// Bytes by which a new text key is longer than the one that it begins with.
    pub(crate) fn text_growth(mark: &str) -> usize {
        mark.len() + NEW_KEY_DIGITS
    }
}

/// Keys of the loaded records, by number.
#[derive(Debug)]
pub(super) enum KeyTable {
    /// The key of a record is its number plus 1.
    Lines,
    Integers(Vec<i64>),
    Packed(PackedKeys),
    /// Texts one behind the other, with the end of each.
    Texts {
        bytes: Vec<u8>,
        ends: Vec<u32>,
    },
    /// Long texts of different forms stay in their file.
    InFile,
}

/// Chooses the table for text keys: looks at all of them once, and then collects them.
#[derive(Debug, Default)]
pub(super) struct TextKeySurvey {
    form: KeyForm,
    bytes: u64,
    keys: u64,
}

impl TextKeySurvey {
    pub(super) fn observe(&mut self, key: &[u8]) {
        self.form.observe(key);
        self.bytes += key.len() as u64;
        self.keys += 1;
    }

    pub(super) fn table(self) -> KeyTable {
        let keys = usize::try_from(self.keys).unwrap_or(usize::MAX);
        let needed = self.bytes + self.keys * size_of::<u32>() as u64;
        if needed <= FIXED_BYTES {
            let bytes = Vec::with_capacity(usize::try_from(self.bytes).unwrap_or_default());
            return KeyTable::Texts { bytes, ends: Vec::with_capacity(keys) };
        }
        if let Some(mut packed) = self.form.table() {
            packed.reserve(keys);
            return KeyTable::Packed(packed);
        }
        if needed <= self.keys * BYTES_A_RECORD + FIXED_BYTES && self.bytes <= u64::from(u32::MAX) {
            let bytes = Vec::with_capacity(usize::try_from(self.bytes).unwrap_or_default());
            return KeyTable::Texts { bytes, ends: Vec::with_capacity(keys) };
        }
        KeyTable::InFile
    }
}

impl KeyTable {
    /// Adds the text key of the next record.
    pub(super) fn push_text(&mut self, key: &[u8]) {
        match self {
            Self::Packed(packed) => packed.push(key),
            Self::Texts { bytes, ends } => {
                bytes.extend_from_slice(key);
                ends.push(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
            }
            Self::Lines | Self::Integers(_) | Self::InFile => {}
        }
    }

    /// Key of a loaded record if it is an integer; 0 for text keys.
    #[inline]
    pub(super) fn integer(&self, number: u64) -> i64 {
        match self {
            Self::Lines => number.cast_signed().saturating_add(1),
            Self::Integers(keys) => keys.get(number as usize).copied().unwrap_or_default(),
            _ => 0,
        }
    }

    /// Appends the key of a loaded record: the characters of a text, or the digits of an integer.
    #[inline]
    pub(super) fn write(&self, number: u64, files: &RecordFiles, out: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Self::Lines | Self::Integers(_) => {
                out.extend_from_slice(itoa::Buffer::new().format(self.integer(number)).as_bytes());
                Ok(())
            }
            Self::Packed(packed) => {
                packed.write(number as usize, out);
                Ok(())
            }
            Self::Texts { bytes, ends } => {
                let index = number as usize;
                let start = index.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
                let end = ends.get(index).copied().unwrap_or(start);
                out.extend_from_slice(bytes.get(start as usize..end as usize).unwrap_or_default());
                Ok(())
            }
            Self::InFile => files.key(&files.entry(number)?, out),
        }
    }

    /// Compares the key of a loaded record with another one. `buffer` is working memory.
    pub(super) fn compare(
        &self,
        number: u64,
        key: OwnKey<'_>,
        files: &RecordFiles,
        buffer: &mut Vec<u8>,
    ) -> io::Result<Ordering> {
        match key {
            OwnKey::Integer(key) => Ok(self.integer(number).cmp(&key)),
            OwnKey::Text(key) => {
                buffer.clear();
                self.write(number, files, buffer)?;
                Ok(buffer.as_slice().cmp(key))
            }
        }
    }

    /// Finds the record with this key among the first `records`. The error is the number of records with
    /// smaller keys.
    pub(super) fn find(
        &self,
        key: OwnKey<'_>,
        records: u64,
        files: &RecordFiles,
        buffer: &mut Vec<u8>,
    ) -> io::Result<Result<u64, u64>> {
        let (mut low, mut high) = (0, records);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.compare(middle, key, files, buffer)? {
                Ordering::Equal => return Ok(Ok(middle)),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        Ok(Err(low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_keys_tell_their_index() {
        let keys = NewKeys::Marked("-new-".to_owned());
        let mut key = b"abc".to_vec();
        NewKeys::write_text("-new-", 12, &mut key);
        assert_eq!(key, b"abc-new-000000012");
        assert_eq!(keys.index_of_text(&key), Some((12, b"abc".as_slice())));
        assert_eq!(keys.index_of_text(b"abc-new1-000000012"), None);
        assert_eq!(keys.index_of_text(b"abc-new-00000001x"), None);
        assert_eq!(keys.index_of_text(b"abc"), None);
        assert_eq!(NewKeys::marks_in(b"abc-new1-000000012"), 0b10);
        assert_eq!(NewKeys::marks_in(b"abc-new-0000000-2"), 0);
        assert_eq!(NewKeys::text_growth("-new-"), key.len() - 3);
        for keys in [NewKeys::Upward(5), NewKeys::Downward(-5), NewKeys::Upward(i64::MAX - 9)] {
            for index in [0, 1, 7] {
                assert_eq!(keys.index_of_integer(keys.integer(index)), Some(index));
            }
        }
        assert_eq!(NewKeys::Upward(5).index_of_integer(4), None);
        assert_eq!(NewKeys::Downward(5).index_of_integer(i64::MAX), None);
    }
}
