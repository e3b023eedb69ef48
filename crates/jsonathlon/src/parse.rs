//! Parsers of values as users write them on the command line: `100k`, `90s`, `synced`.

use jsonathlon_schema::durability::DurabilityTier;

/// Parses a positive number of documents; `k`, `m` and `g` (or `b`) stand for thousands, millions and
/// billions. Underscores and commas are ignored.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    match count_or_zero(text)? {
        0 => Err("at least one document is needed".to_owned()),
        count => Ok(count),
    }
}

/// Parses a number of documents like [`count`], but accepts zero.
pub(crate) fn count_or_zero(text: &str) -> Result<u64, String> {
    let plain = text.trim().replace(['_', ','], "").to_lowercase();
    let (digits, unit) = match plain.strip_suffix(['k', 'm', 'g', 'b']) {
        Some(digits) => (digits, plain.chars().last()),
        None => (plain.as_str(), None),
    };
    let factor = match unit {
        Some('k') => 1_000_f64,
        Some('m') => 1e6,
        Some(_) => 1e9,
        None => 1.0,
    };
    let error = || format!("{text:?} is no count: write a number such as 100000, 100k, 1.5m or 1g");
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return Err(error());
    }
    let number: f64 = digits.parse().map_err(|_| error())?;
    let count = number * factor;
    // Above 2⁵³ a double no longer holds every whole number.
    if count.fract() != 0.0 || count > 9e15 {
        return Err(error());
    }
    Ok(count as u64)
}

/// Parses a size in bytes; the unit is required. `512MB` and `8GB` are decimal, `8GiB` is in units of 1,024.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    jsonathlon_catalogue::bytes::parse(text).ok_or_else(|| {
        format!("{text:?} is no size: write one such as 512MB or 8GB (of thousands), or 8GiB (of 1,024)")
    })
}

/// Parses a time into seconds: `500ms`, `90`, `90s`, `10m`, `1h`. Above 0, at most 10⁷ s.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let (digits, factor) = match text.trim().to_lowercase() {
        t if t.ends_with("ms") => (t.trim_end_matches("ms").to_owned(), 0.001),
        t if t.ends_with('s') => (t.trim_end_matches('s').to_owned(), 1.0),
        t if t.ends_with('m') => (t.trim_end_matches('m').to_owned(), 60.0),
        t if t.ends_with('h') => (t.trim_end_matches('h').to_owned(), 3600.0),
        t => (t, 1.0),
    };
    match digits.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 && number * factor <= 1e7 => Ok(number * factor),
        _ => Err(format!("{text:?} is no time: write one such as 90s, 10m or 1h")),
    }
}

/// Parses a time into seconds like [`seconds`], but accepts zero.
pub(crate) fn seconds_or_zero(text: &str) -> Result<f64, String> {
    match text.trim() {
        "0" | "0s" => Ok(0.0),
        text => seconds(text),
    }
}

/// Parses a percentage (`5`, `5%`, `2.5 %`) into a share: 0.05 for `5%`.
pub(crate) fn percentage(text: &str) -> Result<f64, String> {
    let digits = text.trim();
    let digits = digits.strip_suffix('%').unwrap_or(digits).trim_end();
    match digits.parse::<f64>() {
        Ok(number) if (0.0..=1e6).contains(&number) => Ok(number / 100.0),
        _ => Err(format!("{text:?} is no percentage: write one such as 5 or 5%")),
    }
}

/// Parses `--precision`, half the width of an interval as a percentage of its median, into a share: from 0.1
/// % to below 100 %.
pub(crate) fn precision(text: &str) -> Result<f64, String> {
    match percentage(text)? {
        share if (0.001..1.0).contains(&share) => Ok(share),
        _ => Err(format!(
            "{text:?} cannot be reached or says nothing: write one from 0.1% to below 100%, such as 5%"
        )),
    }
}

/// Parses the word of a durability tier.
pub(crate) fn durability_tier(text: &str) -> Result<DurabilityTier, String> {
    DurabilityTier::from_word(text)
        .ok_or_else(|| format!("there is no durability tier `{text}`: use {}", durability_tier_names()))
}

/// Returns the words of all durability tiers, separated by commas.
pub(crate) fn durability_tier_names() -> String {
    DurabilityTier::ALL.map(DurabilityTier::word).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_size_is_told_how_one_is_written() {
        assert_eq!((bytes("8GB"), bytes("8GiB")), (Ok(8_000_000_000), Ok(8 << 30)));
        assert!(bytes("8").unwrap_err().contains("8GB"));
    }

    #[test]
    fn counts_as_people_write_them() {
        for (text, number) in [
            ("100k", 100_000),
            ("1m", 1_000_000),
            ("1.5M", 1_500_000),
            ("2g", 2_000_000_000),
            ("1_000", 1000),
            ("7", 7),
        ] {
            assert_eq!(count(text), Ok(number), "{text}");
        }
        for text in ["", "k", "-1", "1.5", "ten", "1kk", "1e5", "0", "0.0001k", "99999999999g"] {
            assert!(count(text).is_err(), "{text}");
        }
        assert_eq!(count_or_zero("0"), Ok(0));
    }

    #[test]
    fn what_is_no_tier_is_told_with_those_that_there_are() {
        assert_eq!(durability_tier("process"), Ok(DurabilityTier::Process));
        let told = "there is no durability tier `windw`: use synced, process, window";
        assert_eq!(durability_tier("windw"), Err(told.to_owned()));
    }

    #[test]
    fn times_as_people_write_them() {
        for (text, number) in [("90", 90.0), ("90s", 90.0), ("10m", 600.0), ("1h", 3600.0), ("500ms", 0.5)] {
            assert_eq!(seconds(text), Ok(number), "{text}");
        }
        for text in ["", "s", "-1s", "0", "inf", "nan", "1d", "9999999h"] {
            assert!(seconds(text).is_err(), "{text}");
        }
        assert_eq!(["0", "0s", "2m"].map(seconds_or_zero), [Ok(0.0), Ok(0.0), Ok(120.0)]);
        assert!(seconds_or_zero("-1s").is_err());
    }

    #[test]
    fn percentages_as_people_write_them() {
        for (text, share) in [("5", 0.05), ("5%", 0.05), (" 2.5 % ", 0.025), ("0", 0.0), ("100%", 1.0)] {
            assert_eq!(percentage(text), Ok(share), "{text}");
        }
        for text in ["", "%", "-5", "nan", "inf", "five", "5%%", "5x"] {
            assert!(percentage(text).is_err(), "{text}");
        }
    }
}
