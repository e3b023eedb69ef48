//! Words for ratios, numbers and the sides of a comparison.

use std::collections::BTreeMap;

use jsonathlon_stats::statistics::Estimate;

/// Width of an interval in percentage points from which on its middle is not named, if the limits also differ by
/// more than [`WIDE_FACTOR`].
const WIDE_POINTS: f64 = 25.0;
/// Ratio of the limits of such an interval.
const WIDE_FACTOR: f64 = 5.0;

/// Words a ratio for the reader: `31 % fewer (27 … 35)`, `2.31 times as many (2.1 … 2.5)`. Of a very wide interval
/// only the limits are named: `somewhere between 1.5 and 57 % fewer`.
pub(crate) fn change(ratio: &Estimate) -> String {
    let Estimate { median, low, high } = ratio.if_meaningful_ratio();
    let is_less = median < 1.0;
    let percentage = |ratio: f64| 100.0 * if is_less { 1.0 - ratio } else { ratio - 1.0 };
    let is_multiple = median >= 2.0;
    let format_ratio =
        |ratio: f64| if is_multiple { number(ratio) } else { round_percent(percentage(ratio)) };
    let interval = match (low, high) {
        (Some(low), Some(high)) => {
            let limits = if is_less { (high, low) } else { (low, high) };
            let note = if ratio.excludes_one() { "" } else { ": no difference shown" };
            format!(" ({} … {}{note})", format_ratio(limits.0), format_ratio(limits.1))
        }
        _ => " (too few rounds)".to_owned(),
    };
    if let (Some(low), Some(high), false, true) = (low, high, is_multiple, ratio.excludes_one()) {
        let [a, b] = [percentage(low), percentage(high)];
        let (least, most) = (a.min(b), a.max(b));
        if most - least > WIDE_POINTS && most > WIDE_FACTOR * least {
            let word = if is_less { "fewer" } else { "more" };
            return format!(
                "somewhere between {} and {} % {word}",
                round_percent(least),
                round_percent(most)
            );
        }
    }
    let text = if is_multiple { format!("{} times as many", number(median)) } else { percent(median) };
    format!("{text}{interval}")
}

/// Words a ratio without its interval, such as `31 % fewer`.
pub(crate) fn percent(ratio: f64) -> String {
    let (difference, word) = if ratio < 1.0 { (1.0 - ratio, "fewer") } else { (ratio - 1.0, "more") };
    format!("{} % {word}", round_percent(100.0 * difference))
}

/// Formats a percentage with two significant digits, from 10 % on without decimals.
pub(crate) fn round_percent(percent: f64) -> String {
    let text = if percent.abs() < 9.95 { format!("{percent:.1}") } else { format!("{percent:.0}") };
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned).replace('-', "−")
}

/// Formats a value with three significant digits and at most three decimals; integers below a million are
/// shown in full.
pub(crate) fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e6 {
        return format!("{value:.0}");
    }
    let digits = match value.abs() {
        magnitude if magnitude >= 99.95 => 0,
        magnitude if magnitude >= 9.995 => 1,
        magnitude if magnitude >= 0.9995 => 2,
        _ => 3,
    };
    format!("{value:.digits$}")
}

pub(crate) fn fill_template(text: &str, values: &[(&str, String)]) -> String {
    values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

/// Words for what distinguishes one side of a comparison from the other one; `the others` if nothing is selected.
pub(crate) fn side_words(own: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> String {
    let differing = own.iter().filter(|(name, value)| other.get(*name) != Some(value));
    let words: Vec<String> = differing.map(|(name, value)| attribute_words(name, value)).collect();
    if words.is_empty() { "the others".to_owned() } else { words.join(", ") }
}

/// Words for an attribute of a point: `large documents`, `durability synced`.
pub(crate) fn attribute_words(name: &str, value: &str) -> String {
    match (name, value) {
        ("variant", _) => value.to_owned(),
        ("documents" | "document", _) => format!("{value} documents"),
        ("value-content", _) => format!("{value} values"),
        ("profile", "stock") => "the package's memory settings".to_owned(),
        ("profile", _) => format!("{value} memory"),
        ("server-cpus", "1") => "1 CPU".to_owned(),
        ("server-cpus", _) => format!("{value} CPUs"),
        ("no-prepare", "true") => "unprepared statements".to_owned(),
        ("no-prepare", _) => "prepared statements".to_owned(),
        _ => format!("{} {value}", name.replace('-', " ")),
    }
}

/// What clients of a mix do, in the plural.
pub(crate) fn mix_noun(mix: &str) -> &'static str {
    match mix {
        "c" => "reads",
        "a" | "b" => "reads and updates",
        "insert" => "inserts",
        "update" => "updates",
        "writes" => "inserts and updates",
        _ => "operations",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_named_by_what_distinguishes_them() {
        let side = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let columns = side(&[("variant", "columns"), ("documents", "flat")]);
        let json = side(&[("variant", "jsonb-key"), ("documents", "flat")]);
        assert_eq!(side_words(&columns, &json), "columns");
        let large = side(&[("documents", "large"), ("read-paths", "9")]);
        assert_eq!(side_words(&large, &json), "large documents, read paths 9");
        assert_eq!(side_words(&json, &json), "the others");
    }
}
