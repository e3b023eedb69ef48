//! Finds the rule that explains a difference: the one without which the answers would be equal.

use std::fmt;

use jsonathlon_schema::instant;
use jsonathlon_schema::value::{Row, Value};

use super::cell::{Cell, Number, Typed, typed};
use super::{CellType, ComparisonRules, Mismatch, SHOWN, rows};

/// Comparison rule that explains a difference. The answers would be equal if the rule were reversed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The rows are equal in an order other than the declared one.
    Order,
    /// One answer has rows with a null that the other omits.
    Nulls,
    /// Texts differ only in case or trailing spaces.
    Bytes,
    /// The same text is a string in one answer and of another type in the other.
    Types,
    /// Numbers with a fraction or beyond 2⁵³ differ by more than the tolerance.
    Tolerance,
    /// Strings are the same instant in different notations, or one is a string and the other a system's own
    /// time type.
    Times,
    /// One answer has more rows; the common part is equal up to rows that tie.
    Limit,
}

impl Rule {
    /// All rules, in the order in which they are tried: the least loosening first.
    const ALL: [Self; 7] =
        [Self::Order, Self::Limit, Self::Nulls, Self::Times, Self::Bytes, Self::Types, Self::Tolerance];

    /// Returns the word that stands for the rule in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Nulls => "nulls",
            Self::Bytes => "bytes",
            Self::Types => "types",
            Self::Tolerance => "tolerance",
            Self::Times => "times",
            Self::Limit => "limit",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Order => {
                "the rows are the same in another order: say ORDER BY in every statement, with the same place for nulls \
                 and strings by their bytes"
            }
            Self::Nulls => "one has rows with a null, the other leaves them out: filter nulls in every statement",
            Self::Bytes => "strings are bytes: these differ in case or trailing spaces alone, as collations fold them",
            Self::Types => "a number or a boolean is no string: these are the same text in another type",
            Self::Tolerance => {
                "numbers with a fraction and beyond 2^53 are equal within 1e-9: these differ by more, up to 1e-3"
            }
            Self::Times => "times are strings unless they are declared: these are the same moments, so declare the column \
                            a time",
            Self::Limit => "rows beyond the declared limit would be cut: one statement has another LIMIT",
        })
    }
}

/// Describes how two answers differ, with the rule that explains it.
pub(super) fn difference(rules: &ComparisonRules, fixed: &[Row], answer: &[Row]) -> Mismatch {
    let (a, b) = (typed(rules, fixed), typed(rules, answer));
    let (missing, extra) = rows::unmatched_rows(rules, &a, &b);
    let first_rows = |rows: &[Row], indexes: &[usize]| -> Vec<Row> {
        indexes.iter().take(SHOWN).filter_map(|index| rows.get(*index).cloned()).collect()
    };
    let summary = match (missing.len(), extra.len()) {
        (0, 0) => "the same rows in another order".to_owned(),
        (missing_count, extra_count) if fixed.len() == answer.len() => {
            format!("{} of {} rows differ", missing_count.max(extra_count), fixed.len())
        }
        _ => {
            format!("{} rows answered, {} in the answer that it is compared with", answer.len(), fixed.len())
        }
    };
    let rule = Rule::ALL.into_iter().find(|rule| explains(*rule, rules, &a, &b));
    Mismatch {
        summary,
        missing_rows: first_rows(fixed, &missing),
        missing_count: missing.len(),
        extra_rows: first_rows(answer, &extra),
        extra_count: extra.len(),
        rule,
    }
}

/// Returns `true` if the answers would be equal without the rule.
fn explains(rule: Rule, rules: &ComparisonRules, fixed: &Typed, answer: &Typed) -> bool {
    let unordered = ComparisonRules { order: Vec::new(), limit: None, ..rules.clone() };
    let is_equal = |a: &Typed, b: &Typed| rows::match_rows(&unordered, a, b).is_some();
    let is_equal_after = |conversion: fn(&Cell) -> Cell| {
        let convert = |rows: &Typed| rows.iter().map(|row| row.iter().map(conversion).collect()).collect();
        let (a, b): (Typed, Typed) = (convert(fixed), convert(answer));
        is_equal(&a, &b)
    };
    match rule {
        Rule::Order => is_equal(fixed, answer),
        Rule::Limit => {
            let length = fixed.len().min(answer.len());
            let truncated = |rows: &Typed| rows.iter().take(length).cloned().collect::<Typed>();
            fixed.len() != answer.len() && length > 0 && !rules.order.is_empty() && {
                rows::match_rows(
                    &ComparisonRules { limit: Some(length), ..rules.clone() },
                    &truncated(fixed),
                    &truncated(answer),
                )
                .is_some()
            }
        }
        Rule::Nulls => {
            let without_nulls = |rows: &Typed| -> Typed {
                rows.iter().filter(|row| !row.contains(&Cell::Null)).cloned().collect()
            };
            let (a, b) = (without_nulls(fixed), without_nulls(answer));
            let has_nulls = a.len() < fixed.len() || b.len() < answer.len();
            // If a limit cuts off rows, rows with nulls have displaced others.
            let length = a.len().min(b.len());
            let truncated = |rows: &Typed| rows.iter().take(length).cloned().collect::<Typed>();
            let is_equal_truncated = || is_equal(&truncated(&a), &truncated(&b));
            has_nulls && (is_equal(&a, &b) || (rules.limit.is_some() && length > 0 && is_equal_truncated()))
        }
        Rule::Times => is_equal_after(as_time),
        Rule::Bytes => is_equal_after(|cell| match cell {
            Cell::Text(text) => Cell::Text(text.trim_end().to_lowercase()),
            other => other.clone(),
        }),
        Rule::Types => is_equal_after(without_type),
        // Rounded to three decimal places of the mantissa: such numbers are the same sum, computed with less
        // precision.
        Rule::Tolerance => is_equal_after(|cell| match cell {
            Cell::Number(number) => rounded(number.value()),
            other => other.clone(),
        }),
    }
}

/// Converts a cell that may stand for an instant to that instant, and copies every other one.
fn as_time(cell: &Cell) -> Cell {
    match cell {
        Cell::Text(text) => instant::from_text(text).map_or_else(|| cell.clone(), Cell::Time),
        // Systems' own time types arrive as whole microseconds.
        Cell::Number(Number::Whole(integer)) => {
            i64::try_from(*integer).map_or_else(|_| cell.clone(), Cell::Time)
        }
        other => other.clone(),
    }
}

/// Converts a scalar so that it equals the string of the same text, whatever its type.
fn without_type(cell: &Cell) -> Cell {
    match cell {
        Cell::Bool(truth) => Cell::Text(truth.to_string()),
        Cell::Number(Number::Whole(integer)) => Cell::Text(integer.to_string()),
        Cell::Number(Number::Other(float)) => Cell::convert(CellType::Number, &Value::Float(*float)),
        Cell::Text(text) => match Cell::convert(CellType::Number, &Value::Text(text.clone())) {
            Cell::Number(Number::Whole(integer)) => Cell::Text(integer.to_string()),
            other => other,
        },
        other => other.clone(),
    }
}

fn rounded(value: f64) -> Cell {
    let text = format!("{value:.3e}");
    Cell::convert(CellType::Number, &Value::Text(text))
}
