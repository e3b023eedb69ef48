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
pub(crate) fn draw(sections: &[Section], style: TableStyle) -> String {
    let mut text = String::new();
    for section in sections {
        write_section(&mut text, section, style);
    }
    text
}

fn write_section(text: &mut String, section: &Section, style: TableStyle) {
    let bold = if style.colour { Style::new().bold() } else { Style::new() };
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{bold}{}{bold:#}", remove_controls(&section.title));
    if !section.rows.is_empty() {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(section.header.iter().map(|name| remove_controls(name)));
        for row in section.rows.iter() {
            table.add_row(row.iter().map(|cell| remove_controls(cell)));
        }
        for (index, column) in table.column_iter_mut().enumerate() {
            if index >= section.left_columns && !section.further_left_columns.contains(&index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        // Each row is one line, since no cell has several.
        let severities = section.rows.with_severity().map(|(severity, _)| severity);
        let line_severities = std::iter::once(Severity::Good).chain(severities);
        for (line, severity) in table.to_string().lines().zip(line_severities) {
            let _ = writeln!(text, "  {}", paint(line.trim_end(), severity, style));
        }
    }
    for (severity, note) in section.notes.with_severity() {
        let _ = writeln!(text, "  {}", paint(&remove_controls(note), severity, style));
    }
    text.push('\n');
}

/// Replaces control characters with blanks, so that text from an untrusted run folder cannot move the cursor
/// or change colours.
fn remove_controls(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Colours a line by its severity: warnings are yellow, failures are red.
fn paint(line: &str, severity: Severity, style: TableStyle) -> String {
    let colour = match severity {
        Severity::Good => None,
        Severity::Warning => Some(AnsiColor::Yellow),
        Severity::Failed => Some(AnsiColor::Red),
    };
    let Some(colour) = colour.filter(|_| style.colour) else { return line.to_owned() };
    let ansi_style = Style::new().fg_color(Some(colour.into()));
    format!("{ansi_style}{line}{ansi_style:#}")
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
        let count = |colour: &str| text.lines().filter(|line| line.contains(colour)).count();
        assert_eq!((count("<red>"), count("<yellow>")), (2, 1), "{text}");
        for line in ["<red> b ", "<red>all is well", "<yellow> a "] {
            assert!(text.contains(line), "{line}: {text}");
        }
    }
}
