//! Reads the baseline: what a system gives back of each document after the load, and which ones it changed.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::description::OwnRecords;
use super::facts::{RecordFacts, fitting, write_facts};
use super::files::UpdateSlot;
use super::given_back::{self, GivenBackWriter};
use super::set::{OwnRecordSet, OwnScratch};
use super::verification::DigestedDocument;
use crate::error::DataError;

/// Number of keys that a report names of each sort.
const MAX_NAMED: usize = 10;

/// What a system gave back after the load, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaselineReport {
    /// Number of documents that were given back.
    pub documents: u64,
    /// Number of documents of the data that are absent.
    pub absent: u64,
    /// Number of documents that the load changed by value.
    pub changed: u64,
    /// Number of these in which the key is another one than that by which they are found.
    #[serde(default)]
    pub key_changes: u64,
    /// Number of documents with a value that writes could change according to the data, and that cannot be
    /// updated: they are absent, or the load left no such value.
    #[serde(default)]
    pub not_updatable: u64,
    /// Number of rows with a key that no document of the data has, with a document that has the key of
    /// another one, with a text that is no JSON, or with a key that came before.
    pub unexpected: u64,
    /// Keys of the first absent documents, at most ten.
    pub absent_keys: Vec<String>,
    /// Keys of the first changed documents, at most ten.
    pub changed_keys: Vec<String>,
    /// What is wrong with the first unexpected rows, at most ten.
    pub unexpected_rows: Vec<String>,
}

/// Takes the documents that a system gives back after the load, in any order.
#[derive(Debug)]
pub struct BaselineReader {
    /// All records at first absent.
    set: OwnRecordSet,
    /// File of the baseline.
    path: PathBuf,
    /// Documents that the load changed. `None` before the first one.
    given_back: Option<GivenBackWriter>,
    scratch: OwnScratch,
    report: BaselineReport,
}

impl BaselineReader {
    /// Begins a baseline in which no document was given back yet, and which is written to `path`.
    ///
    /// # Errors
    ///
    /// If the files of the records cannot be read.
    pub fn new(records: &OwnRecords, path: &Path) -> Result<Self, DataError> {
        let documents = usize::try_from(records.documents).unwrap_or_default();
        let facts = vec![RecordFacts::absent(UpdateSlot::Unfit); documents];
        let set = OwnRecordSet::with_facts(records, facts)?;
        // Documents of an earlier baseline in this place must not be taken for those of this one.
        given_back::remove(path)?;
        Ok(Self {
            set,
            path: path.to_path_buf(),
            given_back: None,
            scratch: OwnScratch::default(),
            report: BaselineReport::default(),
        })
    }

    /// The records, of which those that were not given back yet are absent.
    #[must_use]
    pub fn set(&self) -> &OwnRecordSet {
        &self.set
    }

    /// What was given back so far. Absent documents are not counted yet.
    #[must_use]
    pub fn report(&self) -> &BaselineReport {
        &self.report
    }

    /// Takes the document of a record.
    ///
    /// # Errors
    ///
    /// If the files of the records cannot be read, or those of the baseline cannot be written.
    pub fn observe(&mut self, number: u64, text: &[u8]) -> Result<(), DataError> {
        let failed = |set: &OwnRecordSet, error| DataError::io("read", &set.records().folder, error);
        let is_there = self.set.facts(number).is_none_or(|facts| facts.is_present());
        if is_there {
            self.note_unexpected(format!("record {number} is there twice, or was not loaded"));
            return Ok(());
        }
        match self.set.digest_document(number, text, &mut self.scratch) {
            Ok(document) => {
                let is_anothers = match &document.other_key {
                    Some(key) => self.set.is_anothers_key(number, key, text, &mut self.scratch),
                    None => Ok(false),
                };
                if is_anothers.map_err(|error| failed(&self.set, error))? {
                    let key = self.set.key_text(number);
                    self.note_unexpected(format!("the document of the key {key} has the key of another one"));
                    return Ok(());
                }
                self.take(number, text, &document)?;
            }
            Err(error) => {
                let key = self.set.key_text(number);
                self.note_unexpected(format!("the document of the key {key}: {error}"));
            }
        }
        Ok(())
    }

    /// Takes a document that belongs to the record.
    fn take(&mut self, number: u64, text: &[u8], document: &DigestedDocument) -> Result<(), DataError> {
        let DigestedDocument { digest, value_hash, other_key } = *document;
        let folder = &self.set.records().folder;
        let entry = self.set.files().entry(number).map_err(|error| DataError::io("read", folder, error))?;
        let has_value = value_hash == entry.value_hash;
        let is_changed = digest != entry.digest || !has_value || other_key.is_some();
        let slot = fitting(entry.slot, self.set.records());
        let mut facts = RecordFacts::new(digest, value_hash, slot, is_changed);
        if other_key.is_some() {
            facts = facts.with_changed_key();
        }
        if !has_value && !self.set.has_updatable_value(text, &self.scratch) {
            facts = facts.with_blocked_value();
            self.report.not_updatable += u64::from(facts.is_fit_in_data());
        }
        self.set.set_facts(number, facts);
        self.report.documents += 1;
        if is_changed {
            self.keep(number, text)?;
            self.report.changed += 1;
            self.report.key_changes += u64::from(other_key.is_some());
            if self.report.changed_keys.len() < MAX_NAMED {
                self.report.changed_keys.push(self.set.key_text(number));
            }
        }
        Ok(())
    }

    fn keep(&mut self, number: u64, text: &[u8]) -> Result<(), DataError> {
        let given_back = match &mut self.given_back {
            Some(given_back) => given_back,
            slot => slot.insert(GivenBackWriter::create(&self.path)?),
        };
        given_back.add(number, text)
    }

    /// Notes a row that belongs to no document of the data.
    pub fn note_unexpected(&mut self, message: String) {
        self.report.unexpected += 1;
        if self.report.unexpected_rows.len() < MAX_NAMED {
            self.report.unexpected_rows.push(message);
        }
    }

    fn note_absent(&mut self, number: u64) -> Result<(), DataError> {
        let folder = &self.set.records().folder;
        let entry = self.set.files().entry(number).map_err(|error| DataError::io("read", folder, error))?;
        let facts = RecordFacts::absent(fitting(entry.slot, self.set.records()));
        self.set.set_facts(number, facts);
        self.report.absent += 1;
        self.report.not_updatable += u64::from(facts.is_fit_in_data());
        if self.report.absent_keys.len() < MAX_NAMED {
            self.report.absent_keys.push(self.set.key_text(number));
        }
        Ok(())
    }

    /// Writes the baseline; documents that were not given back are absent.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, or those of the records cannot be read.
    pub fn finish(mut self) -> Result<BaselineReport, DataError> {
        for number in 0..self.set.records().documents {
            if self.set.facts(number).is_some_and(|facts| !facts.is_present()) {
                self.note_absent(number)?;
            }
        }
        if let Some(given_back) = self.given_back.take() {
            given_back.finish()?;
        }
        let (path, records) = (self.path, self.set.records().clone());
        write_facts(&self.set.into_facts(), &path, &records)
            .map_err(|error| DataError::io("write", &path, error))?;
        Ok(self.report)
    }
}
