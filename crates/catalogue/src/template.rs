//! Placeholders `{{name}}` in statements and settings.
//!
//! Values of a system's folder are filled in when a configuration is built. The names of [`RUN_TIME`] stay
//! until the run knows their values, and are filled in by [`fill`]. Replacement is one pass: inserted text is
//! not scanned again, so a document or a path that holds `{{` stays unchanged.

/// Placeholders that only a run can fill, in every workload; each workload has further ones. A folder must
/// not define any of them as a value.
///
/// `file` is the data to load, and `table` the name of the table. `cores` is the number of cores that the
/// engine may use, and `folder` its data folder. `braces` stands for two opening braces that start no
/// placeholder.
pub const RUN_TIME: [&str; 5] = ["file", "table", "cores", "folder", BRACES];

/// Name of the placeholder for [`OPENING`] itself.
const BRACES: &str = "braces";
/// Text with which a placeholder begins.
const OPENING: &str = "{{";

/// A placeholder that cannot be replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceholderError {
    /// `{{` that does not start a placeholder.
    #[error("`{{{{` starts a placeholder, which is written {{{{name}}}} in lower case, without spaces")]
    Malformed {
        /// Position in the text, in bytes.
        offset: usize,
    },
    /// A placeholder without a value.
    #[error("`{{{{{name}}}}}` has no value")]
    Unknown {
        /// Position in the text, in bytes.
        offset: usize,
        /// Name of the placeholder, without braces.
        name: String,
    },
}

impl PlaceholderError {
    /// Returns the position of the placeholder in the text, in bytes.
    pub fn offset(&self) -> usize {
        match self {
            Self::Malformed { offset } | Self::Unknown { offset, .. } => *offset,
        }
    }
}

/// Replaces every placeholder by the value that `values` gives for its name.
///
/// The caller must quote values: a path inside an SQL text literal goes through [`sql_text`] first.
///
/// # Errors
/// [`PlaceholderError::Unknown`] if a placeholder has no value, [`PlaceholderError::Malformed`] if a `{{`
/// does not start a placeholder.
pub fn fill(text: &str, values: &[(&str, &str)]) -> Result<String, PlaceholderError> {
    replace(text, |name| {
        values
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| Replacement::Text((*value).to_owned()))
            .unwrap_or(if name == BRACES { Replacement::Text(OPENING.to_owned()) } else { Replacement::None })
    })
}

/// Returns a text that [`fill`] converts back to `text`, whatever it contains.
#[must_use]
pub(crate) fn escape(text: &str) -> String {
    text.replace(OPENING, &format!("{OPENING}{BRACES}}}}}"))
}

/// Like [`fill`], but leaves placeholders that `values` does not name as they are.
///
/// # Errors
/// [`PlaceholderError::Malformed`] if a `{{` does not start a placeholder.
pub fn fill_known(text: &str, values: &[(&str, &str)]) -> Result<String, PlaceholderError> {
    replace(text, |name| {
        values
            .iter()
            .find(|(known, _)| *known == name)
            .map_or(Replacement::Keep, |(_, value)| Replacement::Text((*value).to_owned()))
    })
}

/// Escapes `text` for use between the quotes of an SQL text literal.
pub fn sql_text(text: &str) -> String {
    text.replace('\'', "''")
}

/// How one placeholder is replaced.
pub(crate) enum Replacement {
    /// This text takes its place.
    Text(String),
    /// The placeholder stays, for the run to fill.
    Keep,
    /// The placeholder has no value, which is an error.
    None,
}

pub(crate) fn replace(
    text: &str,
    mut lookup: impl FnMut(&str) -> Replacement,
) -> Result<String, PlaceholderError> {
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    while let Some(distance) = text[done..].find(OPENING) {
        let offset = done + distance;
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

/// Returns the placeholders in `text`, in order, each with its position in bytes.
pub(crate) fn placeholders(text: &str) -> Result<Vec<(usize, &str)>, PlaceholderError> {
    let mut names = Vec::new();
    let mut done = 0;
    while let Some(distance) = text[done..].find(OPENING) {
        let offset = done + distance;
        let name = name_at(text, offset).ok_or(PlaceholderError::Malformed { offset })?;
        names.push((offset, name));
        done = offset + name.len() + 4;
    }
    Ok(names)
}

/// Returns `true` if `name` can be a placeholder: `a`–`z`, `0`–`9` and `_`, beginning with a letter.
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
            assert_eq!(fill(&escape(text), &[("table", "t")]).as_deref(), Ok(text));
            // The escaped braces survive that other values are filled in first.
            let filled = fill_known(&escape(text), &[("value", "v")]);
            assert_eq!(filled, Ok(escape(text)), "{text}");
        }
    }

    #[test]
    fn sql_text_cannot_end_its_literal() {
        assert_eq!(sql_text("it's"), "it''s");
    }
}
