//! Statement files: their names, what each must hold, and how a file is split into statements.

use serde::Serialize;

use crate::{error::CatalogueError, locate, template};

/// Syntax of a statement file. The driver interprets the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StatementKind {
    /// A `.sql` file: text in the system's query language.
    Sql,
    /// A `.json` file: one object per statement, for systems without SQL.
    Json,
}

impl StatementKind {
    /// Splits the name of a statement file into its stem and the syntax that its ending stands for. `None`
    /// for other files.
    pub(crate) fn parse_file_name(name: &str) -> Option<(&str, Self)> {
        match name.rsplit_once('.')? {
            (stem, "sql") => Some((stem, Self::Sql)),
            (stem, "json") => Some((stem, Self::Json)),
            _ => None,
        }
    }
}

/// What a workload requires of one of its statement files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatementRule {
    /// Name of the file, without `.sql` or `.json`.
    pub(crate) name: &'static str,
    pub(crate) required: bool,
    pub(crate) single: bool,
    /// Placeholder that the file must hold and no other file of the workload may hold.
    pub(crate) exclusive_placeholder: Option<&'static str>,
    pub(crate) unless_reference: bool,
    /// Placeholders of which the file must hold at least one.
    pub(crate) needs_one_of: &'static [&'static str],
    /// Placeholders of the workload that the file may hold. `None`: all of them.
    pub(crate) allowed_placeholders: Option<&'static [&'static str]>,
}

impl StatementRule {
    /// Creates the rule for a file that the workload needs.
    #[must_use]
    pub const fn required(name: &'static str) -> Self {
        Self {
            name,
            required: true,
            single: false,
            exclusive_placeholder: None,
            unless_reference: false,
            needs_one_of: &[],
            allowed_placeholders: None,
        }
    }

    /// Creates the rule for a file that may be missing.
    #[must_use]
    pub const fn optional(name: &'static str) -> Self {
        Self { required: false, ..Self::required(name) }
    }

    /// Limits the file to one statement, because its answer is used.
    #[must_use]
    pub const fn single(self) -> Self {
        Self { single: true, ..self }
    }

    /// Sets the run-time placeholder that the file must hold; no other file of the workload may hold it.
    #[must_use]
    pub const fn owns_placeholder(self, placeholder: &'static str) -> Self {
        Self { exclusive_placeholder: Some(placeholder), ..self }
    }

    /// Sets run-time placeholders of which the file must hold one; other files may hold them, too.
    #[must_use]
    pub const fn needs_one_of(self, placeholders: &'static [&'static str]) -> Self {
        Self { needs_one_of: placeholders, ..self }
    }

    /// Sets the placeholders of the workload that have a value in the file. Default: all of them.
    #[must_use]
    pub const fn allows_placeholders(self, placeholders: &'static [&'static str]) -> Self {
        Self { allowed_placeholders: Some(placeholders), ..self }
    }

    /// Allows a yardstick (`reference = true`) to lack the file.
    #[must_use]
    pub const fn unless_reference(self) -> Self {
        Self { unless_reference: true, ..self }
    }
}

/// One statement as written in its file, with its placeholders.
#[derive(Debug, Clone)]
pub(crate) struct RawStatement {
    pub(crate) text: String,
    /// Line in the file for each line of the text.
    lines: Vec<usize>,
}

impl RawStatement {
    pub(crate) fn line_at(&self, offset: usize) -> Option<usize> {
        let line = self.text.bytes().take(offset).filter(|byte| *byte == b'\n').count();
        self.lines.get(line).copied()
    }
}

/// One statement file as written, with its placeholders.
#[derive(Debug, Clone)]
pub(crate) struct RawFile {
    /// Path inside the system's folder, or below the default files.
    pub(crate) path: String,
    /// Name of the file as error messages show it.
    pub(crate) display_path: String,
    pub(crate) kind: StatementKind,
    pub(crate) statements: Vec<RawStatement>,
}

impl RawFile {
    /// Splits the text of a file into its statements.
    pub(crate) fn read(
        path: String,
        display_path: String,
        text: &str,
        kind: StatementKind,
    ) -> Result<Self, CatalogueError> {
        let statements = split(text, kind).map_err(|fault| fault.into_error(&display_path))?;
        Ok(Self { path, display_path, kind, statements })
    }

    /// Builds an error about the file, or a line of it.
    pub(crate) fn error(&self, line: Option<usize>, message: impl Into<String>) -> CatalogueError {
        CatalogueError::Invalid { file: self.display_path.clone(), line, key: None, message: message.into() }
    }
}

/// Fault of a file that is not JSON objects one after another.
#[derive(Debug)]
pub(crate) struct SplitFault {
    line: usize,
    message: String,
}

impl SplitFault {
    /// Builds the error, with the name of the file as messages show it.
    pub(crate) fn into_error(self, display_path: &str) -> CatalogueError {
        let Self { line, message } = self;
        CatalogueError::Invalid { file: display_path.to_owned(), line: Some(line), key: None, message }
    }
}

/// A statement file with its values in place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatementFile {
    /// Path inside the system's folder, for messages.
    pub path: String,
    /// Syntax of the statements, according to the file's ending.
    pub kind: StatementKind,
    /// The statements, in order, without the `;` that ended them.
    pub statements: Vec<String>,
}

fn split(text: &str, kind: StatementKind) -> Result<Vec<RawStatement>, SplitFault> {
    match kind {
        StatementKind::Sql => Ok(split_sql(text)),
        StatementKind::Json => split_json(text).map_err(|(line, message)| SplitFault { line, message }),
    }
}

/// Splits SQL into statements, each ended by `;` at the end of a line, which is dropped. The rule is about
/// lines and not about SQL, because every dialect quotes and escapes differently. Lines with nothing but a
/// `--` comment are dropped too, so that a comment never hides text that is put before the statement.
fn split_sql(text: &str) -> Vec<RawStatement> {
    split_sql_by(text, end_of_statement)
}

/// Splits a statement file of a user's own questions, in which a name may hold `; --`: only `;` at the very
/// end of a line ends a statement.
pub(crate) fn split_user_statements(
    text: &str,
    kind: StatementKind,
) -> Result<Vec<RawStatement>, SplitFault> {
    match kind {
        StatementKind::Sql => {
            Ok(split_sql_by(text, |line| line.trim_end().strip_suffix(';').map(str::trim_end)))
        }
        StatementKind::Json => split(text, kind),
    }
}

fn split_sql_by(text: &str, end: fn(&str) -> Option<&str>) -> Vec<RawStatement> {
    let mut statements = Vec::new();
    let mut lines: Vec<(usize, &str)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.starts_with("--") || (trimmed.is_empty() && lines.is_empty()) {
            continue;
        }
        match end(line) {
            Some(statement_end) => {
                lines.push((index + 1, statement_end));
                finish_statement(&mut lines, &mut statements);
            }
            None => lines.push((index + 1, line.trim_end())),
        }
    }
    finish_statement(&mut lines, &mut statements);
    statements
}

/// Returns the line without its `;` if that ends a statement, with or without a comment behind it. `None`
/// otherwise.
fn end_of_statement(line: &str) -> Option<&str> {
    let line = line.trim_end();
    if let Some(statement) = line.strip_suffix(';') {
        return Some(statement.trim_end());
    }
    let (statement, comment) = line.rsplit_once(';')?;
    comment.trim_start().starts_with("--").then(|| statement.trim_end())
}

fn finish_statement(lines: &mut Vec<(usize, &str)>, statements: &mut Vec<RawStatement>) {
    while lines.last().is_some_and(|(_, line)| line.trim().is_empty()) {
        lines.pop();
    }
    while lines.first().is_some_and(|(_, line)| line.trim().is_empty()) {
        lines.remove(0);
    }
    if !lines.is_empty() {
        lines[0].1 = lines[0].1.trim_start();
        let text = lines.iter().map(|(_, line)| *line).collect::<Vec<_>>().join("\n");
        statements.push(RawStatement { text, lines: lines.iter().map(|(number, _)| *number).collect() });
    }
    lines.clear();
}

/// Splits a file of JSON objects that stand one after another. Digits of the same length replace
/// placeholders, so that `[{{keys}}]` can be parsed as JSON and every offset stays valid.
fn split_json(text: &str) -> Result<Vec<RawStatement>, (usize, String)> {
    let line_of = |offset| locate::line_at(text, offset);
    let mut masked = text.to_owned();
    let names = template::placeholders(text).map_err(|error| (line_of(error.offset()), error.to_string()))?;
    for (offset, name) in names {
        let length = name.len() + 4;
        masked.replace_range(offset..offset + length, &"1".repeat(length));
    }
    let mut statements = Vec::new();
    let mut stream = serde_json::Deserializer::from_str(&masked).into_iter::<serde_json::Value>();
    let mut previous_end = 0;
    while let Some(value) = stream.next() {
        let value = value.map_err(|error| (error.line(), format!("is not JSON: {error}")))?;
        let end = stream.byte_offset();
        let start = end - masked[previous_end..end].trim_start().len();
        if !value.is_object() {
            let message = "a statement is an object; several stand one after another, without an array";
            return Err((line_of(start), message.to_owned()));
        }
        let lines = (line_of(start)..=line_of(end)).collect();
        statements.push(RawStatement { text: text[start..end].to_owned(), lines });
        previous_end = end;
    }
    Ok(statements)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(statements: &[RawStatement]) -> Vec<&str> {
        statements.iter().map(|statement| statement.text.as_str()).collect()
    }

    #[test]
    fn sql_is_split_at_line_ends_only() {
        let text = "-- first;\n\nSET x = ';a';\n\nSELECT 1;SELECT 2\n  FROM t -- why;\n  WHERE a = ';'; -- end\n-- last\n";
        let statements = split_sql(text);
        assert_eq!(
            texts(&statements),
            ["SET x = ';a'", "SELECT 1;SELECT 2\n  FROM t -- why", "WHERE a = ';'"]
        );
    }

    #[test]
    fn a_file_of_comments_holds_no_statement_and_a_last_one_needs_no_semicolon() {
        assert!(split_sql("-- nothing to do here\n\n;\n").is_empty());
        assert_eq!(texts(&split_sql("SELECT 1\n")), ["SELECT 1"]);
    }

    #[test]
    fn lines_are_those_of_the_file() {
        let statements = split_sql("SELECT 1;\n-- a comment\nSELECT\n  -- another\n  {{x}};\n");
        assert_eq!(statements[1].text, "SELECT\n  {{x}}");
        assert_eq!(statements[1].line_at(statements[1].text.find("{{").expect("it is there")), Some(5));
    }

    #[test]
    fn json_objects_stand_one_after_another_around_placeholders() {
        let text = "{\"a\": [{{keys}}]}\n\n{\"b\":\n \"{{table}}\"}\n";
        let statements = split_json(text).expect("it is well formed");
        assert_eq!(texts(&statements), ["{\"a\": [{{keys}}]}", "{\"b\":\n \"{{table}}\"}"]);
        assert_eq!(statements[1].line_at(8), Some(4));
    }

    #[test]
    fn json_errors_name_their_line() {
        assert_eq!(split_json("{}\n[1]\n").map_err(|(line, _)| line).err(), Some(2));
        assert_eq!(split_json("{}\n{\"a\":\n }").map_err(|(line, _)| line).err(), Some(3));
    }
}
