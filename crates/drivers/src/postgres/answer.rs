//! Answers: what their messages say about columns, rows and changed rows.

use jsonathlon_driver_api::driver::Result;
use jsonathlon_driver_api::rows::{RowSink, StatementStats};

use super::value::Columns;

/// Passes the rows of an answer on, message by message. Of several answers the last one counts.
pub(super) struct AnswerReader<'a> {
    columns: &'a mut Columns,
    /// Whether the current statement's columns are known, or that it has none.
    is_described: bool,
    report: StatementStats,
}

impl<'a> AnswerReader<'a> {
    pub(super) fn new(columns: &'a mut Columns) -> Self {
        Self { columns, is_described: false, report: StatementStats::default() }
    }

    /// Passes what a message says to `sink`.
    pub(super) fn message(&mut self, kind: u8, body: &[u8], sink: &mut dyn RowSink) -> Result<()> {
        match kind {
            b'D' => self.columns.row(body, sink),
            b'T' => {
                self.is_described = true;
                self.columns.describe(body, sink)
            }
            b'n' => {
                self.is_described = true;
                sink.columns(&[])
            }
            b'C' => {
                self.report.affected = Some(affected_rows(body));
                // In the simple query protocol a statement without rows is not described.
                if std::mem::take(&mut self.is_described) { Ok(()) } else { sink.columns(&[]) }
            }
            _ => Ok(()),
        }
    }

    /// Returns what the system has reported about the last statement.
    pub(super) fn report(self) -> StatementStats {
        self.report
    }
}

/// Returns the row count of a command tag such as `UPDATE 1` or `INSERT 0 1`, or 0 if the tag has none.
fn affected_rows(tag: &[u8]) -> u64 {
    let digits = tag.split(|byte| *byte == b' ').next_back().unwrap_or_default();
    digits
        .iter()
        .filter(|byte| byte.is_ascii_digit())
        .fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_counted() {
        for (tag, rows) in [("UPDATE 12\0", 12), ("INSERT 0 1\0", 1), ("BEGIN\0", 0), ("SELECT 3\0", 3)] {
            assert_eq!(affected_rows(tag.as_bytes()), rows, "{tag}");
        }
    }
}
