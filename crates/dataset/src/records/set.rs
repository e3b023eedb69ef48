//! Record sets, which generate documents.

use super::key::text_key;
use super::shape::{Path, Shape, Slot};
use super::value::{self, SLACK, mix};
use super::{KeyType, Kind, Records};
use crate::error::DataError;

/// Number of records with the same value at [`RecordSet::group_path`] for one version.
pub const RECORDS_PER_GROUP: u64 = 10;
/// Number of groups in a block of record numbers.
const GROUPS_A_BLOCK: u64 = 100;
/// Number of records in a block. In scattered order, each of its groups has one record in every hundred.
const BLOCK: u64 = RECORDS_PER_GROUP * GROUPS_A_BLOCK;
/// Step of the scattered order, and its inverse: 387 · 323 = 125,001 = 1 modulo 1,000.
const SCATTER: u64 = 387;
const GATHER: u64 = 323;
/// Salts that separate the hashes of groups from those of records, and the hashes of conditions from those of
/// values.
const OF_GROUPS: u64 = 0x67c6_6973_51ff_4aec;
const OF_CONDITIONS: u64 = 0x29cd_baab_f2fb_e346;

/// Generates the documents of [`Records`] and verifies answers. Shared between threads.
#[derive(Clone, Debug)]
pub struct RecordSet {
    pub(super) records: Records,
    pub(super) shape: Shape,
}

/// Hashes from which the values of one record are derived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hashes {
    record: u64,
    group: u64,
    group_path: usize,
}

impl Hashes {
    #[inline]
    pub(super) fn value(&self, path: usize, version: u32) -> u64 {
        let base = if path == self.group_path { self.group } else { self.record };
        mix(base ^ ((path as u64) << 32 | u64::from(version)))
    }
}

impl Records {
    /// Prepares the generation and verification of documents.
    ///
    /// # Errors
    ///
    /// [`DataError::Range`] if the size or number of members is out of range, or if the key member has an
    /// invalid name or that of another member.
    pub fn prepare(&self) -> Result<RecordSet, DataError> {
        Ok(RecordSet { shape: Shape::build(self)?, records: self.clone() })
    }
}

impl RecordSet {
    /// Returns the parameters of the set.
    #[must_use]
    pub fn records(&self) -> &Records {
        &self.records
    }

    /// Appends the key of the record with this number; see [`Records::key`].
    pub fn key(&self, number: u64, out: &mut Vec<u8>) {
        self.records.key(number, out);
    }

    /// Returns the paths of all string values in document order. A path is identified by its index in this
    /// list.
    #[must_use]
    pub fn paths(&self) -> &[Path] {
        &self.shape.paths
    }

    /// Returns the index of the path with this display form, such as `field0`, `object0.object1.value1` or
    /// `list.0.value`. `None` if there is no such path.
    #[must_use]
    pub fn path(&self, name: &str) -> Option<usize> {
        self.shape.paths.iter().position(|path| path.to_string() == name)
    }

    /// Returns an upper bound of the length of a document's text in bytes.
    #[must_use]
    pub fn max_document_bytes(&self) -> usize {
        self.shape.max_bytes
    }

    #[inline]
    pub(super) fn hashes(&self, number: u64) -> Hashes {
        let seed = self.records.seed;
        Hashes {
            record: mix(seed ^ mix(number)),
            group: mix(seed ^ mix(self.group(number) ^ OF_GROUPS)),
            group_path: self.group_path(),
        }
    }

    /// Appends a document as compact JSON text, with all values at `version`. It begins with the key if the
    /// set has a key member.
    pub fn document(&self, number: u64, version: u32, out: &mut Vec<u8>) {
        let start = out.len();
        out.resize(start + self.shape.max_bytes + SLACK, 0);
        let hashes = self.hashes(number);
        let text = &mut out[start..];
        let mut position = 0;
        for piece in &self.shape.pieces {
            let literal = piece.literal.as_slice();
            text[position..position + literal.len()].copy_from_slice(literal);
            position += literal.len();
            match piece.slot {
                Slot::Value(path) => {
                    let limit = self.shape.paths[path].length;
                    let hash = hashes.value(path, version);
                    let length =
                        value::characters(self.records.values, limit, hash, version, &mut text[position..]);
                    position += match self.records.values {
                        super::Values::Text => length,
                        super::Values::Random => value::escape(&mut text[position..], length),
                    };
                }
                Slot::Status(path) => {
                    let word: &[u8] = if self.satisfies(number, path) { b"true" } else { b"false" };
                    text[position..position + word.len()].copy_from_slice(word);
                    position += word.len();
                }
                Slot::Key => {
                    let (key, length) = self.key_token(number);
                    text[position..position + length].copy_from_slice(&key[..length]);
                    position += length;
                }
                Slot::End => {}
            }
        }
        out.truncate(start + position);
    }

    /// Appends a document that begins with its key. The key's member is called `name` unless the set has a
    /// key member.
    pub fn keyed_document(&self, name: &str, number: u64, version: u32, out: &mut Vec<u8>) {
        if self.records.key_member.is_none() {
            out.extend_from_slice(b"{\"");
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"\":");
            let (key, length) = self.key_token(number);
            out.extend_from_slice(&key[..length]);
            let comma = out.len();
            self.document(number, version, out);
            out[comma] = b',';
        } else {
            self.document(number, version, out);
        }
    }

    /// Appends a line of the source: `{"key":…,"doc":{…}}` and a newline, with all values at version 0.
    pub fn line(&self, number: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"key\":");
        let (key, length) = self.key_token(number);
        out.extend_from_slice(&key[..length]);
        out.extend_from_slice(b",\"doc\":");
        self.document(number, 0, out);
        out.extend_from_slice(b"}\n");
    }

    /// Returns the key as a JSON token, and its length in bytes.
    fn key_token(&self, number: u64) -> ([u8; super::KEY_LENGTH + 2], usize) {
        let mut token = [b'"'; super::KEY_LENGTH + 2];
        let key = self.records.key_number(number);
        let length = match self.records.key_type {
            KeyType::Text => {
                token[1..=super::KEY_LENGTH].copy_from_slice(&text_key(key));
                token.len()
            }
            KeyType::Bigint => {
                let mut digits = itoa::Buffer::new();
                let digits = digits.format(key).as_bytes();
                token[..digits.len()].copy_from_slice(digits);
                digits.len()
            }
        };
        (token, length)
    }

    /// Appends the unescaped characters of one value, including its tag.
    pub fn value(&self, number: u64, path: usize, version: u32, out: &mut Vec<u8>) {
        let hash = self.hashes(number).value(path, version);
        self.characters(path, hash, version, out);
    }

    /// Like [`Self::value`], for a known hash. Appends nothing if the path does not exist.
    #[inline]
    pub(super) fn characters(&self, path: usize, hash: u64, version: u32, out: &mut Vec<u8>) {
        let Some(path) = self.shape.paths.get(path) else { return };
        let start = out.len();
        out.resize(start + path.length.max_length() + SLACK, 0);
        let length = value::characters(self.records.values, path.length, hash, version, &mut out[start..]);
        out.truncate(start + length);
    }

    /// Returns the path whose value at one version is shared by [`RECORDS_PER_GROUP`] records: the last path.
    /// Its value at version 0 is the search condition that finds a group.
    #[must_use]
    pub fn group_path(&self) -> usize {
        self.shape.paths.len() - 1
    }

    /// Returns the group of a record. The records of a group are scattered over a thousand numbers.
    #[must_use]
    pub fn group(&self, number: u64) -> u64 {
        let scattered = number % BLOCK * SCATTER % BLOCK;
        number / BLOCK * GROUPS_A_BLOCK + scattered % GROUPS_A_BLOCK
    }

    /// Returns the numbers of a group's records in ascending order, including records that are not loaded.
    #[must_use]
    pub fn members(&self, group: u64) -> [u64; RECORDS_PER_GROUP as usize] {
        let (block, group) = (group / GROUPS_A_BLOCK, group % GROUPS_A_BLOCK);
        let mut members = [0; RECORDS_PER_GROUP as usize];
        for (index, member) in (0..).zip(&mut members) {
            *member = block * BLOCK + (group + index * GROUPS_A_BLOCK) * GATHER % BLOCK;
        }
        members.sort_unstable();
        members
    }

    /// Returns how many of the records 0 to `loaded` (exclusive) belong to a group.
    #[must_use]
    pub fn group_size(&self, group: u64, loaded: u64) -> u64 {
        self.members(group).iter().filter(|member| **member < loaded).count() as u64
    }

    /// Returns `true` if the element or entry that contains a path satisfies the condition. In every aligned
    /// group of four exactly one does, selected by a hash of the record number; in an incomplete last group
    /// at most one. `false` for shapes other than [`Kind::Items`].
    #[must_use]
    pub fn satisfies(&self, number: u64, path: usize) -> bool {
        let Kind::Items { members } = self.records.kind else { return false };
        let members = members as usize;
        let (form, index) = (path / members, path % members);
        let quad = ((index / 4) << 1 | form) as u64;
        let selected = mix(self.records.seed ^ OF_CONDITIONS ^ mix(number ^ quad << 40)) % 4;
        selected == (index % 4) as u64
    }
}
