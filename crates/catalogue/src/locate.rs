//! Finds lines and keys in a TOML text, so that errors can point at their cause.

use toml::de::{DeTable, DeValue};

use super::{did_you_mean::did_you_mean, error::CatalogueError};

/// A TOML file with its name, kept to locate keys for error messages.
#[derive(Debug, Clone)]
pub(crate) struct TomlText {
    /// Name of the file as error messages show it.
    pub(crate) file: String,
    /// Text of the file, as read.
    pub(crate) text: String,
}

impl TomlText {
    /// Builds an error at the key that `path` leads to; elements of arrays are given by index.
    pub(crate) fn error(&self, path: &[&str], message: impl Into<String>) -> CatalogueError {
        CatalogueError::Invalid {
            file: self.file.clone(),
            line: self.line_of(path),
            key: (!path.is_empty()).then(|| path.join(".")),
            message: message.into(),
        }
    }

    /// Converts an error of the TOML parser to one with file, line and key. If a name is not allowed, the
    /// nearest allowed one is suggested.
    pub(crate) fn reader_error(&self, error: &toml::de::Error) -> CatalogueError {
        self.reader_error_with(error, "")
    }

    /// Returns `true` if an error of the TOML parser is about the top-level key of this name.
    pub(crate) fn is_top_level(&self, error: &toml::de::Error, name: &str) -> bool {
        error.span().and_then(|span| self.key_at(span.start)).is_some_and(|key| key == name)
    }

    /// Like [`Self::reader_error`], with `more` appended to the message.
    pub(crate) fn reader_error_with(&self, error: &toml::de::Error, more: &str) -> CatalogueError {
        let offset = error.span().map(|span| span.start);
        let key = offset.and_then(|offset| self.key_at(offset));
        let message = error.message().trim_end();
        let suggestion = unknown_name(message)
            .map(|(name, known)| did_you_mean(name, known.iter().copied()))
            .unwrap_or_default();
        CatalogueError::Invalid {
            file: self.file.clone(),
            line: offset.map(|offset| line_at(&self.text, offset)),
            key,
            message: format!("{message}{suggestion}{more}"),
        }
    }

    /// Returns file, line and key, as ``FILE:11: `artifact.0.reports` ``.
    pub(crate) fn location(&self, path: &[&str]) -> String {
        let line = self.line_of(path).map(|line| format!(":{line}")).unwrap_or_default();
        format!("{}{line}: `{}`", self.file, path.join("."))
    }

    fn line_of(&self, path: &[&str]) -> Option<usize> {
        let document = DeTable::parse(&self.text).ok()?;
        let (first, rest) = path.split_first()?;
        let (key, mut node) = document.get_ref().get_key_value(*first)?;
        let mut offset = key.span().start;
        for step in rest {
            match node.get_ref() {
                DeValue::Table(table) => {
                    let Some((key, value)) = table.get_key_value(*step) else { break };
                    offset = key.span().start;
                    node = value;
                }
                DeValue::Array(array) => {
                    let Some(value) = step.parse().ok().and_then(|index: usize| array.get(index)) else {
                        break;
                    };
                    offset = value.span().start;
                    node = value;
                }
                _ => break,
            }
        }
        Some(line_at(&self.text, offset))
    }

    fn key_at(&self, offset: usize) -> Option<String> {
        let document = DeTable::parse(&self.text).ok()?;
        let mut longest = Vec::new();
        find_deepest(document.get_ref(), offset, &mut Vec::new(), &mut longest);
        (!longest.is_empty()).then(|| longest.join("."))
    }
}

/// Returns the line, counted from 1, of byte `offset` in `text`.
pub(crate) fn line_at(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

/// Finds the longest path of keys at `offset`. All tables are searched, because the span of a table is that
/// of its header, while its keys stand below it.
fn find_deepest(table: &DeTable<'_>, offset: usize, path: &mut Vec<String>, longest: &mut Vec<String>) {
    for (key, value) in table {
        path.push(key.get_ref().to_string());
        let contains_offset = key.span().contains(&offset) || value.span().contains(&offset);
        if contains_offset && path.len() > longest.len() {
            longest.clone_from(path);
        }
        find_deepest_in(value.get_ref(), offset, path, longest);
        path.pop();
    }
}

fn find_deepest_in(value: &DeValue<'_>, offset: usize, path: &mut Vec<String>, longest: &mut Vec<String>) {
    match value {
        DeValue::Table(table) => find_deepest(table, offset, path, longest),
        DeValue::Array(array) => {
            for element in array {
                find_deepest_in(element.get_ref(), offset, path, longest);
            }
        }
        _ => {}
    }
}

/// Extracts the names from "unknown field `x`, expected one of `a`, `b`": the unknown one and the allowed
/// ones. `None` for another message.
pub(crate) fn unknown_name(message: &str) -> Option<(&str, Vec<&str>)> {
    message.strip_prefix("unknown ")?;
    let mut names = message.split('`').skip(1).step_by(2);
    Some((names.next()?, names.collect()))
}
