//! Rows below each other, one for each configuration: dots with intervals, or bars from zero.

use super::ValueAxis;
use super::colour::{Style, Symbol, styles};
use super::curves::Limit;
use super::figure::{Data, value_fields};
use super::scale::Range;
use super::svg::{Anchor, Drawing, GRID, INK, PAPER, QUIET};
use super::text::{LINE, bold_width, width as text_width, wrap};

/// Space at each side of the axis, for the labels of its outermost ticks.
const SIDE: f64 = 26.0;
/// Height of the mark below the name of a row.
const MARK: f64 = 16.0;
/// Height of tick marks and tick labels below the rows.
const TICKS: f64 = 24.0;
/// Half the height of a bar.
const HALF_BAR: f64 = 5.0;

/// A hollow mark beside the main value of a row.
#[derive(Debug)]
pub(crate) struct SecondMark {
    pub(crate) symbol: Symbol,
    pub(crate) value: f64,
    pub(crate) limits: Option<[f64; 2]>,
    /// What the value is, for the pointer and for the data.
    pub(crate) word: &'static str,
}

/// A row: its name and system, its value with the interval, and other values beside it.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) system: String,
    pub(crate) value: f64,
    pub(crate) limits: Option<[f64; 2]>,
    pub(crate) others: Vec<SecondMark>,
}

/// Rows with their axis.
pub(crate) struct RowChart<'a> {
    pub(crate) title: &'a str,
    pub(crate) rows: &'a [Row],
    pub(crate) values: ValueAxis<'a>,
    /// What filled and hollow marks stand for; empty if the title says it.
    pub(crate) explanation: String,
    /// Value that the reader asked for, as a vertical line.
    pub(crate) asked_value: Option<Limit>,
}

/// Values of all rows as CSV, with a name for the column of the metric, and a word for the source of main values.
pub(crate) fn data(metric: &str, rows: &[Row], main: &str) -> Data {
    let header = ["name", metric, "low", "high", "source"].map(str::to_owned).to_vec();
    let lines = rows.iter().flat_map(|row| {
        let line = |value: f64, limits: Option<[f64; 2]>, source: &str| {
            let mut line = vec![row.name.clone()];
            line.extend(value_fields(value, limits));
            line.push(source.to_owned());
            line
        };
        let others = row.others.iter().map(|mark| line(mark.value, mark.limits, mark.word));
        std::iter::once(line(row.value, row.limits, main)).chain(others).collect::<Vec<_>>()
    });
    std::iter::once(header).chain(lines).collect()
}

impl RowChart<'_> {
    /// Draws the chart in `width` pixels; `None` without a value.
    pub(crate) fn draw(&self, width: f64) -> Option<String> {
        self.rows.first()?;
        let marks = || self.rows.iter().flat_map(|row| &row.others);
        let values: Vec<f64> = self
            .rows
            .iter()
            .map(|row| row.value)
            .chain(marks().map(|mark| mark.value))
            .chain(self.asked_value.as_ref().map(|limit| limit.value))
            .collect();
        let limits =
            self.rows.iter().filter_map(|row| row.limits).chain(marks().filter_map(|mark| mark.limits));
        let limits: Vec<f64> = limits.flatten().collect();
        let range = self.values.range(&values, &limits)?;
        let systems: Vec<&str> = self.rows.iter().map(|row| row.system.as_str()).collect();
        let styles = styles(&systems);
        let names: Vec<Vec<String>> = self.rows.iter().map(|row| self.name_lines(row, width)).collect();
        let height_of = |lines: &Vec<String>| lines.len() as f64 * LINE + MARK + 2.0;
        let bottom = 2.0 + names.iter().map(height_of).sum::<f64>();
        let mut drawing = Drawing::default();
        self.draw_axis(&mut drawing, &range, width, bottom);
        let place = |value: f64| place(&range, width, value);
        let mut top = 2.0;
        for ((row, lines), style) in self.rows.iter().zip(&names).zip(&styles) {
            let first_line = top + LINE / 2.0;
            drawing.text(0.0, first_line, Anchor::Start, INK, lines);
            drawing.bold(width, first_line, Anchor::End, &(self.values.format)(row.value));
            let middle = top + lines.len() as f64 * LINE + MARK / 2.0;
            self.draw_marks(&mut drawing, row, style, &place, middle);
            top += height_of(lines);
        }
        let end = self.draw_texts(&mut drawing, &range, bottom + TICKS, width);
        Some(drawing.finish(width, end + 4.0, &format!("{}: a row for each configuration", self.title)))
    }

    /// Name of a row beside its value, broken into lines.
    fn name_lines(&self, row: &Row, width: f64) -> Vec<String> {
        let label_width = bold_width(&(self.values.format)(row.value));
        wrap(&row.name, &[width - label_width - 12.0, width, width])
    }

    /// Draws the grid, the axis below the rows, and what the reader asked for.
    fn draw_axis(&self, drawing: &mut Drawing, range: &Range, width: f64, bottom: f64) {
        let place = |value: f64| place(range, width, value);
        let half = |value: f64| text_width(&self.values.tick_label(value)) / 2.0;
        let fits = |ticks: &[f64]| {
            let are_apart = ticks.windows(2).all(|pair| match pair {
                [one, next] => place(*next) - place(*one) >= half(*one) + half(*next) + 10.0,
                _ => true,
            });
            are_apart
                && ticks.iter().all(|tick| place(*tick) >= half(*tick) && place(*tick) + half(*tick) <= width)
        };
        for tick in range.ticks(fits) {
            let x = place(tick);
            drawing.line((x, 0.0), (x, bottom), GRID, 1.0);
            drawing.text(x, bottom + 12.0, Anchor::Middle, QUIET, &[self.values.tick_label(tick)]);
        }
        drawing.line((SIDE, bottom), (width - SIDE, bottom), QUIET, 1.0);
        if let Some(limit) = &self.asked_value {
            let x = place(limit.value);
            drawing.polyline(&[(x, 0.0), (x, bottom)], INK, "8 4");
        }
    }

    /// Writes the title of the axis and what the marks stand for below `top`, and returns the lower edge.
    fn draw_texts(&self, drawing: &mut Drawing, range: &Range, top: f64, width: f64) -> f64 {
        let asked = self.asked_value.as_ref().map(|limit| format!("dashed line: {}", limit.name));
        let texts = [Some(self.values.title_with_scale(range)), Some(self.explanation.clone()), asked];
        let mut y = top;
        for text in texts.into_iter().flatten().filter(|text| !text.is_empty()) {
            let lines = wrap(&text, &[width, width, width]);
            drawing.text(0.0, y + LINE / 2.0, Anchor::Start, QUIET, &lines);
            y += lines.len() as f64 * LINE;
        }
        y
    }

    /// Draws the bar or the dot of a row, its interval, and the other values as hollow marks.
    fn draw_marks(
        &self,
        drawing: &mut Drawing,
        row: &Row,
        style: &Style,
        place: &impl Fn(f64) -> f64,
        middle: f64,
    ) {
        let is_bar = self.values.is_from_zero;
        if is_bar {
            let (zero, end) = (place(0.0), place(row.value));
            drawing.rectangle(
                (zero, middle - HALF_BAR),
                (end - zero).max(1.0),
                2.0 * HALF_BAR,
                &style.colour,
            );
        }
        let interval_colour = if is_bar { INK } else { style.colour.as_str() };
        if let Some([low, high]) = row.limits {
            drawing.line((place(low), middle), (place(high), middle), interval_colour, 2.2);
        }
        for mark in &row.others {
            if let Some([low, high]) = mark.limits {
                drawing.line((place(low), middle), (place(high), middle), &style.colour, 1.0);
            }
            let title = format!("{}, {}: {}", row.name, mark.word, (self.values.format)(mark.value));
            drawing.symbol(mark.symbol, (place(mark.value), middle), PAPER, &style.colour, &title);
        }
        if !is_bar {
            let title = format!("{}: {}", row.name, (self.values.format)(row.value));
            drawing.symbol(Symbol::Circle, (place(row.value), middle), &style.colour, &style.colour, &title);
        }
    }
}

/// Horizontal position of a value.
fn place(range: &Range, width: f64, value: f64) -> f64 {
    SIDE + range.share(value) * (width - 2.0 * SIDE)
}
