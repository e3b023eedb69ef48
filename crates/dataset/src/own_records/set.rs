//! Own records with what a system gave back of them: makes the documents that clients write.

use std::fs::File;
use std::io::{self, BufReader, Read};

use super::description::{OwnRecords, UpdatePath};
use super::facts::{Baseline, RecordFacts};
use super::files::{INDEX_FILE, IndexEntry, KEYS_FILE, RecordFiles, UpdateSlot};
use super::given_back::GivenBackDocuments;
use super::keys::{KeyTable, NewKeys, OwnKey, TextKeySurvey};
use super::suitable::Suitability;
use super::versions;
use crate::error::DataError;
use crate::records::{KeyType, PathSegment};
use crate::value_digest::{CapturePlan, Captured, ValueDigester};

/// Working memory of verification and of making documents, reused from one to the next.
#[derive(Debug, Default)]
pub struct OwnScratch {
    pub(super) digester: ValueDigester,
    pub(super) document: Vec<u8>,
    pub(super) buffer: Vec<u8>,
}

/// Makes and verifies the documents of [`OwnRecords`]. Shared between threads.
#[derive(Debug)]
pub struct OwnRecordSet {
    records: OwnRecords,
    files: RecordFiles,
    table: KeyTable,
    facts: Vec<RecordFacts>,
    /// Documents that the load changed. `None` if there are none, or while a baseline is read.
    given_back: Option<GivenBackDocuments>,
    /// Values that are captured of each document: those at the update path, at the path of the key, and of
    /// the member in which the system keeps the key, unless that is the path of the key.
    pub(super) plan: CapturePlan,
    pub(super) update: Option<usize>,
    pub(super) key: Option<usize>,
    pub(super) member: Option<usize>,
    /// Whether the system finds documents by the path of the key itself, so that the key there must be right.
    pub(super) finds_by_key_path: bool,
    /// Whether the load changed keys in documents.
    pub(super) changes_keys: bool,
    pub(super) suitability: Suitability,
}

impl OwnRecordSet {
    /// Prepares making and verifying documents.
    ///
    /// # Errors
    ///
    /// If the files cannot be read, or hold another number of records.
    pub fn new(records: &OwnRecords, baseline: Baseline) -> Result<Self, DataError> {
        let mut set = Self::with_facts(records, baseline.facts)?;
        (set.suitability, set.given_back) = (Suitability::collect(&set.facts), baseline.given_back);
        set.changes_keys = set.facts.iter().any(RecordFacts::is_key_changed);
        Ok(set)
    }

    pub(super) fn with_facts(records: &OwnRecords, facts: Vec<RecordFacts>) -> Result<Self, DataError> {
        let files = RecordFiles::open(&records.folder, records.documents)?;
        let mut plan = CapturePlan::default();
        let update = records.update.as_ref().and_then(|update| plan.add(&update.path.steps, true));
        let key = records.key.as_ref().and_then(|key| plan.add(&key.steps, true));
        let member = records
            .key_member
            .as_ref()
            .filter(|member| !records.is_key_path(member))
            .and_then(|member| plan.add(&[PathSegment::Member(member.clone())], true));
        Ok(Self {
            table: read_keys(records)?,
            records: records.clone(),
            files,
            facts,
            given_back: None,
            plan,
            update,
            key,
            member,
            finds_by_key_path: records.key_member.as_ref().is_some_and(|member| records.is_key_path(member)),
            changes_keys: false,
            suitability: Suitability::default(),
        })
    }

    /// Description of the records.
    #[must_use]
    pub fn records(&self) -> &OwnRecords {
        &self.records
    }

    pub(super) fn files(&self) -> &RecordFiles {
        &self.files
    }

    pub(super) fn table(&self) -> &KeyTable {
        &self.table
    }

    #[inline]
    pub(super) fn facts(&self, number: u64) -> Option<&RecordFacts> {
        self.facts.get(usize::try_from(number).ok()?)
    }

    pub(super) fn set_facts(&mut self, number: u64, facts: RecordFacts) {
        if let Some(entry) = usize::try_from(number).ok().and_then(|index| self.facts.get_mut(index)) {
            *entry = facts;
        }
    }

    pub(super) fn into_facts(self) -> Vec<RecordFacts> {
        self.facts
    }

    /// Returns `true` if the record was there after the load, as far as is known.
    #[must_use]
    pub fn is_present(&self, number: u64) -> bool {
        self.facts(number).is_some_and(RecordFacts::is_present)
    }

    /// Number of loaded records from this one on that together have at most so many bytes; at most
    /// `max_rows`. Fewer if the files cannot be read.
    #[must_use]
    pub fn rows_within(&self, number: u64, max_rows: u64, max_bytes: u64) -> u64 {
        let mut bytes = 0;
        let last = self.records.documents.min(number.saturating_add(max_rows));
        let is_within = |number: &u64| {
            bytes += self.files.entry(*number).map_or(max_bytes + 1, |entry| u64::from(entry.length));
            bytes <= max_bytes
        };
        (number..last).take_while(is_within).count() as u64
    }

    /// Key of a record if keys are integers; 0 if they are texts.
    #[inline]
    #[must_use]
    pub fn integer_key(&self, number: u64) -> i64 {
        match number.checked_sub(self.records.documents) {
            None => self.table.integer(number),
            Some(index) => self.records.new_keys.integer(index),
        }
    }

    /// Appends the key of a record: the characters of a text, or the digits of an integer.
    ///
    /// # Errors
    ///
    /// If the key is in a file that cannot be read.
    #[inline]
    pub fn write_key(&self, number: u64, out: &mut Vec<u8>) -> io::Result<()> {
        let Some(index) = number.checked_sub(self.records.documents) else {
            return self.table.write(number, &self.files, out);
        };
        match &self.records.new_keys {
            NewKeys::Marked(mark) => {
                self.table.write(self.source(number), &self.files, out)?;
                NewKeys::write_text(mark, index, out);
            }
            new_keys => out.extend_from_slice(itoa::Buffer::new().format(new_keys.integer(index)).as_bytes()),
        }
        Ok(())
    }

    /// Key of a record for messages.
    #[must_use]
    pub fn key_text(&self, number: u64) -> String {
        let mut key = Vec::new();
        match self.write_key(number, &mut key) {
            Ok(()) => String::from_utf8_lossy(&key).into_owned(),
            Err(_) => format!("of record {number}"),
        }
    }

    /// Returns the record with this key. `None` if no record has it, or can be inserted with it.
    ///
    /// # Errors
    ///
    /// If keys are in a file that cannot be read.
    pub fn number(&self, key: OwnKey<'_>, scratch: &mut OwnScratch) -> io::Result<Option<u64>> {
        let new_keys = &self.records.new_keys;
        let index = match key {
            OwnKey::Integer(_) if self.records.key_type == KeyType::Text => return Ok(None),
            OwnKey::Text(_) if self.records.key_type == KeyType::Bigint => return Ok(None),
            OwnKey::Integer(integer) => new_keys.index_of_integer(integer),
            OwnKey::Text(text) => match new_keys.index_of_text(text) {
                Some((index, source_key)) => {
                    let number = self.records.documents + index;
                    scratch.buffer.clear();
                    self.table.write(self.source(number), &self.files, &mut scratch.buffer)?;
                    (scratch.buffer == source_key).then_some(index)
                }
                None => None,
            },
        };
        if let Some(index) = index {
            return Ok(Some(self.records.documents + index));
        }
        let found = self.table.find(key, self.records.documents, &self.files, &mut scratch.buffer)?;
        Ok(found.ok())
    }

    /// Kind of the values that writes change, with the length in bytes of a record's loaded text. `None` if
    /// the record cannot be updated.
    #[inline]
    pub(super) fn update_of(&self, number: u64) -> Option<(&UpdatePath, u32)> {
        let update = self.records.update.as_ref()?;
        match self.facts(self.source(number))?.slot() {
            UpdateSlot::Unfit => None,
            UpdateSlot::Integer => Some((update, 0)),
            UpdateSlot::Text(length) => Some((update, length)),
        }
    }

    /// Appends the value that a write of this version leaves at the update path: the characters of a text, or
    /// the digits of an integer. Appends nothing for a record that cannot be updated.
    pub fn value(&self, number: u64, version: u32, out: &mut Vec<u8>) {
        if let Some((update, length)) = self.update_of(number) {
            versions::write(update.kind, number, version, length, out);
        }
    }

    /// Appends the loaded value at the update path of a loaded record, as the system gave it back: the
    /// characters of a text, or the digits of an integer.
    ///
    /// # Errors
    ///
    /// If the document cannot be read.
    pub fn loaded_value(&self, number: u64, scratch: &mut OwnScratch, out: &mut Vec<u8>) -> io::Result<()> {
        if !self.read_given_back(number, &self.plan, &mut scratch.digester, &mut scratch.document)? {
            self.read_source(number, scratch)?;
        }
        let OwnScratch { digester, document, .. } = scratch;
        if let Some(captured) = self.update.and_then(|index| digester.captured().get(index)) {
            match (captured.text(document), versions::integer_in(captured, document)) {
                (Some(text), _) => out.extend_from_slice(&text),
                (None, Some(integer)) => {
                    out.extend_from_slice(itoa::Buffer::new().format(integer).as_bytes());
                }
                (None, None) => out.extend_from_slice(captured.raw(document)),
            }
        }
        Ok(())
    }

    /// Returns `true` if the value of a version equals the loaded one, so that a read could not tell them
    /// apart. Such a version must not be written.
    #[must_use]
    pub fn is_like_loaded(&self, number: u64, version: u32, buffer: &mut Vec<u8>) -> bool {
        if number >= self.records.documents {
            return false;
        }
        let (Some((update, length)), Some(facts)) = (self.update_of(number), self.facts(number)) else {
            return false;
        };
        versions::hash(update.kind, number, version, length, buffer) as u32 == facts.value_hash
    }

    /// Reads the document of the data that a record has, and captures its values.
    pub(super) fn read_source(&self, number: u64, scratch: &mut OwnScratch) -> io::Result<()> {
        self.read_source_with(number, &self.plan, scratch)
    }

    pub(super) fn read_source_with(
        &self,
        number: u64,
        plan: &CapturePlan,
        scratch: &mut OwnScratch,
    ) -> io::Result<()> {
        let entry = self.files.entry(self.source(number))?;
        scratch.document.clear();
        self.files.document(&entry, &mut scratch.document)?;
        scratch.digester.digest(&scratch.document, plan).map_err(io::Error::other)?;
        Ok(())
    }

    /// Reads the document of a record as the system gave it back, and captures its values. Returns `false`,
    /// and reads nothing, if the load did not change the document.
    pub(super) fn read_given_back(
        &self,
        number: u64,
        plan: &CapturePlan,
        digester: &mut ValueDigester,
        document: &mut Vec<u8>,
    ) -> io::Result<bool> {
        let source = self.source(number);
        let Some(given_back) =
            self.given_back.as_ref().filter(|_| self.facts(source).is_some_and(RecordFacts::is_changed))
        else {
            return Ok(false);
        };
        document.clear();
        given_back.read(source, document)?;
        digester.digest(document, plan).map_err(io::Error::other)?;
        Ok(true)
    }

    /// Appends a record's document with the value of this version at the update path, and with its key at the
    /// path of the key. With `key_member`, it begins with the key under that name, unless the key is there
    /// anyway.
    ///
    /// # Errors
    ///
    /// If the document cannot be read from the files.
    pub fn document(
        &self,
        number: u64,
        version: u32,
        key_member: Option<&str>,
        scratch: &mut OwnScratch,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        self.read_source(number, scratch)?;
        let OwnScratch { digester, document, buffer } = scratch;
        let captured = |index: Option<usize>| index.and_then(|index| digester.captured().get(index)).copied();
        let value = captured(self.update).filter(|_| self.update_of(number).is_some());
        let key = captured(self.key).filter(|_| number >= self.records.documents);
        let mut position = 0;
        if let Some(member) = key_member.filter(|member| !self.records.is_key_path(member)) {
            position = self.write_key_member(member, number, document, out)?;
        }
        let mut replaced: [Option<(Captured, bool)>; 2] =
            [value.map(|at| (at, true)), key.map(|at| (at, false))];
        replaced.sort_by_key(|place| place.map_or(usize::MAX, |(at, _)| at.start));
        for (place, is_value) in replaced.into_iter().flatten() {
            out.extend_from_slice(document.get(position..place.start).unwrap_or_default());
            position = place.end;
            if is_value {
                buffer.clear();
                self.value(number, version, buffer);
                match place.text(document).is_some() {
                    true => write_json_text(buffer, out)?,
                    false => out.extend_from_slice(buffer),
                }
            } else {
                self.write_json_key(number, out)?;
            }
        }
        out.extend_from_slice(document.get(position..).unwrap_or_default());
        Ok(())
    }

    /// Appends the beginning of a document with its key as first member, and returns the position in the
    /// document from which on it follows.
    fn write_key_member(
        &self,
        member: &str,
        number: u64,
        document: &[u8],
        out: &mut Vec<u8>,
    ) -> io::Result<usize> {
        let is_space = |byte: &u8| byte.is_ascii_whitespace();
        let brace = document.iter().position(|byte| *byte == b'{').unwrap_or_default();
        let inside = document.get(brace + 1..).unwrap_or_default();
        let is_empty = inside.iter().find(|byte| !is_space(byte)) == Some(&b'}');
        out.push(b'{');
        write_json_text(member.as_bytes(), out)?;
        out.push(b':');
        self.write_json_key(number, out)?;
        if !is_empty {
            out.push(b',');
        }
        Ok(brace + 1)
    }

    fn write_json_key(&self, number: u64, out: &mut Vec<u8>) -> io::Result<()> {
        if self.records.key_type == KeyType::Bigint {
            return self.write_key(number, out);
        }
        let mut key = Vec::new();
        self.write_key(number, &mut key)?;
        write_json_text(&key, out)
    }
}

fn write_json_text(characters: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
    let text = std::str::from_utf8(characters).map_err(io::Error::other)?;
    serde_json::to_writer(out, text).map_err(io::Error::other)
}

/// Reads the keys of all records into memory, as far as they have room.
fn read_keys(records: &OwnRecords) -> Result<KeyTable, DataError> {
    if records.key.is_none() {
        return Ok(KeyTable::Lines);
    }
    if records.key_type == KeyType::Bigint {
        let mut keys = Vec::with_capacity(usize::try_from(records.documents).unwrap_or_default());
        visit_entries(records, |entry| {
            keys.push(entry.key.cast_signed());
            Ok(())
        })?;
        return Ok(KeyTable::Integers(keys));
    }
    let mut survey = TextKeySurvey::default();
    visit_text_keys(records, |key| survey.observe(key))?;
    let mut table = survey.table();
    if !matches!(table, KeyTable::InFile) {
        visit_text_keys(records, |key| table.push_text(key))?;
    }
    Ok(table)
}

fn visit_entries(
    records: &OwnRecords,
    mut visit: impl FnMut(&IndexEntry) -> io::Result<()>,
) -> Result<(), DataError> {
    let path = records.folder.join(INDEX_FILE);
    let failed = |error| DataError::io("read", &path, error);
    let mut index = BufReader::with_capacity(1 << 18, File::open(&path).map_err(failed)?);
    let mut bytes = [0; IndexEntry::LENGTH];
    for _ in 0..records.documents {
        index.read_exact(&mut bytes).and_then(|()| visit(&IndexEntry::decode(&bytes))).map_err(failed)?;
    }
    Ok(())
}

fn visit_text_keys(records: &OwnRecords, mut visit: impl FnMut(&[u8])) -> Result<(), DataError> {
    let path = records.folder.join(KEYS_FILE);
    let file = File::open(&path).map_err(|error| DataError::io("read", &path, error))?;
    let mut keys = BufReader::with_capacity(1 << 18, file);
    let mut key = Vec::new();
    visit_entries(records, |entry| {
        key.resize(entry.key_length as usize, 0);
        keys.read_exact(&mut key)?;
        visit(&key);
        Ok(())
    })
}
