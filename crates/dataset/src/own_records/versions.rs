//! Values at the update path and the versions that they bear.

use super::description::UpdateKind;
use crate::value_digest::{Captured, CapturedKind, combine, integer_value_hash, text_value_hash};

/// Length of a version in a text, and so of the shortest text.
const VERSION_DIGITS: usize = 8;
/// Characters after the version.
const FILL: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Appends the characters of the text that a write of this version leaves in a record whose loaded text has
/// `length` bytes.
pub(super) fn write_text(number: u64, version: u32, length: u32, out: &mut Vec<u8>) {
    let start = out.len();
    let length = (length as usize).max(VERSION_DIGITS);
    out.resize(start + length, b'a');
    let Some(text) = out.get_mut(start..) else { return };
    let (digits, fill) = text.split_at_mut(VERSION_DIGITS);
    for (index, digit) in digits.iter_mut().rev().enumerate() {
        let nibble = (version >> (4 * index) & 15) as u8;
        *digit = if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 };
    }
    let mut state = combine(number, u64::from(version));
    // Twelve characters of five bits from each hash.
    for part in fill.chunks_mut(12) {
        let mut bits = state;
        for byte in part {
            *byte = FILL[(bits & 31) as usize];
            bits >>= 5;
        }
        state = combine(state, u64::from(version));
    }
}

/// Appends the value of a version: the characters of a text, or the digits of an integer.
pub(super) fn write(kind: UpdateKind, number: u64, version: u32, length: u32, out: &mut Vec<u8>) {
    match kind {
        UpdateKind::Text => write_text(number, version, length, out),
        UpdateKind::Integer => out.extend_from_slice(itoa::Buffer::new().format(version).as_bytes()),
    }
}

/// Hash of the value of a version, as in [`Captured::hash`]. `buffer` is working memory.
pub(super) fn hash(kind: UpdateKind, number: u64, version: u32, length: u32, buffer: &mut Vec<u8>) -> u64 {
    match kind {
        UpdateKind::Integer => integer_value_hash(i64::from(version)),
        UpdateKind::Text => {
            buffer.clear();
            write_text(number, version, length, buffer);
            text_value_hash(buffer)
        }
    }
}

/// Returns the version that a text bears, if the text is that of this record and version.
pub(super) fn of_text(text: &[u8], number: u64, length: u32, buffer: &mut Vec<u8>) -> Option<u32> {
    let digits = std::str::from_utf8(text.get(..VERSION_DIGITS)?).ok()?;
    let version = u32::from_str_radix(digits, 16).ok()?;
    buffer.clear();
    write_text(number, version, length, buffer);
    (buffer.as_slice() == text && version > 0).then_some(version)
}

/// Returns the version that an integer is.
pub(super) fn of_integer(value: i64) -> Option<u32> {
    u32::try_from(value).ok().filter(|version| *version > 0)
}

/// Returns a number found in a document as an integer, however the system writes it. `None` if it is none.
pub(super) fn integer_in(captured: &Captured, document: &[u8]) -> Option<i64> {
    if captured.kind != CapturedKind::Number {
        return None;
    }
    captured.integer(document).or_else(|| {
        // A system may write the integer with a point or an exponent.
        let number: f64 = std::str::from_utf8(captured.raw(document)).ok()?.parse().ok()?;
        (number.fract() == 0.0 && number.abs() < 1e15).then_some(number as i64)
    })
}

/// Returns the version that a value found in a document bears. `None` if it bears none of this record.
pub(super) fn of_captured(
    captured: &Captured,
    document: &[u8],
    (kind, number, length): (UpdateKind, u64, u32),
    buffer: &mut Vec<u8>,
) -> Option<u32> {
    match kind {
        UpdateKind::Text => of_text(&captured.text(document)?, number, length, buffer),
        UpdateKind::Integer => of_integer(integer_in(captured, document)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_bear_their_version_and_keep_their_length() {
        let mut buffer = Vec::new();
        for (length, expected) in [(0, 8), (7, 8), (8, 8), (9, 9), (100, 100)] {
            let mut text = Vec::new();
            write_text(5, 0xabc, length, &mut text);
            assert_eq!(text.len(), expected);
            assert!(text.starts_with(b"00000abc"));
            assert_eq!(of_text(&text, 5, length, &mut buffer), Some(0xabc));
            if expected > 8 {
                assert_eq!(of_text(&text, 6, length, &mut buffer), None);
                text.pop();
                assert_eq!(of_text(&text, 5, length, &mut buffer), None);
            }
        }
        assert_eq!(of_text(b"+0000abc", 5, 8, &mut buffer), None);
        assert_eq!(of_text(b"00000000", 5, 8, &mut buffer), None);
        assert_eq!((of_integer(7), of_integer(0), of_integer(-1)), (Some(7), None, None));
    }
}
