//! Lines and keys in a TOML text, for errors that point at their cause.

use toml::de::{DeTable, DeValue};

use super::{error::CatalogueError, near::did_you_mean};

/// A TOML file with its name, kept to say where something in it stands.
#[derive(Debug, Clone)]
pub(crate) struct TomlText {
    /// The name shown in errors.
    pub(crate) file: String,
    /// The whole text.
    pub(crate) text: String,
}

impl TomlText {
    /// An error at the key that `path` leads to (array elements by number).
    pub(crate) fn error(&self, path: &[&str], message: impl Into<String>) -> CatalogueError {
        CatalogueError::Invalid {
            file: self.file.clone(),
            line: self.line_of(path),
            key: (!path.is_empty()).then(|| path.join(".")),
            message: message.into(),
        }
    }

    /// Turns an error of the TOML reader into one with file, line, key, and the
    /// nearest allowed name where a name was not allowed.
    pub(crate) fn reader_error(&self, error: &toml::de::Error) -> CatalogueError {
        self.reader_error_with(error, "")
    }

    /// Whether an error of the TOML reader is about a key of this name at the top level.
    pub(crate) fn is_top_level(&self, error: &toml::de::Error, name: &str) -> bool {
        error.span().and_then(|span| self.key_at(span.start)).is_some_and(|key| key == name)
    }

    /// The same, with more words behind it.
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

    /// File, line and key, as ``FILE:11: `artifact.0.reports` ``.
    pub(crate) fn place(&self, path: &[&str]) -> String {
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
        let mut best = Vec::new();
        deepest(document.get_ref(), offset, &mut Vec::new(), &mut best);
        (!best.is_empty()).then(|| best.join("."))
    }
}

/// The line, from 1, on which byte `offset` of `text` stands.
pub(crate) fn line_at(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

/// Looks everywhere and not only where the parent's span reaches: the span of a
/// table is its header's, while its keys stand below it.
fn deepest(table: &DeTable<'_>, offset: usize, path: &mut Vec<String>, best: &mut Vec<String>) {
    for (key, value) in table {
        path.push(key.get_ref().to_string());
        let inside = key.span().contains(&offset) || value.span().contains(&offset);
        if inside && path.len() > best.len() {
            best.clone_from(path);
        }
        deepest_value(value.get_ref(), offset, path, best);
        path.pop();
    }
}

fn deepest_value(value: &DeValue<'_>, offset: usize, path: &mut Vec<String>, best: &mut Vec<String>) {
    match value {
        DeValue::Table(table) => deepest(table, offset, path, best),
        DeValue::Array(array) => {
            for element in array {
                deepest_value(element.get_ref(), offset, path, best);
            }
        }
        _ => {}
    }
}

/// Takes "unknown field `x`, expected one of `a`, `b`" apart.
pub(crate) fn unknown_name(message: &str) -> Option<(&str, Vec<&str>)> {
    message.strip_prefix("unknown ")?;
    let mut names = message.split('`').skip(1).step_by(2);
    Some((names.next()?, names.collect()))
}
