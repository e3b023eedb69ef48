//! Parts of pages that need no script and no network.

use std::fmt::Write;

use jsonathlon_schema::severity::Severity;

use crate::page::html::{self, escape};
use crate::section::{Column, Section};

/// Content security policy: nothing is loaded from anywhere, whatever the data put into the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Rules beside the style sheet of the pages of runs. Each chart has a drawing for desktops and for phones.
const STYLE: &str = "
a.export { font-size: .85rem; font-weight: 400; }
@media (min-width: 701px) { .at-phone { display: none; } }
@media (max-width: 700px) { .at-desktop { display: none; } }
";

/// A whole page with a bar at its top. `style` holds further rules, `bar` is HTML behind the name of the program,
/// and `body` that of everything below.
pub(crate) fn document(title: &str, style: &str, bar: &str, body: &str) -> String {
    let head = html::head(title, POLICY, &format!("{}{STYLE}{style}", html::STYLE));
    format!(
        "{head}<header class=\"bar\"><span class=\"brand\">jsonathlon</span>{bar}</header>\n\
         <main>\n{body}</main>\n{}",
        html::END
    )
}

/// Joins numbers with their signs and the limits of intervals by blanks at which no line ends.
pub(crate) fn unbroken(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let is_joint = |before: &str, after: &str| {
        let is_number = before.ends_with(|c: char| c.is_ascii_digit());
        before.ends_with('…') || is_number && after.starts_with(['%', '×', '…'])
    };
    let mut joined = String::new();
    for (index, word) in words.iter().enumerate() {
        match index.checked_sub(1).and_then(|before| words.get(before)) {
            Some(before) if is_joint(before, word) => joined.push('\u{a0}'),
            Some(_) => joined.push(' '),
            None => {}
        }
        joined.push_str(word);
    }
    joined
}

/// Class attribute of a row with this severity, and the sign before its first cell; empty for good ones.
fn severity_marks(severity: Severity) -> (&'static str, &'static str) {
    match severity {
        Severity::Good => ("", ""),
        Severity::Warning => (" class=\"warning\"", "⚠ "),
        Severity::Failed => (" class=\"failed\"", "✖ "),
    }
}

/// A table with its heading and notes. It scrolls inside itself if it is wider than the window.
pub(crate) fn section(section: &Section) -> String {
    let title = escape(&section.title);
    let mut text = format!(
        "<section class=\"part\"><h2>{title}</h2>\n<div class=\"table\"><div class=\"scroll\" tabindex=\"0\" \
         role=\"region\" aria-label=\"{title}\"><table>\n<thead><tr>"
    );
    let class = |column: &Column| if column.is_left_aligned() { "" } else { " class=\"number\"" };
    for column in &section.columns {
        let _ = write!(text, "<th scope=\"col\"{}>{}</th>", class(column), escape(&column.title));
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for (severity, row) in section.rows.with_severity() {
        let (class_of_row, mut sign) = severity_marks(severity);
        let _ = write!(text, "<tr{class_of_row}>");
        for (column, cell) in section.columns.iter().zip(row) {
            let _ = write!(text, "<td{}>{}{}</td>", class(column), std::mem::take(&mut sign), escape(cell));
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody></table></div></div>\n");
    for note in section.notes.iter() {
        let _ = writeln!(text, "<p class=\"explained\">{}</p>", escape(note));
    }
    text.push_str("</section>\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_with_their_signs_and_limits() {
        let text = "A does 51 % fewer (46 … 55) inserts with 8 clients, 1.5 × as many";
        let joined = "A does 51\u{a0}% fewer (46\u{a0}…\u{a0}55) inserts with 8 clients, 1.5\u{a0}× as many";
        assert_eq!(unbroken(text), joined);
        assert_eq!(unbroken(""), "");
    }
}
