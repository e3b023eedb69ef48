//! Splits a text into its statements.
//!
//! chDB executes several statements at once and concatenates the bytes of their answers. The result cannot be
//! told from one answer with unexpected cells, so statements are executed one by one.

use crate::driver::{DriverError, Result};
use crate::rows::StatementStats;

/// Returns the non-empty statements of `text`, split at semicolons outside of quotes, comments and heredocs.
pub fn statements(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let (mut statements, mut start, mut position) = (Vec::new(), 0, 0);
    // Whether the current statement contains anything but white space and comments.
    let mut has_content = false;
    while let Some(&byte) = bytes.get(position) {
        let rest = &bytes[position..];
        let length = match byte {
            b'\'' | b'"' | b'`' => quoted_length(rest),
            b'-' if rest.starts_with(b"--") => line_comment_length(rest),
            b'#' if matches!(rest.get(1), Some(b' ' | b'!')) => line_comment_length(rest),
            b'/' if rest.starts_with(b"/*") => block_comment_length(rest),
            b'$' => heredoc_length(rest),
            _ => 1,
        };
        if byte == b';' {
            if has_content {
                statements.push(text[start..position].trim());
            }
            (start, has_content) = (position + 1, false);
        } else {
            has_content |= !byte.is_ascii_whitespace() && !is_comment(rest);
        }
        position += length;
    }
    if has_content {
        statements.push(text[start..].trim());
    }
    statements
}

/// Calls `execute` for each statement of `text` in order and returns the report of the last one.
///
/// # Errors
/// The first error of `execute`, which ends the loop; [`DriverError::Refused`] if `text` has no statement.
pub fn run_each(
    text: &str,
    mut execute: impl FnMut(&str) -> Result<StatementStats>,
) -> Result<StatementStats> {
    let mut report = None;
    for statement in statements(text) {
        report = Some(execute(statement)?);
    }
    report.ok_or_else(|| DriverError::Refused("empty statement".into()))
}

fn is_comment(rest: &[u8]) -> bool {
    rest.starts_with(b"--") || rest.starts_with(b"/*") || rest.starts_with(b"# ") || rest.starts_with(b"#!")
}

/// Length including the closing quote. A backslash escapes the next byte. A doubled quote counts as the end
/// of one quoted text and the start of another.
fn quoted_length(rest: &[u8]) -> usize {
    let mut position = 1;
    while let Some(&byte) = rest.get(position) {
        position += 1;
        match byte {
            b'\\' => position += 1,
            _ if byte == rest[0] => break,
            _ => {}
        }
    }
    position.min(rest.len())
}

fn line_comment_length(rest: &[u8]) -> usize {
    memchr::memchr(b'\n', rest).map_or(rest.len(), |position| position + 1)
}

fn block_comment_length(rest: &[u8]) -> usize {
    memchr::memmem::find(&rest[2..], b"*/").map_or(rest.len(), |position| position + 4)
}

/// Length of the heredoc `$tag$ … $tag$` at the start of `rest`, or 1 if none begins there.
fn heredoc_length(rest: &[u8]) -> usize {
    let Some(end) = memchr::memchr(b'$', &rest[1..]).map(|position| position + 2) else { return 1 };
    let tag = &rest[..end];
    if !tag[1..end - 1].iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
        return 1;
    }
    memchr::memmem::find(&rest[end..], tag).map_or(rest.len(), |position| end + position + end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_semicolon_ends_a_statement_only_where_it_is_one() {
        assert_eq!(statements("SELECT 1"), ["SELECT 1"]);
        assert_eq!(statements("SELECT 1;\nSELECT 2;\n"), ["SELECT 1", "SELECT 2"]);
        assert_eq!(statements("SELECT ';', \"a;b\", `c;d`; x"), ["SELECT ';', \"a;b\", `c;d`", "x"]);
        assert_eq!(statements(r"SELECT 'it\'s;', 'it''s;'; x"), [r"SELECT 'it\'s;', 'it''s;'", "x"]);
        assert_eq!(statements("SELECT 1 -- a; b\n, 2; x"), ["SELECT 1 -- a; b\n, 2", "x"]);
        assert_eq!(statements("SELECT /* ; */ 1; x"), ["SELECT /* ; */ 1", "x"]);
        assert_eq!(statements("SELECT $t$ ; $u$ ; $t$; x"), ["SELECT $t$ ; $u$ ; $t$", "x"]);
        assert_eq!(statements("SELECT 1 # it's; here\n; x"), ["SELECT 1 # it's; here", "x"]);
    }

    #[test]
    fn nothing_but_white_space_and_comments_is_no_statement() {
        assert!(statements(" ;; \n-- nothing;\n /* ; */ ;").is_empty());
    }

    #[test]
    fn what_is_not_closed_goes_to_the_engine_as_it_is() {
        assert_eq!(statements("SELECT 'a; b"), ["SELECT 'a; b"]);
        assert_eq!(statements("SELECT 1 /* ; "), ["SELECT 1 /* ;"]);
        assert_eq!(statements("SELECT 'a\\"), ["SELECT 'a\\"]);
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "[a'\"`;$\\\\/* \n#é-]{0,40}") {
            for statement in statements(&text) {
                prop_assert!(text.contains(statement) && !statement.is_empty());
            }
        }
    }
}
