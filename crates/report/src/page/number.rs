//! Serialises numbers for the page's data.

use serde::{Serialize, Serializer};

/// Significant digits of a measured value. No interval is so narrow that further digits would matter.
const DIGITS: i32 = 6;
/// Largest number up to which JavaScript holds every whole number exactly (2⁵³).
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A number of the page's data: whole numbers are kept, others are rounded to six significant digits, and
/// numbers that are not finite become null.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Number(pub(super) f64);

impl Number {
    fn rounded(self) -> f64 {
        let Self(value) = self;
        let decimals = DIGITS - 1 - value.abs().log10().floor() as i32;
        let scale = 10f64.powi(decimals);
        // The value is kept if the power of ten overflows.
        if scale.is_finite() && scale > 0.0 { (value * scale).round() / scale } else { value }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(value) = *self;
        if !value.is_finite() {
            serializer.serialize_none()
        } else if value.fract() == 0.0 && value.abs() <= EXACT {
            serializer.serialize_i64(value as i64)
        } else {
            serializer.serialize_f64(self.rounded())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_six_digits_and_counts_all() {
        let json = |value: f64| serde_json::to_string(&Number(value)).unwrap();
        assert_eq!(json(0.123_456_789), "0.123457");
        assert_eq!(json(12_345_678.9), "12345700.0");
        assert_eq!(json(-0.000_001_234_567_8), "-1.23457e-6");
        assert_eq!(json(1_234_567_890_123.0), "1234567890123");
        assert_eq!(json(0.0), "0");
        assert_eq!(json(f64::NAN), "null");
        assert_eq!(json(f64::INFINITY), "null");
        assert_eq!(json(f64::MIN_POSITIVE), "2.2250738585072014e-308");
    }
}
