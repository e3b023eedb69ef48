//! Parser of the yardstick's statements.

use jsonathlon_dataset::questions::Question;
use jsonathlon_driver_api::driver::{DriverError, Result};

/// Action of a statement; the table is parsed separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Create,
    Drop,
    Load,
    Count,
    Sizes,
    Ask(Question),
    Plan(Question),
}

/// Parses `create`, `drop`, `count`, `sizes`, `q1` … `q6` or `plan QUESTION`, each followed by a table, or
/// `load TABLE :doc`.
///
/// # Errors
/// [`DriverError::Refused`] if the statement is unknown or the name of the table is invalid.
pub(super) fn parse(text: &str) -> Result<(Verb, &str)> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let question = |word: &str| Question::ALL.into_iter().find(|question| question.id() == word);
    let (verb, table) = match words.as_slice() {
        ["create", table] => (Verb::Create, *table),
        ["drop", table] => (Verb::Drop, *table),
        ["count", table] => (Verb::Count, *table),
        ["sizes", table] => (Verb::Sizes, *table),
        ["load", table, ":doc"] => (Verb::Load, *table),
        ["plan", name, table] if let Some(question) = question(name) => (Verb::Plan(question), *table),
        [name, table] if let Some(question) = question(name) => (Verb::Ask(question), *table),
        _ => {
            return Err(DriverError::Refused(format!(
                "`{text}` is no statement of the yardstick: create, drop, count, sizes or q1 to q6 and a table, \
                 `plan` before a question, or `load TABLE :doc`"
            )));
        }
    };
    // The name of the table becomes a file name.
    let is_name = table.starts_with(|first: char| first.is_ascii_lowercase())
        && table.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if !is_name {
        return Err(DriverError::Refused(format!(
            "`{table}` is no name of a table: a-z, 0-9 and `_`, and a letter first"
        )));
    }
    Ok((verb, table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_words() {
        assert_eq!(parse("create documents"), Ok((Verb::Create, "documents")));
        assert_eq!(parse(" q4\n documents_on_trial "), Ok((Verb::Ask(Question::Q4), "documents_on_trial")));
        assert_eq!(parse("plan q6 d2"), Ok((Verb::Plan(Question::Q6), "d2")));
        assert_eq!(parse("load d :doc"), Ok((Verb::Load, "d")));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in
            ["", "create", "create a b", "q7 d", "Q1 d", "plan d", "plan count d", "load d", "select 1"]
        {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains("no statement"), "{text}: {error}");
        }
        for name in ["../d", "D", "1d", "d-e", "é", "_d"] {
            let error = parse(&format!("create {name}")).unwrap_err().to_string();
            assert!(error.contains("no name"), "{name}: {error}");
        }
    }
}
