//! Parses the values of needs: counts, times, sizes, percentages and limits.
//!
//! Errors are the rest of a sentence that begins with the name of the key.

use jsonathlon_schema::did_you_mean::did_you_mean;
use toml::Value;

/// Units of time in seconds, by every spelling.
const TIMES: [(&str, f64); 6] =
    [("µs", 1e-6), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3600.0)];
/// Units of sizes in bytes.
const SIZES: [(&str, f64); 9] = [
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
];
/// Factors of counts, without regard to case.
const COUNTS: [(&str, f64); 5] = [("", 1.0), ("k", 1e3), ("m", 1e6), ("g", 1e9), ("b", 1e9)];
/// Above 2⁵³ a double no longer holds every whole number.
const LARGEST: f64 = 9e15;

/// Text of a value.
pub(super) fn text(value: &Value) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("{value} is not a text in quotes"))
}

/// Text that is not empty.
pub(super) fn name(value: &Value) -> Result<String, String> {
    match text(value)?.trim() {
        "" => Err("the text is empty".to_owned()),
        text => Ok(text.to_owned()),
    }
}

/// JSON pointer (RFC 6901) that names a value within a document.
pub(super) fn pointer(value: &Value) -> Result<String, String> {
    let text = text(value)?;
    let is_escaped = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    if text.starts_with('/') && is_escaped {
        return Ok(text);
    }
    Err(format!("`{text}` is no JSON pointer: write one such as /order/id"))
}

/// Whole number above 0: `2000000`, `"2m"`, `"500k"`.
pub(super) fn count(value: &Value) -> Result<u64, String> {
    let number = number_or_count(value)?;
    if number < 1.0 || number.fract() != 0.0 || number > LARGEST {
        return Err(format!("{value} is not a whole number from 1"));
    }
    Ok(number as u64)
}

/// Whole number from 1 to 65,535.
pub(super) fn small_count(value: &Value) -> Result<u32, String> {
    let number = count(value)?;
    let small = u16::try_from(number).map_err(|_| format!("{value} is more than {}", u16::MAX))?;
    Ok(u32::from(small))
}

/// Operations per second, above 0: `2000`, `0.5`, `"2k"`.
pub(super) fn rate(value: &Value) -> Result<f64, String> {
    let number = number_or_count(value)?;
    if number > 0.0 && number <= 1e9 {
        return Ok(number);
    }
    Err(format!("{value} is not a number of operations per second above 0"))
}

/// Share of operations, from 0 to 1.
pub(super) fn share(value: &Value) -> Result<f64, String> {
    let number = plain_number(value).ok_or_else(|| format!("{value} is not a number from 0 to 1"))?;
    if (0.0..=1.0).contains(&number) { Ok(number) } else { Err(format!("{value} is not between 0 and 1")) }
}

/// Percentage as a share: `"0 %"`, `"0.5%"`.
pub(super) fn percentage(value: &Value) -> Result<f64, String> {
    let text = text(value)?;
    let digits = text.trim().strip_suffix('%').map(str::trim_end);
    let Some(digits) = digits else { return Err(format!("`{text}` has no unit: write `0 %` or `0.5 %`")) };
    match digits.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err(format!("`{text}` is not a percentage from 0 % to 100 %")),
    }
}

fn plain_number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

fn number_or_count(value: &Value) -> Result<f64, String> {
    if let Some(number) = plain_number(value) {
        return Ok(number);
    }
    let text = text(value).map_err(|_| format!("{value} is not a number such as 2000 or \"2k\""))?;
    let plain = text.trim().replace(['_', ','], "").to_lowercase();
    quantity(&plain, &COUNTS).map_err(|_| format!("`{text}` is no count: write 100000, \"100k\" or \"1.5m\""))
}

/// A limit such as `p99 < 10ms`: what is limited, and the limit with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limit<'a> {
    /// What is limited: `p99`, `median`, `later`.
    pub(super) subject: &'a str,
    /// The limit as written: `10ms`.
    pub(super) below: &'a str,
}

impl<'a> Limit<'a> {
    /// Splits a limit. `example` is shown if it has another form.
    pub(super) fn parse(text: &'a str, example: &str) -> Result<Self, String> {
        let (subject, below) = text
            .split_once('<')
            .ok_or_else(|| format!("`{text}` is no limit: write one such as `{example}`"))?;
        let below = below.trim();
        if below.starts_with('=') {
            return Err(format!("`{text}`: a limit is written with `<`, such as `{example}`"));
        }
        Ok(Self { subject: subject.trim(), below })
    }

    /// The limit as a time in seconds.
    pub(super) fn seconds(&self) -> Result<f64, String> {
        quantity(self.below, &TIMES).map_err(|problem| problem.sentence(self.below, "a time", &TIMES))
    }

    /// The limit as a size in bytes.
    pub(super) fn bytes(&self) -> Result<f64, String> {
        quantity(self.below, &SIZES).map_err(|problem| problem.sentence(self.below, "a size", &SIZES))
    }
}

/// What is wrong with a number and its unit.
#[derive(Debug, Clone, PartialEq, Eq)]
enum QuantityProblem {
    /// There is no number above 0.
    NoNumber,
    /// There is a number without a unit.
    NoUnit,
    /// The unit is unknown.
    UnknownUnit(String),
}

impl QuantityProblem {
    fn sentence(&self, text: &str, what: &str, units: &[(&str, f64)]) -> String {
        let names: Vec<&str> = units.iter().map(|(name, _)| *name).filter(|name| *name != "us").collect();
        let names = names.join(", ");
        match self {
            Self::NoNumber => format!("`{text}` is not {what} above 0"),
            Self::NoUnit => format!("`{text}` has no unit: write one of {names} behind it"),
            Self::UnknownUnit(unit) => {
                let near = did_you_mean(unit, units.iter().map(|(name, _)| *name));
                format!("`{unit}` is no unit of {what}{near}; units are {names}")
            }
        }
    }
}

/// Splits a number from its unit and multiplies them. Spellings of units count first as they are, then
/// without regard to case.
fn quantity(text: &str, units: &[(&str, f64)]) -> Result<f64, QuantityProblem> {
    let text = text.trim();
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let unit = unit.trim();
    let number: f64 = digits.parse().map_err(|_| QuantityProblem::NoNumber)?;
    let found = units
        .iter()
        .find(|(name, _)| *name == unit)
        .or_else(|| units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)));
    match found {
        Some((_, factor)) if number > 0.0 && number.is_finite() => Ok(number * factor),
        Some(_) => Err(QuantityProblem::NoNumber),
        None if unit.is_empty() => Err(QuantityProblem::NoUnit),
        None => Err(QuantityProblem::UnknownUnit(unit.to_owned())),
    }
}

/// Finds the value with this word among those that are allowed.
pub(super) fn word<T: Copy>(text: &str, allowed: &[(&str, T)]) -> Result<T, String> {
    if let Some((_, value)) = allowed.iter().find(|(name, _)| *name == text.trim()) {
        return Ok(*value);
    }
    let near = did_you_mean(text, allowed.iter().map(|(name, _)| *name));
    let names: Vec<String> = allowed.iter().map(|(name, _)| format!("`{name}`")).collect();
    Err(format!("`{text}` is not allowed{near}; write {}", or_list(&names)))
}

/// Joins words as alternatives: `a, b or c`.
fn or_list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
