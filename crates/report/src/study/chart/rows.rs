//! Rows below each other, one per configuration: dots with intervals, or bars from zero for counts and bytes.

use jsonathlon_studies::observations::Observation;

use super::colour::{Style, Symbol, styles};
use super::scale::Range;
use super::svg::{Anchor, Drawing, GRID, INK, PAPER, QUIET};
use super::text::{LINE, bold_width, width as text_width, wrap};
use super::{Data, axis_title, is_counted, name, published_peaks, tick_label, value_fields};
use crate::study::StudyResult;
use crate::study::table::format_value;

/// Space at each side of the axis, for the labels of its outermost ticks.
const SIDE: f64 = 26.0;
/// Height of the mark below the name of a row.
const MARK: f64 = 16.0;
/// Height of tick marks and tick labels below the rows.
const TICKS: f64 = 24.0;
/// Half the height of a bar.
const HALF_BAR: f64 = 5.0;

/// A row: its name and system, its value with the interval, and the published values beside it.
pub(super) struct Row {
    name: String,
    system: String,
    value: f64,
    limits: Option<[f64; 2]>,
    published: Vec<f64>,
}

/// One row per name, in the order of the first point of each, with the point of the highest value.
pub(super) fn rows(result: &StudyResult<'_>, points: &[&Observation]) -> Vec<Row> {
    let metric = result.study.metric();
    let mut rows: Vec<Row> = Vec::new();
    for &point in points {
        let Some(value) = point.value(metric) else { continue };
        let name = name(result, point, &[]);
        let system = point.attribute("system").to_owned();
        let row = Row {
            name,
            system,
            value,
            limits: point.limits(metric),
            published: published_peaks(result, point),
        };
        match rows.iter_mut().find(|known| known.name == row.name) {
            Some(known) if known.value < value => *known = row,
            Some(_) => {}
            None => rows.push(row),
        }
    }
    rows
}

/// Values of all rows as CSV.
pub(super) fn data(rows: &[Row], metric: &str) -> Data {
    let header = ["name", metric, "low", "high", "source"].map(str::to_owned).to_vec();
    let lines = rows.iter().flat_map(|row| {
        let line = |value: f64, limits: Option<[f64; 2]>, source: &str| {
            let mut line = vec![row.name.clone()];
            line.extend(value_fields(value, limits));
            line.push(source.to_owned());
            line
        };
        let published = row.published.iter().map(|value| line(*value, None, "published"));
        std::iter::once(line(row.value, row.limits, "measured")).chain(published).collect::<Vec<_>>()
    });
    std::iter::once(header).chain(lines).collect()
}

/// Draws rows in `width` pixels; `None` without a value.
pub(super) fn draw(rows: &[Row], metric: &str, width: f64, title: &str) -> Option<String> {
    let values: Vec<f64> =
        rows.iter().flat_map(|row| std::iter::once(row.value).chain(row.published.iter().copied())).collect();
    let limits: Vec<f64> = rows.iter().filter_map(|row| row.limits).flatten().collect();
    let is_bars = is_counted(metric);
    let range = if is_bars { Range::from_zero(&values, &limits)? } else { Range::around(&values, &limits)? };
    let place = |value: f64| SIDE + range.share(value) * (width - 2.0 * SIDE);
    let systems: Vec<&str> = rows.iter().map(|row| row.system.as_str()).collect();
    let styles = styles(&systems);
    let names: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let label_width = bold_width(&format_value(metric, row.value));
            wrap(&row.name, &[width - label_width - 12.0, width, width])
        })
        .collect();
    let height_of = |lines: &Vec<String>| lines.len() as f64 * LINE + MARK + 2.0;
    let bottom = 2.0 + names.iter().map(height_of).sum::<f64>();
    let mut drawing = Drawing::default();
    draw_axis(&mut drawing, &range, metric, width, bottom);
    let mut top = 2.0;
    for ((row, lines), style) in rows.iter().zip(&names).zip(&styles) {
        let first_line = top + LINE / 2.0;
        drawing.text(0.0, first_line, Anchor::Start, INK, lines);
        drawing.bold(width, first_line, Anchor::End, &format_value(metric, row.value));
        let middle = top + lines.len() as f64 * LINE + MARK / 2.0;
        if is_bars {
            let (zero, end) = (place(0.0), place(row.value));
            drawing.rectangle(
                (zero, middle - HALF_BAR),
                (end - zero).max(1.0),
                2.0 * HALF_BAR,
                &style.colour,
            );
        }
        draw_marks(&mut drawing, row, style, &place, middle, metric);
        top += height_of(lines);
    }
    let title_lines = wrap(&axis_title(metric, range.is_logarithmic), &[width, width]);
    drawing.text(0.0, bottom + TICKS + LINE / 2.0, Anchor::Start, QUIET, &title_lines);
    let height = bottom + TICKS + title_lines.len() as f64 * LINE + 4.0;
    Some(drawing.finish(width, height, &format!("{title}: a row for each configuration")))
}

/// Draws the grid and the axis below the rows.
fn draw_axis(drawing: &mut Drawing, range: &Range, metric: &str, width: f64, bottom: f64) {
    let place = |value: f64| SIDE + range.share(value) * (width - 2.0 * SIDE);
    let half = |value: f64| text_width(&tick_label(metric, value)) / 2.0;
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
        drawing.text(x, bottom + 12.0, Anchor::Middle, QUIET, &[tick_label(metric, tick)]);
    }
    drawing.line((SIDE, bottom), (width - SIDE, bottom), QUIET, 1.0);
}

/// Draws the interval of a row, its dot unless it has a bar, and published values as hollow squares.
fn draw_marks(
    drawing: &mut Drawing,
    row: &Row,
    style: &Style,
    place: &impl Fn(f64) -> f64,
    middle: f64,
    metric: &str,
) {
    let is_bar = is_counted(metric);
    let interval_colour = if is_bar { INK } else { style.colour.as_str() };
    if let Some([low, high]) = row.limits {
        drawing.line((place(low), middle), (place(high), middle), interval_colour, 2.2);
    }
    if !is_bar {
        let title = format!("{}: {}", row.name, format_value(metric, row.value));
        drawing.symbol(Symbol::Circle, (place(row.value), middle), &style.colour, &style.colour, &title);
    }
    for published in &row.published {
        let title = format!("published: {}", format_value(metric, *published));
        drawing.symbol(Symbol::Square, (place(*published), middle), PAPER, &style.colour, &title);
    }
}
