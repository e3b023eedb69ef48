//! Verifies documents that clients read.

use super::set::{OwnRecordSet, OwnScratch};
use super::versions;
use crate::records::{AnswerError, AnswerFault, KeyType, SeenVersions};
use crate::value_digest::{Captured, integer_value_hash, text_value_hash};

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
        let (digest, value_hash) = self.digest_with_key(number, text, scratch)?;
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
    fn version_of(
        &self,
        number: u64,
        captured: &Captured,
        text: &[u8],
        buffer: &mut Vec<u8>,
    ) -> Option<u32> {
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

    /// Digests a document, checks the keys in it, and returns the digest and the hash of the value at the
    /// update path.
    pub(super) fn digest_with_key(
        &self,
        number: u64,
        text: &[u8],
        scratch: &mut OwnScratch,
    ) -> Result<(u64, u32), AnswerError> {
        let digest = scratch.digester.digest(text, &self.plan)?;
        let captured = scratch.digester.captured();
        let get = |index: Option<usize>| index.and_then(|index| captured.get(index));
        if self.key.is_some() || self.member.is_some() {
            let expected = match self.records().key_type {
                KeyType::Bigint => integer_value_hash(self.integer_key(number)),
                KeyType::Text => {
                    scratch.buffer.clear();
                    self.write_key(number, &mut scratch.buffer).map_err(|_| files_error())?;
                    text_value_hash(&scratch.buffer)
                }
            };
            for key in [get(self.key), get(self.member)].into_iter().flatten() {
                if key.hash != expected {
                    return Err(AnswerError { fault: AnswerFault::Key, position: key.start });
                }
            }
        }
        Ok((digest, get(self.update).map_or(0, |value| value.hash as u32)))
    }
}

fn files_error() -> AnswerError {
    AnswerError { fault: AnswerFault::Files, position: 0 }
}
