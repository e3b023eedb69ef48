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

#[cfg(test)]
mod tests {
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
}
