//! Sections as tables for a terminal.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::section::Section;

/// How tables are drawn.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Colours and bold, for a terminal.
    pub colour: bool,
}

/// Draws sections one below the other.
pub(crate) fn draw(sections: &[Section], look: Look) -> String {
    let mut text = String::new();
    for section in sections {
        write_section(&mut text, section, look);
    }
    text
}

fn write_section(text: &mut String, section: &Section, look: Look) {
    let bold = if look.colour { Style::new().bold() } else { Style::new() };
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{bold}{}{bold:#}", still(&section.title));
    if !section.rows.is_empty() {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(section.header.clone());
        for row in &section.rows {
            table.add_row(row.iter().map(|cell| still(cell)));
        }
        for (index, column) in table.column_iter_mut().enumerate() {
            if index >= section.left_columns && !section.left_also.contains(&index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        for line in table.to_string().lines() {
            let _ = writeln!(text, "  {}", paint(line.trim_end(), row_colour, look));
        }
    }
    for note in &section.notes {
        let _ = writeln!(text, "  {}", paint(&still(note), note_colour, look));
    }
    text.push('\n');
}

/// Text without what moves a cursor or changes colours: names and messages may come from anybody's run folder.
fn still(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Colours a line that must not be overlooked.
fn paint(line: &str, colour: fn(&str) -> Option<AnsiColor>, look: Look) -> String {
    let Some(colour) = colour(line).filter(|_| look.colour) else { return line.to_owned() };
    let style = Style::new().fg_color(Some(colour.into()));
    format!("{style}{line}{style:#}")
}

/// A row says with its verdicts and its outcome whether it is one.
fn row_colour(line: &str) -> Option<AnsiColor> {
    let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
    if has(&["now fails"]) {
        Some(AnsiColor::Red)
    } else if has(&["now answers"]) {
        // What was wrong or failed is so no more.
        None
    } else if has(&["wrong", "failed", "timeout"]) {
        Some(AnsiColor::Red)
    } else if has(&["partial", "not comparable", "cold-unverified"]) {
        Some(AnsiColor::Yellow)
    } else {
        None
    }
}

/// A note says it with how it begins: it may speak of failures that there are none of.
fn note_colour(line: &str) -> Option<AnsiColor> {
    let begins = |words: &[&str]| words.iter().any(|word| line.starts_with(word));
    if begins(&["NOT PASSED", "INCOMPLETE", "regression:", "not passed:", "failed:"]) {
        Some(AnsiColor::Red)
    } else if begins(&["NOT THE SAME MACHINE", "DIFFERENT DOCUMENTS"]) {
        Some(AnsiColor::Yellow)
    } else {
        None
    }
}
