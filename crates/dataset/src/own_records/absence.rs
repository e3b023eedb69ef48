//! Compares the documents that are absent after a load with those that the load rejected, one by one.

use super::description::OwnRecords;
use super::facts::Baseline;
use super::files::RecordFiles;
use crate::error::DataError;

/// Number of keys that are named of each sort.
const MAX_NAMED: usize = 10;

/// Documents whose absence after a load is not what the load reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AbsenceMismatch {
    /// Number of documents that are absent although the load did not reject them.
    pub lost: u64,
    /// Keys of the first lost documents, in key order, at most ten.
    pub lost_keys: Vec<String>,
    /// Number of documents that are there although the load rejected them.
    pub kept: u64,
    /// Keys of the first of these, in key order, at most ten.
    pub kept_keys: Vec<String>,
}

impl Baseline {
    /// Compares the absent documents with the rejected ones. `rejected` are their numbers in the data, from 0,
    /// each once and in ascending order.
    ///
    /// # Errors
    ///
    /// If the files of the records cannot be read.
    pub fn compare_absent(
        &self,
        records: &OwnRecords,
        rejected: &[u64],
    ) -> Result<AbsenceMismatch, DataError> {
        let files = RecordFiles::open(&records.folder, records.documents)?;
        let failed = |error| DataError::io("read", files.folder(), error);
        let is_rejected = |ordinal: u64| rejected.binary_search(&ordinal).is_ok();
        let mut mismatch = AbsenceMismatch::default();
        let mut explained = 0;
        for (number, facts) in (0_u64..).zip(&self.facts) {
            if facts.is_present() {
                continue;
            }
            let entry = files.entry(number).map_err(failed)?;
            if is_rejected(entry.ordinal) {
                explained += 1;
                continue;
            }
            mismatch.lost += 1;
            if mismatch.lost_keys.len() < MAX_NAMED {
                mismatch.lost_keys.push(files.key_text(&entry, records.key_type).map_err(failed)?);
            }
        }
        if explained == rejected.len() {
            // No rejected document is there, which is the usual case: the index is not read as a whole.
            return Ok(mismatch);
        }
        for (number, facts) in (0_u64..).zip(&self.facts) {
            if !facts.is_present() {
                continue;
            }
            let entry = files.entry(number).map_err(failed)?;
            if !is_rejected(entry.ordinal) {
                continue;
            }
            mismatch.kept += 1;
            if mismatch.kept_keys.len() < MAX_NAMED {
                mismatch.kept_keys.push(files.key_text(&entry, records.key_type).map_err(failed)?);
            }
        }
        Ok(mismatch)
    }
}
