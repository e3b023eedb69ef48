//! Charts of a study as SVG: lines along a varied option, or bars side by side, one chart per mix.

use std::fmt::Write;

use jsonathlon_schema::metric::MetricDef;
use jsonathlon_studies::observations::{Observation, THROUGHPUT};

use super::StudyResult;
use super::table::{format_value, points_differ};
use crate::page::html::escape;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 340.0;
/// Room for labels around the drawing, in units of the view box: left, right, above, below.
const MARGINS: (f64, f64, f64, f64) = (70.0, 20.0, 16.0, 44.0);
/// Colours that most readers can tell apart, in light and dark mode.
const COLOURS: [&str; 8] =
    ["#3b6fd4", "#d1642c", "#2f9460", "#a34fb5", "#b58b00", "#c23b5a", "#1f93a8", "#7a7f87"];
/// Dash patterns of the series, which change when the colours are used up.
const DASHES: [&str; 3] = ["", "6 3", "2 3"];
/// Approximate number of clients at which the published peaks were measured.
const PEAK_CLIENTS: f64 = 20.0;
/// Ratio of the largest to the smallest value from which the x axis is logarithmic.
const LOGARITHMIC: f64 = 20.0;
/// Height of one bar with its gap, in units of the view box.
const BAR_HEIGHT: f64 = 22.0;

/// A line of a chart: its name, points of x, value and interval, and the published values beside it.
struct Series {
    name: String,
    points: Vec<(f64, f64, Option<[f64; 2]>)>,
    published: Vec<(f64, f64)>,
}

/// All charts as HTML figures; empty if nothing was measured.
pub(super) fn charts(result: &StudyResult<'_>) -> String {
    let mut text = String::new();
    for (title, points) in panels(result) {
        let svg = match result.study.chart.axis.as_deref() {
            Some(axis) => lines(axis, &series(result, axis, &points), result.study.metric()),
            None => bars(result, &points),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "<figure>{svg}<figcaption>{}</figcaption></figure>", escape(&title));
    }
    text
}

/// Points of each chart, with its title. A chart holds one mix, and one value of each varied option that is
/// not the axis.
fn panels<'a>(result: &'a StudyResult<'_>) -> Vec<(String, Vec<&'a Observation>)> {
    let study = result.study;
    let metric = study.metric();
    let options = separating_options(result);
    let mut panels: Vec<(String, Vec<&Observation>)> = Vec::new();
    let is_shown = |point: &&Observation| {
        study.chart.mix.as_deref().is_none_or(|mix| mix == point.attribute("mix"))
            && point.value(metric).is_some()
    };
    for point in result.observations.points.iter().filter(is_shown) {
        let metric_title = MetricDef::find(metric).map_or(metric, |definition| definition.title);
        let mut title = format!("{metric_title}, mix {}", point.attribute("mix"));
        for option in &options {
            let _ = write!(title, ", {option} {}", point.attribute(option));
        }
        match panels.iter_mut().find(|(known, _)| *known == title) {
            Some((_, points)) => points.push(point),
            None => panels.push((title, vec![point])),
        }
    }
    panels
}

/// Varied options that separate charts: all but the axis; none for bars.
fn separating_options<'a>(result: &'a StudyResult<'_>) -> Vec<&'a str> {
    let Some(axis) = result.study.chart.axis.as_deref() else { return Vec::new() };
    let options = result.observations.varied.iter().map(|(option, _)| option.as_str());
    options.filter(|option| *option != axis).collect()
}

/// Name of a point's line or bar: its system and the attributes in which the system's points differ, except
/// those in `excluded`.
fn name(result: &StudyResult<'_>, point: &Observation, excluded: &[&str]) -> String {
    let mut parts = vec![point.attribute("system").to_owned()];
    let varied = result.observations.varied.iter().map(|(option, _)| option.as_str());
    for attribute in ["version", "variant", "storage", "profile", "document"].into_iter().chain(varied) {
        let same_system = result
            .observations
            .points
            .iter()
            .filter(|other| other.attribute("system") == point.attribute("system"));
        let mut values = same_system.map(|other| other.attribute(attribute));
        let differs = values.next().is_some_and(|first| values.any(|other| other != first));
        if differs && !excluded.contains(&attribute) {
            let value = point.attribute(attribute);
            let is_word =
                value.starts_with(|c: char| c.is_ascii_alphabetic()) && value.parse::<bool>().is_err();
            parts.push(if is_word { value.to_owned() } else { format!("{attribute} {value}") });
        }
    }
    parts.join(" ")
}

fn series(result: &StudyResult<'_>, axis: &str, points: &[&Observation]) -> Vec<Series> {
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
            series_list.push(Series { name, points: Vec::new(), published: Vec::new() });
            series_list.len() - 1
        });
        let Some(series) = series_list.get_mut(index) else { continue };
        series.points.push((x, value, point.limits(metric)));
        if metric == THROUGHPUT {
            let matching =
                result.published.iter().filter(|published| point.matches(&published.similar_points));
            for published in matching {
                let mark = |x: f64, value: Option<f64>| value.map(|value| (x, value));
                let marks = match published.similar_points.get(axis).and_then(|text| text.parse::<f64>().ok())
                {
                    Some(x) => [mark(x, published.peak), None],
                    None => [mark(PEAK_CLIENTS, published.peak), mark(100.0, published.at_100_clients)],
                };
                for mark in marks.into_iter().flatten() {
                    if !series.published.contains(&mark) {
                        series.published.push(mark);
                    }
                }
            }
        }
    }
    for series in &mut series_list {
        series.points.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
    }
    series_list
}

/// Step of an axis: 1, 2 or 5 times a power of ten, at least a fifth of `range`.
fn step(range: f64) -> f64 {
    let minimum = range / 5.0;
    let power = 10_f64.powf(minimum.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= minimum).unwrap_or(10.0);
    factor * power
}

/// Maps values to positions in a drawing, linearly or logarithmically.
struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    is_logarithmic: bool,
}

impl Scale {
    fn position(&self, value: f64) -> f64 {
        let transform =
            |value: f64| if self.is_logarithmic { value.max(f64::MIN_POSITIVE).ln() } else { value };
        let range = transform(self.high) - transform(self.low);
        let share = if range > 0.0 { (transform(value) - transform(self.low)) / range } else { 0.5 };
        self.from + share * (self.to - self.from)
    }
}

fn lines(axis: &str, series_list: &[Series], metric: &str) -> String {
    let (left, right, above, below) = MARGINS;
    let xs = || {
        let measured = series_list.iter().flat_map(|series| series.points.iter().map(|(x, ..)| *x));
        measured.chain(series_list.iter().flat_map(|series| series.published.iter().map(|(x, _)| *x)))
    };
    let values = series_list.iter().flat_map(|series| {
        let measured = series
            .points
            .iter()
            .map(|(_, value, limits)| limits.map_or(*value, |[_, high]| high.max(*value)));
        measured.chain(series.published.iter().map(|(_, value)| *value))
    });
    let (Some(low), Some(high), Some(maximum)) =
        (xs().reduce(f64::min), xs().reduce(f64::max), values.reduce(f64::max))
    else {
        return String::new();
    };
    let legend = series_list.len().div_ceil(2) as f64 * 18.0;
    let height = HEIGHT + legend;
    let is_logarithmic = low > 0.0 && high / low >= LOGARITHMIC;
    let x = Scale { low, high, from: left, to: WIDTH - right, is_logarithmic };
    let grid_step = step(maximum.max(f64::MIN_POSITIVE));
    let top = (maximum / grid_step).ceil() * grid_step;
    let y = Scale { low: 0.0, high: top, from: HEIGHT - below, to: above, is_logarithmic: false };
    let mut svg = format!("<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">\n");
    draw_grid(&mut svg, &y, grid_step, metric);
    draw_ticks(&mut svg, &x, xs().collect());
    let unit = if axis == "document-size" { "document-size, kB" } else { axis };
    // Writing to a String cannot fail.
    let _ = writeln!(
        svg,
        "<text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
        WIDTH - right,
        HEIGHT - below + 36.0,
        escape(unit)
    );
    for (index, series) in series_list.iter().enumerate() {
        draw_series(&mut svg, index, series, &x, &y, metric);
        draw_legend(&mut svg, index, series);
    }
    svg.push_str("</svg>\n");
    svg
}

/// Draws horizontal lines at all multiples of `step`, with their labels at the y axis.
fn draw_grid(svg: &mut String, y: &Scale, step: f64, metric: &str) {
    let (left, right, ..) = MARGINS;
    let multiples = (0..).map(|multiple| f64::from(multiple) * step);
    for value in multiples.take_while(|value| *value <= y.high * 1.001) {
        let position = y.position(value);
        // Writing to a String cannot fail.
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{left}\" x2=\"{:.1}\" y1=\"{position:.1}\" y2=\"{position:.1}\"/>\
             <text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - right,
            left - 8.0,
            position + 4.0,
            escape(&format_value(metric, value))
        );
    }
}

/// Draws marks of the x axis, and labels of those that have room for one.
fn draw_ticks(svg: &mut String, x: &Scale, mut ticks: Vec<f64>) {
    let (.., below) = MARGINS;
    ticks.sort_by(f64::total_cmp);
    ticks.dedup();
    let mut last_position = f64::NEG_INFINITY;
    for tick in ticks {
        let position = x.position(tick);
        // Labels that would touch the one before are left out.
        if position - last_position < 34.0 {
            continue;
        }
        last_position = position;
        let _ = writeln!(
            svg,
            "<line class=\"axis\" x1=\"{position:.1}\" x2=\"{position:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>\
             <text class=\"soft\" x=\"{position:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick}</text>",
            HEIGHT - below,
            HEIGHT - below + 5.0,
            HEIGHT - below + 19.0
        );
    }
}

/// Draws the legend of one line below the chart, in one of two columns.
fn draw_legend(svg: &mut String, index: usize, series: &Series) {
    let (left, ..) = MARGINS;
    let (column, row) = ((index % 2) as f64, (index / 2) as f64);
    let (line_x, line_y) = (left + column * 390.0, HEIGHT + row * 18.0);
    let (colour, dash) = series_style(index);
    let suffix = if series.published.is_empty() { "" } else { "; published: hollow" };
    let _ = writeln!(
        svg,
        "<line x1=\"{line_x:.1}\" x2=\"{:.1}\" y1=\"{line_y:.1}\" y2=\"{line_y:.1}\" stroke=\"{colour}\" \
         stroke-width=\"2.5\" stroke-dasharray=\"{dash}\"/><text x=\"{:.1}\" y=\"{:.1}\">{}{suffix}</text>",
        line_x + 24.0,
        line_x + 30.0,
        line_y + 4.0,
        escape(&series.name)
    );
}

fn series_style(index: usize) -> (&'static str, &'static str) {
    let colour = COLOURS.get(index % COLOURS.len()).copied().unwrap_or("#000");
    (colour, DASHES.get(index / COLOURS.len() % DASHES.len()).copied().unwrap_or(""))
}

/// Draws one line with its points, their intervals, and published values as hollow marks.
fn draw_series(svg: &mut String, index: usize, series: &Series, x: &Scale, y: &Scale, metric: &str) {
    let (colour, dash) = series_style(index);
    let path: Vec<String> = series
        .points
        .iter()
        .map(|(point_x, value, _)| format!("{:.1},{:.1}", x.position(*point_x), y.position(*value)))
        .collect();
    let _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dash}\"/>",
        path.join(" ")
    );
    for (point_x, value, limits) in &series.points {
        if let Some([low, high]) = limits {
            let _ = writeln!(
                svg,
                "<line x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{1:.1}\" y2=\"{2:.1}\" stroke=\"{colour}\"/>",
                x.position(*point_x),
                y.position(*low),
                y.position(*high)
            );
        }
        let _ = writeln!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{colour}\"><title>{}</title></circle>",
            x.position(*point_x),
            y.position(*value),
            escape(&format!("{} at {point_x}: {}", series.name, format_value(metric, *value)))
        );
    }
    for (point_x, value) in &series.published {
        let _ = writeln!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4.5\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\">\
             <title>{}</title></circle>",
            x.position(*point_x),
            y.position(*value),
            escape(&format!("{}, published: {}", series.name, format_value(metric, *value)))
        );
    }
}

/// A bar of a chart: its name, its observation, and the value of the observation.
struct Bar<'a> {
    name: String,
    point: &'a Observation,
    value: f64,
}

/// Draws bars from 0: one per configuration and run, at the number of clients with the highest value.
fn bars(result: &StudyResult<'_>, points: &[&Observation]) -> String {
    let metric = result.study.metric();
    let bars = highest_bars(result, points);
    let values = bars.iter().flat_map(|Bar { point, value, .. }| {
        let limit = point.limits(metric).map_or(*value, |[_, high]| high.max(*value));
        std::iter::once(limit).chain(published_peaks(result, point))
    });
    let Some(maximum) = values.reduce(f64::max) else { return String::new() };
    let (label_width, value_width) = (300.0, 130.0);
    let height = bars.len() as f64 * BAR_HEIGHT + 10.0;
    let x =
        Scale { low: 0.0, high: maximum, from: label_width, to: WIDTH - value_width, is_logarithmic: false };
    let systems_differ = points_differ(result, "system");
    let mut svg = format!("<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">\n");
    let mut systems: Vec<&str> = Vec::new();
    for (row, bar) in bars.iter().enumerate() {
        let system = bar.point.attribute("system");
        if !systems.contains(&system) {
            systems.push(system);
        }
        let system_index = systems.iter().position(|known| *known == system).unwrap_or_default();
        let (colour, _) = series_style(if systems_differ { system_index } else { row });
        draw_bar(&mut svg, result, bar, 5.0 + row as f64 * BAR_HEIGHT, colour, &x);
    }
    svg.push_str("</svg>\n");
    svg
}

/// One bar per name, in the order of the first point of each, with the point of the highest value.
fn highest_bars<'a>(result: &StudyResult<'_>, points: &[&'a Observation]) -> Vec<Bar<'a>> {
    let metric = result.study.metric();
    let mut bars: Vec<Bar<'a>> = Vec::new();
    for &point in points {
        let Some(value) = point.value(metric) else { continue };
        let name = name(result, point, &[]);
        match bars.iter_mut().find(|known| known.name == name) {
            Some(known) if known.value < value => *known = Bar { name, point, value },
            Some(_) => {}
            None => bars.push(Bar { name, point, value }),
        }
    }
    bars
}

/// Published peaks that belong beside a point; none if the study is not about throughput.
fn published_peaks(result: &StudyResult<'_>, point: &Observation) -> Vec<f64> {
    let metric = result.study.metric();
    let matching = result
        .published
        .iter()
        .filter(|published| point.matches(&published.similar_points) && metric == THROUGHPUT);
    matching.filter_map(|published| published.peak).collect()
}

/// Draws one bar with its name, interval, published peaks and value; its upper edge is at `top`.
fn draw_bar(svg: &mut String, result: &StudyResult<'_>, bar: &Bar<'_>, top: f64, colour: &str, x: &Scale) {
    let Bar { name, point, value } = bar;
    let metric = result.study.metric();
    let label_end = x.from;
    let middle = top + BAR_HEIGHT / 2.0 - 2.0;
    let bar_end = x.position(*value);
    // Writing to a String cannot fail.
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
         <rect x=\"{label_end}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{colour}\"/>",
        label_end - 8.0,
        middle + 4.0,
        escape(name),
        (bar_end - label_end).max(0.5),
        BAR_HEIGHT - 5.0
    );
    let mut right_end = bar_end;
    if let Some([low, high]) = point.limits(metric) {
        right_end = right_end.max(x.position(high));
        let _ = writeln!(
            svg,
            "<line class=\"axis\" x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{middle:.1}\" y2=\"{middle:.1}\"/>",
            x.position(low),
            x.position(high)
        );
    }
    for published in published_peaks(result, point) {
        right_end = right_end.max(x.position(published) + 5.0);
        let _ = writeln!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{middle:.1}\" r=\"4.5\" fill=\"none\" class=\"axis\"><title>published: {}\
             </title></circle>",
            x.position(published),
            escape(&format_value(metric, published))
        );
    }
    let _ = writeln!(
        svg,
        "<text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
        right_end + 6.0,
        middle + 4.0,
        escape(&format_value(metric, *value))
    );
}
