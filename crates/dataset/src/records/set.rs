//! A set of records, ready to make documents.

use super::key::text_key;
use super::shape::{Path, Shape, Slot};
use super::value::{self, SLACK, mix};
use super::{KeyType, Kind, Records};
use crate::error::DataError;

/// Records that share the value of [`RecordSet::group_path`] at one version.
pub const GROUP: u64 = 10;
/// Groups of one block of numbers.
const GROUPS_A_BLOCK: u64 = 100;
/// Numbers of one block: each of its groups has one number in every hundred of a scattered order.
const BLOCK: u64 = GROUP * GROUPS_A_BLOCK;
/// The step of that order, and the one that undoes it: 387 · 323 = 125,001 = 1 modulo 1,000.
const SCATTER: u64 = 387;
const GATHER: u64 = 323;
/// Keeps hashes of groups apart from those of records, and those of conditions from those of values.
const OF_GROUPS: u64 = 0x67c6_6973_51ff_4aec;
const OF_CONDITIONS: u64 = 0x29cd_baab_f2fb_e346;

/// What makes the documents of [`Records`] and checks answers. Threads share one.
#[derive(Clone, Debug)]
pub struct RecordSet {
    pub(super) records: Records,
    pub(super) shape: Shape,
}

/// What the values of one record follow from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hashes {
    own: u64,
    group: u64,
    group_path: usize,
}

impl Hashes {
    #[inline]
    pub(super) fn value(&self, path: usize, version: u32) -> u64 {
        let whose = if path == self.group_path { self.group } else { self.own };
        mix(whose ^ ((path as u64) << 32 | u64::from(version)))
    }
}

impl Records {
    /// Makes ready to make and check documents.
    ///
    /// # Errors
    ///
    /// [`DataError::Range`] for a size or a number of members that no document can have, and for a key member that is a
    /// member already.
    pub fn prepare(&self) -> Result<RecordSet, DataError> {
        Ok(RecordSet { shape: Shape::of(self)?, records: self.clone() })
    }
}

impl RecordSet {
    /// What the set holds.
    #[must_use]
    pub fn records(&self) -> &Records {
        &self.records
    }

    /// Appends the key of the record with this number; see [`Records::key`].
    pub fn key(&self, number: u64, out: &mut Vec<u8>) {
        self.records.key(number, out);
    }

    /// The paths of all string values in the order of documents. A path is named by its place in this list.
    #[must_use]
    pub fn paths(&self) -> &[Path] {
        &self.shape.paths
    }

    /// The place of the path with this display form, such as `field0`, `object0.object1.value2` or `list.0.value`.
    #[must_use]
    pub fn path(&self, name: &str) -> Option<usize> {
        self.shape.paths.iter().position(|path| path.to_string() == name)
    }

    /// The most bytes that a document's text has.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.shape.longest
    }

    #[inline]
    pub(super) fn hashes(&self, number: u64) -> Hashes {
        let seed = self.records.seed;
        Hashes {
            own: mix(seed ^ mix(number)),
            group: mix(seed ^ mix(self.group(number) ^ OF_GROUPS)),
            group_path: self.group_path(),
        }
    }

    /// Appends a document as compact JSON text, every value of which bears this version. It begins with the key where
    /// the set has a key member.
    pub fn document(&self, number: u64, version: u32, out: &mut Vec<u8>) {
        let start = out.len();
        out.resize(start + self.shape.longest + SLACK, 0);
        let hashes = self.hashes(number);
        let text = &mut out[start..];
        let mut at = 0;
        for piece in &self.shape.pieces {
            let literal = piece.literal.as_slice();
            text[at..at + literal.len()].copy_from_slice(literal);
            at += literal.len();
            match piece.slot {
                Slot::Value(path) => {
                    let length = self.shape.paths[path].length;
                    let hash = hashes.value(path, version);
                    let made = value::characters(self.records.values, length, hash, version, &mut text[at..]);
                    at += match self.records.values {
                        super::Values::Text => made,
                        super::Values::Random => value::escape(&mut text[at..], made),
                    };
                }
                Slot::Status(path) => {
                    let word: &[u8] = if self.satisfies(number, path) { b"true" } else { b"false" };
                    text[at..at + word.len()].copy_from_slice(word);
                    at += word.len();
                }
                Slot::Key => {
                    let (key, length) = self.key_token(number);
                    text[at..at + length].copy_from_slice(&key[..length]);
                    at += length;
                }
                Slot::End => {}
            }
        }
        out.truncate(start + at);
    }

    /// Appends a document that begins with its key under this name, whether the set has a key member or not.
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

    /// Appends a line of the set's source: `{"key":…,"doc":{…}}` and a newline, the values of version 0.
    pub fn line(&self, number: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"key\":");
        let (key, length) = self.key_token(number);
        out.extend_from_slice(&key[..length]);
        out.extend_from_slice(b",\"doc\":");
        self.document(number, 0, out);
        out.extend_from_slice(b"}\n");
    }

    /// The key as it stands in JSON text.
    fn key_token(&self, number: u64) -> ([u8; super::KEY_LENGTH + 2], usize) {
        let mut token = [b'"'; super::KEY_LENGTH + 2];
        let key = self.records.numeric(number);
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

    /// Appends the characters of one value, unescaped, its tag first.
    pub fn value(&self, number: u64, path: usize, version: u32, out: &mut Vec<u8>) {
        let hash = self.hashes(number).value(path, version);
        self.characters(path, hash, version, out);
    }

    /// As [`Self::value`], by the hash.
    #[inline]
    pub(super) fn characters(&self, path: usize, hash: u64, version: u32, out: &mut Vec<u8>) {
        let Some(path) = self.shape.paths.get(path) else { return };
        let start = out.len();
        out.resize(start + path.length.most() + SLACK, 0);
        let made = value::characters(self.records.values, path.length, hash, version, &mut out[start..]);
        out.truncate(start + made);
    }

    /// The path whose values at one version are the same for [`GROUP`] records: the last one. Its value at version 0 is
    /// the condition of a search that finds these.
    #[must_use]
    pub fn group_path(&self) -> usize {
        self.shape.paths.len() - 1
    }

    /// The group of a record. Records of a group are scattered over a thousand numbers.
    #[must_use]
    pub fn group(&self, number: u64) -> u64 {
        let scattered = number % BLOCK * SCATTER % BLOCK;
        number / BLOCK * GROUPS_A_BLOCK + scattered % GROUPS_A_BLOCK
    }

    /// The numbers of a group's records, ascending; those that are not loaded are among them.
    #[must_use]
    pub fn members(&self, group: u64) -> [u64; GROUP as usize] {
        let (block, group) = (group / GROUPS_A_BLOCK, group % GROUPS_A_BLOCK);
        let mut members = [0; GROUP as usize];
        for (place, member) in (0..).zip(&mut members) {
            *member = block * BLOCK + (group + place * GROUPS_A_BLOCK) * GATHER % BLOCK;
        }
        members.sort_unstable();
        members
    }

    /// How many of the records 0 up to `loaded` are of a group.
    #[must_use]
    pub fn group_size(&self, group: u64, loaded: u64) -> u64 {
        self.members(group).iter().filter(|member| **member < loaded).count() as u64
    }

    /// Whether the element of an array, or the entry of an object, that a path belongs to satisfies the condition. Of
    /// four neighbours exactly one does; which one follows from the key.
    #[must_use]
    pub fn satisfies(&self, number: u64, path: usize) -> bool {
        let Kind::Items { members } = self.records.kind else { return false };
        let members = members as usize;
        let (form, place) = (path / members, path % members);
        let four = ((place / 4) << 1 | form) as u64;
        let chosen = mix(self.records.seed ^ OF_CONDITIONS ^ mix(number ^ four << 40)) % 4;
        chosen == (place % 4) as u64
    }
}
