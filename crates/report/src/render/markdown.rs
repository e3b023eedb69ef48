//! Draws sections as Markdown of GitHub and GitLab, for pull requests and notes.
//!
//! Names and messages come from systems, documents and untrusted run folders. They are escaped, so that they
//! are shown as text: without markup, links or mentions.

use std::fmt::Write;

use crate::section::{Column, Section};
use crate::severity_list::SeverityList;

/// Markdown of sections, one below the other, with headings of this level.
pub(crate) fn write(sections: &[Section], level: usize) -> String {
    let mut text = String::new();
    for section in sections {
        write_section(&mut text, section, level);
    }
    text
}

fn write_section(text: &mut String, section: &Section, level: usize) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{} {}\n", "#".repeat(level), escape(&section.title));
    if !section.rows.is_empty() {
        text.push_str(&table(section));
        text.push('\n');
    }
    if !section.notes.is_empty() {
        text.push_str(&list(&section.notes));
        text.push('\n');
    }
}

/// Markdown table of a section, without its title and its notes.
pub(crate) fn table(section: &Section) -> String {
    let mut text = String::new();
    let mut line = |cells: &[String]| {
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    };
    line(&section.columns.iter().map(|column| escape(&column.title)).collect::<Vec<_>>());
    let alignment = |column: &Column| if column.is_left_aligned() { ":---" } else { "---:" }.to_owned();
    line(&section.columns.iter().map(alignment).collect::<Vec<_>>());
    for row in section.rows.iter() {
        line(&row.iter().map(|cell| escape(cell)).collect::<Vec<_>>());
    }
    text
}

/// Markdown list of notes, one item per note.
pub(crate) fn list(notes: &SeverityList<String>) -> String {
    notes.iter().map(|note| format!("* {}\n", item(note))).collect()
}

/// Puts text on one line and escapes everything that Markdown or HTML would interpret as markup.
pub(crate) fn escape(text: &str) -> String {
    let printable: String = text.chars().map(|c| if is_harmful(c) { ' ' } else { c }).collect();
    let line = printable.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut safe = String::with_capacity(line.len());
    let characters: Vec<char> = line.chars().collect();
    for (index, c) in characters.iter().copied().enumerate() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '\\' | '`' | '|' | '*' | '_' | '[' | ']' | '~' | '$' => safe.extend(['\\', c]),
            _ => safe.push(c),
        }
        if is_reference(&characters, index) {
            safe.push_str("<!-- -->");
        }
    }
    safe.replace("://", ":<!-- -->//").replace("www.", "www<!-- -->.")
}

/// Returns `true` if the text after a character could become a link or a picture, so that a separator is
/// needed. Examples are mentions, issues (`#12`, `owner/name#12`, `GH-12`), GitLab's merge requests (`!12`)
/// and other numbered references, and emoji (`:name:`).
fn is_reference(characters: &[char], index: usize) -> bool {
    let next_is = |predicate: fn(&char) -> bool| characters.get(index + 1).is_some_and(predicate);
    let before = |distance: usize| {
        let index = index.checked_sub(distance)?;
        characters.get(index).map(char::to_ascii_lowercase)
    };
    match characters.get(index) {
        Some('@') => true,
        Some('#' | '!') => next_is(|c| c.is_alphanumeric()),
        Some('&' | '%' | '$' | '~' | '^') => next_is(char::is_ascii_digit),
        Some('-') => next_is(char::is_ascii_digit) && before(2) == Some('g') && before(1) == Some('h'),
        Some(':') => {
            let rest = characters.get(index + 1..).unwrap_or_default();
            let end = rest.iter().position(|c| *c == ':').unwrap_or_default();
            let name = rest.get(..end).unwrap_or_default();
            let is_name = name.iter().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '+'));
            // The minutes in a time of day, as in `10:00:00`, are no emoji.
            let is_minutes = name.len() == 2 && name.iter().all(char::is_ascii_digit);
            !name.is_empty() && is_name && !is_minutes
        }
        _ => false,
    }
}

/// Escapes text that begins a list item, where more characters have a meaning than elsewhere.
fn item(text: &str) -> String {
    let safe = escape(text);
    let digits = safe.chars().take_while(char::is_ascii_digit).count();
    let index = match safe.chars().nth(digits) {
        Some('#' | '+' | '-' | '=') if digits == 0 => 0,
        Some('.' | ')') if digits > 0 => digits,
        _ => return safe,
    };
    // Only ASCII digits precede `index`, so it is also the offset in bytes.
    let (before, after) = safe.split_at(index);
    format!("{before}\\{after}")
}

/// Returns `true` for control characters and for those that change the direction of text.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_text() {
        for (text, safe) in [
            ("a|b", "a\\|b"),
            ("a\n\n# b", "a # b"),
            ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("&lt;", "&amp;lt;"),
            ("`x`", "\\`x\\`"),
            ("a\\|b", "a\\\\\\|b"),
            ("![x](http://y)", "!\\[x\\](http:<!-- -->//y)"),
            ("@somebody", "@<!-- -->somebody"),
            ("**_~~x~~_**", "\\*\\*\\_\\~\\~x\\~\\~\\_\\*\\*"),
            ("\u{1b}[31mred\u{202e}", "\\[31mred"),
            ("a\u{61c}b", "a b"),
            ("<!-- x -->", "&lt;!-- x --&gt;"),
            ("fixes #12, owner/name#1", "fixes #<!-- -->12, owner/name#<!-- -->1"),
            ("GH-12 gh-7 max-7", "GH-<!-- -->12 gh-<!-- -->7 max-7"),
            ("!12 &3 %4 ~5 $6", "!<!-- -->12 &amp;<!-- -->3 %<!-- -->4 \\~<!-- -->5 \\$<!-- -->6"),
            (":+1: :thumbs_up:", ":<!-- -->+1: :<!-- -->thumbs\\_up:"),
            ("2026-11-21T10:00:00Z blake3:01 95 % a: b: c", "2026-11-21T10:00:00Z blake3:01 95 % a: b: c"),
        ] {
            assert_eq!(escape(text), safe, "{text}");
        }
    }

    #[test]
    fn items_begin_with_text() {
        for (text, safe) in [
            ("# x", "\\# x"),
            ("- x", "\\- x"),
            ("+ x", "\\+ x"),
            ("12. x", "12\\. x"),
            ("1) x", "1\\) x"),
            ("3 of 4", "3 of 4"),
            ("", ""),
        ] {
            assert_eq!(item(text), safe, "{text}");
        }
    }

    #[test]
    fn columns_are_aligned_as_in_the_terminal() {
        let columns = vec![Column::words("name"), Column::number("time"), Column::words("verdict")];
        let mut section = Section::new("t".to_owned(), columns);
        section.rows.push(vec!["a|".into(), "1 s".into(), "exact".into()]);
        section.notes.push("n".into());
        assert_eq!(
            write(&[section], 3),
            "### t\n\n| name | time | verdict |\n| :--- | ---: | :--- |\n| a\\| | 1 s | exact |\n\n* n\n\n"
        );
    }
}
