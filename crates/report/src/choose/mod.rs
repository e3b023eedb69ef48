//! Renders a choice: its headline, the table of systems and needs, and a page with the evidence and charts.

mod charts;
mod conditions;
mod evidence;
mod notes;
mod page;
mod table;
mod terminal;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use anstyle::Style;
use jsonathlon_choose::decision::Decision;
use jsonathlon_choose::facts::Part;
use jsonathlon_results::summary::Run;
use jsonathlon_schema::severity::Severity;

use crate::render::terminal::paint;
use crate::render::{TableStyle, TableWidth, markdown, wrap};
use crate::section::Section;
use table::Table;
use terminal::Room;

pub use page::FILE;

/// Maximum number of lines on a terminal, with headline, table, notes and the closing answer.
const MAX_LINES: usize = 40;
/// Maximum width of sentences on a terminal. Only the path of the page may be wider.
const MAX_WIDTH: usize = 80;
/// Maximum number of lines of the closing answer.
const MAX_CLOSING_LINES: usize = 12;

/// A decision with the runs behind it, ready to be rendered.
pub struct ChooseResult<'a> {
    decision: &'a Decision,
    runs: &'a [(Part, Run)],
    /// Name of the folder of the choice; empty if it has none.
    name: String,
    commands: BTreeMap<Part, String>,
}

/// What is written on a terminal, apart from the path of the page.
struct Lines {
    /// Headline, table, and notes.
    tables: Vec<String>,
    /// What would change the decision, with a title; empty if nothing is known.
    closing: Vec<String>,
}

impl<'a> ChooseResult<'a> {
    /// A decision over these runs, whose folders are in `folder`.
    #[must_use]
    pub fn new(decision: &'a Decision, runs: &'a [(Part, Run)], folder: &Path) -> Self {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Self { decision, runs, name, commands: BTreeMap::new() }
    }

    /// This result with the command of each part as a user would type it, for the page.
    #[must_use]
    pub fn with_commands(self, commands: BTreeMap<Part, String>) -> Self {
        Self { commands, ..self }
    }

    /// Headline, table and notes for the terminal. Within a width, they have at most 40 lines together with the
    /// closing answer, unless the terminal is too narrow for a table.
    #[must_use]
    pub fn tables(&self, style: TableStyle) -> String {
        self.lines(style).tables.join("\n") + "\n\n"
    }

    /// What would change the decision, and the path of the page: at most 12 lines of 80 columns.
    #[must_use]
    pub fn closing_answer(&self, page: &Path, style: TableStyle) -> String {
        let page = wrap::remove_controls(&page.display().to_string());
        let mut lines = self.lines(style).closing;
        lines.push(format!("  page: {page}"));
        lines.join("\n") + "\n"
    }

    /// Headline, table and notes as Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut headline = Section { title: "decision".to_owned(), ..Section::default() };
        headline.notes.push(printable_long(&self.decision.headline));
        headline.notes.extend(notes::warnings(self));
        let mut sections = vec![headline];
        let table = Table::new(self.decision);
        let title = if self.decision.needs.is_empty() { "measured" } else { "needs" };
        let mut needs = table.section(title);
        needs.notes.extend(notes::notes(self));
        sections.push(needs);
        sections.extend(Table::without_needs(self.decision).map(|table| table.section("measured besides")));
        if !self.decision.changes.is_empty() {
            let mut changes = Section { title: CHANGES.to_owned(), ..Section::default() };
            changes.notes.extend(self.decision.changes.iter().map(|change| printable_long(change)));
            sections.push(changes);
        }
        markdown::write(&sections, 2)
    }

    /// Page of the choice: one HTML file that needs no JavaScript and no network, without paths of the machine.
    #[must_use]
    pub fn page(&self) -> String {
        page::page(self)
    }

    /// All lines for a terminal. The table and warnings come first where there is little room.
    fn lines(&self, style: TableStyle) -> Lines {
        let width = match style.width {
            TableWidth::Full => None,
            TableWidth::Compact(width) => Some(width),
        };
        let text_width = width.unwrap_or(MAX_WIDTH).min(MAX_WIDTH);
        let bold = if style.colour { Style::new().bold() } else { Style::new() };
        let headline = wrap::paragraph(&printable_long(&self.decision.headline), text_width, 0);
        let mut tables: Vec<String> =
            headline.into_iter().map(|line| format!("{bold}{line}{bold:#}")).collect();
        let warnings: Vec<Vec<String>> = notes::warnings(self)
            .into_iter()
            .map(|(severity, text)| {
                let lines = paragraph(&format!("{}{text}", sign(severity)), text_width);
                lines.iter().map(|line| paint(line, severity, style)).collect()
            })
            .collect();
        tables.extend(warnings.concat());
        tables.push(String::new());
        // Besides the table: one line each for notes, changes and the page, their title, and two empty lines.
        let used = tables.len() + 6;
        let lines = width.map(|_| MAX_LINES.saturating_sub(used));
        tables.extend(terminal::draw(&Table::new(self.decision), Room { width, lines }, style.colour));
        let notes: Vec<Vec<String>> =
            notes::notes(self).iter().map(|note| paragraph(note, text_width)).collect();
        tables.extend((!notes.is_empty()).then(String::new));
        let changes: Vec<Vec<String>> = self
            .decision
            .changes
            .iter()
            .map(|change| paragraph(&printable_long(change), text_width))
            .collect();
        // The path of the page, the title of the changes and the empty line between them and the notes.
        let room = width.map_or(usize::MAX, |_| MAX_LINES.saturating_sub(tables.len() + 3));
        let (for_notes, for_changes) = shares(room, height(&notes), height(&changes));
        tables.extend(fitting(&notes, for_notes));
        let changes = fitting(&changes, for_changes.min(MAX_CLOSING_LINES - 2));
        let title = (!changes.is_empty()).then(|| format!("{bold}{CHANGES}{bold:#}"));
        Lines { tables, closing: title.into_iter().chain(changes).collect() }
    }
}

/// Title of the sentences on what would change the decision.
const CHANGES: &str = "what would change the answer";

/// Sign before a warning, for readers who see no colours.
fn sign(severity: Severity) -> &'static str {
    match severity {
        Severity::Good => "",
        Severity::Warning => "⚠ ",
        Severity::Failed => "✖ ",
    }
}

/// Text on one line without control characters, however long it is.
fn printable_long(text: &str) -> String {
    wrap::remove_controls(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Lines of a sentence behind an indent.
fn paragraph(text: &str, width: usize) -> Vec<String> {
    let lines = wrap::paragraph(text, width.saturating_sub(2), 2);
    lines.into_iter().map(|line| format!("  {line}")).collect()
}

fn height(blocks: &[Vec<String>]) -> usize {
    blocks.iter().map(Vec::len).sum()
}

/// Lines for notes and for changes. If there is not enough room for both, each has half of it, and more if the
/// other one needs less.
fn shares(room: usize, notes: usize, changes: usize) -> (usize, usize) {
    let for_notes = notes.min((room / 2).max(room.saturating_sub(changes))).max(1);
    (for_notes, room.saturating_sub(for_notes).max(1))
}

/// Lines of the first blocks that fit into `room`. If not all do, the last line says how many are missing.
fn fitting(blocks: &[Vec<String>], room: usize) -> Vec<String> {
    if height(blocks) <= room {
        return blocks.concat();
    }
    let mut lines: Vec<String> = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        if lines.len() + block.len() + 1 > room {
            lines.push(format!("  … and {} more: see the page", blocks.len() - index));
            break;
        }
        lines.extend(block.iter().cloned());
    }
    lines
}
