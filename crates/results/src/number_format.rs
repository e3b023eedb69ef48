//! Formats counts and bytes for readers, in sentences and tables.

/// Formats bytes in decimal units: `480 MB`.
#[must_use]
pub fn bytes(bytes: f64) -> String {
    scaled(bytes, &["B", "kB", "MB", "GB", "TB", "PB"], " ")
}

/// Formats seconds as `1.23 s`, `45.6 ms` or `789 µs`. No time at all is `0`, because a unit would claim that so little was
/// measured. A dash if the value is not finite.
#[must_use]
pub fn seconds(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "–".to_owned();
    }
    if seconds == 0.0 {
        return "0".to_owned();
    }
    let (scaled, unit) = if seconds >= 0.9995 {
        (seconds, "s")
    } else if seconds >= 0.000_999_5 {
        (seconds * 1e3, "ms")
    } else {
        (seconds * 1e6, "µs")
    };
    format!("{} {unit}", three_digits(scaled))
}

/// Formats a count, rounded above a thousand: `1.23M`, `45.6k`, `789`.
#[must_use]
pub fn count(count: f64) -> String {
    scaled(count, &["", "k", "M", "G", "T"], "")
}

/// Formats a number without decimals, with commas between groups of three digits: `1,234,567`.
#[must_use]
pub fn integer(number: f64) -> String {
    let digits = format!("{number:.0}");
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits.as_str()), |rest| ("-", rest));
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}")
}

/// Three significant digits from 1 to 1,000, whole numbers above, two decimals below 1.
#[must_use]
pub fn three_digits(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn scaled(mut value: f64, units: &[&str], space: &str) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let mut unit = 0;
    while value.abs() >= 999.5 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    let number = if unit == 0 { format!("{value:.0}") } else { three_digits(value) };
    format!("{number}{space}{}", units.get(unit).copied().unwrap_or_default())
}
