//! Verifies documents that clients read.

use std::io;

use super::description::UpdateKind;
use super::facts::RecordFacts;
use super::keys::OwnKey;
use super::set::{OwnRecordSet, OwnScratch};
use super::versions;
use crate::records::{AnswerError, AnswerFault, KeyType, SeenVersions};
use crate::value_digest::{Captured, CapturedKind, ValueDigester, integer_value_hash, text_value_hash};

/// What a text holds of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct DigestedDocument {
    /// Digest without the values at the update path and at the path of the key.
    pub(super) digest: u64,
    /// Hash of the value at the update path; 0 if there is none.
    pub(super) value_hash: u32,
    /// Value at the path of the key if it is not the record's key. `None` if it is, or if there is no such
    /// path.
    pub(super) other_key: Option<Captured>,
}

impl OwnRecordSet {
    /// Verifies that a text is this record's document as the system gave it back after the load, or as
    /// clients wrote it, with any version at the update path. Returns that version; `None` for documents that
    /// bear none.
    ///
    /// # Errors
    ///
    /// What is wrong with the text.
    pub fn check(
        &self,
        number: u64,
        text: &[u8],
        scratch: &mut OwnScratch,
    ) -> Result<SeenVersions, AnswerError> {
        let whole = |fault| AnswerError { fault, position: 0 };
        let source = self.source(number);
        let facts = *self.facts(source).ok_or(whole(AnswerFault::Unasked))?;
        let DigestedDocument { digest, value_hash, other_key } =
            self.digest_document(number, text, scratch)?;
        if let Some(key) = &other_key
            && !self.is_changed_key(number, key, text)?
        {
            return Err(AnswerError { fault: AnswerFault::Key, position: key.start });
        }
        if !facts.is_fit() {
            let is_loaded = digest == facts.digest && value_hash == facts.value_hash;
            // No write replaces a loaded record without a value to update, so it has its first version as long
            // as it is there. A new one bears none.
            let version = (number < self.records().documents).then_some(0);
            return match is_loaded || self.is_as_written(source, digest, Some(value_hash))? {
                true => Ok(SeenVersions { version, base: None }),
                false => Err(whole(AnswerFault::Document)),
            };
        }
        if digest != facts.digest && !self.is_as_written(source, digest, None)? {
            return Err(whole(AnswerFault::Document));
        }
        let captured = self.update.and_then(|index| scratch.digester.captured().get(index)).copied();
        let captured = captured.unwrap_or_default();
        let version = self.version_of(number, &captured, text, &mut scratch.buffer);
        let version = version.ok_or(AnswerError { fault: AnswerFault::Value, position: captured.start })?;
        Ok(SeenVersions { version: Some(version), base: None })
    }

    /// Version of a value found at the update path. `None` if it is neither the loaded value nor that of a
    /// write.
    fn version_of(&self, number: u64, captured: &Captured, text: &[u8], buffer: &mut Vec<u8>) -> Option<u32> {
        let facts = self.facts(self.source(number))?;
        if number < self.records().documents && captured.hash as u32 == facts.value_hash {
            return Some(0);
        }
        let (update, length) = self.update_of(number)?;
        versions::of_captured(captured, text, (update.kind, number, length), buffer)
    }

    /// Whether a digest is that of the document in the data, which clients write as a whole. A system may
    /// give that back even if its bulk load had changed the document.
    #[cold]
    fn is_as_written(&self, source: u64, digest: u64, value_hash: Option<u32>) -> Result<bool, AnswerError> {
        let entry = self.files().entry(source).map_err(|_| files_error())?;
        Ok(entry.digest == digest && value_hash.is_none_or(|hash| hash == entry.value_hash))
    }

    /// Digests a document of a record, and looks for the record's key in it.
    ///
    /// # Errors
    ///
    /// If the text is not JSON, or the system keeps the key in the document and it is another one.
    pub(super) fn digest_document(
        &self,
        number: u64,
        text: &[u8],
        scratch: &mut OwnScratch,
    ) -> Result<DigestedDocument, AnswerError> {
        let digest = scratch.digester.digest(text, &self.plan)?;
        let captured = scratch.digester.captured();
        let get = |index: Option<usize>| index.and_then(|index| captured.get(index));
        let value_hash = get(self.update).map_or(0, |value| value.hash as u32);
        let mut other_key = None;
        if self.key.is_some() || self.member.is_some() {
            let expected = match self.records().key_type {
                KeyType::Bigint => integer_value_hash(self.integer_key(number)),
                KeyType::Text => {
                    scratch.buffer.clear();
                    self.write_key(number, &mut scratch.buffer).map_err(|_| files_error())?;
                    text_value_hash(&scratch.buffer)
                }
            };
            other_key = get(self.key).filter(|key| key.hash != expected).copied();
            let other_member = get(self.member).filter(|key| key.hash != expected).copied();
            if let Some(key) = other_member.or(other_key.filter(|_| self.finds_by_key_path)) {
                return Err(AnswerError { fault: AnswerFault::Key, position: key.start });
            }
        }
        Ok(DigestedDocument { digest, value_hash, other_key })
    }

    /// Whether the value at the update path of the document that was digested last is of the type that writes
    /// set.
    pub(super) fn has_updatable_value(&self, text: &[u8], scratch: &OwnScratch) -> bool {
        let captured = self.update.and_then(|index| scratch.digester.captured().get(index));
        captured.filter(|value| value.count == 1).zip(self.records().update.as_ref()).is_some_and(
            |(value, update)| match update.kind {
                UpdateKind::Text => value.kind == CapturedKind::Text,
                UpdateKind::Integer => versions::integer_in(value, text).is_some(),
            },
        )
    }

    /// Whether a value at the path of the key is what the system makes of this record's key: as the load left
    /// it in the document, or, in a new record, rounded to a double.
    #[cold]
    fn is_changed_key(&self, number: u64, found: &Captured, text: &[u8]) -> Result<bool, AnswerError> {
        if number >= self.records().documents {
            return Ok(self.changes_keys && self.is_rounded_key(number, found, text));
        }
        if !self.facts(number).is_some_and(RecordFacts::is_key_changed) {
            return Ok(false);
        }
        let (mut digester, mut document) = (ValueDigester::new(), Vec::new());
        self.read_given_back(number, &self.plan, &mut digester, &mut document).map_err(|_| files_error())?;
        let loaded = self.key.and_then(|index| digester.captured().get(index));
        Ok(loaded.is_some_and(|loaded| loaded.hash == found.hash))
    }

    /// Whether a value is the record's integer key, rounded to a double.
    pub(super) fn is_rounded_key(&self, number: u64, found: &Captured, text: &[u8]) -> bool {
        let value = std::str::from_utf8(found.raw(text)).ok().and_then(|text| text.parse().ok());
        found.kind == CapturedKind::Number && value.is_some_and(|value| self.rounds_to(number, value))
    }

    /// Whether the record's integer key is this number as a double.
    pub(super) fn rounds_to(&self, number: u64, value: f64) -> bool {
        self.records().key_type == KeyType::Bigint && self.integer_key(number) as f64 == value
    }

    /// Whether a value at the path of the key is that of another record, and not the own key rounded.
    ///
    /// # Errors
    ///
    /// If keys are in a file that cannot be read.
    pub(super) fn is_anothers_key(
        &self,
        number: u64,
        found: &Captured,
        text: &[u8],
        scratch: &mut OwnScratch,
    ) -> io::Result<bool> {
        if self.is_rounded_key(number, found, text) {
            return Ok(false);
        }
        let characters = found.text(text);
        let key = match self.records().key_type {
            KeyType::Bigint => found.integer(text).map(OwnKey::Integer),
            KeyType::Text => characters.as_deref().map(OwnKey::Text),
        };
        let other = key.map(|key| self.number(key, scratch)).transpose()?.flatten();
        Ok(other.is_some_and(|other| other != number))
    }
}

fn files_error() -> AnswerError {
    AnswerError { fault: AnswerFault::Files, position: 0 }
}
