//! Compares the answers of several systems to determine the expected answer by majority.
//!
//! Everything in this module is pure: rows in, verdict out. An answer is always compared with one fixed
//! answer, because a tolerance is not transitive. [`ComparisonRules`] states when two answers are equal.

mod cell;
mod electorate;
mod explain;
mod majority;
mod rows;

use jsonathlon_schema::value::Row;

pub use electorate::{AcceptedDocuments, Electorate};
pub use explain::Rule;
pub use majority::{Answer, AnswerComparison, Consensus, Finding, LaterBasis, compare_with_expected, decide};

/// Declared type of a column; decides how its cells are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellType {
    /// `true` or `false`; the integers 0 and 1 are accepted too.
    Boolean,
    /// A number, or its text.
    Number,
    /// Text, which is compared bytewise.
    String,
    /// Any JSON value, or its text.
    Json,
    /// An instant: text in a format of RFC 3339 (UTC if it has no zone), or microseconds since 1970.
    Time,
}

/// A declared column of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Column name, used in messages.
    pub name: String,
    /// Type that the cells are compared as.
    pub cell_type: CellType,
    /// Whether numbers may differ. Their relative error is reported instead.
    pub approximate: bool,
    /// Columns that give the magnitude of the addends of this column. Positive and negative addends may
    /// cancel, and the remaining sum does not tell how exactly they can be added. `None` if no column gives
    /// it.
    pub scale: Option<Scale>,
}

/// Magnitude of addends, as a column or the quotient of two; both are indexes of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Index of the column with the sum of the addends' absolute values.
    pub magnitude: usize,
    /// Index of the column with the number of addends, by which the sum is divided. `None` unless the column
    /// is a mean.
    pub divisor: Option<usize>,
}

/// Rules by which two answers to one question are compared.
///
/// * A cell is null, a boolean, a number, a string or JSON; an absent value is null. Columns declare their
///   type.
/// * Numbers are equal by value. Whole numbers up to 2⁵³ must be equal exactly. Larger numbers and those with
///   a fraction may differ by a relative 1e-9 of the larger one, or of their column's scale. Infinities equal
///   only themselves.
/// * Strings are compared bytewise. If one of two systems returns a column of strings quoted as JSON, the
///   column is unquoted once.
/// * Times are strings unless declared; declared times are microseconds since 1970, UTC.
/// * JSON is compared by value, regardless of member order.
/// * Rows that the declared order leaves equal are a multiset, as are all rows without a declared order. Of
///   rows that tie at the limit, only the ordering columns are compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparisonRules {
    /// Declared columns, in the order of the answer's cells.
    pub columns: Vec<Column>,
    /// Indexes of the columns by which rows are ordered. Empty if no order is declared.
    pub order: Vec<usize>,
    /// Maximum number of rows. `None` if the question has no limit.
    pub limit: Option<usize>,
    /// Scale of columns without [`Column::scale`]: the largest addend that may have been cancelled, 0 if
    /// unknown.
    pub addend: f64,
}

/// Result of comparing two answers that are equal by the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Match {
    /// Largest relative error in the columns declared approximate. `None` if there is no such column.
    pub approximate_error: Option<f64>,
}

/// How an answer differs from the one it is compared with (the fixed answer).
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// Short description of the difference.
    pub summary: String,
    /// First rows of the fixed answer that this answer lacks, at most 5.
    pub missing_rows: Vec<Row>,
    /// Number of rows of the fixed answer that this answer lacks.
    pub missing_count: usize,
    /// First rows of this answer that the fixed answer lacks, at most 5.
    pub extra_rows: Vec<Row>,
    /// Number of rows of this answer that the fixed answer lacks.
    pub extra_count: usize,
    /// Rule that explains the difference. `None` if no rule does.
    pub rule: Option<Rule>,
}

/// Maximum number of rows kept per side of a difference.
const SHOWN: usize = 5;

impl ComparisonRules {
    /// Compares `answer` with `fixed`.
    ///
    /// # Errors
    /// The difference between the two, if they are not equal by the rules.
    pub fn compare(&self, fixed: &[Row], answer: &[Row]) -> Result<Match, Box<Mismatch>> {
        if let Some(summary) = self.shape_error(answer) {
            return Err(Box::new(Mismatch {
                summary,
                missing_rows: fixed.iter().take(SHOWN).cloned().collect(),
                missing_count: fixed.len(),
                extra_rows: answer.iter().take(SHOWN).cloned().collect(),
                extra_count: answer.len(),
                rule: None,
            }));
        }
        if let Some(matching) = self.same(fixed, answer) {
            return Ok(matching);
        }
        Err(Box::new(explain::difference(self, fixed, answer)))
    }

    /// Returns why an answer violates the declared columns or limit. `None` if it conforms.
    pub fn shape_error(&self, answer: &[Row]) -> Option<String> {
        let width = self.columns.len();
        if let Some(row) = answer.iter().find(|row| row.len() != width) {
            let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
            return Some(format!(
                "rows have {} columns, {width} are declared ({})",
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

    /// Compares two answers, also with one of the two unquoted if they are not equal as they are.
    fn same(&self, fixed: &[Row], answer: &[Row]) -> Option<Match> {
        if self.columns.iter().all(|column| !column.approximate) && fixed == answer {
            return Some(Match::default());
        }
        let (typed_fixed, typed_answer) = (cell::typed(self, fixed), cell::typed(self, answer));
        rows::match_rows(self, &typed_fixed, &typed_answer).or_else(|| {
            let unquoted = |rows: &[Row]| cell::unquoted(self, rows);
            let with_unquoted_answer = || rows::match_rows(self, &typed_fixed, &unquoted(answer)?);
            let with_unquoted_fixed = || rows::match_rows(self, &unquoted(fixed)?, &typed_answer);
            with_unquoted_answer().or_else(with_unquoted_fixed)
        })
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod vote_tests;
