//! The names of an object's members, to find those that occur twice.

use super::text::{decode, prefix_word};

/// Up to how many members each new name is compared with those before it; larger objects are sorted at their end.
const COMPARED: usize = 24;
/// Working memory that is kept from line to line, in elements.
const KEPT: usize = 1 << 16;

/// Where a name stands in the line, without its quotes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    start: u32,
    /// The length, and whether there is an escape in the lowest bit.
    length_and_escaped: u32,
}

impl Key {
    /// The line is at most 2³¹ bytes long.
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

    fn same(self, other: Key, line: &[u8]) -> bool {
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

/// An open object around the current one.
#[derive(Clone, Copy, Debug)]
struct Outer {
    first: u32,
    seen: u64,
}

/// The names of all open objects, those of the innermost last.
#[derive(Debug, Default)]
pub(super) struct OpenKeys {
    keys: Vec<Key>,
    outer: Vec<Outer>,
    /// Where the names of the innermost object begin.
    first: usize,
    /// A Bloom filter of one word over them: most names are new, and then no other name need be looked at.
    seen: u64,
}

impl OpenKeys {
    /// Forgets the last line.
    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.keys.shrink_to(KEPT);
        self.outer.clear();
        self.first = 0;
        self.seen = 0;
    }

    /// An object begins.
    #[inline]
    pub(super) fn open(&mut self) {
        self.outer.push(Outer { first: self.first as u32, seen: self.seen });
        self.first = self.keys.len();
        self.seen = 0;
    }

    /// The innermost object ends. Returns whether a name occurred twice that [`OpenKeys::add`] has not reported.
    #[inline]
    pub(super) fn close(&mut self, line: &[u8]) -> bool {
        let repeated = self.keys.len() - self.first > COMPARED && self.repeated_by_sorting(line);
        self.keys.truncate(self.first);
        if let Some(outer) = self.outer.pop() {
            self.first = outer.first as usize;
            self.seen = outer.seen;
        }
        repeated
    }

    /// A name of the innermost object. Returns whether it occurred before, as far as that can be told cheaply.
    #[inline]
    pub(super) fn add(&mut self, key: Key, word: u64, line: &[u8]) -> bool {
        // An escaped name hashes differently from its plain spelling: it counts as seen, and so is compared.
        let bit = if key.escaped() { u64::MAX } else { 1 << bit_of(key, word, line) };
        let maybe = self.seen & bit != 0;
        self.seen |= bit;
        let repeated = maybe && self.compare(key, line);
        self.keys.push(key);
        repeated
    }

    fn compare(&self, key: Key, line: &[u8]) -> bool {
        let keys = self.keys.get(self.first..).unwrap_or_default();
        keys.len() < COMPARED && keys.iter().any(|other| other.same(key, line))
    }

    #[cold]
    fn repeated_by_sorting(&mut self, line: &[u8]) -> bool {
        let keys = self.keys.get_mut(self.first..).unwrap_or_default();
        if keys.iter().any(|key| key.escaped()) {
            let mut names: Vec<_> = keys.iter().map(|key| decode(key.raw(line))).collect();
            names.sort_unstable();
            return names.windows(2).any(|pair| pair[0] == pair[1]);
        }
        keys.sort_unstable_by(|a, b| a.raw(line).cmp(b.raw(line)));
        keys.windows(2).any(|pair| pair[0].raw(line) == pair[1].raw(line))
    }
}

/// Which bit of the filter stands for a plain name: a multiplicative hash of its ends and its length.
#[inline(always)]
fn bit_of(key: Key, word: u64, line: &[u8]) -> u32 {
    let length = (key.length_and_escaped >> 1) as usize;
    let mut mixed = word ^ length as u64;
    if length > 8 {
        mixed ^= prefix_word(line, key.start as usize + length - 8, 8).rotate_left(29);
    }
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as u32
}
