//! Curves along a varied option, one per configuration.

use jsonathlon_studies::observations::{Observation, THROUGHPUT};

use super::colour::{Style, Symbol, styles};
use super::scale::Range;
use super::svg::{Anchor, Drawing, GRID, INK, PAPER, QUIET};
use super::text::{LINE, width as text_width, wrap};
use super::{Data, PEAK_CLIENTS, axis_title, is_counted, name, separating_options, tick_label, value_fields};
use crate::study::StudyResult;
use crate::study::table::format_value;

/// Height of the area between the axes in pixels.
const INNER: f64 = 270.0;
/// Upper edge of that area; the title of the vertical axis stands above it.
const TOP: f64 = LINE + 12.0;
/// Height of tick marks and tick labels below the area.
const TICKS: f64 = 26.0;
/// Minimum distance of two horizontal grid lines.
const GRID_DISTANCE: f64 = 18.0;
/// Space at the right of the area.
const RIGHT: f64 = 16.0;
/// Width of a symbol of the legend with the gap to its name.
const KEY: f64 = 14.0;

/// A measured point of a curve.
#[derive(Debug, Clone, Copy)]
struct Point {
    x: f64,
    value: f64,
    limits: Option<[f64; 2]>,
}

/// A curve: its name and system, its points, and the published values beside it.
pub(super) struct Series {
    name: String,
    system: String,
    points: Vec<Point>,
    published: Vec<(f64, f64)>,
}

/// The curves of one chart, each with its points in the order of the axis.
pub(super) fn series(result: &StudyResult<'_>, axis: &str, points: &[&Observation]) -> Vec<Series> {
    let metric = result.study.metric();
    let mut excluded = separating_options(result);
    excluded.push(axis);
    let mut series_list: Vec<Series> = Vec::new();
    for point in points {
        let x =
            if axis == "clients" { Some(point.clients as f64) } else { point.attribute(axis).parse().ok() };
        let (Some(x), Some(value)) = (x, point.value(metric)) else { continue };
        let name = name(result, point, &excluded);
        let index = series_list.iter().position(|known| known.name == name).unwrap_or_else(|| {
            let system = point.attribute("system").to_owned();
            series_list.push(Series { name, system, points: Vec::new(), published: Vec::new() });
            series_list.len() - 1
        });
        let Some(series) = series_list.get_mut(index) else { continue };
        series.points.push(Point { x, value, limits: point.limits(metric) });
        for mark in published_marks(result, axis, point) {
            if !series.published.contains(&mark) {
                series.published.push(mark);
            }
        }
    }
    for series in &mut series_list {
        series.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    series_list
}

/// Published values that belong beside a point, each with its place on the axis.
fn published_marks(result: &StudyResult<'_>, axis: &str, point: &Observation) -> Vec<(f64, f64)> {
    if result.study.metric() != THROUGHPUT {
        return Vec::new();
    }
    let matching = result.published.iter().filter(|published| point.matches(&published.similar_points));
    let marks = matching.flat_map(|published| {
        let mark = |x: f64, value: Option<f64>| value.map(|value| (x, value));
        match published.similar_points.get(axis).and_then(|text| text.parse::<f64>().ok()) {
            Some(x) => [mark(x, published.peak), None],
            None => [mark(PEAK_CLIENTS, published.peak), mark(100.0, published.at_100_clients)],
        }
    });
    marks.flatten().collect()
}

/// Values of all curves as CSV.
pub(super) fn data(axis: &str, series_list: &[Series], metric: &str) -> Data {
    let header = ["name", axis, metric, "low", "high", "source"].map(str::to_owned).to_vec();
    let rows = series_list.iter().flat_map(|series| {
        let row = |x: f64, value: f64, limits: Option<[f64; 2]>, source: &str| {
            let mut row = vec![series.name.clone(), x.to_string()];
            row.extend(value_fields(value, limits));
            row.push(source.to_owned());
            row
        };
        let measured = series.points.iter().map(|point| row(point.x, point.value, point.limits, "measured"));
        let published = series.published.iter().map(|(x, value)| row(*x, *value, None, "published"));
        measured.chain(published).collect::<Vec<_>>()
    });
    std::iter::once(header).chain(rows).collect()
}

/// The area between the axes, with the ranges of both.
struct Area {
    x: Range,
    y: Range,
    left: f64,
    right: f64,
}

impl Area {
    fn place(&self, x: f64, value: f64) -> (f64, f64) {
        (self.place_x(x), self.place_y(value))
    }

    fn place_x(&self, x: f64) -> f64 {
        self.left + self.x.share(x) * (self.right - self.left)
    }

    fn place_y(&self, value: f64) -> f64 {
        TOP + INNER * (1.0 - self.y.share(value))
    }
}

/// Draws curves in `width` pixels; `None` without a value.
pub(super) fn draw(
    axis: &str,
    series_list: &[Series],
    metric: &str,
    width: f64,
    title: &str,
) -> Option<String> {
    let points = || series_list.iter().flat_map(|series| &series.points);
    let published = || series_list.iter().flat_map(|series| &series.published);
    let xs: Vec<f64> = points().map(|point| point.x).chain(published().map(|(x, _)| *x)).collect();
    let values: Vec<f64> =
        points().map(|point| point.value).chain(published().map(|(_, value)| *value)).collect();
    let limits: Vec<f64> = points().filter_map(|point| point.limits).flatten().collect();
    let y = if is_counted(metric) {
        Range::from_zero(&values, &limits)?
    } else {
        Range::around(&values, &limits)?
    };
    let has_room = |ticks: &[f64]| {
        ticks.windows(2).all(|pair| match pair {
            [low, high] => (y.share(*high) - y.share(*low)) * INNER >= GRID_DISTANCE,
            _ => true,
        })
    };
    let ticks: Vec<(f64, String)> =
        y.ticks(has_room).into_iter().map(|value| (value, tick_label(metric, value))).collect();
    let widest = ticks.iter().map(|(_, label)| text_width(label)).fold(24.0, f64::max);
    let area = Area { x: Range::of_settings(&xs)?, y, left: widest + 12.0, right: width - RIGHT };
    let mut drawing = Drawing::default();
    draw_titles(&mut drawing, &area, axis, metric, width);
    draw_grid(&mut drawing, &area, &ticks);
    draw_settings(&mut drawing, &area, xs, width);
    let systems: Vec<&str> = series_list.iter().map(|series| series.system.as_str()).collect();
    let styles = styles(&systems);
    for (series, style) in series_list.iter().zip(&styles) {
        draw_series(&mut drawing, series, style, &area, metric);
    }
    let end = draw_legend(&mut drawing, series_list, &styles, TOP + INNER + TICKS + LINE + 8.0, width);
    Some(drawing.finish(width, end + 4.0, &format!("{title}: a curve for each configuration")))
}

/// Draws the titles of both axes, one above the area and one below it.
fn draw_titles(drawing: &mut Drawing, area: &Area, axis: &str, metric: &str, width: f64) {
    let above = wrap(&axis_title(metric, area.y.is_logarithmic), &[width]);
    drawing.text(0.0, LINE / 2.0 + 1.0, Anchor::Start, QUIET, &above);
    let unit = if axis == "document-size" { "document-size, kB" } else { axis };
    let scale = if area.x.is_logarithmic { ", log scale" } else { "" };
    let below = wrap(&format!("{unit}{scale}"), &[width]);
    drawing.text(0.0, TOP + INNER + TICKS + LINE / 2.0, Anchor::Start, QUIET, &below);
}

/// Draws horizontal lines at the ticks of the vertical axis, with their labels.
fn draw_grid(drawing: &mut Drawing, area: &Area, ticks: &[(f64, String)]) {
    for (value, label) in ticks {
        let y = area.place_y(*value);
        drawing.line((area.left, y), (area.right, y), GRID, 1.0);
        drawing.text(area.left - 8.0, y, Anchor::End, QUIET, std::slice::from_ref(label));
    }
}

/// Draws marks at all settings, and the labels of those that have room for one.
fn draw_settings(drawing: &mut Drawing, area: &Area, mut settings: Vec<f64>, width: f64) {
    settings.sort_by(f64::total_cmp);
    settings.dedup();
    let bottom = TOP + INNER;
    drawing.line((area.left, bottom), (area.right, bottom), QUIET, 1.0);
    let mut free_from = 0.0;
    for setting in settings {
        let (x, label) = (area.place_x(setting), setting.to_string());
        let half = text_width(&label) / 2.0;
        drawing.line((x, bottom), (x, bottom + 4.0), QUIET, 1.0);
        if x - half >= free_from && x + half <= width {
            drawing.text(x, bottom + 15.0, Anchor::Middle, QUIET, &[label]);
            free_from = x + half + 10.0;
        }
    }
}

/// Draws one curve with its points, their intervals, and published values as hollow squares.
fn draw_series(drawing: &mut Drawing, series: &Series, style: &Style, area: &Area, metric: &str) {
    let path: Vec<(f64, f64)> = series.points.iter().map(|point| area.place(point.x, point.value)).collect();
    drawing.polyline(&path, &style.colour, style.dash);
    for point in &series.points {
        let (x, y) = area.place(point.x, point.value);
        if let Some([low, high]) = point.limits {
            drawing.line((x, area.place_y(low)), (x, area.place_y(high)), &style.colour, 2.0);
        }
        let title = format!("{} at {}: {}", series.name, point.x, format_value(metric, point.value));
        drawing.symbol(style.symbol, (x, y), &style.colour, &style.colour, &title);
    }
    for (x, value) in &series.published {
        let title = format!("{}, published: {}", series.name, format_value(metric, *value));
        drawing.symbol(Symbol::Square, area.place(*x, *value), PAPER, &style.colour, &title);
    }
}

/// Draws the legend in columns below `top`, and returns its lower edge.
fn draw_legend(drawing: &mut Drawing, series_list: &[Series], styles: &[Style], top: f64, width: f64) -> f64 {
    let names: Vec<String> = series_list
        .iter()
        .map(|series| {
            let remark = if series.published.is_empty() { "" } else { "; published: hollow" };
            format!("{}{remark}", series.name)
        })
        .collect();
    let widest = names.iter().map(|name| text_width(name)).fold(0.0, f64::max) + KEY + 16.0;
    let columns = ((width / widest).floor() as usize).clamp(1, names.len().max(1));
    let column_width = width / columns as f64;
    let mut y = top;
    let entries: Vec<(&String, &Style)> = names.iter().zip(styles).collect();
    for row in entries.chunks(columns) {
        let mut lines_in_row = 1;
        for (column, (name, style)) in row.iter().enumerate() {
            let x = column as f64 * column_width;
            let room = column_width - KEY - 4.0;
            let lines = wrap(name, &[room, room, room]);
            lines_in_row = lines_in_row.max(lines.len());
            drawing.symbol(style.symbol, (x + 5.0, y + LINE / 2.0), &style.colour, &style.colour, "");
            drawing.text(x + KEY, y + LINE / 2.0, Anchor::Start, INK, &lines);
        }
        y += lines_in_row as f64 * LINE + 2.0;
    }
    y
}
