//! Draws sections as tables for a terminal.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use jsonathlon_schema::severity::Severity;

use super::layout::TableLayout;
use super::wrap;
use crate::section::Section;

/// Options for drawing tables on a terminal.
#[derive(Debug, Clone, Copy)]
pub struct TableStyle {
    /// Whether ANSI colours and bold text are used.
    pub colour: bool,
    /// Whether all columns are shown, or those that fit.
    pub width: TableWidth,
}

/// How wide tables and the notes under them may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableWidth {
    /// As wide as they get: all columns are shown, and no note is broken.
    Full,
    /// At most so many columns of a terminal. What all rows share is said once, and the least important
    /// columns are left out.
    Compact(usize),
}

impl TableStyle {
    /// All columns in colours, which terminals show and files must not get.
    pub const COLOURED: Self = Self { colour: true, width: TableWidth::Full };
    /// All columns as text alone.
    pub const PLAIN: Self = Self { colour: false, width: TableWidth::Full };

    /// This style within so many columns of a terminal.
    #[must_use]
    pub fn compact(self, width: usize) -> Self {
        Self { width: TableWidth::Compact(width), ..self }
    }
}

/// Blanks before rows and notes.
const INDENT: &str = "  ";

/// Sections as they are drawn, and what they say.
#[derive(Debug, Default)]
pub(crate) struct Drawing {
    /// Sections one below the other.
    pub(crate) text: String,
    /// Titles, cells and notes that are shown, each a line of its own, however they are broken in the text.
    pub(crate) shown: String,
}

/// Draws sections one below the other.
pub(crate) fn draw(sections: &[Section], style: TableStyle) -> String {
    draw_and_collect(sections, style).text
}

/// Like [`draw`], with the texts that are shown.
pub(crate) fn draw_and_collect(sections: &[Section], style: TableStyle) -> Drawing {
    let mut drawing = Drawing::default();
    for section in sections {
        drawing.section(section, style);
    }
    drawing
}

impl Drawing {
    fn section(&mut self, section: &Section, style: TableStyle) {
        let bold = if style.colour { Style::new().bold() } else { Style::new() };
        for line in self.paragraph(&section.title, "", style) {
            self.line(format_args!("{bold}{line}{bold:#}"));
        }
        if !section.rows.is_empty() {
            self.table(section, style);
        }
        for (severity, note) in section.notes.with_severity() {
            self.note(note, severity, style);
        }
        self.text.push('\n');
    }

    fn table(&mut self, section: &Section, style: TableStyle) {
        let (table, padding) = match style.width {
            TableWidth::Full => (TableLayout::full(section), " "),
            TableWidth::Compact(width) => {
                (TableLayout::compact(section, width.saturating_sub(INDENT.len())), "")
            }
        };
        if let Some(shared) = &table.shared {
            self.note(shared, Severity::Good, style);
        }
        for line in table.heading() {
            self.line(format_args!("{INDENT}{padding}{line}"));
        }
        for (index, (severity, _)) in section.rows.with_severity().enumerate() {
            for line in table.row(index) {
                self.line(format_args!("{INDENT}{}", paint(&format!("{padding}{line}"), severity, style)));
            }
        }
        if let Some(left_out) = table.left_out.describe() {
            self.note(&left_out, Severity::Good, style);
        }
        for text in table.texts() {
            self.shown.push_str(text);
            self.shown.push('\n');
        }
    }

    fn note(&mut self, note: &str, severity: Severity, style: TableStyle) {
        for line in self.paragraph(note, INDENT, style) {
            self.line(format_args!("{INDENT}{}", paint(&line, severity, style)));
        }
    }

    /// Lines of a title or a note behind an indent, which are few enough columns wide if the style is compact.
    fn paragraph(&mut self, text: &str, indent: &str, style: TableStyle) -> Vec<String> {
        let text = wrap::remove_controls(text);
        self.shown.push_str(&text);
        self.shown.push('\n');
        match style.width {
            TableWidth::Full => vec![text],
            TableWidth::Compact(width) => {
                wrap::paragraph(&text, width.saturating_sub(indent.len()), wrap::hanging_indent(&text))
            }
        }
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{line}");
    }
}

/// Colours a line by its severity: warnings are yellow, failures are red.
pub(crate) fn paint(line: &str, severity: Severity, style: TableStyle) -> String {
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
    use crate::section::words;

    /// Draws a section, with the names of colours in place of their escape codes.
    fn coloured(section: Section) -> String {
        let text = draw(&[section], TableStyle::COLOURED);
        let named = text.replace("\u{1b}[31m", "<red>").replace("\u{1b}[33m", "<yellow>");
        named.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "")
    }

    #[test]
    fn colours_are_of_severities_and_of_no_words() {
        let mut section = Section::new("failed".to_owned(), words(&["name", "verdict"]));
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
