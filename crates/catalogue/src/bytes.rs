//! Sizes in bytes as text: `8GB` is 8 · 10⁹ bytes, `8GiB` is 8 · 2³⁰ bytes.

/// Units as (name in lower case, displayed name, bytes), largest first, which is the order that [`to_text`]
/// prefers.
const UNITS: [(&str, &str, u64); 7] = [
    ("gib", "GiB", 1 << 30),
    ("gb", "GB", 1_000_000_000),
    ("mib", "MiB", 1 << 20),
    ("mb", "MB", 1_000_000),
    ("kib", "KiB", 1 << 10),
    ("kb", "kB", 1_000),
    ("b", "B", 1),
];

/// Exclusive upper limit of a parsed size. It lies below 2⁵³, above which an `f64` cannot represent every
/// integer.
const TOO_MANY: f64 = 9e15;

/// Returns the bytes of a unit, in any letter case: `B`, `kB`, `MB` and `GB` are powers of 1,000; `KiB`,
/// `MiB` and `GiB` are powers of 1,024. `None` if the unit is unknown.
#[must_use]
pub fn unit(name: &str) -> Option<u64> {
    let name = name.trim().to_lowercase();
    UNITS.iter().find(|(known, ..)| *known == name).map(|(.., bytes)| *bytes)
}

/// Parses a size such as `512MB`, `1.5 GiB` or `64KiB` into bytes; a fraction of a byte is dropped. `None` if
/// the text has no known unit, or if the size is below 1 byte or at least 9 · 10¹⁵ bytes.
#[must_use]
pub fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = unit(text.get(digits.len()..)?)?;
    let number = digits.trim_end();
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let bytes = number.parse::<f64>().ok()? * unit as f64;
    (1.0..TOO_MANY).contains(&bytes).then_some(bytes as u64)
}

/// Formats a size exactly, in the largest unit of which it is a whole multiple. Inverse of [`parse`].
#[must_use]
pub fn to_text(bytes: u64) -> String {
    let exact_unit = UNITS.iter().find(|(.., unit)| bytes >= *unit && bytes.is_multiple_of(*unit));
    let (_, name, unit) = exact_unit.unwrap_or(&("b", "B", 1));
    format!("{} {name}", bytes / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_thousands_and_of_1024_are_told_apart() {
        for (text, bytes) in [
            ("4GB", 4_000_000_000),
            ("4 GiB", 4 << 30),
            ("1.5gib", 3 << 29),
            ("512MB", 512_000_000),
            ("512MiB", 512 << 20),
            ("64kB", 64_000),
            ("64KiB", 65_536),
            ("7B", 7),
        ] {
            assert_eq!(parse(text), Some(bytes), "{text}");
        }
        for bad in ["8", "", "GB", "-1GB", "8TB", "0GB", "8 G B", "1e3MB", "inf GB", "900000000GB", "8G"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_is_shown_is_read_as_the_same() {
        for (bytes, text) in [
            (4_000_000_000, "4 GB"),
            (4 << 30, "4 GiB"),
            (47 << 28, "12032 MiB"),
            (512_000_000, "512 MB"),
            (65_536, "64 KiB"),
            (1_001, "1001 B"),
        ] {
            assert_eq!(to_text(bytes), text);
            assert_eq!(parse(text), Some(bytes));
        }
        assert_eq!(to_text(0), "0 B");
    }
}
