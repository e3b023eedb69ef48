//! Formats figures for readers, in sentences and tables.

use jsonathlon_results::number_format::three_digits;

/// Formats seconds in the largest fitting unit: `0.85 ms`, `3.10 s`, `12 µs`.
#[must_use]
pub fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds.abs() {
        s if s >= 120.0 => (seconds / 60.0, "min"),
        s if s >= 0.9995 => (seconds, "s"),
        s if s >= 0.999_5e-3 => (seconds * 1e3, "ms"),
        _ => (seconds * 1e6, "µs"),
    };
    format!("{} {unit}", trimmed(value))
}

/// Formats a share as a percentage: `0 %`, `0.16 %`, `12.5 %`.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{} %", trimmed(share * 100.0))
}

/// Three significant digits without zeros at the end: `10`, `3.1`, `0.85`.
fn trimmed(value: f64) -> String {
    let text = three_digits(value);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}
