//! Draws sections as tables for a terminal.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use jsonathlon_schema::severity::Severity;

use crate::section::Section;

/// Options for drawing tables on a terminal.
#[derive(Debug, Clone, Copy)]
pub struct TableStyle {
    /// Whether ANSI colours and bold text are used.
    pub colour: bool,
}

/// Draws sections one below the other.
pub(crate) fn draw(sections: &[Section], look: TableStyle) -> String {
    let mut text = String::new();
    for section in sections {
        write_section(&mut text, section, look);
    }
    text
}

fn write_section(text: &mut String, section: &Section, look: TableStyle) {
    let bold = if look.colour { Style::new().bold() } else { Style::new() };
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{bold}{}{bold:#}", still(&section.title));
    if !section.rows.is_empty() {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(section.header.iter().map(|name| still(name)));
        for row in section.rows.iter() {
            table.add_row(row.iter().map(|cell| still(cell)));
        }
        for (index, column) in table.column_iter_mut().enumerate() {
            if index >= section.left_columns && !section.left_also.contains(&index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        // Each row is one line, since no cell has several.
        let severities = section.rows.with_severity().map(|(severity, _)| severity);
        let of_lines = std::iter::once(Severity::Good).chain(severities);
        for (line, severity) in table.to_string().lines().zip(of_lines) {
            let _ = writeln!(text, "  {}", paint(line.trim_end(), severity, look));
        }
    }
    for (severity, note) in section.notes.with_severity() {
        let _ = writeln!(text, "  {}", paint(&still(note), severity, look));
    }
    text.push('\n');
}

/// Replaces control characters with blanks, so that text from an untrusted run folder cannot move the cursor
/// or change colours.
fn still(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Colours a line by its severity: warnings are yellow, failures are red.
fn paint(line: &str, severity: Severity, look: TableStyle) -> String {
    let colour = match severity {
        Severity::Good => None,
        Severity::Warning => Some(AnsiColor::Yellow),
        Severity::Failed => Some(AnsiColor::Red),
    };
    let Some(colour) = colour.filter(|_| look.colour) else { return line.to_owned() };
    let style = Style::new().fg_color(Some(colour.into()));
    format!("{style}{line}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws a section, with the names of colours in place of their escape codes.
    fn coloured(section: Section) -> String {
        let text = draw(&[section], TableStyle { colour: true });
        let named = text.replace("\u{1b}[31m", "<red>").replace("\u{1b}[33m", "<yellow>");
        named.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "")
    }

    #[test]
    fn colours_are_of_severities_and_of_no_words() {
        let mut section = Section::new("failed".to_owned(), &["name", "verdict"], 2);
        section.rows.push(vec!["failed-logins".to_owned(), "exact".to_owned()]);
        section.rows.push(vec!["json-key-partial".to_owned(), "wrong, timeout, now fails".to_owned()]);
        section.rows.mark(Severity::Warning, vec!["a".to_owned(), "exact".to_owned()]);
        section.rows.mark(Severity::Failed, vec!["b".to_owned(), "exact".to_owned()]);
        section.notes.push("failed: regression: INCOMPLETE".to_owned());
        section.notes.mark(Severity::Failed, "all is well".to_owned());
        let text = coloured(section);
        let of = |colour: &str| text.lines().filter(|line| line.contains(colour)).count();
        assert_eq!((of("<red>"), of("<yellow>")), (2, 1), "{text}");
        for line in ["<red> b ", "<red>all is well", "<yellow> a "] {
            assert!(text.contains(line), "{line}: {text}");
        }
    }
}
