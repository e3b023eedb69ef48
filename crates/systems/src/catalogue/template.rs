//! `{{name}}` in statements and settings.
//!
//! Values of a system's folder are put in when a configuration is made; the
//! names of [`RUN_TIME`] stay until the run knows them and are put in by
//! [`fill`]. Replacement is one pass: what is put in is not looked at again, so
//! a document or a path holding `{{` stays what it is.

/// The placeholders that only a run can replace, whatever its workload; each
/// has further ones. A folder may define none of them.
///
/// `file` the data to load, `table` the table's name, `cores` how many the
/// engine may use, `folder` the engine's data folder, `braces` two opening braces
/// that start no placeholder.
pub const RUN_TIME: [&str; 5] = ["file", "table", "cores", "folder", BRACES];

/// Stands for [`OPENING`] itself.
const BRACES: &str = "braces";
/// What a placeholder begins with.
const OPENING: &str = "{{";

/// A placeholder that cannot be replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceholderError {
    /// `{{` that starts no placeholder.
    #[error("`{{{{` starts a placeholder, which is written {{{{name}}}} in lower case, without spaces")]
    Malformed {
        /// Where in the text, in bytes.
        offset: usize,
    },
    /// A placeholder that has no value.
    #[error("`{{{{{name}}}}}` has no value")]
    Unknown {
        /// Where in the text, in bytes.
        offset: usize,
        /// Its name.
        name: String,
    },
}

impl PlaceholderError {
    /// Where in the text it stands, in bytes.
    pub fn offset(&self) -> usize {
        match self {
            Self::Malformed { offset } | Self::Unknown { offset, .. } => *offset,
        }
    }
}

/// Replaces every placeholder by what `values` gives for its name.
///
/// The caller quotes: a path inside an SQL text literal goes through
/// [`sql_text`] first.
///
/// # Errors
/// A placeholder without a value, or a `{{` that is none.
pub fn fill(text: &str, values: &[(&str, &str)]) -> Result<String, PlaceholderError> {
    replace(text, |name| {
        values
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| Replacement::Text((*value).to_owned()))
            .unwrap_or(if name == BRACES { Replacement::Text(OPENING.to_owned()) } else { Replacement::None })
    })
}

/// A text that [`fill`] turns into `text`, whatever is in it.
#[must_use]
pub(crate) fn escaped(text: &str) -> String {
    text.replace(OPENING, &format!("{OPENING}{BRACES}}}}}"))
}

/// As [`fill`], and leaves placeholders that `values` do not name as they are.
///
/// # Errors
/// A `{{` that is no placeholder.
pub fn fill_known(text: &str, values: &[(&str, &str)]) -> Result<String, PlaceholderError> {
    replace(text, |name| {
        values
            .iter()
            .find(|(known, _)| *known == name)
            .map_or(Replacement::Keep, |(_, value)| Replacement::Text((*value).to_owned()))
    })
}

/// `text` as it is written between the quotes of an SQL text literal.
pub fn sql_text(text: &str) -> String {
    text.replace('\'', "''")
}

/// What becomes of one placeholder.
pub(crate) enum Replacement {
    /// This text stands in its place.
    Text(String),
    /// It stays, for the run.
    Keep,
    /// It is an error.
    None,
}

pub(crate) fn replace(
    text: &str,
    mut lookup: impl FnMut(&str) -> Replacement,
) -> Result<String, PlaceholderError> {
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    while let Some(found) = text[done..].find(OPENING) {
        let offset = done + found;
        result.push_str(&text[done..offset]);
        let name = name_at(text, offset).ok_or(PlaceholderError::Malformed { offset })?;
        let end = offset + name.len() + 4;
        match lookup(name) {
            Replacement::Text(value) => result.push_str(&value),
            Replacement::Keep => result.push_str(&text[offset..end]),
            Replacement::None => return Err(PlaceholderError::Unknown { offset, name: name.to_owned() }),
        }
        done = end;
    }
    result.push_str(&text[done..]);
    Ok(result)
}

/// The names of the placeholders in `text`, in order, with their offsets.
pub(crate) fn placeholders(text: &str) -> Result<Vec<(usize, &str)>, PlaceholderError> {
    let mut names = Vec::new();
    let mut done = 0;
    while let Some(found) = text[done..].find(OPENING) {
        let offset = done + found;
        let name = name_at(text, offset).ok_or(PlaceholderError::Malformed { offset })?;
        names.push((offset, name));
        done = offset + name.len() + 4;
    }
    Ok(names)
}

/// Whether `name` can be written as a placeholder.
pub(crate) fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

fn name_at(text: &str, offset: usize) -> Option<&str> {
    let rest = &text[offset + 2..];
    let name = &rest[..rest.find("}}")?];
    is_name(name).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_once_and_never_looks_at_what_it_put_in() {
        let filled = fill(
            "EXPLAIN {{statement}} -- {{table}}",
            &[("statement", "SELECT '{{table}}'"), ("table", "t")],
        );
        assert_eq!(filled.as_deref(), Ok("EXPLAIN SELECT '{{table}}' -- t"));
    }

    #[test]
    fn closing_braces_of_json_do_not_belong_to_the_name() {
        assert_eq!(
            fill(r#"{"a":{"in":{{keys}}}}"#, &[("keys", "[1]")]).as_deref(),
            Ok(r#"{"a":{"in":[1]}}"#)
        );
    }

    #[test]
    fn says_where_the_unknown_one_stands() {
        assert_eq!(
            fill("a {{tabel}}", &[("table", "t")]),
            Err(PlaceholderError::Unknown { offset: 2, name: "tabel".to_owned() })
        );
        for text in ["{{ table }}", "{{Table}}", "{{", "{{}}", "{{1a}}"] {
            assert_eq!(
                fill(text, &[("table", "t")]),
                Err(PlaceholderError::Malformed { offset: 0 }),
                "{text}"
            );
        }
    }

    #[test]
    fn opening_braces_can_be_written() {
        for text in ["{{", "{{{", "{{{{x}}", "a{{table}}b", "{ {", "}}", "{{braces}}"] {
            assert_eq!(fill(&escaped(text), &[("table", "t")]).as_deref(), Ok(text));
            // Other values are put in first, and it stays.
            let kept = fill_known(&escaped(text), &[("value", "v")]);
            assert_eq!(kept, Ok(escaped(text)), "{text}");
        }
    }

    #[test]
    fn sql_text_cannot_end_its_literal() {
        assert_eq!(sql_text("it's"), "it''s");
    }
}
