//! Answers held against each other, where nobody knows the right one.
//!
//! Everything here is pure: rows in, a verdict out. An answer is always compared with one fixed answer, because a
//! tolerance is not transitive. The rules:
//!
//! * A cell is null, a boolean, a number, a string or JSON; what is absent is null. Columns declare their type.
//! * Numbers are equal by value. Whole numbers up to 2⁵³ exactly, larger ones and those with a fraction within a relative
//!   1e-9: of the larger one, or of the scale that their column has. Infinities are equal to themselves alone.
//! * Strings are bytes. A column of strings may come quoted as JSON by one of two systems; it is unquoted once.
//! * Times are strings, unless they are declared; then they are microseconds since 1970, UTC.
//! * JSON is compared by value, whatever the order of an object's members.
//! * Rows that the stated order leaves equal are a set. So is everything without a stated order; rows count as often as
//!   they come. Of rows that tie where the limit cuts, only the values that they are ordered by are compared.

mod cell;
mod explain;
mod holding;
mod rows;
mod vote;

use crate::value::Row;

pub use explain::Rule;
pub use holding::{Electorate, Holding};
pub use vote::{Answer, Decision, Finding, Later, Standing, decide, hold_against};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellType {
    /// `true` or `false`; 0 and 1 are taken for them.
    Boolean,
    /// A number, or its text.
    Number,
    /// Text.
    String,
    /// Any JSON value, or its text.
    Json,
    /// A moment: text of the forms of RFC 3339, UTC where it names no zone, or microseconds since 1970.
    Time,
}

/// A column of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub cell_type: CellType,
    /// Whether its numbers may differ, by an error that is told.
    pub approximate: bool,
    /// How large the numbers are that its own were added up from, where another column says that: positive and negative
    /// ones may cancel, and what then is left of them is no measure of how exactly they can be added.
    pub scale: Option<Scale>,
}

/// A column, or the quotient of two, by their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// The column of sizes: the sum of all addends without their signs.
    pub size: usize,
    /// The column that it is divided by: how many addends there are, where their mean is asked for.
    pub per: Option<usize>,
}

/// How the answers to one question are compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// The columns, in order.
    pub columns: Vec<Column>,
    /// The columns that rows are ordered by, by their places; empty where no order is stated.
    pub order: Vec<usize>,
    /// How many rows there are at most.
    pub limit: Option<usize>,
    /// The scale of columns that have none of their own: the largest addend that may have been cancelled, 0 where none is known.
    pub addend: f64,
}

/// Two answers that are the same by the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Same {
    /// Largest relative error over the columns that are declared approximate; none without such columns.
    pub approximate_error: Option<f64>,
}

/// How an answer differs from the fixed one.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// What is different, in a few words.
    pub what: String,
    /// First rows of the fixed answer that this one lacks.
    pub lacks: Vec<Row>,
    /// How many such rows there are.
    pub lacking: usize,
    /// First rows of this answer that the fixed one lacks.
    pub has: Vec<Row>,
    /// How many such rows there are.
    pub having: usize,
    /// The rule that explains it, where one does.
    pub rule: Option<Rule>,
}

/// Rows of a difference that are kept.
const SHOWN: usize = 5;

impl Rules {
    /// Holds `answer` against `fixed`.
    ///
    /// # Errors
    /// The difference, both ways.
    pub fn compare(&self, fixed: &[Row], answer: &[Row]) -> Result<Same, Box<Difference>> {
        if let Some(what) = self.misshapen(answer) {
            return Err(Box::new(Difference {
                what,
                lacks: fixed.iter().take(SHOWN).cloned().collect(),
                lacking: fixed.len(),
                has: answer.iter().take(SHOWN).cloned().collect(),
                having: answer.len(),
                rule: None,
            }));
        }
        if let Some(same) = self.same(fixed, answer) {
            return Ok(same);
        }
        Err(Box::new(explain::difference(self, fixed, answer)))
    }

    /// What is wrong with an answer before it is compared with any other.
    pub fn misshapen(&self, answer: &[Row]) -> Option<String> {
        let wide = self.columns.len();
        if let Some(row) = answer.iter().find(|row| row.len() != wide) {
            let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
            return Some(format!(
                "rows have {} columns, {wide} are declared ({})",
                row.len(),
                names.join(", ")
            ));
        }
        match self.limit {
            Some(limit) if answer.len() > limit => {
                Some(format!("{} rows answered, the limit is {limit}", answer.len()))
            }
            _ => None,
        }
    }

    /// Whether two answers are the same, with one of the two unquoted where that helps.
    fn same(&self, fixed: &[Row], answer: &[Row]) -> Option<Same> {
        if self.columns.iter().all(|column| !column.approximate) && fixed == answer {
            return Some(Same::default());
        }
        let (plain, other) = (cell::typed(self, fixed), cell::typed(self, answer));
        rows::same(self, &plain, &other).or_else(|| {
            let unquoted = |rows: &[Row]| cell::unquoted(self, rows);
            let by_answer = || rows::same(self, &plain, &unquoted(answer)?);
            let by_fixed = || rows::same(self, &unquoted(fixed)?, &other);
            by_answer().or_else(by_fixed)
        })
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod vote_tests;
