//! Draws the table of a decision for a terminal, in as few lines as its width allows.

use anstyle::{AnsiColor, Effects, Style};

use super::table::{Mark, Table, kind};
use crate::render::wrap;
use crate::section::printable;

/// Blanks before each line.
const INDENT: &str = "  ";
/// Blanks between two columns.
const GAP: &str = "  ";
/// Width below which no column is narrowed.
const MINIMUM_WIDTH: usize = 6;

/// Room that a table has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// Columns of the terminal. `None` if a table may be as wide as it gets.
    pub(super) width: Option<usize>,
    /// Lines that the table may have. `None` if it may have as many as it needs.
    pub(super) lines: Option<usize>,
}

/// One line of a cell, with the mark that colours it.
#[derive(Debug, Clone)]
struct Text {
    text: String,
    mark: Option<Mark>,
}

/// Lines of one cell.
type CellTexts = Vec<Text>;

/// The table as texts: the heading and the rows, each with a cell for the system and one for each column.
struct Grid {
    heading: Vec<CellTexts>,
    rows: Vec<Vec<CellTexts>>,
}

/// How much a cell says, from the form that is read most easily to the one that needs the least room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Sign, word and figure on one line.
    OneLine,
    /// Sign and word on one line, the figure on the next one.
    TwoLines,
    /// The word on one line, the figure on the next one.
    WithoutSign,
    /// Word and figure behind each other, broken wherever a line ends.
    Flowing,
}

/// Lines of the table, without line ends. Rows for which there are no lines are counted.
pub(super) fn draw(table: &Table<'_>, room: Room, colour: bool) -> Vec<String> {
    let limit = room.width.map_or(usize::MAX, |width| width.saturating_sub(INDENT.len()));
    let fits = |lines: &Vec<String>| room.lines.is_none_or(|most| lines.len() <= most);
    let one_line = Grid::new(table, Form::OneLine);
    if total(&one_line.natural_widths()) <= limit {
        let lines = one_line.lines(&one_line.natural_widths(), colour);
        return if fits(&lines) { lines } else { cut(&one_line, &one_line.natural_widths(), room, colour) };
    }
    let forms = [Form::TwoLines, Form::WithoutSign, Form::Flowing].map(|form| Grid::new(table, form));
    let narrowed = forms.iter().filter_map(|grid| Some((grid, grid.narrowed_widths(limit)?)));
    let narrowed: Vec<(&Grid, Vec<usize>)> = narrowed.collect();
    let mut drawings = narrowed.iter().map(|(grid, widths)| grid.lines(widths, colour));
    match (drawings.find(fits), narrowed.last()) {
        (Some(lines), _) => lines,
        (None, Some((grid, widths))) => cut(grid, widths, room, colour),
        (None, None) => list(table, limit, colour),
    }
}

/// Lines of the first rows, as many as there is room for, and the number of the others.
fn cut(grid: &Grid, widths: &[usize], room: Room, colour: bool) -> Vec<String> {
    let most = room.lines.unwrap_or(usize::MAX);
    let mut lines = heading_lines(&grid.heading, widths, colour);
    for (index, row) in grid.rows.iter().enumerate() {
        let row = row_lines(row, widths, colour);
        let left = grid.rows.len() - index;
        let reserve = usize::from(left > 1);
        if lines.len() + row.len() + reserve > most && index > 0 {
            lines.push(format!("{INDENT}… and {left} more: see the page"));
            break;
        }
        lines.extend(row);
    }
    lines
}

impl Grid {
    fn new(table: &Table<'_>, form: Form) -> Self {
        let plain = |text: &str| Text { text: glued(text), mark: None };
        let heading = table.headings.iter().map(|heading| {
            let limit = (!heading.limit.is_empty()).then(|| plain(&heading.limit));
            std::iter::once(plain(heading.aspect.title())).chain(limit).collect()
        });
        let says_kind = form == Form::TwoLines && !table.has_kind();
        let rows = table.rows.iter().map(|row| {
            let kind = says_kind.then(|| plain(&kind(row.candidate)));
            let name = std::iter::once(plain(&printable(&row.candidate.facts.name))).chain(kind).collect();
            let cells = row.cells.iter().map(|cell| cell_texts(cell.mark, &cell.short, form));
            std::iter::once(name).chain(cells).collect()
        });
        Self {
            heading: std::iter::once(vec![plain("system")]).chain(heading).collect(),
            rows: rows.collect(),
        }
    }

    /// Texts of a column, with its heading.
    fn column(&self, index: usize) -> impl Iterator<Item = &str> {
        let cells = std::iter::once(&self.heading).chain(&self.rows).filter_map(move |row| row.get(index));
        cells.flatten().map(|text| text.text.as_str())
    }

    /// Widths in which nothing is broken.
    fn natural_widths(&self) -> Vec<usize> {
        let widest = |index: usize| self.column(index).map(wrap::width).max().unwrap_or_default();
        (0..self.heading.len()).map(widest).collect()
    }

    /// Widths that fit into `limit` together. The widest columns are narrowed first: as far as no state is broken
    /// if that is enough, else as far as no word is. What is left goes where it saves lines. `None` if no widths
    /// fit.
    fn narrowed_widths(&self, limit: usize) -> Option<Vec<usize>> {
        let columns = 0..self.heading.len();
        let words: Vec<usize> = columns.clone().map(|index| self.longest_word(index)).collect();
        let states = columns.map(|index| self.longest_word(index).max(self.widest_state(index))).collect();
        let mut widths = self.natural_widths();
        for least in [states, words, vec![MINIMUM_WIDTH; self.heading.len()]] {
            while total(&widths) > limit {
                let narrowable = widths.iter_mut().zip(&least).filter(|(width, least)| **width > **least);
                let Some((widest, _)) = narrowable.max_by_key(|(width, _)| **width) else { break };
                *widest -= 1;
            }
        }
        if total(&widths) > limit {
            return None;
        }
        while let Some(wider) = self.wider(&widths, limit) {
            widths = wider;
        }
        Some(widths)
    }

    fn longest_word(&self, index: usize) -> usize {
        self.column(index).flat_map(|text| text.split(' ')).map(wrap::width).max().unwrap_or_default()
    }

    /// Width of the widest line of a column that has a mark and stands for itself.
    fn widest_state(&self, index: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(index)?.first());
        cells.filter(|text| text.mark.is_some()).map(|text| wrap::width(&text.text)).max().unwrap_or_default()
    }

    /// Widths of which one is as much wider as saves the most lines, rows before cells. `None` if that saves
    /// nothing, or does not fit.
    fn wider(&self, widths: &[usize], limit: usize) -> Option<Vec<usize>> {
        let natural = self.natural_widths();
        let extent = |widths: &[usize]| {
            let rows = std::iter::once(&self.heading).chain(&self.rows);
            let heights = rows.map(|row| broken(row, widths).iter().map(Vec::len).collect::<Vec<_>>());
            heights.fold((0, 0), |(lines, all), row| {
                (lines + row.iter().max().copied().unwrap_or_default(), all + row.iter().sum::<usize>())
            })
        };
        let slack = limit - total(widths);
        let candidates = (0..widths.len()).flat_map(|index| {
            let room = natural.get(index).copied().unwrap_or_default();
            let room = room.saturating_sub(widths.get(index).copied().unwrap_or_default()).min(slack);
            (1..=room).map(move |more| {
                let widen =
                    |(place, width): (usize, &usize)| if place == index { width + more } else { *width };
                widths.iter().enumerate().map(widen).collect::<Vec<usize>>()
            })
        });
        let best = candidates.min_by_key(|widths| (extent(widths), total(widths)))?;
        (extent(&best) < extent(widths)).then_some(best)
    }

    fn lines(&self, widths: &[usize], colour: bool) -> Vec<String> {
        let rows = self.rows.iter().flat_map(|row| row_lines(row, widths, colour));
        heading_lines(&self.heading, widths, colour).into_iter().chain(rows).collect()
    }
}

/// Width of a line with columns of these widths.
fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1)
}

/// Units that stay on the line of their number.
const UNITS: [&str; 12] = ["ns", "µs", "ms", "s", "min", "B", "kB", "MB", "GB", "TB", "%", "×"];
/// Blank at which no line ends; it is drawn as a usual one.
const GLUE: char = '\u{a0}';

/// The text with numbers and signs that stay on one line with what follows them.
fn glued(text: &str) -> String {
    let mut glued = String::new();
    for word in text.split(' ') {
        if !glued.is_empty() {
            let is_joint = UNITS.contains(&word) || glued.ends_with('≈');
            glued.push(if is_joint { GLUE } else { ' ' });
        }
        glued.push_str(word);
    }
    glued
}

fn cell_texts(mark: Mark, short: &str, form: Form) -> CellTexts {
    let has_sign = matches!(form, Form::OneLine | Form::TwoLines) || mark.word().is_empty();
    let sign = if has_sign { mark.sign() } else { "" };
    let marked =
        [sign, mark.word()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    let parts = [marked, glued(short)].into_iter().filter(|part| !part.is_empty());
    let parts: Vec<String> = match form {
        Form::OneLine | Form::Flowing => vec![parts.collect::<Vec<_>>().join(" ")],
        Form::TwoLines | Form::WithoutSign => parts.collect(),
    };
    parts.into_iter().map(|text| Text { text, mark: Some(mark) }).collect()
}

/// Lines of the heading. Headings of fewer lines than others stand directly above their cells.
fn heading_lines(heading: &[CellTexts], widths: &[usize], colour: bool) -> Vec<String> {
    let mut cells = broken(heading, widths);
    let height = cells.iter().map(Vec::len).max().unwrap_or_default();
    for cell in &mut cells {
        let missing = height - cell.len();
        cell.splice(..0, std::iter::repeat_n(Text { text: String::new(), mark: None }, missing));
    }
    let style = if colour { Style::new().bold() } else { Style::new() };
    side_by_side(&cells, widths, false).into_iter().map(|line| format!("{style}{line}{style:#}")).collect()
}

fn row_lines(row: &[CellTexts], widths: &[usize], colour: bool) -> Vec<String> {
    side_by_side(&broken(row, widths), widths, colour)
}

/// Cells with lines that are no wider than their columns.
fn broken(cells: &[CellTexts], widths: &[usize]) -> Vec<CellTexts> {
    let break_text = |text: &Text, width: usize| {
        let lines = wrap::cell(&text.text, width);
        let mark = text.mark;
        lines.into_iter().map(move |text| Text { text, mark }).collect::<Vec<_>>()
    };
    let cells = cells.iter().zip(widths);
    cells.map(|(texts, width)| texts.iter().flat_map(|text| break_text(text, *width)).collect()).collect()
}

/// Lines of broken cells side by side.
fn side_by_side(cells: &[CellTexts], widths: &[usize], colour: bool) -> Vec<String> {
    let height = cells.iter().map(Vec::len).max().unwrap_or_default();
    let line = |index: usize| {
        let mut line = INDENT.to_owned();
        let mut missing = 0;
        for (cell, width) in cells.iter().zip(widths) {
            let text = cell.get(index);
            let shown = text.map_or("", |text| text.text.as_str());
            if !shown.is_empty() {
                line.push_str(&" ".repeat(missing));
                missing = 0;
                let shown = shown.replace(GLUE, " ");
                line.push_str(&painted(&shown, text.and_then(|text| text.mark).filter(|_| colour)));
            }
            missing += width.saturating_sub(wrap::width(shown)) + GAP.len();
        }
        line
    };
    (0..height).map(line).collect()
}

/// Text in the colour of its mark.
fn painted(text: &str, mark: Option<Mark>) -> String {
    let style = match mark {
        Some(Mark::Met | Mark::Best) => Style::new().fg_color(Some(AnsiColor::Green.into())),
        Some(Mark::NotMet) => Style::new().fg_color(Some(AnsiColor::Red.into())),
        Some(Mark::NotShown) => Style::new().fg_color(Some(AnsiColor::Yellow.into())),
        Some(Mark::NotTested) => Style::new().effects(Effects::DIMMED),
        Some(Mark::NotWorse | Mark::Measured) | None => return text.to_owned(),
    };
    format!("{style}{text}{style:#}")
}

/// The table as a list, for terminals that are too narrow for columns.
fn list(table: &Table<'_>, limit: usize, colour: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for row in &table.rows {
        let mut push = |text: &str, indent: usize, mark: Option<Mark>| {
            let broken = wrap::cell(text, limit.saturating_sub(indent).max(1));
            let indent = " ".repeat(indent);
            lines.extend(broken.iter().map(|line| format!("{INDENT}{indent}{}", painted(line, mark))));
        };
        push(&printable(&row.candidate.facts.name), 0, None);
        for (heading, cell) in table.headings.iter().zip(&row.cells) {
            let text = cell_texts(cell.mark, &cell.short, Form::OneLine);
            let text = text.first().map_or(String::new(), |text| text.text.replace(GLUE, " "));
            push(&format!("{}: {text}", heading.aspect.title()), 2, Some(cell.mark).filter(|_| colour));
        }
    }
    lines
}
