//! Lays out tables: in full, or within a width by saying once what all rows share, leaving out columns, and
//! breaking cells.

use std::cmp::Reverse;

use super::wrap;
use crate::section::{Column, ColumnKind, Importance, NONE, Section};

/// Blanks between two columns.
const GAP: &str = "  ";
/// Width of a column of words beyond which its cells are broken before other columns are left out.
const WORDS_WIDTH: usize = 32;
/// Width from which single words are broken where there is no room for them.
const WORD_WIDTH: usize = 20;
/// Width below which no column is narrowed.
const MINIMUM_WIDTH: usize = 6;

/// A table whose columns have their widths.
pub(super) struct TableLayout {
    columns: Vec<LayoutColumn>,
    /// What all rows share, as one line in place of columns; `None` if it is nothing.
    pub(super) shared: Option<String>,
    pub(super) left_out: LeftOut,
}

/// What a table does not show for want of room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LeftOut {
    /// Number of columns that have no room.
    columns: usize,
    /// Whether values stand without their intervals.
    intervals: bool,
}

impl LeftOut {
    /// What is left out, as text; `None` if nothing is.
    pub(super) fn describe(self) -> Option<String> {
        let columns = match self.columns {
            0 => None,
            1 => Some("1 column".to_owned()),
            count => Some(format!("{count} columns")),
        };
        let intervals = self.intervals.then(|| "intervals".to_owned());
        let parts: Vec<String> = intervals.into_iter().chain(columns).collect();
        (!parts.is_empty()).then(|| format!("{} left out; --tables full", parts.join(" and ")))
    }
}

impl TableLayout {
    /// All columns, each as wide as its widest cell.
    pub(super) fn full(section: &Section) -> Self {
        let mut columns = layout_columns(section);
        for column in &mut columns {
            let title = wrap::width(&column.column.title).max(1);
            column.width = column.cells.iter().map(|cell| wrap::width(cell)).fold(title, usize::max);
        }
        Self { columns, shared: None, left_out: LeftOut::default() }
    }

    /// Columns that fit into `limit`, the most important ones, without those that are the same in all rows.
    pub(super) fn compact(section: &Section, limit: usize) -> Self {
        let mut columns = layout_columns(section);
        for column in columns.iter_mut().filter(|column| !column.column.is_left_aligned()) {
            column.cells.iter_mut().for_each(|cell| *cell = without_repeated_units(cell));
        }
        let shared = take_shared(&mut columns);
        let mut columns = merge_intervals(columns);
        let left_out = fit(&mut columns, limit);
        for column in &mut columns {
            (column.cells, column.column.title) = (column.texts(), column.title());
            column.interval = None;
        }
        Self { columns, shared, left_out }
    }

    /// Lines of the heading. Titles of fewer lines than others stand directly above their cells.
    pub(super) fn heading(&self) -> Vec<String> {
        let mut titles: Vec<Vec<String>> =
            self.columns.iter().map(|column| wrap::cell(&column.column.title, column.width)).collect();
        let height = titles.iter().map(Vec::len).max().unwrap_or_default();
        for lines in &mut titles {
            let missing = height - lines.len();
            lines.splice(..0, std::iter::repeat_n(String::new(), missing));
        }
        self.lines(&titles)
    }

    /// Lines of the row with this index.
    pub(super) fn row(&self, index: usize) -> Vec<String> {
        let cell = |column: &LayoutColumn| {
            column.cells.get(index).map(|cell| wrap::cell(cell, column.width)).unwrap_or_default()
        };
        let cells: Vec<Vec<String>> = self.columns.iter().map(cell).collect();
        self.lines(&cells)
    }

    /// Titles and cells that are shown.
    pub(super) fn texts(&self) -> impl Iterator<Item = &String> {
        self.columns.iter().flat_map(|column| std::iter::once(&column.column.title).chain(&column.cells))
    }

    /// Lines of broken cells side by side.
    fn lines(&self, cells: &[Vec<String>]) -> Vec<String> {
        let height = cells.iter().map(Vec::len).max().unwrap_or_default();
        let line = |index: usize| {
            let aligned = self.columns.iter().zip(cells).map(|(column, lines)| {
                let text = lines.get(index).map_or("", String::as_str);
                column.align(text)
            });
            aligned.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
        };
        (0..height).map(line).collect()
    }
}

/// A column with its cells, from the first row to the last.
struct LayoutColumn {
    column: Column,
    cells: Vec<String>,
    /// Intervals that stand behind the values in the cells; `None` if the column has none.
    interval: Option<MergedInterval>,
    width: usize,
}

/// A column of intervals that became part of the column before it.
struct MergedInterval {
    column: Column,
    cells: Vec<String>,
}

impl LayoutColumn {
    fn align(&self, text: &str) -> String {
        let blanks = " ".repeat(self.width.saturating_sub(wrap::width(text)));
        if self.column.is_left_aligned() { text.to_owned() + &blanks } else { blanks + text }
    }

    /// Title, with that of the merged interval.
    fn title(&self) -> String {
        match &self.interval {
            Some(interval) => format!("{} ({})", self.column.title, interval.column.title),
            None => self.column.title.clone(),
        }
    }

    /// Cells, with their merged intervals.
    fn texts(&self) -> Vec<String> {
        match &self.interval {
            Some(interval) => {
                let pairs = self.cells.iter().zip(&interval.cells);
                pairs.map(|(value, interval)| with_interval(value, interval)).collect()
            }
            None => self.cells.clone(),
        }
    }

    /// Width of the longest word of the title, at whose blanks titles are always broken.
    fn title_width(&self) -> usize {
        self.title().split(' ').map(wrap::width).max().unwrap_or_default()
    }

    /// Width at which no cell is broken.
    fn natural_width(&self) -> usize {
        self.texts().iter().map(|cell| wrap::width(cell)).fold(self.title_width(), usize::max)
    }

    /// Width at which cells are easy to read: numbers are whole, long texts are broken.
    fn preferred_width(&self) -> usize {
        let natural = self.natural_width();
        match self.column.kind {
            ColumnKind::Words | ColumnKind::Setting => natural.min(WORDS_WIDTH.max(self.least_width())),
            ColumnKind::Number | ColumnKind::Count | ColumnKind::Interval => natural,
        }
    }

    /// Width at which cells are broken, and still say what they should.
    fn least_width(&self) -> usize {
        let least = |cell: &String| match self.column.kind {
            ColumnKind::Words | ColumnKind::Setting => {
                cell.split(' ').map(wrap::width).max().unwrap_or_default().min(WORD_WIDTH)
            }
            ColumnKind::Number | ColumnKind::Count | ColumnKind::Interval => {
                wrap::parts(cell).into_iter().map(wrap::width).max().unwrap_or_default()
            }
        };
        self.texts().iter().map(least).fold(self.title_width(), usize::max)
    }

    /// Returns `true` if no row has a value, and the column is not shown in any case.
    fn is_needless(&self) -> bool {
        let is_always_shown =
            self.column.kind == ColumnKind::Number && self.column.importance == Importance::Essential;
        !is_always_shown && self.cells.iter().all(|cell| is_blank(cell))
    }

    /// What all of several rows share; `None` if they differ, or if they need not be alike.
    fn shared_value(&self) -> Option<&str> {
        if self.column.kind == ColumnKind::Number || self.cells.len() < 2 {
            return None;
        }
        // A row without a setting, such as that of a plain file, has no other setting.
        let is_setting = self.column.kind == ColumnKind::Setting;
        let mut values = self.cells.iter().filter(|cell| !is_setting || !is_blank(cell));
        let first = values.next()?;
        values.all(|value| value == first).then_some(first.as_str())
    }
}

fn is_blank(cell: &str) -> bool {
    cell.is_empty() || cell == NONE
}

/// Columns of a section with their cells, safe for a terminal.
fn layout_columns(section: &Section) -> Vec<LayoutColumn> {
    let column = |(index, column): (usize, &Column)| {
        let cell =
            |row: &Vec<String>| row.get(index).map_or_else(String::new, |cell| wrap::remove_controls(cell));
        LayoutColumn {
            column: Column { title: wrap::remove_controls(&column.title), ..*column },
            cells: section.rows.iter().map(cell).collect(),
            interval: None,
            width: 0,
        }
    };
    section.columns.iter().enumerate().map(column).collect()
}

/// Removes columns without any value, and those that are the same in all of several rows. Returns what these
/// say, as one line; `None` if they say nothing.
fn take_shared(columns: &mut Vec<LayoutColumn>) -> Option<String> {
    let mut shared: Vec<String> = Vec::new();
    columns.retain(|column| match column.shared_value() {
        _ if column.is_needless() => false,
        None => true,
        Some(value) => {
            shared.push(format!("{} {value}", column.column.title).trim().to_owned());
            false
        }
    });
    (!shared.is_empty()).then(|| format!("in all rows: {}", shared.join("; ")))
}

/// Puts each column of intervals into the column before it.
fn merge_intervals(columns: Vec<LayoutColumn>) -> Vec<LayoutColumn> {
    let mut merged: Vec<LayoutColumn> = Vec::with_capacity(columns.len());
    for column in columns {
        match merged.last_mut() {
            Some(before) if column.column.kind == ColumnKind::Interval => {
                before.interval = Some(MergedInterval { column: column.column, cells: column.cells });
            }
            _ => merged.push(column),
        }
    }
    merged
}

/// A value with its interval. Limits in the unit of the value do not repeat it: `137 ms (120 … 150)`.
fn with_interval(value: &str, interval: &str) -> String {
    if is_blank(value) || is_blank(interval) {
        return value.to_owned();
    }
    let unit = value.rsplit_once(' ').map(|(_, unit)| format!(" {unit}"));
    let without_unit = |limit: &str| Some(limit.strip_suffix(unit.as_deref()?)?.to_owned());
    let limits = interval.split_once(" … ");
    match limits.and_then(|(low, high)| Some((without_unit(low)?, without_unit(high)?))) {
        Some((low, high)) => format!("{value} ({low} … {high})"),
        None => format!("{value} ({interval})"),
    }
}

/// A cell of a value and its interval, without units that it repeats.
fn without_repeated_units(cell: &str) -> String {
    match split_interval(cell) {
        Some((value, interval, behind)) => with_interval(value, interval) + behind,
        None => cell.to_owned(),
    }
}

/// Value, interval, and what stands behind it, of a cell such as `137 ms (120 … 150) *`. `None` if it has no
/// interval.
fn split_interval(cell: &str) -> Option<(&str, &str, &str)> {
    let (value, behind) = cell.split_once(" (")?;
    let (interval, behind) = behind.split_once(')')?;
    interval.contains(" … ").then_some((value, interval, behind))
}

/// Sets the widths of columns so that all fit into `limit`. Leaves out what matters least until they do.
fn fit(columns: &mut Vec<LayoutColumn>, limit: usize) -> LeftOut {
    let mut left_out = LeftOut::default();
    while total_width(columns, LayoutColumn::preferred_width) > limit
        && leave_out(columns, Importance::Useful)
    {
        left_out.columns += 1;
    }
    if total_width(columns, LayoutColumn::least_width) > limit {
        left_out.intervals = remove_intervals(columns);
    }
    while total_width(columns, LayoutColumn::least_width) > limit && leave_out(columns, Importance::Main) {
        left_out.columns += 1;
    }
    match total_width(columns, LayoutColumn::preferred_width) <= limit {
        true => widen(columns, LayoutColumn::preferred_width, limit),
        false => widen(columns, LayoutColumn::least_width, limit),
    }
    narrow(columns, limit);
    left_out
}

/// Removes intervals behind values; returns `true` if there were any.
fn remove_intervals(columns: &mut [LayoutColumn]) -> bool {
    let mut has_removed = false;
    for column in columns.iter_mut().filter(|column| !column.column.is_left_aligned()) {
        has_removed |= column.interval.take().is_some();
        for cell in &mut column.cells {
            if let Some((value, _, behind)) = split_interval(cell) {
                *cell = format!("{value}{behind}");
                has_removed = true;
            }
        }
    }
    has_removed
}

fn total_width(columns: &[LayoutColumn], width: impl Fn(&LayoutColumn) -> usize) -> usize {
    let gaps = GAP.len() * columns.len().saturating_sub(1);
    columns.iter().map(width).sum::<usize>() + gaps
}

/// Leaves out the least important column or merged interval, the rightmost of several. Returns `false` if all
/// are more important than `most`.
fn leave_out(columns: &mut Vec<LayoutColumn>, most: Importance) -> bool {
    let candidates = columns.iter().enumerate().flat_map(|(index, column)| {
        let interval = column.interval.as_ref().map(|interval| interval.column.importance);
        let whole = [(column.column.importance, Reverse(index), true)];
        whole.into_iter().chain(interval.map(|importance| (importance, Reverse(index), false)))
    });
    let least = candidates.filter(|(importance, ..)| *importance <= most).min();
    match least {
        None => return false,
        Some((_, Reverse(index), true)) => {
            columns.remove(index);
        }
        Some((_, Reverse(index), false)) => columns[index].interval = None,
    }
    true
}

/// Gives columns a width, and the room that is left over to those that lack the least.
fn widen(columns: &mut [LayoutColumn], width: fn(&LayoutColumn) -> usize, limit: usize) {
    let mut room = limit.saturating_sub(total_width(columns, width));
    for column in columns.iter_mut() {
        column.width = width(column);
    }
    let missing = |column: &LayoutColumn| column.natural_width().saturating_sub(column.width);
    let mut order: Vec<&mut LayoutColumn> = columns.iter_mut().collect();
    order.sort_by_key(|column| missing(column));
    for column in order {
        let more = missing(column).min(room);
        column.width += more;
        room -= more;
    }
}

/// Narrows the widest columns until all fit, whatever that does to their words.
fn narrow(columns: &mut [LayoutColumn], limit: usize) {
    while total_width(columns, |column| column.width) > limit {
        match columns.iter_mut().max_by_key(|column| column.width) {
            Some(widest) if widest.width > MINIMUM_WIDTH => widest.width -= 1,
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::words;

    fn section(columns: Vec<Column>, rows: &[Vec<&str>]) -> Section {
        let mut section = Section::new("t".to_owned(), columns);
        let own = |row: &Vec<&str>| row.iter().map(|cell| (*cell).to_owned()).collect::<Vec<String>>();
        section.rows.extend(rows.iter().map(own));
        section
    }

    /// Lines of a compact table, with what it says besides.
    fn compact(section: &Section, limit: usize) -> (Vec<String>, Option<String>, Option<String>) {
        let table = TableLayout::compact(section, limit);
        let rows = (0..section.rows.len()).flat_map(|index| table.row(index));
        (table.heading().into_iter().chain(rows).collect(), table.shared.clone(), table.left_out.describe())
    }

    fn times() -> Section {
        let columns = vec![
            Column::setting("class"),
            Column::words("system"),
            Column::number("time"),
            Column::interval(),
            Column::number("cold median").useful(),
            Column::words("bound by").detail(),
            Column::count("rejected"),
            Column::number("never measured").useful(),
            Column::words("verdict"),
        ];
        let rows = [
            vec!["–", "files", "9.00 ms", "–", "–", "–", "0", "–", "exact"],
            vec!["as-is", "ma 1.0", "137 ms", "120 ms … 150 ms", "1.00 s", "disk", "0", "–", "exact"],
            vec!["as-is", "mb 1.0", "2.68 ms", "940 µs … 4.76 ms", "2.00 s", "one core", "0", "–", "exact"],
        ];
        section(columns, &rows)
    }

    #[test]
    fn what_all_rows_share_is_said_once() {
        let (lines, shared, left_out) = compact(&times(), 100);
        let table = [
            "                                      cold",
            "system        time (95 % interval)  median  bound by",
            "files                      9.00 ms       –  –",
            "ma 1.0          137 ms (120 … 150)  1.00 s  disk",
            "mb 1.0  2.68 ms (940 µs … 4.76 ms)  2.00 s  one core",
        ];
        assert_eq!(lines, table);
        assert_eq!(shared.as_deref(), Some("in all rows: class as-is; rejected 0; verdict exact"));
        assert_eq!(left_out, None);
    }

    #[test]
    fn what_matters_least_makes_room_first() {
        let (lines, _, left_out) = compact(&times(), 50);
        assert_eq!(lines[1], "system        time (95 % interval)  median");
        assert_eq!(left_out.as_deref(), Some("1 column left out; --tables full"));
        let (lines, _, left_out) = compact(&times(), 30);
        assert_eq!(&lines[3..], ["mb 1.0                 2.68 ms", "            (940 µs … 4.76 ms)"]);
        assert_eq!(left_out.as_deref(), Some("2 columns left out; --tables full"));
        let (lines, _, left_out) = compact(&times(), 20);
        assert_eq!(lines[0], "system     time");
        assert_eq!(left_out.as_deref(), Some("intervals and 2 columns left out; --tables full"));
    }

    #[test]
    fn a_row_alone_shares_nothing() {
        let alone = section(words(&["system", "verdict", "note"]), &[vec!["ma 1.0", "exact", "–"]]);
        let (lines, shared, _) = compact(&alone, 80);
        assert_eq!((lines, shared), (vec!["system  verdict".to_owned(), "ma 1.0  exact".to_owned()], None));
    }

    #[test]
    fn measured_values_are_shown_even_if_they_are_alike() {
        let columns = vec![Column::words("system"), Column::number("size").main()];
        let (lines, shared, _) = compact(&section(columns, &[vec!["a", "1 MB"], vec!["b", "1 MB"]]), 80);
        assert_eq!((lines[1].as_str(), shared), ("a       1 MB", None));
    }

    #[test]
    fn many_values_stand_without_their_intervals_before_any_is_left_out() {
        let counts: Vec<String> = [1, 2, 4, 8, 16, 32, 64].map(|count| format!("{count} clients")).to_vec();
        let mut columns = words(&["system"]);
        columns.extend(counts.iter().map(|title| Column::number(title).main()));
        columns.push(Column::words("verdict"));
        let row = |name: &'static str, verdict: &'static str| {
            [vec![name], vec!["4.86k (4.29k … 5.50k) *"; 7], vec![verdict]].concat()
        };
        let table = section(columns, &[row("ma 1.0", "exact"), row("mb 1.0", "wrong")]);
        for limit in [78, 98, 118] {
            let (lines, _, left_out) = compact(&table, limit);
            let values = ["4.86k *"; 7].join("  ");
            assert_eq!(lines[2], format!("ma 1.0  {values}  exact"));
            assert_eq!(left_out.as_deref(), Some("intervals left out; --tables full"));
        }
        let (lines, _, left_out) = compact(&table, 200);
        assert!(lines[1].contains("4.86k (4.29k … 5.50k) *") && left_out.is_none(), "{lines:?}");
    }

    #[test]
    fn long_texts_are_broken_where_they_may_be() {
        let rows = [
            vec![
                "order",
                "mb (8), mc (9), md (10)",
                "top-object-plain, order-descending, order-by-length and 4 more",
            ],
            vec!["loss", "mb (1)", "duplicate-with-null"],
        ];
        let table = section(words(&["kind", "system", "for instance"]), &rows);
        for limit in [50, 78, 98, 118] {
            let (lines, _, left_out) = compact(&table, limit);
            assert!(lines.iter().all(|line| wrap::width(line) <= limit), "{lines:#?}");
            assert_eq!(left_out, None);
        }
    }

    #[test]
    fn no_line_is_longer_than_there_is_room() {
        let columns: Vec<Column> =
            (0..12).map(|index| Column::number(&format!("number {index}")).main()).collect();
        let row = vec!["123456789 (1 … 2)"; 12];
        let wide = section(
            [words(&["system"]), columns].concat(),
            &[[vec!["averylongnameofasystem"], row].concat()],
        );
        for table in [wide, times()] {
            for limit in 16..150 {
                let (lines, ..) = compact(&table, limit);
                assert!(lines.iter().all(|line| wrap::width(line) <= limit), "{limit}: {lines:#?}");
            }
        }
    }
}
