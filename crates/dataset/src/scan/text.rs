//! String scanning: finds the end of a string and decodes its escapes.

/// Lowest bit of every byte.
const LOW: u64 = 0x0101_0101_0101_0101;
/// Highest bit of every byte.
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Marks bytes that end the plain part of a string (`"`, `\` and control characters) by their highest bits.
///
/// Combines three "has a byte less than n" tests (Warren, Hacker's Delight, 6-1). Bits above the lowest one
/// may be wrong because a subtraction borrows upwards. Only the lowest bit is exact and used.
#[inline(always)]
fn specials(word: u64) -> u64 {
    let quote = word ^ (LOW * b'"' as u64);
    let backslash = word ^ (LOW * b'\\' as u64);
    let quote = quote.wrapping_sub(LOW) & !quote;
    let backslash = backslash.wrapping_sub(LOW) & !backslash;
    let control = word.wrapping_sub(LOW * 0x20) & !word;
    (quote | backslash | control) & HIGH
}

/// Returns the position of the first `"`, `\` or control character from `position` on, or the length if
/// there is none.
#[inline(always)]
pub(crate) fn plain_end(bytes: &[u8], mut position: usize) -> usize {
    while let Some(chunk) = bytes.get(position..).and_then(|rest| rest.first_chunk::<8>()) {
        let marks = specials(u64::from_le_bytes(*chunk));
        if marks != 0 {
            return position + (marks.trailing_zeros() / 8) as usize;
        }
        position += 8;
    }
    while let Some(&byte) = bytes.get(position) {
        if byte == b'"' || byte == b'\\' || byte < 0x20 {
            return position;
        }
        position += 1;
    }
    bytes.len()
}

/// Returns up to eight first bytes of `bytes[start..start + length]` as a little-endian word, padded with
/// zeros.
#[inline(always)]
pub(super) fn prefix_word(bytes: &[u8], start: usize, length: usize) -> u64 {
    if let Some(chunk) = bytes.get(start..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        return if length >= 8 { word } else { word & ((1 << (8 * length)) - 1) };
    }
    let end = start + length.min(8);
    bytes.get(start..end).unwrap_or_default().iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// Parses four hexadecimal digits at `position`. `None` if there are fewer.
pub(crate) fn four_digits(bytes: &[u8], position: usize) -> Option<u32> {
    let digits = bytes.get(position..position + 4)?;
    digits.iter().try_fold(0, |value, &digit| Some(value << 4 | char::from(digit).to_digit(16)?))
}

/// Returns `true` for the first half of a surrogate pair (U+D800 to U+DBFF).
pub(super) fn is_high_surrogate(unit: u32) -> bool {
    (0xd800..0xdc00).contains(&unit)
}

/// Returns `true` for the second half of a surrogate pair (U+DC00 to U+DFFF).
pub(super) fn is_low_surrogate(unit: u32) -> bool {
    (0xdc00..0xe000).contains(&unit)
}

/// Decodes a string whose escapes have been validated. Surrogate halves are kept (as WTF-8), so that two
/// strings are equal exactly if their decoded bytes are.
pub(crate) fn decode(raw: &[u8]) -> Vec<u8> {
    decode_with(raw, |decoded, surrogate| {
        let continuation = |shift: u32| 0x80 | ((surrogate >> shift) & 0x3f) as u8;
        decoded.extend_from_slice(&[0xe0 | (surrogate >> 12) as u8, continuation(6), continuation(0)]);
    })
}

/// Decodes a string whose escapes have been validated, with U+FFFD for surrogate halves.
pub(super) fn unescape(raw: &str) -> String {
    let decoded = decode_with(raw.as_bytes(), |decoded, _| decoded.extend_from_slice("\u{fffd}".as_bytes()));
    String::from_utf8_lossy(&decoded).into_owned()
}

fn decode_with(raw: &[u8], push_surrogate: impl Fn(&mut Vec<u8>, u32)) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(raw.len());
    let mut position = 0;
    while let Some(&byte) = raw.get(position) {
        if byte != b'\\' {
            decoded.push(byte);
            position += 1;
            continue;
        }
        position += 2;
        let decoded_byte = match raw.get(position - 1) {
            Some(b'b') => 0x08,
            Some(b'f') => 0x0c,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                let mut unit = four_digits(raw, position).unwrap_or_default();
                position += 4;
                if is_high_surrogate(unit)
                    && raw.get(position..position + 2) == Some(b"\\u")
                    && let Some(low) = four_digits(raw, position + 2).filter(|low| is_low_surrogate(*low))
                {
                    unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                    position += 6;
                }
                match char::from_u32(unit) {
                    Some(character) => {
                        decoded.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                    None => push_surrogate(&mut decoded, unit),
                }
                continue;
            }
            Some(&other) => other,
            None => continue,
        };
        decoded.push(decoded_byte);
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain_end_by_byte(bytes: &[u8], start: usize) -> usize {
        let is_special = |byte: &u8| *byte == b'"' || *byte == b'\\' || *byte < 0x20;
        bytes[start..].iter().position(is_special).map_or(bytes.len(), |offset| start + offset)
    }

    #[test]
    fn ends_are_found_at_every_distance_and_byte() {
        for byte in 0..=255u8 {
            for length in 0..20 {
                for index in 0..length {
                    let mut bytes = vec![b'x'; length];
                    bytes[index] = byte;
                    for start in 0..=length {
                        assert_eq!(
                            plain_end(&bytes, start),
                            plain_end_by_byte(&bytes, start),
                            "{byte} {index} {start}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn words_hold_the_first_bytes_of_a_key() {
        let bytes = b"abcdefghijkl";
        for start in 0..bytes.len() {
            for length in 0..=bytes.len() - start {
                let mut word = [0; 8];
                let prefix_length = length.min(8);
                word[..prefix_length].copy_from_slice(&bytes[start..start + prefix_length]);
                assert_eq!(prefix_word(bytes, start, length), u64::from_le_bytes(word), "{start} {length}");
            }
        }
    }

    #[test]
    fn escapes_decode() {
        assert_eq!(decode(br#"a\"\\\/\b\f\n\r\tz"#), b"a\"\\/\x08\x0c\n\r\tz");
        assert_eq!(decode(br"\u00e9\u20AC\ud83d\ude00"), "é€😀".as_bytes());
        assert_eq!(decode(br"\ud83dx\ude00"), [0xed, 0xa0, 0xbd, b'x', 0xed, 0xb8, 0x80]);
        assert_eq!(decode(br"\ud83d\ud83d\ude00"), [b"\xed\xa0\xbd".as_slice(), "😀".as_bytes()].concat());
        assert_eq!(decode("é".as_bytes()), "é".as_bytes());
        assert_eq!(unescape(r"é\u00e9\ud83d\ud83d\ude00"), "éé\u{fffd}😀");
    }
}
