//! JSON numbers as exact decimals, and which of them a double can represent.

use std::cmp::Ordering;

/// Exact value of a number: (−1)^negative × 0.digits × 10^exponent, without zeros at either end of `digits`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    exponent: i128,
}

impl Decimal {
    /// Parses a JSON number without rounding, however long it is. Exponents beyond 10^36 are clamped to it.
    /// Minus zero equals zero, because RFC 8785 writes both as `0`.
    ///
    /// The result is unspecified for text that is not a number of the JSON grammar; validate it with
    /// [`super::strict`] first.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent_text) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
        let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let written: Vec<u8> = integer.bytes().chain(fraction.bytes()).filter(u8::is_ascii_digit).collect();
        let leading = written.iter().take_while(|digit| **digit == b'0').count();
        let trailing = written.iter().rev().take_while(|digit| **digit == b'0').count();
        let end = written.len().saturating_sub(trailing);
        let digits = written.get(leading..end).unwrap_or_default().to_vec();
        if digits.is_empty() {
            return Self { negative: false, digits, exponent: 0 };
        }
        let point = integer.len() as i128 - leading as i128;
        Self { negative, digits, exponent: exponent(exponent_text).saturating_add(point) }
    }

    /// Returns `true` if `other` has one digit more and lies halfway between this number and a neighbour of
    /// as many digits.
    fn is_half_a_digit_from(&self, other: &Self) -> bool {
        let Some((b'5', prefix)) = other.digits.split_last() else { return false };
        let to_integer =
            |digits: &[u8]| digits.iter().fold(0_u128, |sum, digit| sum * 10 + u128::from(digit - b'0'));
        self.negative == other.negative
            && self.exponent == other.exponent
            && self.digits.len() == prefix.len()
            && prefix.len() <= DIGITS
            && matches!(to_integer(&self.digits).checked_sub(to_integer(prefix)), Some(0 | 1))
    }

    /// Returns `true` for zero of either sign.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| match (number.is_zero(), number.negative) {
            (true, _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        };
        let magnitude = || (self.exponent, &self.digits).cmp(&(other.exponent, &other.digits));
        sign(self).cmp(&sign(other)).then_with(|| match sign(self) {
            0 => Ordering::Equal,
            -1 => magnitude().reverse(),
            _ => magnitude(),
        })
    }
}

fn exponent(text: &str) -> i128 {
    const MAX: i128 = 1_000_000_000_000_000_000_000_000_000_000_000_000;
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let magnitude = digits
        .bytes()
        .filter(u8::is_ascii_digit)
        .fold(0_i128, |sum, digit| sum.saturating_mul(10).saturating_add(i128::from(digit - b'0')).min(MAX));
    if negative { -magnitude } else { magnitude }
}

/// Maximum number of significant digits needed to distinguish all doubles.
const DIGITS: usize = 17;
/// Decimal places that print every double exactly in scientific notation: the smallest ones have 767
/// significant digits.
const EXACT: usize = 766;

/// Returns `true` if a double represents a number as it is spelt, which RFC 7493 (section 2.2) asks of
/// numbers that are interchanged.
///
/// The number must have at most 17 significant digits, and one of these must hold. The nearest double,
/// rounded to as many digits (in either direction from the exact middle), has this spelling. Or the double is
/// printed this way because no shorter spelling parses back to it.
#[must_use]
pub fn is_double(text: &str) -> bool {
    let exact = Decimal::from_text(text);
    let digits = exact.digits.len();
    digits <= DIGITS
        && text.parse::<f64>().is_ok_and(|double| {
            let is_exact = |spelling: String| Decimal::from_text(&spelling) == exact;
            double.is_finite()
                && (is_exact(format!("{double:.*e}", digits.saturating_sub(1)))
                    || is_exact(format!("{double:e}"))
                    || exact.is_half_a_digit_from(&Decimal::from_text(&format!("{double:.EXACT$e}"))))
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spellings_of_one_number_are_equal_and_neighbours_are_not() {
        for (left, right) in [
            ("1", "1.0"),
            ("1", "10e-1"),
            ("100", "1E+2"),
            ("0.00012", "1.2e-4"),
            ("-0", "0"),
            ("0e999999999999999999999999", "0.000"),
            ("123456789012345678901234567890", "1.2345678901234567890123456789e29"),
        ] {
            assert_eq!(Decimal::from_text(left), Decimal::from_text(right), "{left} {right}");
        }
        for (left, right) in [
            ("9007199254740993", "9007199254740992"),
            ("1", "-1"),
            ("0.1", "0.1000000000000000055511151231257827"),
            ("1e400", "1e401"),
            ("1", "11"),
        ] {
            assert_ne!(Decimal::from_text(left), Decimal::from_text(right), "{left} {right}");
        }
    }

    #[test]
    fn doubles_hold_what_they_print() {
        for text in ["0", "-0", "0.1", "1.0", "9007199254740992", "1e23", "5e-324", "295147905179352830000"] {
            assert!(is_double(text), "{text}");
        }
        for text in [
            "9007199254740993",
            "1e400",
            "1e-400",
            "3.141592653589793238462643383279",
            "18446744073709551615",
        ] {
            assert!(!is_double(text), "{text}");
        }
    }

    #[test]
    fn what_two_correct_printers_print_is_of_a_double() {
        // Exactly …508.25, which has two nearest spellings of 17 digits; both parse back to it. Its exact
        // spelling has more digits than doubles need.
        for text in ["-1071783055301508.2", "-1071783055301508.3"] {
            assert!(is_double(text), "{text}");
        }
        // The others lie halfway between two doubles, which is a different case.
        for text in ["-1071783055301508.25", "9007199254740993", "18014398509481983", "18014398509481986"] {
            assert!(!is_double(text), "{text}");
        }
        // A power of two has a nearer neighbour below than above.
        for power in -1074..1024 {
            let double = 2_f64.powi(power);
            assert!(is_double(&format!("{double:e}")), "2^{power}");
            assert!(is_double(&format!("{double:.16e}")), "2^{power}");
        }
    }

    proptest! {
        #[test]
        fn order_is_that_of_the_numbers(
            left in -1_000_000_i64..1_000_000,
            right in -1_000_000_i64..1_000_000,
            shift in 0_u32..12,
        ) {
            let text = |number: i64| format!("{}e-{shift}", number);
            prop_assert_eq!(Decimal::from_text(&text(left)).cmp(&Decimal::from_text(&text(right))), left.cmp(&right));
        }

        #[test]
        fn a_double_is_read_as_it_is_printed(bits: u64) {
            let double = f64::from_bits(bits);
            prop_assume!(double.is_finite());
            let shortest = format!("{double:e}");
            prop_assert!(is_double(&shortest));
            prop_assert_eq!(Decimal::from_text(&double.to_string()), Decimal::from_text(&shortest));
        }
    }
}
