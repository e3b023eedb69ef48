//! Dictionary of a text column: each distinct text once, numbered in order of appearance.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::error::{Result, YardstickError};

/// Code of null, which sorts after all texts.
pub(super) const NULL: u32 = u32::MAX;

/// Maps codes to texts and texts to codes.
#[derive(Clone, Debug, Default)]
pub(super) struct Dictionary {
    text: String,
    /// End offset of each text in `text`.
    ends: Vec<u64>,
    /// Hash and code of every text; empty until the first lookup by text needs it.
    codes: HashTable<(u64, u32)>,
    /// Code returned last, because most columns repeat a text many times in a row.
    last: Option<u32>,
}

impl Dictionary {
    /// Restores a dictionary from a file; `None` if `ends` does not split the text.
    pub(super) fn from_parts(text: String, ends: Vec<u64>) -> Option<Self> {
        let is_valid = ends.is_sorted()
            && ends.last().copied().unwrap_or(0) == text.len() as u64
            && ends.iter().all(|&end| usize::try_from(end).is_ok_and(|end| text.is_char_boundary(end)));
        is_valid.then(|| Self { text, ends, ..Self::default() })
    }

    /// All texts concatenated, and the end offset of each.
    pub(super) fn parts(&self) -> (&str, &[u64]) {
        (&self.text, &self.ends)
    }

    /// Number of distinct texts, without null.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Text of a code; `None` for null.
    pub(super) fn text(&self, code: u32) -> Option<&str> {
        text_of(&self.text, &self.ends, code)
    }

    /// Code of a text, which is added if it is new; [`NULL`] for `None`.
    #[inline]
    pub(super) fn code(&mut self, text: Option<&str>) -> Result<u32> {
        let Some(text) = text else { return Ok(NULL) };
        if let Some(last) = self.last
            && self.text(last) == Some(text)
        {
            return Ok(last);
        }
        self.index();
        let hash = hash_of(text);
        let is_match = |&(other_hash, code): &(u64, u32)| {
            other_hash == hash && text_of(&self.text, &self.ends, code) == Some(text)
        };
        if let Some(&(_, code)) = self.codes.find(hash, is_match) {
            self.last = Some(code);
            return Ok(code);
        }
        let code = u32::try_from(self.ends.len()).ok().filter(|code| *code != NULL).ok_or_else(|| {
            YardstickError::TooMany("a column has more than 4 294 967 295 different texts".to_owned())
        })?;
        self.text.push_str(text);
        self.ends.push(self.text.len() as u64);
        self.codes.insert_unique(hash, (hash, code), |&(hash, _)| hash);
        self.last = Some(code);
        Ok(code)
    }

    /// Code of a text; `None` if the column does not contain it.
    pub(super) fn find(&self, text: &str) -> Option<u32> {
        if self.codes.len() < self.ends.len() {
            return (0..self.ends.len() as u32).find(|&code| self.text(code) == Some(text));
        }
        let hash = hash_of(text);
        let is_match = |&(other_hash, code): &(u64, u32)| other_hash == hash && self.text(code) == Some(text);
        self.codes.find(hash, is_match).map(|&(_, code)| code)
    }

    /// Builds the hash index if it is missing, as in dictionaries read from a file.
    #[inline]
    pub(super) fn index(&mut self) {
        if self.codes.len() == self.ends.len() {
            return;
        }
        self.codes.clear();
        self.codes.reserve(self.ends.len(), |&(hash, _)| hash);
        for code in 0..self.ends.len() as u32 {
            let hash = hash_of(text_of(&self.text, &self.ends, code).unwrap_or_default());
            self.codes.insert_unique(hash, (hash, code), |&(hash, _)| hash);
        }
    }
}

fn text_of<'a>(text: &'a str, ends: &[u64], code: u32) -> Option<&'a str> {
    let code = code as usize;
    let end = *ends.get(code)?;
    let start = code.checked_sub(1).and_then(|previous| ends.get(previous)).copied().unwrap_or(0);
    text.get(start as usize..end as usize)
}

#[inline]
fn hash_of(text: &str) -> u64 {
    FixedState::default().hash_one(text)
}
