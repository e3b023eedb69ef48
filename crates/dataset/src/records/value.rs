//! Generates string values: a tag of eight hexadecimal digits, then characters derived from record, path and
//! version.

use super::Values;
use crate::generate::words::ENGLISH;

/// Length of a tag in characters.
pub(super) const TAG: usize = 8;
/// Bytes after a value that its generation may overwrite.
pub(super) const SLACK: usize = 64;

/// Number of slots in the table of words.
const SLOTS: usize = 1 << SLOT_BITS;
const SLOT_BITS: u32 = 10;
/// Number of words taken from one draw of 64 bits.
const WORDS_A_DRAW: usize = 64 / SLOT_BITS as usize;
/// Increment of a stream's counter: 2⁶⁴ divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Words of up to seven letters followed by a space, packed with the first letter in the lowest byte and
/// unused bytes zero. Frequent words come first in the source list and have more slots: word i of n has slots
/// in proportion to √(i+1) − √i. This gives the first word a share of 4 %, like "the" in English.
static WORDS: [u64; SLOTS] = words();

const fn words() -> [u64; SLOTS] {
    let mut packed = [0_u64; ENGLISH.len()];
    let (mut count, mut index) = (0, 0);
    while index < ENGLISH.len() {
        let word = ENGLISH[index].as_bytes();
        if word.len() <= 7 {
            let (mut bytes, mut position) = (b' ' as u64, word.len());
            while position > 0 {
                position -= 1;
                bytes = bytes << 8 | word[position] as u64;
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

/// Finalizer of splitmix64 (Steele, Lea, Flood 2014, after Stafford's thirteenth variant).
pub(super) fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(GOLDEN);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Length of a value, in one of two units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// Number of characters before escaping.
    Characters(usize),
    /// Number of bytes after escaping: `"` and `\` count twice.
    Escaped(usize),
}

impl Length {
    /// Returns the maximum number of characters.
    pub(super) fn max_length(self) -> usize {
        match self {
            Length::Characters(length) | Length::Escaped(length) => length,
        }
    }
}

/// Writes the unescaped characters of a value to the start of `out`, which must be longer than the value by
/// [`SLACK`]. Returns the number of characters.
#[inline]
pub(super) fn characters(values: Values, length: Length, hash: u64, version: u32, out: &mut [u8]) -> usize {
    out[..TAG].copy_from_slice(&tag(version));
    let length_limit = length.max_length();
    match values {
        Values::Text => {
            text(&mut out[TAG..length_limit + SLACK], length_limit - TAG, hash);
            length_limit
        }
        Values::Random => {
            random(&mut out[TAG..length_limit + SLACK], length_limit - TAG, hash);
            match length {
                Length::Characters(_) => length_limit,
                Length::Escaped(bytes) => cut(out, bytes),
            }
        }
    }
}

/// Formats a version as eight hexadecimal digits.
#[inline]
pub(super) fn tag(version: u32) -> [u8; TAG] {
    // One digit per byte, the highest first in memory.
    let mut x = u64::from(version);
    x = (x | (x << 16)) & 0x0000_ffff_0000_ffff;
    x = (x | (x << 8)) & 0x00ff_00ff_00ff_00ff;
    x = (x | (x << 4)) & 0x0f0f_0f0f_0f0f_0f0f;
    // Adding six carries digits above nine into the fifth bit.
    let letters = ((x + 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101;
    (x + 0x3030_3030_3030_3030 + letters * u64::from(b'a' - b'0' - 10)).to_be_bytes()
}

/// Parses the version from a tag. `None` unless all digits are lower-case hexadecimal, as written by [`tag`].
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

/// Fills `length` bytes with words; the last word may be cut off.
#[inline]
fn text(out: &mut [u8], length: usize, hash: u64) {
    let (mut position, mut counter) = (0, hash);
    while position < length {
        counter = counter.wrapping_add(GOLDEN);
        let mut bits = mix(counter);
        for _ in 0..WORDS_A_DRAW {
            let word = WORDS[bits as usize % SLOTS];
            out[position..position + 8].copy_from_slice(&word.to_le_bytes());
            position += 8 - (word.leading_zeros() / 8) as usize;
            bits >>= SLOT_BITS;
        }
    }
}

/// Fills `length` bytes with printable ASCII characters, from space to tilde.
#[inline]
fn random(out: &mut [u8], length: usize, hash: u64) {
    // 95 characters of 256 values: some are drawn three times as some others twice. Four bytes are processed
    // at a time in 16-bit lanes, so that products do not overlap.
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

/// Returns the number of characters that take `bytes` bytes when escaped. If the last one would take one byte
/// too many, it is replaced by `~`.
fn cut(out: &mut [u8], bytes: usize) -> usize {
    let mut remaining = bytes;
    for (index, character) in out.iter_mut().enumerate() {
        if remaining == 0 {
            return index;
        }
        if matches!(character, b'"' | b'\\') {
            if remaining == 1 {
                *character = b'~';
                return index + 1;
            }
            remaining -= 1;
        }
        remaining -= 1;
    }
    bytes
}

/// Escapes the first `length` characters in place and returns the resulting length. `text` must have room for
/// twice as many bytes.
pub(super) fn escape(text: &mut [u8], length: usize) -> usize {
    let specials = memchr::memchr2_iter(b'"', b'\\', &text[..length]).count();
    let bytes = length + specials;
    // Processed from the end, so that nothing is overwritten before it has been moved.
    let (mut end, mut target) = (length, bytes);
    while end < target {
        let index = memchr::memrchr2(b'"', b'\\', &text[..end]).unwrap_or_default();
        target -= end - index;
        text.copy_within(index..end, target);
        target -= 1;
        text[target] = b'\\';
        end = index;
    }
    bytes
}
