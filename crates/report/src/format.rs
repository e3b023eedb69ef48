//! Formats times, ratios, shares and metrics for readers, usually with three significant digits.

use jsonathlon_schema::metric::Unit;

pub(crate) use jsonathlon_results::number_format::three_digits;
pub use jsonathlon_results::number_format::{bytes, count, integer, seconds};

/// Formats microseconds like [`seconds`]: `1.23 s`, `45.6 ms` or `789 µs`.
#[must_use]
pub fn microseconds(microseconds: f64) -> String {
    seconds(microseconds / 1e6)
}

/// Formats a ratio: `1.00 ×`, `12.3 ×`, `456 ×`.
#[must_use]
pub fn ratio(ratio: f64) -> String {
    if ratio.is_finite() { format!("{} ×", three_digits(ratio)) } else { "–".to_owned() }
}

/// Formats a share as a percentage: 0.5 becomes `50.0 %`.
#[must_use]
pub fn percent(share: f64) -> String {
    // A share just below 1 must not be rounded to 100 %.
    if share < 1.0 && share > 0.9995 {
        return format!("{} %", (share * 1e4).floor() / 1e2);
    }
    format!("{} %", three_digits(share * 100.0))
}

/// Formats a metric's value in its unit, such as `1.31 kB/op`.
#[must_use]
pub fn metric_value(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Seconds => seconds(value),
        Unit::Milliseconds => seconds(value / 1e3),
        Unit::Microseconds => microseconds(value),
        Unit::MicrosecondsPerOperation => format!("{}/op", microseconds(value)),
        Unit::Bytes => bytes(value),
        Unit::BytesPerOperation => format!("{}/op", bytes(value)),
        Unit::PerOperation => format!("{}/op", three_digits(value)),
        Unit::BytesPerSecond => format!("{}/s", bytes(value)),
        Unit::PerSecond => format!("{}/s", count(value)),
        Unit::PerHour => format!("{}/h", count(value)),
        Unit::Share => percent(value),
        Unit::Count | Unit::Number if value.fract() == 0.0 => integer(value),
        Unit::Count | Unit::Number => three_digits(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_the_right_unit_at_every_edge() {
        for (value, text) in [
            (123.4, "123 s"),
            (9.999, "10.0 s"),
            (1.0, "1.00 s"),
            (0.9996, "1.00 s"),
            (0.9994, "999 ms"),
            (0.0123, "12.3 ms"),
            (0.001, "1.00 ms"),
            (0.000_5, "500 µs"),
            (0.0, "0"),
        ] {
            assert_eq!(seconds(value), text);
        }
        assert_eq!(bytes(480_800_000.0), "481 MB");
        assert_eq!(bytes(12.0), "12 B");
        assert_eq!(bytes(999_600.0), "1.00 MB");
        assert_eq!(count(1_234_567.0), "1.23M");
        assert_eq!(ratio(1.0), "1.00 ×");
        assert_eq!(integer(1_234_567.0), "1,234,567");
        assert_eq!(integer(-1234.0), "-1,234");
        assert_eq!(integer(12.0), "12");
    }

    #[test]
    fn almost_all_does_not_read_as_all() {
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(percent(0.999_99), "99.99 %");
        assert_eq!(percent(0.5), "50.0 %");
    }
}
