//! Detects duplicate member names in objects.

use super::text::{decode, prefix_word};

/// Maximum number of members for which each new name is compared with all earlier ones; larger objects are
/// sorted when they end.
const MAX_COMPARED: usize = 24;
/// Capacity that is kept from line to line, in elements.
const MAX_KEPT: usize = 1 << 16;

/// Position of a member name in the line, without its quotes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    start: u32,
    /// Length shifted left by one; the lowest bit is set if the name contains an escape.
    length_and_escaped: u32,
}

impl Key {
    /// Creates a key. The line must be at most 2³¹ bytes long.
    pub(super) fn new(start: usize, end: usize, escaped: bool) -> Self {
        Key { start: start as u32, length_and_escaped: ((end - start) as u32) << 1 | u32::from(escaped) }
    }

    fn escaped(self) -> bool {
        self.length_and_escaped & 1 != 0
    }

    fn raw(self, line: &[u8]) -> &[u8] {
        let start = self.start as usize;
        line.get(start..start + (self.length_and_escaped >> 1) as usize).unwrap_or_default()
    }

    fn is_equal(self, other: Key, line: &[u8]) -> bool {
        match (self.escaped(), other.escaped()) {
            (false, false) => {
                self.length_and_escaped == other.length_and_escaped && self.raw(line) == other.raw(line)
            }
            (true, false) => decode(self.raw(line)) == other.raw(line),
            (false, true) => decode(other.raw(line)) == self.raw(line),
            (true, true) => decode(self.raw(line)) == decode(other.raw(line)),
        }
    }
}

/// State of an enclosing object while an inner one is open.
#[derive(Clone, Copy, Debug)]
struct Outer {
    first_key: u32,
    filter: u64,
}

/// Member names of all open objects, those of the innermost last.
#[derive(Debug, Default)]
pub(super) struct OpenKeys {
    keys: Vec<Key>,
    outer: Vec<Outer>,
    /// Index of the innermost object's first name.
    first_key: usize,
    /// One-word Bloom filter over the innermost object's names. Most names are new and need no comparison.
    filter: u64,
}

impl OpenKeys {
    /// Clears all state of the previous line.
    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.keys.shrink_to(MAX_KEPT);
        self.outer.clear();
        self.first_key = 0;
        self.filter = 0;
    }

    /// Starts an object within the current one.
    #[inline]
    pub(super) fn open(&mut self) {
        self.outer.push(Outer { first_key: self.first_key as u32, filter: self.filter });
        self.first_key = self.keys.len();
        self.filter = 0;
    }

    /// Ends the innermost object. Returns `true` if it is too large for [`OpenKeys::add`] and has a duplicate
    /// name.
    #[inline]
    pub(super) fn close(&mut self, line: &[u8]) -> bool {
        let is_repeated =
            self.keys.len() - self.first_key > MAX_COMPARED && self.has_duplicates_by_sorting(line);
        self.keys.truncate(self.first_key);
        if let Some(outer) = self.outer.pop() {
            self.first_key = outer.first_key as usize;
            self.filter = outer.filter;
        }
        is_repeated
    }

    /// Adds a name to the innermost object. Returns `true` if it is a duplicate among the first 24 members.
    #[inline]
    pub(super) fn add(&mut self, key: Key, word: u64, line: &[u8]) -> bool {
        // An escaped name hashes differently from its plain spelling, so that it is always compared.
        let bit = if key.escaped() { u64::MAX } else { 1 << bit_of(key, word, line) };
        let may_repeat = self.filter & bit != 0;
        self.filter |= bit;
        let is_repeated = may_repeat && self.compare(key, line);
        self.keys.push(key);
        is_repeated
    }

    fn compare(&self, key: Key, line: &[u8]) -> bool {
        let keys = self.keys.get(self.first_key..).unwrap_or_default();
        keys.len() < MAX_COMPARED && keys.iter().any(|other| other.is_equal(key, line))
    }

    #[cold]
    fn has_duplicates_by_sorting(&mut self, line: &[u8]) -> bool {
        let keys = self.keys.get_mut(self.first_key..).unwrap_or_default();
        if keys.iter().any(|key| key.escaped()) {
            let mut names: Vec<_> = keys.iter().map(|key| decode(key.raw(line))).collect();
            names.sort_unstable();
            return names.windows(2).any(|pair| pair[0] == pair[1]);
        }
        keys.sort_unstable_by(|a, b| a.raw(line).cmp(b.raw(line)));
        keys.windows(2).any(|pair| pair[0].raw(line) == pair[1].raw(line))
    }
}

/// Filter bit of a plain name: a multiplicative hash of its first and last bytes and its length.
#[inline(always)]
fn bit_of(key: Key, word: u64, line: &[u8]) -> u32 {
    let length = (key.length_and_escaped >> 1) as usize;
    let mut hash = word ^ length as u64;
    if length > 8 {
        hash ^= prefix_word(line, key.start as usize + length - 8, 8).rotate_left(29);
    }
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as u32
}
