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

/// Returns the position of the first `"`, `\` or control character from `at` on, or the length if there is
/// none.
#[inline(always)]
pub(super) fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let found = specials(u64::from_le_bytes(*chunk));
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while let Some(&byte) = bytes.get(at) {
        if byte == b'"' || byte == b'\\' || byte < 0x20 {
            return at;
        }
        at += 1;
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

/// Parses four hexadecimal digits at `at`. `None` if there are fewer.
pub(super) fn four_digits(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
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
pub(super) fn decode(raw: &[u8]) -> Vec<u8> {
    decode_with(raw, |decoded, half| {
        let continuation = |shift: u32| 0x80 | ((half >> shift) & 0x3f) as u8;
        decoded.extend_from_slice(&[0xe0 | (half >> 12) as u8, continuation(6), continuation(0)]);
    })
}

/// Decodes a string whose escapes have been validated, with U+FFFD for surrogate halves.
pub(super) fn unescape(raw: &str) -> String {
    let decoded = decode_with(raw.as_bytes(), |decoded, _| decoded.extend_from_slice("\u{fffd}".as_bytes()));
    String::from_utf8_lossy(&decoded).into_owned()
}

fn decode_with(raw: &[u8], half: impl Fn(&mut Vec<u8>, u32)) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(raw.len());
    let mut at = 0;
    while let Some(&byte) = raw.get(at) {
        if byte != b'\\' {
            decoded.push(byte);
            at += 1;
            continue;
        }
        at += 2;
        let plain = match raw.get(at - 1) {
            Some(b'b') => 0x08,
            Some(b'f') => 0x0c,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                let mut unit = four_digits(raw, at).unwrap_or_default();
                at += 4;
                if is_high_surrogate(unit)
                    && raw.get(at..at + 2) == Some(b"\\u")
                    && let Some(low) = four_digits(raw, at + 2).filter(|low| is_low_surrogate(*low))
                {
                    unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                    at += 6;
                }
                match char::from_u32(unit) {
                    Some(character) => {
                        decoded.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                    None => half(&mut decoded, unit),
                }
                continue;
            }
            Some(&other) => other,
            None => continue,
        };
        decoded.push(plain);
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain_end_by_byte(bytes: &[u8], at: usize) -> usize {
        let special = |byte: &u8| *byte == b'"' || *byte == b'\\' || *byte < 0x20;
        bytes[at..].iter().position(special).map_or(bytes.len(), |offset| at + offset)
    }

    #[test]
    fn ends_are_found_at_every_distance_and_byte() {
        for byte in 0..=255u8 {
            for length in 0..20 {
                for place in 0..length {
                    let mut bytes = vec![b'x'; length];
                    bytes[place] = byte;
                    for at in 0..=length {
                        assert_eq!(
                            plain_end(&bytes, at),
                            plain_end_by_byte(&bytes, at),
                            "{byte} {place} {at}"
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
                let kept = length.min(8);
                word[..kept].copy_from_slice(&bytes[start..start + kept]);
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
