//! Frontiers of questions against documents, one chart per configuration, each with axes of its own from zero.

use jsonathlon_results::mixed::{MeasuredFrontier, rate_words};
use jsonathlon_schema::metric::{DOCUMENTS_PER_S, MetricDef, QUESTIONS_PER_H};
use jsonathlon_stats::frontier::LoadPoint;
use jsonathlon_studies::observations::FrontierObservation;

use super::file_name;
use crate::chart::colour::{Style, Symbol, styles};
use crate::chart::figure::{self, Data};
use crate::chart::scale::Range;
use crate::chart::svg::{Anchor, Drawing, GRID, INK, PAPER, QUIET};
use crate::chart::text::{LINE, width as text_width, wrap};
use crate::chart::tick_label;
use crate::study::StudyResult;
use crate::study::table::format_value;

/// Height of the area between the axes in pixels.
const INNER: f64 = 270.0;
/// Height of tick marks and tick labels below the area.
const TICKS: f64 = 26.0;
/// Minimum distance of two horizontal grid lines.
const GRID_DISTANCE: f64 = 18.0;
/// Space at the right of the area.
const RIGHT: f64 = 16.0;
/// Dash pattern of the line that joins both peaks.
const PEAKS_DASH: &str = "4 4";
/// Distance of a label from the middle of its point.
const LABEL_DISTANCE: f64 = 8.0;

/// One figure for each configuration that has a frontier.
pub(super) fn figures(result: &StudyResult<'_>) -> String {
    let observed = &result.observations.frontiers;
    let measured: Vec<(&FrontierObservation, &MeasuredFrontier)> = observed
        .iter()
        .filter_map(|observation| Some((observation, observation.measured.as_ref().ok()?)))
        .collect();
    let systems: Vec<&str> =
        measured.iter().map(|(observation, _)| observation.attribute("system")).collect();
    let styles = styles(&systems);
    let figure = |((observation, measured), style): (&(&FrontierObservation, &MeasuredFrontier), &Style)| {
        let title = format!("frontier of {}", name(result, observation));
        let draw = |width| draw(measured, style, width, &title);
        figure::figure(&title, &file_name(result, &title), &data(measured), draw)
    };
    measured.iter().zip(&styles).filter_map(figure).collect()
}

/// Name of a configuration with the varied options of its run.
fn name(result: &StudyResult<'_>, observation: &FrontierObservation) -> String {
    let varied = result.observations.varied.iter().map(|(option, _)| option);
    let values = varied.map(|option| format!(", {option} {}", observation.attribute(option)));
    format!("{}{}", observation.title, values.collect::<String>())
}

/// All points of a frontier with a label each, from questions alone to writers alone.
fn labelled(measured: &MeasuredFrontier) -> Vec<(String, LoadPoint)> {
    let peak = |documents_per_s, questions_per_h| LoadPoint { documents_per_s, questions_per_h };
    let points = measured.points.iter().map(|(rate, point)| (rate_words(*rate), *point));
    std::iter::once(("questions alone".to_owned(), peak(0.0, measured.questions_peak)))
        .chain(points)
        .chain([("writers alone".to_owned(), peak(measured.documents_peak, 0.0))])
        .collect()
}

/// Points of a frontier as CSV.
fn data(measured: &MeasuredFrontier) -> Data {
    let header =
        ["rate", DOCUMENTS_PER_S.name, QUESTIONS_PER_H.name, "on the hull"].map(str::to_owned).to_vec();
    let row = |(rate, point): (String, LoadPoint)| {
        let is_on_hull = measured.frontier.hull().contains(&point);
        vec![
            rate,
            point.documents_per_s.to_string(),
            point.questions_per_h.to_string(),
            is_on_hull.to_string(),
        ]
    };
    std::iter::once(header).chain(labelled(measured).into_iter().map(row)).collect()
}

/// A rate of documents with its unit.
fn documents(value: f64) -> String {
    format_value(DOCUMENTS_PER_S.name, value)
}

/// A rate of questions with its unit.
fn questions(value: f64) -> String {
    format_value(QUESTIONS_PER_H.name, value)
}

/// Title of an axis from zero.
fn axis_title(metric: &MetricDef) -> String {
    format!("{}, more is better, from zero", metric.title)
}

/// The area between the axes, with the ranges of both.
struct Area {
    documents: Range,
    questions: Range,
    left: f64,
    right: f64,
    top: f64,
}

impl Area {
    fn x(&self, documents_per_s: f64) -> f64 {
        self.left + self.documents.share(documents_per_s) * (self.right - self.left)
    }

    fn y(&self, questions_per_h: f64) -> f64 {
        self.top + INNER * (1.0 - self.questions.share(questions_per_h))
    }

    fn place(&self, point: &LoadPoint) -> (f64, f64) {
        (self.x(point.documents_per_s), self.y(point.questions_per_h))
    }

    fn bottom(&self) -> f64 {
        self.top + INNER
    }
}

/// Draws a frontier in `width` pixels; `None` without a rate above 0.
fn draw(measured: &MeasuredFrontier, style: &Style, width: f64, title: &str) -> Option<String> {
    let points = labelled(measured);
    let values =
        |rate: fn(&LoadPoint) -> f64| points.iter().map(|(_, point)| rate(point)).collect::<Vec<_>>();
    let questions_range = Range::from_zero(&values(|point| point.questions_per_h), &[])?;
    let documents_range = Range::from_zero(&values(|point| point.documents_per_s), &[])?;
    let share = format!(
        "share {:.2} of both peaks alone, {} documents and {} questions",
        measured.frontier.share(),
        documents(measured.documents_peak),
        questions(measured.questions_peak)
    );
    let mut lines = wrap(&share, &[width, width, width]);
    let ink_lines = lines.len() as f64;
    let axis = wrap(&axis_title(&QUESTIONS_PER_H), &[width, width]);
    let top = (ink_lines + axis.len() as f64) * LINE + 12.0;
    let has_room = |ticks: &[f64]| {
        let far = |pair: &[f64]| {
            (questions_range.share(pair[1]) - questions_range.share(pair[0])) * INNER >= GRID_DISTANCE
        };
        ticks.windows(2).all(far)
    };
    let grid = questions_range.ticks(has_room);
    let labels: Vec<String> = grid.iter().map(|value| tick_label(&questions(*value), *value)).collect();
    let widest = labels.iter().map(|label| text_width(label)).fold(24.0, f64::max);
    let area = Area {
        documents: documents_range,
        questions: questions_range,
        left: widest + 12.0,
        right: width - RIGHT,
        top,
    };
    let mut drawing = Drawing::default();
    drawing.text(0.0, LINE / 2.0 + 1.0, Anchor::Start, INK, &std::mem::take(&mut lines));
    drawing.text(0.0, ink_lines * LINE + LINE / 2.0 + 1.0, Anchor::Start, QUIET, &axis);
    for (value, label) in grid.iter().zip(&labels) {
        let y = area.y(*value);
        drawing.line((area.left, y), (area.right, y), GRID, 1.0);
        drawing.text(area.left - 8.0, y, Anchor::End, QUIET, std::slice::from_ref(label));
    }
    draw_documents_axis(&mut drawing, &area, width);
    let peaks = [points.first(), points.last()].into_iter().flatten();
    let peaks: Vec<(f64, f64)> = peaks.map(|(_, point)| area.place(point)).collect();
    drawing.polyline(&peaks, QUIET, PEAKS_DASH);
    let hull: Vec<(f64, f64)> = measured.frontier.hull().iter().map(|point| area.place(point)).collect();
    drawing.polyline(&hull, &style.colour, "");
    draw_points(&mut drawing, measured, &points, style, &area);
    let end = draw_key(&mut drawing, area.bottom() + TICKS + LINE + 8.0, width);
    Some(drawing.finish(width, end + 4.0, &alternative(measured, &points, title)))
}

/// What the drawing shows, in words.
fn alternative(measured: &MeasuredFrontier, points: &[(String, LoadPoint)], title: &str) -> String {
    let point = |(label, point): &(String, LoadPoint)| {
        format!("{label} {} and {}", documents(point.documents_per_s), questions(point.questions_per_h))
    };
    let points: Vec<String> = points.iter().map(point).collect();
    format!(
        "{title}, share {:.2}; documents and questions at each rate: {}",
        measured.frontier.share(),
        points.join("; ")
    )
}

/// Draws the horizontal axis with its ticks and its title.
fn draw_documents_axis(drawing: &mut Drawing, area: &Area, width: f64) {
    let bottom = area.bottom();
    drawing.line((area.left, bottom), (area.right, bottom), QUIET, 1.0);
    let label = |value: f64| tick_label(&documents(value), value);
    let half = |value: f64| text_width(&label(value)) / 2.0;
    let fits = |ticks: &[f64]| {
        let apart = |pair: &[f64]| area.x(pair[1]) - area.x(pair[0]) >= half(pair[0]) + half(pair[1]) + 10.0;
        ticks.windows(2).all(apart) && ticks.iter().all(|tick| area.x(*tick) + half(*tick) <= width)
    };
    for tick in area.documents.ticks(fits) {
        let x = area.x(tick);
        drawing.line((x, bottom), (x, bottom + 4.0), QUIET, 1.0);
        drawing.text(x, bottom + 15.0, Anchor::Middle, QUIET, &[label(tick)]);
    }
    let title = wrap(&axis_title(&DOCUMENTS_PER_S), &[width]);
    drawing.text(0.0, bottom + TICKS + LINE / 2.0, Anchor::Start, QUIET, &title);
}

/// Left, upper, right and lower edge of what must not be covered.
type Bounds = [f64; 4];

fn overlap(a: &Bounds, b: &Bounds) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

/// Draws all points, hollow where another one beats them, each with its rate where there is room for it.
fn draw_points(
    drawing: &mut Drawing,
    measured: &MeasuredFrontier,
    points: &[(String, LoadPoint)],
    style: &Style,
    area: &Area,
) {
    let places: Vec<(f64, f64)> = points.iter().map(|(_, point)| area.place(point)).collect();
    let mut taken: Vec<Bounds> = places.iter().map(|(x, y)| [x - 5.0, y - 5.0, x + 5.0, y + 5.0]).collect();
    for ((label, point), (x, y)) in points.iter().zip(&places) {
        let is_dominated = !measured.frontier.non_dominated().contains(point);
        let fill = if is_dominated { PAPER } else { style.colour.as_str() };
        let words =
            format!("{label}: {}, {}", documents(point.documents_per_s), questions(point.questions_per_h));
        drawing.symbol(Symbol::Circle, (*x, *y), fill, &style.colour, &words);
        let (room, half) = (text_width(label), LINE / 2.0);
        let sides = [(Anchor::Start, x + LABEL_DISTANCE), (Anchor::End, x - LABEL_DISTANCE)];
        let candidates = sides.into_iter().flat_map(|(anchor, start)| {
            [-LINE * 0.7, LINE * 0.7, 0.0].map(|shift| (anchor, start, y + shift))
        });
        let place = candidates.map(|(anchor, start, middle)| {
            let left = if matches!(anchor, Anchor::End) { start - room } else { start };
            (anchor, start, middle, [left, middle - half, left + room, middle + half])
        });
        let is_free = |(_, _, _, own): &(Anchor, f64, f64, Bounds)| {
            let is_inside = own[0] >= area.left && own[2] <= area.right + RIGHT && own[3] <= area.bottom();
            is_inside && own[1] >= area.top - LINE && !taken.iter().any(|other| overlap(own, other))
        };
        let free = place.into_iter().find(is_free);
        if let Some((anchor, start, middle, own)) = free {
            drawing.text(start, middle, anchor, INK, std::slice::from_ref(label));
            taken.push(own);
        }
    }
}

/// Explains the lines and symbols below `top`, and returns the lower edge.
fn draw_key(drawing: &mut Drawing, top: f64, width: f64) -> f64 {
    let words = "solid: hull of the points; dashed: both loads in turns; hollow: beaten in both by another point; \
                 percentages: rate of the writers as a share of their peak";
    let lines = wrap(words, &[width; 5]);
    drawing.text(0.0, top + LINE / 2.0, Anchor::Start, QUIET, &lines);
    top + lines.len() as f64 * LINE
}
