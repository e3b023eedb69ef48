//! Formats figures for readers, in sentences and tables.

use jsonathlon_results::number_format::three_digits;

/// Formats seconds in the largest fitting unit: `850 µs`, `3.1 ms`, `10 s`, `5 min`.
#[must_use]
pub fn duration(seconds: f64) -> String {
    let (factor, unit) = unit_of(seconds);
    format!("{} {unit}", trimmed(seconds * factor))
}

/// Unit in which a time is read, with the factor from seconds.
fn unit_of(seconds: f64) -> (f64, &'static str) {
    match seconds.abs() {
        s if s >= 300.0 => (1.0 / 60.0, "min"),
        s if s >= 0.9995 => (1.0, "s"),
        s if s >= 0.999_5e-3 => (1e3, "ms"),
        _ => (1e6, "µs"),
    }
}

/// Formats a share as a percentage: `0 %`, `0.16 %`, `12.5 %`. Neither nearly none nor nearly all is rounded
/// to none or all.
#[must_use]
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.005 {
        return "below 0.01 %".to_owned();
    }
    if percent < 100.0 && percent > 99.95 {
        return format!("{} %", (percent * 100.0).floor() / 100.0);
    }
    format!("{} %", trimmed(percent))
}

/// Three significant digits without zeros at the end: `10`, `3.1`, `0.85`.
fn trimmed(value: f64) -> String {
    let text = three_digits(value);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Formats seconds with the interval in the same unit: `3.1 ms (2.9 … 3.4)`. Without an interval: `3.1 ms`.
#[must_use]
pub fn duration_with_interval(seconds: f64, interval: Option<[f64; 2]>) -> String {
    let text = duration(seconds);
    let Some([low, high]) = interval else { return text };
    let (factor, _) = unit_of(seconds);
    format!("{text} ({} … {})", trimmed(low * factor), trimmed(high * factor))
}

/// Characters of a message of a system that are shown within a sentence.
const SHOWN_CHARACTERS: usize = 100;

/// First sentence of a message, cut where the sentence that it is a part of would get too long.
#[must_use]
pub fn shortened(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default().trim();
    let line = line.split(". ").next().unwrap_or(line).trim_end_matches('.');
    if line.chars().count() <= SHOWN_CHARACTERS {
        return line.to_owned();
    }
    let cut: String = line.chars().take(SHOWN_CHARACTERS).collect();
    format!("{}…", cut.trim_end())
}

/// Small numbers as words, larger ones as digits.
#[must_use]
pub fn number_word(number: usize) -> String {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    WORDS.get(number).map_or_else(|| number.to_string(), |word| (*word).to_owned())
}

#[cfg(test)]
mod tests {
    use jsonathlon_schema::and_list::and_list;

    use super::*;

    #[test]
    fn times_have_the_unit_in_which_they_are_read() {
        for (seconds, text) in [
            (0.0008, "800 µs"),
            (0.0031, "3.1 ms"),
            (0.01, "10 ms"),
            (1.25, "1.25 s"),
            (2.0, "2 s"),
            (600.0, "10 min"),
            (100.0, "100 s"),
        ] {
            assert_eq!(duration(seconds), text);
        }
        assert_eq!(duration_with_interval(0.0031, Some([0.0029, 0.0034])), "3.1 ms (2.9 … 3.4)");
        assert_eq!(duration_with_interval(0.000_95, Some([0.0009, 0.0011])), "950 µs (900 … 1100)");
    }

    #[test]
    fn shares_and_lists_are_read_aloud() {
        assert_eq!(
            (percent(0.0), percent(0.0016), percent(1.0)),
            ("0 %".into(), "0.16 %".into(), "100 %".into())
        );
        assert_eq!(percent(0.000_001), "below 0.01 %");
        assert_eq!(percent(0.999_99), "99.99 %");
        assert_eq!(and_list(&["A", "B", "C"]), "A, B and C");
        assert_eq!((number_word(7), number_word(13)), ("seven".into(), "13".into()));
        assert_eq!(shortened(&"é".repeat(200)).chars().count(), 101);
        assert_eq!(shortened("no space left. Free some.\nat line 3"), "no space left");
        assert_eq!(shortened("version 1.2 of it."), "version 1.2 of it");
    }
}
