//! Charts of a study as SVG: lines along a varied option, or bars side by side, one chart per mix.

use std::fmt::Write;

use jsonathlon_schema::metric::MetricDef;
use jsonathlon_studies::observations::{Observation, THROUGHPUT};

use super::StudyResult;
use super::table::{differ, in_unit};
use crate::page::html::escaped;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 340.0;
/// Room for labels around the drawing, in units of the view box: left, right, above, below.
const ROOM: (f64, f64, f64, f64) = (70.0, 20.0, 16.0, 44.0);
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
const BAR: f64 = 22.0;

/// A line of a chart: its name, points of x, value and interval, and the published values beside it.
struct Series {
    name: String,
    points: Vec<(f64, f64, Option<[f64; 2]>)>,
    published: Vec<(f64, f64)>,
}

/// All charts as HTML figures; empty if nothing was measured.
pub(super) fn charts(finding: &StudyResult<'_>) -> String {
    let mut text = String::new();
    for (title, points) in panels(finding) {
        let drawn = match finding.study.chart.axis.as_deref() {
            Some(axis) => lines(axis, &series(finding, axis, &points), finding.study.figure()),
            None => bars(finding, &points),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "<figure>{drawn}<figcaption>{}</figcaption></figure>", escaped(&title));
    }
    text
}

/// Points of each chart, with its title. A chart holds one mix, and one value of each varied option that is
/// not the axis.
fn panels<'a>(finding: &'a StudyResult<'_>) -> Vec<(String, Vec<&'a Observation>)> {
    let study = finding.study;
    let figure = study.figure();
    let apart = apart(finding);
    let mut panels: Vec<(String, Vec<&Observation>)> = Vec::new();
    let shown = |point: &&Observation| {
        study.chart.mix.as_deref().is_none_or(|mix| mix == point.attribute("mix"))
            && point.value(figure).is_some()
    };
    for point in finding.seen.points.iter().filter(shown) {
        let what = MetricDef::find(figure).map_or(figure, |known| known.title);
        let mut title = format!("{what}, mix {}", point.attribute("mix"));
        for option in &apart {
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
fn apart<'a>(finding: &'a StudyResult<'_>) -> Vec<&'a str> {
    let Some(axis) = finding.study.chart.axis.as_deref() else { return Vec::new() };
    let others = finding.seen.varied.iter().map(|(option, _)| option.as_str());
    others.filter(|option| *option != axis).collect()
}

/// Name of a point's line or bar: its system and the attributes in which the system's points differ, except
/// those in `without`.
fn name(finding: &StudyResult<'_>, point: &Observation, without: &[&str]) -> String {
    let mut words = vec![point.attribute("system").to_owned()];
    let varied = finding.seen.varied.iter().map(|(option, _)| option.as_str());
    for attribute in ["version", "variant", "storage", "profile", "document"].into_iter().chain(varied) {
        let of_system =
            finding.seen.points.iter().filter(|other| other.attribute("system") == point.attribute("system"));
        let mut values = of_system.map(|other| other.attribute(attribute));
        let differs = values.next().is_some_and(|first| values.any(|other| other != first));
        if differs && !without.contains(&attribute) {
            let value = point.attribute(attribute);
            let is_word =
                value.starts_with(|c: char| c.is_ascii_alphabetic()) && value.parse::<bool>().is_err();
            words.push(if is_word { value.to_owned() } else { format!("{attribute} {value}") });
        }
    }
    words.join(" ")
}

fn series(finding: &StudyResult<'_>, axis: &str, points: &[&Observation]) -> Vec<Series> {
    let figure = finding.study.figure();
    let mut without = apart(finding);
    without.push(axis);
    let mut all: Vec<Series> = Vec::new();
    for point in points {
        let x =
            if axis == "clients" { Some(point.clients as f64) } else { point.attribute(axis).parse().ok() };
        let (Some(x), Some(value)) = (x, point.value(figure)) else { continue };
        let name = name(finding, point, &without);
        let place = all.iter().position(|one| one.name == name).unwrap_or_else(|| {
            all.push(Series { name, points: Vec::new(), published: Vec::new() });
            all.len() - 1
        });
        let Some(one) = all.get_mut(place) else { continue };
        one.points.push((x, value, point.limits(figure)));
        if figure == THROUGHPUT {
            let like = finding.published.iter().filter(|published| point.matches(&published.like));
            for published in like {
                let at = |x: f64, value: Option<f64>| value.map(|value| (x, value));
                let marks = match published.like.get(axis).and_then(|text| text.parse::<f64>().ok()) {
                    Some(x) => [at(x, published.peak), None],
                    None => [at(PEAK_CLIENTS, published.peak), at(100.0, published.at_100_clients)],
                };
                for mark in marks.into_iter().flatten() {
                    if !one.published.contains(&mark) {
                        one.published.push(mark);
                    }
                }
            }
        }
    }
    for one in &mut all {
        one.points.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
    }
    all
}

/// Step of an axis: 1, 2 or 5 times a power of ten, at least a fifth of `range`.
fn step(range: f64) -> f64 {
    let rough = range / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= rough).unwrap_or(10.0);
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
    fn at(&self, value: f64) -> f64 {
        let turn = |value: f64| if self.is_logarithmic { value.max(f64::MIN_POSITIVE).ln() } else { value };
        let range = turn(self.high) - turn(self.low);
        let share = if range > 0.0 { (turn(value) - turn(self.low)) / range } else { 0.5 };
        self.from + share * (self.to - self.from)
    }
}

fn lines(axis: &str, all: &[Series], figure: &str) -> String {
    let (left, right, above, below) = ROOM;
    let xs = || {
        let own = all.iter().flat_map(|one| one.points.iter().map(|(x, ..)| *x));
        own.chain(all.iter().flat_map(|one| one.published.iter().map(|(x, _)| *x)))
    };
    let values = all.iter().flat_map(|one| {
        let own =
            one.points.iter().map(|(_, value, limits)| limits.map_or(*value, |[_, high]| high.max(*value)));
        own.chain(one.published.iter().map(|(_, value)| *value))
    });
    let (Some(low), Some(high), Some(most)) =
        (xs().reduce(f64::min), xs().reduce(f64::max), values.reduce(f64::max))
    else {
        return String::new();
    };
    let legend = all.len().div_ceil(2) as f64 * 18.0;
    let height = HEIGHT + legend;
    let is_logarithmic = low > 0.0 && high / low >= LOGARITHMIC;
    let x = Scale { low, high, from: left, to: WIDTH - right, is_logarithmic };
    let each = step(most.max(f64::MIN_POSITIVE));
    let top = (most / each).ceil() * each;
    let y = Scale { low: 0.0, high: top, from: HEIGHT - below, to: above, is_logarithmic: false };
    let mut svg = format!("<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">\n");
    draw_grid(&mut svg, &y, each, figure);
    draw_ticks(&mut svg, &x, xs().collect());
    let unit = if axis == "doc-size" { "doc-size, kB" } else { axis };
    // Writing to a String cannot fail.
    let _ = writeln!(
        svg,
        "<text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
        WIDTH - right,
        HEIGHT - below + 36.0,
        escaped(unit)
    );
    for (number, one) in all.iter().enumerate() {
        drawn(&mut svg, number, one, &x, &y, figure);
        draw_legend(&mut svg, number, one);
    }
    svg.push_str("</svg>\n");
    svg
}

/// Draws horizontal lines at all multiples of `each`, with their labels at the y axis.
fn draw_grid(svg: &mut String, y: &Scale, each: f64, figure: &str) {
    let (left, right, ..) = ROOM;
    // Writing to a String cannot fail.
    for mark in (0..).map(|number| f64::from(number) * each).take_while(|mark| *mark <= y.high * 1.001) {
        let at = y.at(mark);
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{left}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - right,
            left - 8.0,
            at + 4.0,
            escaped(&in_unit(figure, mark))
        );
    }
}

/// Draws marks of the x axis, and labels of those that have room for one.
fn draw_ticks(svg: &mut String, x: &Scale, mut ticks: Vec<f64>) {
    let (.., below) = ROOM;
    ticks.sort_by(f64::total_cmp);
    ticks.dedup();
    let mut last = f64::NEG_INFINITY;
    for tick in ticks {
        let at = x.at(tick);
        // Labels that would touch the one before are left out.
        if at - last < 34.0 {
            continue;
        }
        last = at;
        let _ = writeln!(
            svg,
            "<line class=\"axis\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>\
             <text class=\"soft\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick}</text>",
            HEIGHT - below,
            HEIGHT - below + 5.0,
            HEIGHT - below + 19.0
        );
    }
}

/// Draws the legend of one line below the chart, in one of two columns.
fn draw_legend(svg: &mut String, number: usize, one: &Series) {
    let (left, ..) = ROOM;
    let (column, row) = ((number % 2) as f64, (number / 2) as f64);
    let (at, down) = (left + column * 390.0, HEIGHT + row * 18.0);
    let (colour, dash) = look(number);
    let also = if one.published.is_empty() { "" } else { "; published: hollow" };
    let _ = writeln!(
        svg,
        "<line x1=\"{at:.1}\" x2=\"{:.1}\" y1=\"{down:.1}\" y2=\"{down:.1}\" stroke=\"{colour}\" \
         stroke-width=\"2.5\" stroke-dasharray=\"{dash}\"/><text x=\"{:.1}\" y=\"{:.1}\">{}{also}</text>",
        at + 24.0,
        at + 30.0,
        down + 4.0,
        escaped(&one.name)
    );
}

fn look(number: usize) -> (&'static str, &'static str) {
    let colour = COLOURS.get(number % COLOURS.len()).copied().unwrap_or("#000");
    (colour, DASHES.get(number / COLOURS.len() % DASHES.len()).copied().unwrap_or(""))
}

/// Draws one line with its points, their intervals, and published values as hollow marks.
fn drawn(svg: &mut String, number: usize, one: &Series, x: &Scale, y: &Scale, figure: &str) {
    let (colour, dash) = look(number);
    let path: Vec<String> =
        one.points.iter().map(|(at, value, _)| format!("{:.1},{:.1}", x.at(*at), y.at(*value))).collect();
    let _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dash}\"/>",
        path.join(" ")
    );
    for (at, value, limits) in &one.points {
        if let Some([low, high]) = limits {
            let _ = writeln!(
                svg,
                "<line x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{1:.1}\" y2=\"{2:.1}\" stroke=\"{colour}\"/>",
                x.at(*at),
                y.at(*low),
                y.at(*high)
            );
        }
        let _ = writeln!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{colour}\"><title>{}</title></circle>",
            x.at(*at),
            y.at(*value),
            escaped(&format!("{} at {at}: {}", one.name, in_unit(figure, *value)))
        );
    }
    for (at, value) in &one.published {
        let _ = writeln!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4.5\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\">\
             <title>{}</title></circle>",
            x.at(*at),
            y.at(*value),
            escaped(&format!("{}, published: {}", one.name, in_unit(figure, *value)))
        );
    }
}

/// A bar of a chart: its name, the observation that it shows, and the value of that.
struct Bar<'a> {
    name: String,
    point: &'a Observation,
    value: f64,
}

/// Draws bars from 0: one per configuration and run, at the number of clients with the highest value.
fn bars(finding: &StudyResult<'_>, points: &[&Observation]) -> String {
    let figure = finding.study.figure();
    let all = highest(finding, points);
    let values = all.iter().flat_map(|Bar { point, value, .. }| {
        let limit = point.limits(figure).map_or(*value, |[_, high]| high.max(*value));
        std::iter::once(limit).chain(published_peaks(finding, point))
    });
    let Some(most) = values.reduce(f64::max) else { return String::new() };
    let (labels, room) = (300.0, 130.0);
    let height = all.len() as f64 * BAR + 10.0;
    let x = Scale { low: 0.0, high: most, from: labels, to: WIDTH - room, is_logarithmic: false };
    let several = differ(finding, "system");
    let mut svg = format!("<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">\n");
    let mut systems: Vec<&str> = Vec::new();
    for (row, one) in all.iter().enumerate() {
        let system = one.point.attribute("system");
        if !systems.contains(&system) {
            systems.push(system);
        }
        let place = systems.iter().position(|one| *one == system).unwrap_or_default();
        let (colour, _) = look(if several { place } else { row });
        draw_bar(&mut svg, finding, one, 5.0 + row as f64 * BAR, colour, &x);
    }
    svg.push_str("</svg>\n");
    svg
}

/// One bar per name, in the order of the first point of each, with the point of the highest value.
fn highest<'a>(finding: &StudyResult<'_>, points: &[&'a Observation]) -> Vec<Bar<'a>> {
    let figure = finding.study.figure();
    let mut all: Vec<Bar<'a>> = Vec::new();
    for &point in points {
        let Some(value) = point.value(figure) else { continue };
        let name = name(finding, point, &[]);
        match all.iter_mut().find(|known| known.name == name) {
            Some(known) if known.value < value => *known = Bar { name, point, value },
            Some(_) => {}
            None => all.push(Bar { name, point, value }),
        }
    }
    all
}

/// Published peaks that belong beside a point; none if the study is not about throughput.
fn published_peaks(finding: &StudyResult<'_>, point: &Observation) -> Vec<f64> {
    let figure = finding.study.figure();
    let like = finding.published.iter().filter(|one| point.matches(&one.like) && figure == THROUGHPUT);
    like.filter_map(|one| one.peak).collect()
}

/// Draws one bar with its name, interval, published peaks and value; its upper edge is at `top`.
fn draw_bar(svg: &mut String, finding: &StudyResult<'_>, bar: &Bar<'_>, top: f64, colour: &str, x: &Scale) {
    let Bar { name, point, value } = bar;
    let figure = finding.study.figure();
    let labels = x.from;
    let middle = top + BAR / 2.0 - 2.0;
    let end = x.at(*value);
    // Writing to a String cannot fail.
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
         <rect x=\"{labels}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{colour}\"/>",
        labels - 8.0,
        middle + 4.0,
        escaped(name),
        (end - labels).max(0.5),
        BAR - 5.0
    );
    let mut far = end;
    if let Some([low, high]) = point.limits(figure) {
        far = far.max(x.at(high));
        let _ = writeln!(
            svg,
            "<line class=\"axis\" x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{middle:.1}\" y2=\"{middle:.1}\"/>",
            x.at(low),
            x.at(high)
        );
    }
    for published in published_peaks(finding, point) {
        far = far.max(x.at(published) + 5.0);
        let _ = writeln!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{middle:.1}\" r=\"4.5\" fill=\"none\" class=\"axis\"><title>published: {}\
             </title></circle>",
            x.at(published),
            escaped(&in_unit(figure, published))
        );
    }
    let _ = writeln!(
        svg,
        "<text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
        far + 6.0,
        middle + 4.0,
        escaped(&in_unit(figure, *value))
    );
}
