//! Facts about each record that clients keep in memory, 16 bytes a record, and the file that holds them.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use super::description::{OwnRecords, UpdateKind};
use super::files::{RecordFiles, UpdateSlot};
use super::given_back::{self, GivenBackDocuments};
use crate::error::DataError;

/// First bytes of the file, with the version of its format.
const MAGIC: &[u8; 8] = b"JOWNBAS2";

/// What is known of one record. 16 bytes, of which there is one for each document of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecordFacts {
    /// Digest of the document as given back after the load.
    pub(super) digest: u64,
    /// Hash of the value at the update path as given back after the load; 0 if there is none.
    pub(super) value_hash: u32,
    /// Flags and length of the loaded text at the update path.
    word: u32,
}

impl RecordFacts {
    const ABSENT: u32 = 1 << 31;
    const CHANGED: u32 = 1 << 30;
    const KEY_CHANGED: u32 = 1 << 29;
    const BLOCKED: u32 = 1 << 28;
    const LENGTH: u32 = (1 << 28) - 1;
    const UNFIT: u32 = Self::LENGTH;
    const INTEGER: u32 = Self::LENGTH - 1;

    /// Facts about a record that was not given back. `slot` is that of the data.
    pub(super) fn absent(slot: UpdateSlot) -> Self {
        Self { digest: 0, value_hash: 0, word: Self::ABSENT | Self::encode(slot) }
    }

    fn encode(slot: UpdateSlot) -> u32 {
        match slot {
            UpdateSlot::Unfit => Self::UNFIT,
            UpdateSlot::Integer => Self::INTEGER,
            UpdateSlot::Text(bytes) => bytes.min(Self::INTEGER - 1),
        }
    }

    /// Facts about a record that was given back. `slot` is that of the data.
    pub(super) fn new(digest: u64, value_hash: u32, slot: UpdateSlot, is_changed: bool) -> Self {
        let slot = Self::encode(slot);
        Self { digest, value_hash, word: slot | if is_changed { Self::CHANGED } else { 0 } }
    }

    /// Notes that the load changed the key in the document, too.
    pub(super) fn with_changed_key(self) -> Self {
        Self { word: self.word | Self::KEY_CHANGED, ..self }
    }

    /// Notes that the load left no value that writes can change.
    pub(super) fn with_blocked_value(self) -> Self {
        Self { word: self.word | Self::BLOCKED, ..self }
    }

    /// Whether the record was there after the load.
    #[inline]
    pub(super) fn is_present(&self) -> bool {
        self.word & Self::ABSENT == 0
    }

    /// Whether the load changed the document.
    #[inline]
    pub(super) fn is_changed(&self) -> bool {
        self.word & Self::CHANGED != 0
    }

    /// Whether the load changed the key in the document, so that it is not the one by which it is found.
    #[inline]
    pub(super) fn is_key_changed(&self) -> bool {
        self.word & Self::KEY_CHANGED != 0
    }

    /// What writes may change of the document.
    #[inline]
    pub(super) fn slot(&self) -> UpdateSlot {
        if self.word & (Self::ABSENT | Self::BLOCKED) != 0 {
            return UpdateSlot::Unfit;
        }
        match self.word & Self::LENGTH {
            Self::UNFIT => UpdateSlot::Unfit,
            Self::INTEGER => UpdateSlot::Integer,
            bytes => UpdateSlot::Text(bytes),
        }
    }

    /// Whether the document has a value at the update path that can bear a version.
    #[inline]
    pub(super) fn is_fit(&self) -> bool {
        self.is_fit_in_data() && self.word & (Self::ABSENT | Self::BLOCKED) == 0
    }

    /// Whether the document has such a value in the data, whatever the load has left of it.
    #[inline]
    pub(super) fn is_fit_in_data(&self) -> bool {
        self.word & Self::LENGTH != Self::UNFIT
    }
}

/// Facts about all documents as one system gave them back after a load.
#[derive(Debug)]
pub struct Baseline {
    pub(super) facts: Vec<RecordFacts>,
    /// Documents that the load changed. `None` if there are none.
    pub(super) given_back: Option<GivenBackDocuments>,
}

/// Returns a hash that differs between records, so that a baseline is not used for other ones.
fn identity(records: &OwnRecords) -> [u8; 32] {
    let identity = (&records.digest, records.documents, &records.key_member);
    *blake3::hash(format!("{identity:?}").as_bytes()).as_bytes()
}

impl Baseline {
    /// Takes the documents as they are in the data, as if a load changed none of them.
    ///
    /// # Errors
    ///
    /// If the files cannot be read.
    pub fn of_source(records: &OwnRecords) -> Result<Self, DataError> {
        let files = RecordFiles::open(&records.folder, records.documents)?;
        let failed = |error| DataError::io("read", files.folder(), error);
        let facts = (0..records.documents).map(|number| {
            let entry = files.entry(number)?;
            let slot = fitting(entry.slot, records);
            Ok(RecordFacts::new(entry.digest, entry.value_hash, slot, false))
        });
        Ok(Self { facts: facts.collect::<io::Result<_>>().map_err(failed)?, given_back: None })
    }

    /// Reads a baseline that [`super::BaselineReader::finish`] has written.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is the baseline of other records.
    pub fn read(path: &Path, records: &OwnRecords) -> Result<Self, DataError> {
        let failed = |error| DataError::io("read", path, error);
        let mut file = BufReader::with_capacity(1 << 20, File::open(path).map_err(failed)?);
        let (mut magic, mut found) = ([0; MAGIC.len()], [0; 32]);
        file.read_exact(&mut magic).and_then(|()| file.read_exact(&mut found)).map_err(failed)?;
        if magic != *MAGIC || found != identity(records) {
            let reason = format!("{} was made for other records; load the data again", path.display());
            return Err(DataError::Range { reason });
        }
        let mut facts = Vec::with_capacity(usize::try_from(records.documents).unwrap_or_default());
        let mut bytes = [0; 16];
        for _ in 0..records.documents {
            file.read_exact(&mut bytes).map_err(failed)?;
            let number = u128::from_le_bytes(bytes);
            let (digest, value_hash, word) = (number as u64, (number >> 64) as u32, (number >> 96) as u32);
            facts.push(RecordFacts { digest, value_hash, word });
        }
        Ok(Self { facts, given_back: GivenBackDocuments::open(path)? })
    }

    /// Removes the files of a baseline.
    ///
    /// # Errors
    ///
    /// If the files cannot be removed.
    pub fn remove(path: &Path) -> Result<(), DataError> {
        given_back::remove(path)?;
        std::fs::remove_file(path).map_err(|error| DataError::io("remove", path, error))
    }
}

/// Writes the file of a baseline.
pub(super) fn write_facts(facts: &[RecordFacts], path: &Path, records: &OwnRecords) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    file.write_all(MAGIC)?;
    file.write_all(&identity(records))?;
    for facts in facts {
        let RecordFacts { digest, value_hash, word } = *facts;
        let number = u128::from(digest) | u128::from(value_hash) << 64 | u128::from(word) << 96;
        file.write_all(&number.to_le_bytes())?;
    }
    file.flush()
}

/// Returns what writes may change, for values of the type that they change.
pub(super) fn fitting(slot: UpdateSlot, records: &OwnRecords) -> UpdateSlot {
    match (slot, records.update.as_ref().map(|update| update.kind)) {
        (UpdateSlot::Integer, Some(UpdateKind::Integer)) | (UpdateSlot::Text(_), Some(UpdateKind::Text)) => {
            slot
        }
        _ => UpdateSlot::Unfit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_a_record_take_sixteen_bytes() {
        assert_eq!(size_of::<RecordFacts>(), 16);
        for slot in [UpdateSlot::Unfit, UpdateSlot::Integer, UpdateSlot::Text(0), UpdateSlot::Text(77)] {
            for is_changed in [false, true] {
                let facts = RecordFacts::new(1, 2, slot, is_changed);
                assert_eq!((facts.slot(), facts.is_changed(), facts.is_present()), (slot, is_changed, true));
                assert_eq!(facts.is_fit(), slot != UpdateSlot::Unfit);
                assert!(!facts.is_key_changed());
                let facts = facts.with_changed_key();
                assert!(facts.is_key_changed());
                assert_eq!((facts.slot(), facts.is_changed()), (slot, is_changed));
            }
        }
        for slot in [UpdateSlot::Unfit, UpdateSlot::Integer, UpdateSlot::Text(9)] {
            let (absent, blocked) =
                (RecordFacts::absent(slot), RecordFacts::new(1, 2, slot, true).with_blocked_value());
            assert!(!absent.is_present() && blocked.is_present());
            for facts in [absent, blocked] {
                assert_eq!((facts.slot(), facts.is_fit()), (UpdateSlot::Unfit, false));
                assert_eq!(facts.is_fit_in_data(), slot != UpdateSlot::Unfit);
            }
        }
    }
}
