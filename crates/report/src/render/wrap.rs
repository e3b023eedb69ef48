//! Breaks text into lines, by the columns that it takes on a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that a text takes on a terminal.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Replaces control characters with blanks, so that text from an untrusted run folder cannot move the cursor
/// or change colours.
pub(crate) fn remove_controls(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Lines of a paragraph, each at most `limit` columns wide. Lines after the first begin with `indent` blanks.
/// Blanks between words stay as they are. A word longer than a line, such as a path, stays whole, and a number
/// stays with its `%` or `×`.
pub(crate) fn paragraph(text: &str, limit: usize, indent: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    // An empty word stands for one more blank between two others.
    for (index, word) in words(text).into_iter().enumerate() {
        let has_words = !line.trim().is_empty();
        if has_words && !word.is_empty() && width(&line) + 1 + width(word) > limit {
            lines.push(line.trim_end().to_owned());
            line = " ".repeat(indent);
        } else if index > 0 {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line.trim_end().to_owned());
    lines
}

/// Words between single blanks; a number and its sign are one word.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    for (index, _) in text.match_indices(' ') {
        if index > start && text[index + 1..].starts_with(['%', '×']) {
            continue;
        }
        words.push(&text[start..index]);
        start = index + 1;
    }
    words.push(&text[start..]);
    words
}

/// Indentation of the lines after a note's first one. Text behind a label, such as `machine  2 cores`, stays in
/// its column.
pub(crate) fn hanging_indent(note: &str) -> usize {
    /// Columns at which the text behind a label begins at the latest.
    const LABEL_END: usize = 20;
    let text = note.trim_start();
    let leading = note.len() - text.len();
    let label = text.split_once("  ").map(|(label, behind)| (label, behind.trim_start()));
    match label {
        Some((label, behind)) if !behind.is_empty() => match width(note) - width(behind) {
            column if column <= LABEL_END && !label.is_empty() => column,
            _ => leading + 2,
        },
        _ => leading + 2,
    }
}

/// Lines of a table cell, each at most `limit` columns wide. A cell is broken before a parenthesis or after a
/// comma if it can be, else between words, else within a word.
pub(crate) fn cell(text: &str, limit: usize) -> Vec<String> {
    if width(text) <= limit {
        return vec![text.to_owned()];
    }
    let mut lines: Vec<String> = Vec::new();
    for part in parts(text) {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(part) <= limit => {
                line.push(' ');
                line.push_str(part);
            }
            _ => lines.push(part.to_owned()),
        }
    }
    let by_words = lines.iter().flat_map(|line| paragraph(line, limit, 0));
    by_words.flat_map(|line| pieces(&line, limit)).collect()
}

/// Parts of a cell that belong together: a value, its interval in parentheses, what stands between commas.
pub(crate) fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (index, _) in text.match_indices(' ') {
        let (before, after) = (&text[start..index], &text[index + 1..]);
        if !before.is_empty() && (after.starts_with('(') || before.ends_with(',')) {
            parts.push(before);
            start = index + 1;
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Pieces of a line that are at most `limit` columns wide, wherever that breaks it.
pub(crate) fn pieces(line: &str, limit: usize) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for c in line.chars() {
        match pieces.last_mut() {
            Some(piece) if width(piece) + c.width().unwrap_or(0) <= limit => piece.push(c),
            _ => pieces.push(c.to_string()),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_keep_their_blanks_and_long_words() {
        assert_eq!(paragraph("one two  three", 8, 2), ["one two", "  three"]);
        assert_eq!(paragraph("a  b", 80, 2), ["a  b"]);
        assert_eq!(paragraph("  said by one", 8, 4), ["  said", "    by", "    one"]);
        assert_eq!(paragraph("see /a/very/long/path here", 10, 0), ["see", "/a/very/long/path", "here"]);
        assert_eq!(paragraph("", 10, 0), [""]);
        assert_eq!(paragraph("sure (95 %: 1.5 … 1.7)", 9, 2), ["sure", "  (95 %:", "  1.5 …", "  1.7)"]);
        assert_eq!(paragraph("it is 1.6 × faster", 9, 0), ["it is", "1.6 ×", "faster"]);
    }

    #[test]
    fn text_behind_a_label_stays_in_its_column() {
        assert_eq!(hanging_indent("machine  2 cores, some processor"), 9);
        assert_eq!(hanging_indent("         1 line is no JSON"), 11);
        assert_eq!(hanging_indent("  asked of a: SELECT 1"), 4);
        assert_eq!(hanging_indent("hot: repeated executions"), 2);
    }

    #[test]
    fn cells_break_where_they_say_the_most() {
        assert_eq!(cell("150k (131k … 173k)", 20), ["150k (131k … 173k)"]);
        assert_eq!(cell("150k (131k … 173k)", 14), ["150k", "(131k … 173k)"]);
        assert_eq!(cell("282 B in 3 trials, 2.48 kB in 3", 20), ["282 B in 3 trials,", "2.48 kB in 3"]);
        assert_eq!(cell("an unbelievable", 6), ["an", "unbeli", "evable"]);
        assert_eq!(cell("", 6), [""]);
    }

    #[test]
    fn wide_letters_count_twice() {
        assert_eq!(width("数据 ×"), 6);
        assert_eq!(cell("数据数据", 4), ["数据", "数据"]);
    }
}
