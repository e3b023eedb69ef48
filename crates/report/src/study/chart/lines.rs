//! Curves along a varied option, one per configuration.

use jsonathlon_studies::observations::{Observation, THROUGHPUT};

use super::{PEAK_CLIENTS, name, separating_options, value_axis};
use crate::chart::curves::{Curve, CurveChart, Point, SettingAxis, Unmeasured};
use crate::chart::figure::Data;
use crate::study::StudyResult;

/// Published values stand beside curves, without a line to them.
const PUBLISHED: Unmeasured = Unmeasured { word: "published", continues_curve: false };

/// The curves of one chart, each with its points in the order of the axis.
pub(super) fn curves(result: &StudyResult<'_>, axis: &str, points: &[&Observation]) -> Vec<Curve> {
    let metric = result.study.metric();
    let mut excluded = separating_options(result);
    excluded.push(axis);
    let mut curves: Vec<Curve> = Vec::new();
    for point in points {
        let x =
            if axis == "clients" { Some(point.clients as f64) } else { point.attribute(axis).parse().ok() };
        let (Some(x), Some(value)) = (x, point.value(metric)) else { continue };
        let name = name(result, point, &excluded);
        let index = curves.iter().position(|known| known.name == name).unwrap_or_else(|| {
            let system = point.attribute("system").to_owned();
            curves.push(Curve { name, system, points: Vec::new(), unmeasured: Vec::new() });
            curves.len() - 1
        });
        let Some(curve) = curves.get_mut(index) else { continue };
        curve.points.push(Point { x, value, limits: point.limits(metric) });
        for mark in published_marks(result, axis, point) {
            if !curve.unmeasured.contains(&mark) {
                curve.unmeasured.push(mark);
            }
        }
    }
    for curve in &mut curves {
        curve.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    curves
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
pub(super) fn data(axis: &str, curves: &[Curve], metric: &str) -> Data {
    crate::chart::curves::data(axis, metric, curves, PUBLISHED)
}

/// Draws curves in `width` pixels; `None` without a value.
pub(super) fn draw(axis: &str, curves: &[Curve], metric: &str, width: f64, title: &str) -> Option<String> {
    let format = |value: f64| crate::study::table::format_value(metric, value);
    let chart = CurveChart {
        title,
        curves,
        unmeasured: PUBLISHED,
        settings: SettingAxis {
            title: if axis == "document-size" { "document-size, kB" } else { axis },
            format: &|setting| setting.to_string(),
        },
        values: value_axis(metric, &format),
        asked_setting: None,
        asked_value: None,
    };
    chart.draw(width)
}
