//! Finds key and update value of one document.

use crate::error::DataError;
use crate::own_records::{IndexEntry, OwnPath, UpdateSlot};
use crate::records::{KeyType, PathSegment};
use crate::stage::StagedDocuments;
use crate::value_digest::{CapturePlan, Captured, CapturedKind, ValueDigester};

/// Longest text key in bytes.
pub(super) const LONGEST_KEY: usize = 255;

/// Finds keys and update values of documents, and counts what is needed to decide by.
pub(super) struct DocumentKeyer<'a> {
    staged: &'a StagedDocuments,
    plan: CapturePlan,
    key: Option<(OwnPath, usize)>,
    update: Option<usize>,
    /// Members under which systems keep keys, each with its index in the plan and whether a document has it.
    members: Vec<(String, usize, bool)>,
    digester: ValueDigester,
    key_type: Option<(KeyType, u64)>,
    /// Numbers of documents with a text and with an integer at the update path.
    pub(super) texts: u64,
    pub(super) integers: u64,
}

impl<'a> DocumentKeyer<'a> {
    pub(super) fn new(
        staged: &'a StagedDocuments,
        key: Option<&OwnPath>,
        update: Option<&OwnPath>,
        members: &[String],
    ) -> Self {
        let mut plan = CapturePlan::default();
        let update = update.and_then(|path| plan.add(&path.steps, true));
        let key = key.and_then(|path| Some((path.clone(), plan.add(&path.steps, true)?)));
        let members = members.iter().filter_map(|member| {
            let index = plan.add(&[PathSegment::Member(member.clone())], false)?;
            Some((member.clone(), index, false))
        });
        let members = members.collect();
        Self {
            staged,
            plan,
            key,
            update,
            members,
            digester: ValueDigester::new(),
            key_type: None,
            texts: 0,
            integers: 0,
        }
    }

    /// Type of the keys seen so far. Integer if there was none, or if documents have numbers as keys.
    pub(super) fn key_type(&self) -> KeyType {
        self.key_type.map_or(KeyType::Bigint, |(key_type, _)| key_type)
    }

    /// Those of the members that documents have.
    pub(super) fn members_in_use(&self) -> Vec<String> {
        self.members.iter().filter(|(.., is_used)| *is_used).map(|(member, ..)| member.clone()).collect()
    }

    /// Fills an entry from a document and appends its text key to `key`. The place of the document is left
    /// out.
    ///
    /// # Errors
    ///
    /// If the document has no key, or one that cannot be used.
    pub(super) fn read(
        &mut self,
        ordinal: u64,
        text: &[u8],
        key: &mut Vec<u8>,
    ) -> Result<IndexEntry, DataError> {
        let digest = self
            .digester
            .digest(text, &self.plan)
            .map_err(|error| self.refuse(ordinal, &format!("{error}; leave the document out")))?;
        if text.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
            return Err(
                self.refuse(ordinal, "the document is no object, and records are objects; leave it out")
            );
        }
        let (slot, value_hash) = self.update_slot(text);
        let mut entry = IndexEntry {
            ordinal,
            offset: 0,
            is_suspect: false,
            length: u32::try_from(text.len()).unwrap_or(u32::MAX),
            digest,
            value_hash,
            slot,
            key: (ordinal + 1),
            key_length: 0,
        };
        for (_, index, is_used) in &mut self.members {
            *is_used |=
                self.digester.captured().get(*index).is_some_and(|at| at.kind != CapturedKind::Absent);
        }
        if let Some((_, index)) = &self.key {
            let captured = self.digester.captured().get(*index).copied().unwrap_or_default();
            self.read_key(&captured, text, &mut entry, key)?;
        }
        Ok(entry)
    }

    fn update_slot(&mut self, text: &[u8]) -> (UpdateSlot, u32) {
        let captured = self.update.and_then(|index| self.digester.captured().get(index));
        let Some(captured) = captured else { return (UpdateSlot::Unfit, 0) };
        let value_hash = captured.hash as u32;
        // Of members with one name, it is not certain which one a system would set.
        if captured.count != 1 {
            return (UpdateSlot::Unfit, value_hash);
        }
        if captured.integer(text).is_some() {
            self.integers += 1;
            return (UpdateSlot::Integer, value_hash);
        }
        match captured.text(text).map(|text| u32::try_from(text.len())) {
            Some(Ok(bytes)) if bytes < 1 << 27 => {
                self.texts += 1;
                (UpdateSlot::Text(bytes), value_hash)
            }
            _ => (UpdateSlot::Unfit, value_hash),
        }
    }

    fn read_key(
        &mut self,
        captured: &Captured,
        text: &[u8],
        entry: &mut IndexEntry,
        key: &mut Vec<u8>,
    ) -> Result<(), DataError> {
        let ordinal = entry.ordinal;
        let other = "name another path by `--key`, or use `--key line`";
        if captured.count > 1 {
            return Err(self.refuse_key(ordinal, "twice, so that its key is not certain", other));
        }
        let problem = match captured.kind {
            CapturedKind::Absent => "no value",
            CapturedKind::Bool => "a truth value",
            CapturedKind::Null => "`null`",
            CapturedKind::Container => "an array or object",
            CapturedKind::Number => match captured.integer(text) {
                Some(integer) => {
                    entry.key = integer.cast_unsigned();
                    return self.note_type(KeyType::Bigint, ordinal);
                }
                None => "a number that is no integer of 64 bits",
            },
            CapturedKind::Text => {
                let characters = captured.text(text).unwrap_or_default();
                if characters.len() > LONGEST_KEY {
                    "a text of more than 255 bytes"
                } else if std::str::from_utf8(&characters).is_err() {
                    "a text with half a surrogate pair"
                } else {
                    entry.key_length = u32::try_from(characters.len()).unwrap_or_default();
                    key.extend_from_slice(&characters);
                    return self.note_type(KeyType::Text, ordinal);
                }
            }
        };
        Err(self.refuse_key(ordinal, problem, other))
    }

    fn note_type(&mut self, key_type: KeyType, ordinal: u64) -> Result<(), DataError> {
        let (first_type, first) = *self.key_type.get_or_insert((key_type, ordinal));
        if first_type == key_type {
            return Ok(());
        }
        let word = |key_type| if key_type == KeyType::Text { "a text" } else { "an integer" };
        let problem = format!("{}, and {} has {}", word(key_type), self.place(first), word(first_type));
        Err(self.refuse_key(ordinal, &problem, "keys have one type: use another path, or `--key line`"))
    }

    fn refuse_key(&self, ordinal: u64, problem: &str, remedy: &str) -> DataError {
        let path = self.key.as_ref().map(|(path, _)| path.to_string()).unwrap_or_default();
        self.refuse(
            ordinal,
            &format!("the document has at {path}, where its key is expected, {problem}; {remedy}"),
        )
    }

    fn refuse(&self, ordinal: u64, problem: &str) -> DataError {
        DataError::Key { reason: format!("{}: {problem}", self.place(ordinal)) }
    }

    /// Where a document is, for messages.
    pub(super) fn place(&self, ordinal: u64) -> String {
        let place = self.staged.place(ordinal).map(|place| place.to_string());
        place.unwrap_or_else(|| format!("document {} of the data", ordinal + 1))
    }
}
