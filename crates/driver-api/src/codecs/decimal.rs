//! Converts decimals, which may be wider than the cells of an answer, without silent loss.

use crate::rows::Cell;

/// Integers up to 2^53 in magnitude are exact in a double.
const EXACT: u128 = 1 << 53;

/// Converts `unscaled` × 10^−`scale` to a cell: an integer if `scale` is 0, otherwise the nearest double.
/// `None` for an integer that does not fit into 64 bits.
pub fn decimal(unscaled: i128, scale: u32) -> Option<Cell<'static>> {
    if scale == 0 {
        return i64::try_from(unscaled).ok().map(Cell::Int);
    }
    // Both operands are exact up to 2^53 and 10^22, so the division rounds once and its result is correctly
    // rounded.
    if unscaled.unsigned_abs() <= EXACT && scale <= 22 {
        let divisor = 10f64.powi(i32::try_from(scale).unwrap_or(22));
        return Some(Cell::Float(unscaled as f64 / divisor));
    }
    format!("{unscaled}e-{scale}").parse().ok().map(Cell::Float)
}

/// Parses a fixed-point number as databases write their decimals: an integer if its fraction is zero,
/// otherwise the nearest double. `None` if the text is no such number, or an integer outside 64 bits.
pub fn fixed_point(text: &str) -> Option<Cell<'static>> {
    if let Ok(whole) = text.parse() {
        return Some(Cell::Int(whole));
    }
    let (whole, fraction) = text.split_once('.').filter(|_| is_fixed_point(text))?;
    if fraction.bytes().all(|digit| digit == b'0') {
        return whole.parse().ok().map(Cell::Int);
    }
    let scale = u32::try_from(fraction.len()).ok()?;
    match format!("{whole}{fraction}").parse::<i128>() {
        Ok(unscaled) => decimal(unscaled, scale),
        // More digits than 128 bits hold.
        Err(_) => text.parse().ok().map(Cell::Float),
    }
}

/// Returns `true` if a text is digits with at most one point between them, and perhaps a minus sign.
pub fn is_fixed_point(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    [whole, fraction].iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_decimal_is_the_double_nearest_to_it() {
        assert_eq!(decimal(15, 1), Some(Cell::Float(1.5)));
        assert_eq!(decimal(-1, 1), Some(Cell::Float(-0.1)));
        assert_eq!(
            decimal(12_345_678_901_234_567_890_123, 4),
            Some(Cell::Float(1_234_567_890_123_456_789.012_3))
        );
        assert_eq!(decimal(1, 38), Some(Cell::Float(1e-38)));
    }

    #[test]
    fn a_whole_decimal_is_an_integer_or_nothing() {
        assert_eq!(decimal(i128::from(i64::MIN), 0), Some(Cell::Int(i64::MIN)));
        assert_eq!(decimal(i128::from(i64::MAX) + 1, 0), None);
    }

    #[test]
    fn whole_numbers_are_integers_and_others_the_nearest_doubles() {
        assert_eq!(fixed_point("0"), Some(Cell::Int(0)));
        assert_eq!(fixed_point("-9223372036854775808"), Some(Cell::Int(i64::MIN)));
        assert_eq!(fixed_point("9223372036854775808"), None);
        assert_eq!(fixed_point("18446744073709551615"), None);
        assert_eq!(fixed_point("12.00"), Some(Cell::Int(12)));
        assert_eq!(fixed_point("-0.1"), Some(Cell::Float(-0.1)));
        assert_eq!(fixed_point("0.30"), Some(Cell::Float(0.3)));
        let long = "3.14159265358979323846264338327950288419716939937510582097494";
        assert_eq!(fixed_point(long), Some(Cell::Float(std::f64::consts::PI)));
        for text in ["", "-", ".5", "5.", "x", "1e3", "0x10", "--1"] {
            assert_eq!(fixed_point(text), None, "{text}");
            assert!(!is_fixed_point(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn decimals_are_the_doubles_that_their_texts_are(unscaled in any::<i64>(), scale in 1..30_usize) {
            let digits = format!("{:0>1$}", unscaled.unsigned_abs(), scale + 1);
            let (whole, fraction) = digits.split_at(digits.len() - scale);
            let text = format!("{}{whole}.{fraction}", if unscaled < 0 { "-" } else { "" });
            let expected: f64 = text.parse().unwrap();
            match fixed_point(&text) {
                Some(Cell::Int(whole)) => prop_assert_eq!(whole as f64, expected),
                Some(Cell::Float(float)) => prop_assert_eq!(float, expected),
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }
}
