//! Reads the embedded tables: tab-separated fields after `#` comments and a header line.

use std::path::PathBuf;
use std::str::FromStr;

use crate::ResultsError;

/// Line of an embedded table, with the name and line number that errors report.
pub(crate) struct Line<'a> {
    table: &'a str,
    number: usize,
    text: &'a str,
}

/// Returns the lines of a table after its comments and its header, which must name exactly these columns.
pub(crate) fn lines<'a>(
    table: &'a str,
    text: &'a str,
    columns: &[&str],
) -> Result<Vec<Line<'a>>, ResultsError> {
    let mut lines = text
        .lines()
        .enumerate()
        .filter(|(_, text)| !text.starts_with('#'))
        .map(|(index, text)| Line { table, number: index + 1, text });
    match lines.next() {
        Some(header) if header.text.split('\t').eq(columns.iter().copied()) => Ok(lines.collect()),
        Some(header) => Err(header.corrupt("not the columns that belong there".to_owned())),
        None => Err(Line { table, number: 1, text }.corrupt("no columns".to_owned())),
    }
}

impl<'a> Line<'a> {
    pub(crate) fn corrupt(&self, message: String) -> ResultsError {
        let path = PathBuf::from(format!("published/{}.tsv", self.table));
        ResultsError::Corrupt { path, line: self.number, message }
    }

    pub(crate) fn fields<const N: usize>(&self) -> Result<[&'a str; N], ResultsError> {
        let fields: Vec<&str> = self.text.split('\t').collect();
        let count = fields.len();
        fields.try_into().map_err(|_| self.corrupt(format!("{count} fields and not {N}")))
    }

    /// Parses a field as a number. `Ok(None)` if the field is empty.
    pub(crate) fn number<T: FromStr<Err: std::fmt::Display>>(
        &self,
        text: &str,
    ) -> Result<Option<T>, ResultsError> {
        if text.is_empty() {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|error| self.corrupt(format!("{text}: {error}")))
    }
}
