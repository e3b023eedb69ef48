//! The records of a job: generated ones, or the user's own documents.
//!
//! Both kinds are one enum, so that each use branches once and no operation calls through a pointer.

use std::io;

use jsonathlon_dataset::own_records::OwnScan;
use jsonathlon_dataset::own_records::{Baseline, Need, OwnKey, OwnRecordSet, OwnScratch, UpdateKind};
use jsonathlon_dataset::records::{
    AnswerError, KeyType, RecordSet, Scratch, SeenVersions, SortedKeys, WriteScope,
};
use jsonathlon_dataset::records::{AnswerFault, ScanVerifier};
use jsonathlon_driver_api::Cell;

use crate::job::JobRecords;
use crate::operation::Operation;

/// Records that are loaded into a system.
#[derive(Debug)]
pub(crate) enum LoadedRecords {
    /// Documents that follow from number and version.
    Generated(RecordSet),
    /// Documents of the user.
    Own(Box<OwnRecordSet>),
}

/// Working memory for making and verifying documents.
#[derive(Debug, Default)]
pub(crate) struct RecordScratch {
    pub(crate) generated: Scratch,
    pub(crate) own: OwnScratch,
    pub(crate) buffer: Vec<u8>,
}

/// Types of the parameters that differ between records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ParameterTypes {
    /// Whether keys are integers; otherwise they are texts.
    pub(crate) integer_key: bool,
    /// Whether the values that writes set are integers; otherwise they are texts.
    pub(crate) integer_value: bool,
}

impl LoadedRecords {
    /// Prepares making and verifying the documents of a job.
    ///
    /// # Errors
    /// Why there are no such records, as a message for the user.
    pub(crate) fn prepare(records: &JobRecords) -> Result<Self, String> {
        match records {
            JobRecords::Generated(records) => {
                records.prepare().map(Self::Generated).map_err(|error| format!("no such records: {error}"))
            }
            JobRecords::Own { records, baseline } => Baseline::read(baseline, records)
                .and_then(|baseline| OwnRecordSet::new(records, baseline))
                .map(|set| Self::Own(Box::new(set)))
                .map_err(|error| error.to_string()),
        }
    }

    /// Generated records. `None` for own documents.
    #[inline]
    pub(crate) fn generated(&self) -> Option<&RecordSet> {
        match self {
            Self::Generated(set) => Some(set),
            Self::Own(_) => None,
        }
    }

    #[inline]
    pub(crate) fn key_type(&self) -> KeyType {
        match self {
            Self::Generated(set) => set.records().key_type,
            Self::Own(set) => set.records().key_type,
        }
    }

    #[inline]
    pub(crate) fn has_integer_values(&self) -> bool {
        match self {
            Self::Generated(_) => false,
            Self::Own(set) => {
                set.records().update.as_ref().is_some_and(|update| update.kind == UpdateKind::Integer)
            }
        }
    }

    pub(crate) fn parameter_types(&self) -> ParameterTypes {
        ParameterTypes {
            integer_key: self.key_type() == KeyType::Bigint,
            integer_value: self.has_integer_values(),
        }
    }

    /// Appends the key of a record: the characters of a text, or the digits of an integer.
    #[inline]
    pub(crate) fn write_key(&self, number: u64, out: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Self::Generated(set) => {
                set.key(number, out);
                Ok(())
            }
            Self::Own(set) => set.write_key(number, out),
        }
    }

    /// Key of a record if keys are integers.
    #[inline]
    pub(crate) fn integer_key(&self, number: u64) -> i64 {
        match self {
            Self::Generated(set) => set.records().bigint(number),
            Self::Own(set) => set.integer_key(number),
        }
    }

    /// Returns the number of the record whose key a cell holds.
    pub(crate) fn number_of(
        &self,
        cell: Option<&Cell<'_>>,
        scratch: &mut RecordScratch,
    ) -> Result<u64, String> {
        let number = match self {
            Self::Generated(set) => match cell {
                Some(Cell::Text(key)) => set.records().number(key.as_bytes()),
                Some(Cell::Int(key)) if set.records().key_type == KeyType::Bigint => {
                    set.records().number_of_bigint(*key)
                }
                _ => None,
            },
            Self::Own(set) => {
                let key = own_key(cell, self.key_type());
                let number = key.map(|key| set.number(key, &mut scratch.own)).transpose();
                number.map_err(|error| format!("the keys cannot be read: {error}"))?.flatten()
            }
        };
        number.ok_or_else(|| "a row without the key of a record".to_owned())
    }

    /// Returns the record that an operation is about, given the one that was drawn: own documents that an
    /// operation cannot be about are replaced by others, always by the same ones.
    #[inline]
    pub(crate) fn choose(&self, drawn: u64, operation: Operation) -> u64 {
        match self {
            Self::Generated(_) => drawn,
            Self::Own(set) => set.choose(drawn, need_of(operation)),
        }
    }

    /// Verifies a whole document.
    #[inline]
    pub(crate) fn check(
        &self,
        number: u64,
        text: &[u8],
        write_scope: WriteScope,
        scratch: &mut RecordScratch,
    ) -> Result<SeenVersions, AnswerError> {
        match self {
            Self::Generated(set) => set.check(number, text, write_scope, &mut scratch.generated),
            Self::Own(set) => set.check(number, text, &mut scratch.own),
        }
    }

    /// Returns `true` if a write of this version could not be told from the loaded document.
    #[inline]
    pub(crate) fn is_like_loaded(&self, number: u64, version: u32, scratch: &mut RecordScratch) -> bool {
        match self {
            Self::Generated(_) => false,
            Self::Own(set) => set.is_like_loaded(number, version, &mut scratch.buffer),
        }
    }
}

/// What an operation needs of an own document.
pub(crate) fn need_of(operation: Operation) -> Need {
    match operation {
        Operation::Update | Operation::UpdatePath | Operation::UpdateAll | Operation::ReadModifyWrite => {
            Need::Updatable
        }
        _ => Need::Present,
    }
}

/// Converts a cell to the key of an own document. `None` if it is of another type.
pub(crate) fn own_key<'c>(cell: Option<&Cell<'c>>, key_type: KeyType) -> Option<OwnKey<'c>> {
    match (cell?, key_type) {
        (Cell::Text(key), KeyType::Text) => Some(OwnKey::Text(key.as_bytes())),
        (Cell::Int(key), KeyType::Bigint) => Some(OwnKey::Integer(*key)),
        (Cell::Text(key), KeyType::Bigint) => key.parse().ok().map(OwnKey::Integer),
        _ => None,
    }
}

/// Verification of a scan, row by row.
pub(crate) enum JobScan<'a> {
    Generated(ScanVerifier<'a>),
    Own(OwnScan<'a>),
}

/// What a scan must not leave out.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RequiredKeys<'a> {
    /// Records may have been deleted, or answers may be stale.
    None,
    /// All loaded generated records.
    Generated(&'a SortedKeys),
    /// All own documents that were there after the load.
    Own,
}

impl<'a> JobScan<'a> {
    pub(crate) fn new(
        records: &'a LoadedRecords,
        start: u64,
        limit: u64,
        required: RequiredKeys<'a>,
        scratch: &mut RecordScratch,
    ) -> Result<Self, String> {
        match records {
            LoadedRecords::Generated(set) => {
                let sorted = if let RequiredKeys::Generated(sorted) = required { Some(sorted) } else { None };
                Ok(Self::Generated(set.check_scan(start, limit, sorted)))
            }
            LoadedRecords::Own(set) => {
                let finds_omissions = matches!(required, RequiredKeys::Own);
                let scan = set.check_scan(start, limit, finds_omissions, &mut scratch.own);
                scan.map(Self::Own).map_err(|error| format!("the keys cannot be read: {error}"))
            }
        }
    }

    /// Verifies the key of the next row and returns the number of its record.
    pub(crate) fn check_row(
        &mut self,
        records: &LoadedRecords,
        cell: Option<&Cell<'_>>,
        scratch: &mut RecordScratch,
    ) -> Result<u64, String> {
        match self {
            Self::Generated(scan) => {
                let number = records.number_of(cell, scratch)?;
                scan.check_number(number).map_err(|error| error.to_string())
            }
            Self::Own(scan) => {
                let key = own_key(cell, records.key_type()).ok_or("a row without the key of a record")?;
                match scan.check_key(key, &mut scratch.own) {
                    Err(AnswerError { fault: AnswerFault::Key, .. }) => {
                        Err("a row without the key of a record".to_owned())
                    }
                    outcome => outcome.map_err(|error| error.to_string()),
                }
            }
        }
    }

    /// Verifies that the scan did not end early.
    pub(crate) fn finish(self) -> Result<(), String> {
        let outcome = match self {
            Self::Generated(scan) => scan.finish(),
            Self::Own(scan) => scan.finish(),
        };
        outcome.map(drop).map_err(|error| error.to_string())
    }
}
