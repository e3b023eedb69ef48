//! Sizes of documents in cells of the documents workload.

use jsonathlon_schema::record::Cell;

/// Text of a cell's parameter; empty if the cell does not have it.
#[must_use]
pub fn word<'a>(cell: &'a Cell, name: &str) -> &'a str {
    cell.parameters.get(name).and_then(serde_json::Value::as_str).unwrap_or_default()
}

/// Bytes of a size such as `64KiB`; 0 if the text has no number.
#[must_use]
pub fn bytes_of(size: &str) -> u64 {
    let digits = size.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match size.get(digits.len()..) {
        Some("KiB") => 1 << 10,
        Some("MiB") => 1 << 20,
        Some("GiB") => 1 << 30,
        _ => 1,
    };
    digits.parse::<u64>().unwrap_or_default().saturating_mul(unit)
}

/// Returns `true` if a cell holds documents of the largest size that its configuration accepts, which is less
/// than the requested size.
#[must_use]
pub fn is_smaller(cell: &Cell) -> bool {
    let n = cell.parameters.get("n").and_then(serde_json::Value::as_u64);
    n.is_some_and(|n| n < 60 && 1_u64 << (n + 4) < bytes_of(word(cell, "size")))
}
