//! Hashes of numbers as exact decimals.

use super::{NUMBER, combine};

/// Returns the end of the number that begins at `start`. `None` if there is none of the JSON grammar.
pub(super) fn end(text: &[u8], start: usize) -> Option<usize> {
    let digits_end = |mut position: usize| {
        while text.get(position).is_some_and(u8::is_ascii_digit) {
            position += 1;
        }
        position
    };
    let first = start + usize::from(text.get(start) == Some(&b'-'));
    let mut position = match text.get(first) {
        Some(b'0') => first + 1,
        Some(b'1'..=b'9') => digits_end(first + 1),
        _ => return None,
    };
    if text.get(position) == Some(&b'.') {
        let fraction = position + 1;
        position = digits_end(fraction);
        if position == fraction {
            return None;
        }
    }
    if matches!(text.get(position), Some(b'e' | b'E')) {
        let exponent = position + 1 + usize::from(matches!(text.get(position + 1), Some(b'+' | b'-')));
        position = digits_end(exponent);
        if position == exponent {
            return None;
        }
    }
    Some(position)
}

/// Number of significant digits that always fit into 64 bits.
const MANTISSA_DIGITS: u64 = 19;

/// Hashes a number of the JSON grammar by its value: sign, significant digits and the power of ten of the
/// last of them.
pub(super) fn number_hash(text: &[u8]) -> u64 {
    let (is_negative, text) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, text),
    };
    let (mut mantissa, mut digits) = (0_u64, 0_u64);
    // Hash (FNV-1a) of the digits that `mantissa` has no room for. If they wrapped around in it, a number would
    // equal what is left of it in 64 bits.
    let mut further_digits = 0xcbf2_9ce4_8422_2325_u64;
    let mut append = |digit: u8, place: u64| {
        if place < MANTISSA_DIGITS {
            mantissa = mantissa * 10 + u64::from(digit);
        } else {
            further_digits = (further_digits ^ u64::from(digit)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    // Zeros that are not significant unless another digit follows.
    let mut zeros = 0_u64;
    let mut exponent = 0_i64;
    let mut is_fraction = false;
    for (index, byte) in text.iter().enumerate() {
        match byte {
            b'.' => is_fraction = true,
            b'e' | b'E' => {
                exponent = exponent.saturating_add(parse_exponent(text.get(index + 1..).unwrap_or_default()));
                break;
            }
            digit => {
                exponent -= i64::from(is_fraction);
                if *digit == b'0' {
                    zeros += u64::from(digits > 0);
                } else {
                    for place in digits..digits + zeros {
                        append(0, place);
                    }
                    append(digit.wrapping_sub(b'0'), digits + zeros);
                    digits += zeros + 1;
                    zeros = 0;
                }
            }
        }
    }
    if digits == 0 {
        return combine(0, NUMBER);
    }
    let exponent = exponent.saturating_add_unsigned(zeros);
    let shape = digits << 1 | u64::from(is_negative);
    let digits_hash = combine(mantissa, further_digits);
    combine(combine(digits_hash, exponent.cast_unsigned()), combine(shape, NUMBER))
}

fn parse_exponent(text: &[u8]) -> i64 {
    let (is_negative, digits) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, text),
    };
    let magnitude = digits
        .iter()
        .fold(0_i64, |sum, digit| sum.saturating_mul(10).saturating_add(i64::from(digit.wrapping_sub(b'0'))));
    if is_negative { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spellings_of_one_number_are_equal_and_neighbours_are_not() {
        let hash = |text: &str| number_hash(text.as_bytes());
        for (left, right) in [
            ("1", "1.0"),
            ("1", "10e-1"),
            ("100", "1E+2"),
            ("0.00012", "1.2e-4"),
            ("-0", "0"),
            ("0e999999999999999999999999", "0.000"),
            ("123456789012345678901234567890", "1.2345678901234567890123456789e29"),
        ] {
            assert_eq!(hash(left), hash(right), "{left} {right}");
        }
        for (left, right) in [
            ("9007199254740993", "9007199254740992"),
            ("1", "-1"),
            ("1", "10"),
            ("1", "0.1"),
            ("0.1", "0.1000000000000000055511151231257827"),
            ("1e400", "1e401"),
            ("1", "11"),
            ("101", "11"),
            // Equal in 64 bits without a sign.
            ("28446744073709551617", "10000000000000000001"),
            ("123456789012345678901", "123456789012345678902"),
            ("1234567890123456789010", "1234567890123456789100"),
        ] {
            assert_ne!(hash(left), hash(right), "{left} {right}");
        }
    }

    #[test]
    fn numbers_end_where_the_grammar_says() {
        for (text, expected) in [
            ("0", Some(1)),
            ("-12.50e+3,", Some(9)),
            ("01", Some(1)),
            ("-", None),
            ("1.", None),
            ("1e", None),
            (".5", None),
        ] {
            assert_eq!(end(text.as_bytes(), 0), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn zeros_and_exponents_do_not_matter(value: i64, zeros in 0_usize..30, shift in 0_usize..20) {
            let expected = number_hash(value.to_string().as_bytes());
            let point = format!("{value}.{}", "0".repeat(zeros + 1));
            prop_assert_eq!(number_hash(point.as_bytes()), expected);
            let shifted = format!("{value}{}e-{shift}", "0".repeat(shift));
            prop_assert_eq!(number_hash(shifted.as_bytes()), expected);
        }

        #[test]
        fn other_numbers_differ(left: i64, right: i64) {
            prop_assume!(left != right);
            prop_assert_ne!(number_hash(left.to_string().as_bytes()), number_hash(right.to_string().as_bytes()));
        }
    }
}
