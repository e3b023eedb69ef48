//! Values: a tag of eight hexadecimal digits, then characters that follow from record, path and version.

use super::Values;
use crate::generate::words::ENGLISH;

/// Characters of a tag.
pub(super) const TAG: usize = 8;
/// Bytes behind a value that making it may overwrite.
pub(super) const SLACK: usize = 64;

/// Words that are drawn from, each with the blank behind it.
const SLOTS: usize = 1 << SLOT_BITS;
const SLOT_BITS: u32 = 10;
/// Words of one draw of 64 bits.
const WORDS_A_DRAW: usize = 64 / SLOT_BITS as usize;
/// The increment of a stream's counter: 2⁶⁴ divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Words of up to seven letters with a blank behind them, the first letter in the lowest byte; what is not used is zero.
/// Frequent words come first in the list they are taken from and have more slots: word i of n has slots in proportion
/// to √(i+1) − √i, which gives the first of them four in a hundred, as "the" has in English.
static WORDS: [u64; SLOTS] = words();

const fn words() -> [u64; SLOTS] {
    let mut packed = [0_u64; ENGLISH.len()];
    let (mut count, mut index) = (0, 0);
    while index < ENGLISH.len() {
        let word = ENGLISH[index].as_bytes();
        if word.len() <= 7 {
            let (mut bytes, mut place) = (b' ' as u64, word.len());
            while place > 0 {
                place -= 1;
                bytes = bytes << 8 | word[place] as u64;
            }
            packed[count] = bytes;
            count += 1;
        }
        index += 1;
    }
    let mut slots = [0_u64; SLOTS];
    let mut slot = 0;
    while slot < SLOTS {
        slots[slot] = packed[count * slot * slot / (SLOTS * SLOTS)];
        slot += 1;
    }
    slots
}

/// The finalizer of splitmix64 (Steele, Lea, Flood 2014, after Stafford's thirteenth variant).
pub(super) fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(GOLDEN);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// How long a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// So many characters.
    Characters(usize),
    /// So many bytes where `"` and `\` count twice, as they do in the text of a document.
    Escaped(usize),
}

impl Length {
    /// The most characters there can be.
    pub(super) fn most(self) -> usize {
        match self {
            Length::Characters(length) | Length::Escaped(length) => length,
        }
    }
}

/// Writes the characters of a value, unescaped, to the beginning of `out`, which is longer than the value by [`SLACK`].
/// Returns how many there are.
#[inline]
pub(super) fn characters(values: Values, length: Length, hash: u64, version: u32, out: &mut [u8]) -> usize {
    out[..TAG].copy_from_slice(&tag(version));
    let most = length.most();
    match values {
        Values::Text => {
            text(&mut out[TAG..most + SLACK], most - TAG, hash);
            most
        }
        Values::Random => {
            random(&mut out[TAG..most + SLACK], most - TAG, hash);
            match length {
                Length::Characters(_) => most,
                Length::Escaped(bytes) => cut(out, bytes),
            }
        }
    }
}

/// Eight hexadecimal digits.
#[inline]
pub(super) fn tag(version: u32) -> [u8; TAG] {
    // One digit a byte, the highest first in memory.
    let mut x = u64::from(version);
    x = (x | (x << 16)) & 0x0000_ffff_0000_ffff;
    x = (x | (x << 8)) & 0x00ff_00ff_00ff_00ff;
    x = (x | (x << 4)) & 0x0f0f_0f0f_0f0f_0f0f;
    // Digits above nine carry into the fifth bit when six is added.
    let letters = ((x + 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101;
    (x + 0x3030_3030_3030_3030 + letters * u64::from(b'a' - b'0' - 10)).to_be_bytes()
}

/// The version that a tag names; lower-case digits only, as [`tag`] writes them.
#[inline]
pub(super) fn version(digits: [u8; TAG]) -> Option<u32> {
    let mut version = 0;
    for digit in digits {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        version = version << 4 | u32::from(value);
    }
    Some(version)
}

/// Words until so many bytes are full; the last word may be cut.
#[inline]
fn text(out: &mut [u8], length: usize, hash: u64) {
    let (mut at, mut counter) = (0, hash);
    while at < length {
        counter = counter.wrapping_add(GOLDEN);
        let mut bits = mix(counter);
        for _ in 0..WORDS_A_DRAW {
            let word = WORDS[bits as usize % SLOTS];
            out[at..at + 8].copy_from_slice(&word.to_le_bytes());
            at += 8 - (word.leading_zeros() / 8) as usize;
            bits >>= SLOT_BITS;
        }
    }
}

/// Characters from the blank to the tilde.
#[inline]
fn random(out: &mut [u8], length: usize, hash: u64) {
    // 95 characters out of 256: some are drawn three times where others are drawn twice. Four bytes at a time, each in
    // sixteen bits, so that a product never reaches its neighbour.
    const LANES: u64 = 0x00ff_00ff_00ff_00ff;
    let mut counter = hash;
    for chunk in out[..length.next_multiple_of(8)].chunks_exact_mut(8) {
        counter = counter.wrapping_add(GOLDEN);
        let bits = mix(counter);
        let even = (((bits & LANES) * 95) >> 8) & LANES;
        let odd = (((bits >> 8) & LANES) * 95) & !LANES;
        chunk.copy_from_slice(&((even | odd) + 0x2020_2020_2020_2020).to_le_bytes());
    }
}

/// How many characters take this many bytes once they are escaped. Where the last one would take a byte too many, another
/// takes its place.
fn cut(out: &mut [u8], bytes: usize) -> usize {
    let mut left = bytes;
    for (at, character) in out.iter_mut().enumerate() {
        if left == 0 {
            return at;
        }
        if matches!(character, b'"' | b'\\') {
            if left == 1 {
                *character = b'~';
                return at + 1;
            }
            left -= 1;
        }
        left -= 1;
    }
    bytes
}

/// Escapes the first characters in place and returns how many bytes they are then. There must be room for twice as many.
pub(super) fn escape(text: &mut [u8], length: usize) -> usize {
    let specials = memchr::memchr2_iter(b'"', b'\\', &text[..length]).count();
    let bytes = length + specials;
    // From the end, so that nothing is overwritten before it has been moved.
    let (mut end, mut to) = (length, bytes);
    while end < to {
        let special = memchr::memrchr2(b'"', b'\\', &text[..end]).unwrap_or_default();
        to -= end - special;
        text.copy_within(special..end, to);
        to -= 1;
        text[to] = b'\\';
        end = special;
    }
    bytes
}
