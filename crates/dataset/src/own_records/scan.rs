//! Verifies scans in key order.

use std::cmp::Ordering;
use std::io;

use super::keys::OwnKey;
use super::set::{OwnRecordSet, OwnScratch};
use crate::records::{AnswerError, AnswerFault, KeyType};

/// Verification of a scan, row by row. Integers are in their order, texts in that of their bytes.
#[derive(Debug)]
pub struct OwnScan<'a> {
    set: &'a OwnRecordSet,
    /// Whether records that the scan omits are faults: none may have been deleted.
    finds_omissions: bool,
    /// First loaded record that no row so far has reached.
    next_required: u64,
    /// Key of the last row, or the key from which on the scan reads.
    last_text: Vec<u8>,
    last_integer: i64,
    /// Number of rows verified so far.
    row_count: u64,
    /// Maximum number of rows of the scan.
    limit: u64,
}

impl OwnRecordSet {
    /// Starts the verification of a scan of at most `limit` rows from the key of record `start`. With
    /// `finds_omissions`, omitted loaded records are faults; none of them may have been deleted.
    ///
    /// # Errors
    ///
    /// If keys are in a file that cannot be read.
    pub fn check_scan(
        &self,
        start: u64,
        limit: u64,
        finds_omissions: bool,
        scratch: &mut OwnScratch,
    ) -> io::Result<OwnScan<'_>> {
        let mut last_text = Vec::new();
        self.write_key(start, &mut last_text)?;
        let last_integer = self.integer_key(start);
        let next_required = if start < self.records().documents {
            start
        } else {
            let key = match self.records().key_type {
                KeyType::Bigint => OwnKey::Integer(last_integer),
                KeyType::Text => OwnKey::Text(&last_text),
            };
            let found =
                self.table().find(key, self.records().documents, self.files(), &mut scratch.buffer)?;
            found.unwrap_or_else(|smaller| smaller)
        };
        let mut scan = OwnScan {
            set: self,
            finds_omissions,
            next_required,
            last_text,
            last_integer,
            row_count: 0,
            limit,
        };
        scan.skip_absent();
        Ok(scan)
    }
}

impl OwnScan<'_> {
    /// Advances to the next loaded record that was there after the load.
    fn skip_absent(&mut self) {
        while self.set.facts(self.next_required).is_some_and(|facts| !facts.is_present()) {
            self.next_required += 1;
        }
    }

    fn error(&self, fault: AnswerFault) -> AnswerError {
        AnswerError { fault, position: usize::try_from(self.row_count).unwrap_or(usize::MAX) }
    }

    /// Verifies that the next row's key is in order and that no loaded record before it was omitted. Returns
    /// the number of its record, whose document must be verified separately.
    ///
    /// # Errors
    ///
    /// [`AnswerFault::Key`] if no record has the key, [`AnswerFault::Order`] if it is out of order,
    /// [`AnswerFault::Omitted`] if a loaded key before it was omitted, [`AnswerFault::Surplus`] if there are
    /// more rows than the limit, [`AnswerFault::Unasked`] if the record was absent after the load.
    pub fn check_key(&mut self, key: OwnKey<'_>, scratch: &mut OwnScratch) -> Result<u64, AnswerError> {
        if self.row_count >= self.limit {
            return Err(self.error(AnswerFault::Surplus));
        }
        let order = match key {
            OwnKey::Integer(integer) => integer.cmp(&self.last_integer),
            OwnKey::Text(text) => text.cmp(self.last_text.as_slice()),
        };
        if order == Ordering::Less || (order == Ordering::Equal && self.row_count > 0) {
            return Err(self.error(AnswerFault::Order));
        }
        let documents = self.set.records().documents;
        let required = (self.next_required < documents)
            .then(|| {
                let files = self.set.files();
                self.set.table().compare(self.next_required, key, files, &mut scratch.buffer)
            })
            .transpose()
            .map_err(|_| self.error(AnswerFault::Files))?;
        let number = match required {
            // The usual case: the next loaded record.
            Some(Ordering::Equal) => self.next_required,
            Some(Ordering::Less) if self.finds_omissions => return Err(self.error(AnswerFault::Omitted)),
            _ => {
                let number = self.set.number(key, scratch).map_err(|_| self.error(AnswerFault::Files))?;
                number.ok_or_else(|| self.error(AnswerFault::Key))?
            }
        };
        if self.set.facts(number).is_some_and(|facts| !facts.is_present()) {
            return Err(self.error(AnswerFault::Unasked));
        }
        if number < documents && number >= self.next_required {
            self.next_required = number + 1;
            self.skip_absent();
        }
        match key {
            OwnKey::Integer(integer) => self.last_integer = integer,
            OwnKey::Text(text) => {
                self.last_text.clear();
                self.last_text.extend_from_slice(text);
            }
        }
        self.row_count += 1;
        Ok(number)
    }

    /// Verifies that the scan did not end early and returns the number of rows.
    ///
    /// # Errors
    ///
    /// [`AnswerFault::Omitted`] if there are fewer rows than the limit although more loaded records follow.
    pub fn finish(self) -> Result<u64, AnswerError> {
        let has_more = self.finds_omissions && self.next_required < self.set.records().documents;
        if has_more && self.row_count < self.limit {
            Err(self.error(AnswerFault::Omitted))
        } else {
            Ok(self.row_count)
        }
    }
}
