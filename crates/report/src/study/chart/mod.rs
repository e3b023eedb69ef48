//! Charts of a study as SVG: curves along a varied option, or rows below each other, one chart per mix.

mod frontier;
mod lines;
mod rows;

use std::fmt::Write;

use jsonathlon_schema::metric::{BetterDirection, MetricDef, Unit};
use jsonathlon_studies::definition::{ChartKind, Study};
use jsonathlon_studies::observations::{Observation, THROUGHPUT};
use jsonathlon_studies::verdict_spec::ClientSelector;
use jsonathlon_studies::workload::StudyWorkload;

use super::StudyResult;
use crate::chart::ValueAxis;
use crate::chart::figure;

/// Approximate number of clients at which the published peaks were measured.
const PEAK_CLIENTS: f64 = 20.0;

/// All charts as HTML figures, first those of what the first clause of the answer is about; empty if nothing was
/// measured.
pub(super) fn charts(result: &StudyResult<'_>) -> String {
    if result.study.chart.kind == ChartKind::Frontier {
        return frontier::figures(result);
    }
    let mut panels = panels(result);
    let mix_of_answer = result.study.verdicts.first().and_then(|verdict| verdict.mix.as_deref());
    let is_about_answer = |points: &[&Observation]| {
        points.first().is_some_and(|point| Some(point.attribute("mix")) == mix_of_answer)
    };
    panels.sort_by_key(|(_, points)| !is_about_answer(points));
    let first = panels.first().and_then(|(title, points)| panel_of_answer(result, title, points));
    first.iter().chain(&panels).filter_map(|(title, points)| panel_figure(result, title, points)).collect()
}

/// Chart of the points with the number of clients that the first clause of the answer is about. Rows show the
/// highest value of each configuration, which often has more clients. `None` for curves, if the clause is about no
/// fixed number, or if that is the only one.
fn panel_of_answer<'a>(
    result: &StudyResult<'_>,
    title: &str,
    points: &[&'a Observation],
) -> Option<(String, Vec<&'a Observation>)> {
    let ClientSelector::Number(clients) = result.study.verdicts.first()?.clients else { return None };
    if result.study.chart.axis.is_some() || points.iter().all(|point| point.clients == clients) {
        return None;
    }
    let own: Vec<&Observation> = points.iter().copied().filter(|point| point.clients == clients).collect();
    let unit = if clients == 1 { "client" } else { "clients" };
    Some((format!("{title}, {clients} {unit}"), own)).filter(|(_, own)| !own.is_empty())
}

/// Figure of one chart with its title and its data; `None` if it has no value.
fn panel_figure(result: &StudyResult<'_>, title: &str, points: &[&Observation]) -> Option<String> {
    let metric = result.study.metric();
    let file_name = file_name(result, title);
    match result.study.chart.axis.as_deref() {
        Some(axis) => {
            let curves = lines::curves(result, axis, points);
            let draw = |width| lines::draw(axis, &curves, metric, width, title);
            figure::figure(title, &file_name, &lines::data(axis, &curves, metric), draw)
        }
        None => {
            let rows = rows::rows(result, points);
            let draw = |width| rows::draw(&rows, metric, width, title);
            figure::figure(title, &file_name, &rows::data(&rows, metric), draw)
        }
    }
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
        let mut title = format!("{}, {}", metric_title(metric), step_words(study, point));
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

/// What was done at a point: a mix of operations, or a step in a phase of a round.
fn step_words(study: &Study, point: &Observation) -> String {
    let step = point.attribute("mix");
    match study.workload {
        StudyWorkload::Serving => format!("mix {step}"),
        StudyWorkload::Mixed => format!("{step}, {}", point.attribute("phase")),
    }
}

/// Varied options that separate charts: all but the axis; none for rows.
fn separating_options<'a>(result: &'a StudyResult<'_>) -> Vec<&'a str> {
    let Some(axis) = result.study.chart.axis.as_deref() else { return Vec::new() };
    let options = result.observations.varied.iter().map(|(option, _)| option.as_str());
    options.filter(|option| *option != axis).collect()
}

/// Name of a point's curve or row: its system and the attributes in which the system's points differ, except
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

/// Published peaks that belong beside a point; none if the study is not about throughput.
fn published_peaks(result: &StudyResult<'_>, point: &Observation) -> Vec<f64> {
    let metric = result.study.metric();
    let matching = result
        .published
        .iter()
        .filter(|published| point.matches(&published.similar_points) && metric == THROUGHPUT);
    matching.filter_map(|published| published.peak).collect()
}

fn metric_title(metric: &str) -> &str {
    MetricDef::find(metric).map_or(metric, |definition| definition.title)
}

/// Axis of a metric, with the direction that is better.
fn value_axis<'a>(metric: &str, format: &'a dyn Fn(f64) -> String) -> ValueAxis<'a> {
    let better = match MetricDef::find(metric).map(|definition| definition.better) {
        Some(BetterDirection::Higher) => ", more is better",
        Some(BetterDirection::Lower) => ", less is better",
        Some(BetterDirection::Neither) | None => "",
    };
    ValueAxis { title: format!("{}{better}", metric_title(metric)), is_from_zero: is_counted(metric), format }
}

/// Returns `true` for counts and bytes, which are drawn from zero. Times, rates and ratios are drawn on a
/// logarithmic scale, which has no zero.
fn is_counted(metric: &str) -> bool {
    let unit =
        MetricDef::find(metric).map_or_else(|| Unit::from_metric_name(metric), |definition| definition.unit);
    matches!(unit, Unit::Bytes | Unit::BytesPerOperation | Unit::PerOperation | Unit::Count)
}

/// File name of a figure's data: study, title and day of the first run.
fn file_name(result: &StudyResult<'_>, title: &str) -> String {
    let day = result.runs.first().map(|(_, run)| run.manifest.day()).unwrap_or_default();
    figure::file_name(&format!("study {} {title} {day}", result.study.name))
}
