//! Charts of a choice: response times over the rate, reports with and without load, and sizes over documents.

mod reports;
mod responses;
mod sizes;

use jsonathlon_choose::Dimension;
use jsonathlon_choose::decision::Candidate;
use jsonathlon_choose::facts::{Measured, Measurement};
use jsonathlon_choose::needs::Need;

use super::ChooseResult;
use crate::chart::ValueAxis;
use crate::chart::curves::{self, Curve, CurveChart, Limit, Point, SettingAxis, Unmeasured};
use crate::chart::figure::{figure, file_name};
use crate::chart::rows::{self, Row, RowChart};
use crate::page::html::escape;

/// Estimated sizes continue the curves of measured ones.
const ESTIMATED: Unmeasured = Unmeasured { word: "estimated", continues_curve: true };

/// All charts as HTML, a section for each kind; empty if nothing of it was measured.
pub(super) fn charts(result: &ChooseResult<'_>) -> String {
    let mut html = String::new();
    let sections = [
        ("responses", "Response time over the rate", responses::figures(result)),
        ("reports", "Reports", reports::figures(result)),
        ("sizes", "Size over documents", sizes::figures(result)),
    ];
    for (id, title, figures) in sections.into_iter().filter(|(.., figures)| !figures.is_empty()) {
        html.push_str(&format!(
            "<section class=\"part\" id=\"{id}\"><h2>{title}</h2>\n{figures}</section>\n"
        ));
    }
    html
}

/// Need of a dimension among those of the user.
fn need(result: &ChooseResult<'_>, dimension: Dimension) -> Option<Need> {
    result.decision.needs.iter().find(|need| need.dimension() == dimension).copied()
}

/// Line of a limit that the user stated.
fn limit(need: Need, value: f64) -> Limit {
    Limit { value, name: format!("your limit: {}", need.limit_words()) }
}

/// File name of the data of a chart with this title.
fn data_name(result: &ChooseResult<'_>, title: &str) -> String {
    let day = result.runs.first().map(|(_, run)| run.manifest.day()).unwrap_or_default();
    file_name(&format!("choose {} {title} {day}", result.name))
}

/// What charts do not draw, with the reasons.
#[derive(Default)]
struct NotDrawn(Vec<String>);

impl NotDrawn {
    fn add(&mut self, what: &str, reason: &str) {
        self.0.push(format!("{what} ({reason})"));
    }

    /// Sentence for the reader; empty if everything is drawn.
    fn html(&self) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        format!("<p class=\"explained\">Not drawn: {}.</p>\n", escape(&self.0.join("; ")))
    }
}

/// The figure if it can be drawn: a doubtful one must not look like one that counts. Else the reason.
fn drawable(measured: Option<&Measured>) -> Result<&Measurement, String> {
    match measured {
        Some(Measured::Value(measurement)) => match &measurement.doubt {
            Some(doubt) => Err(doubt.clone()),
            None => Ok(measurement),
        },
        Some(Measured::Failed(reason)) => Err(format!("failed: {reason}")),
        Some(Measured::Absent(reason)) => Err(reason.clone()),
        None => Err("not measured".to_owned()),
    }
}

/// Why a dimension of a system has no figure.
fn untested(candidate: &Candidate, dimension: Dimension) -> String {
    candidate.facts.untested.get(&dimension).cloned().unwrap_or_else(|| "not measured".to_owned())
}

/// Curves of systems over a setting. With a single setting they are drawn as rows.
struct SettingChart<'a> {
    /// Titles of the chart as curves, and as rows.
    titles: [String; 2],
    /// Names of the columns of setting and metric in the data.
    columns: [&'static str; 2],
    curves: Vec<Curve>,
    not_drawn: NotDrawn,
    settings: SettingAxis<'a>,
    values: ValueAxis<'a>,
    /// Axis of the values where they are drawn as rows.
    values_of_rows: ValueAxis<'a>,
    asked_setting: Option<Limit>,
    asked_value: Option<Limit>,
}

impl SettingChart<'_> {
    /// HTML of the figure; empty if it has no value.
    fn figure(&self, result: &ChooseResult<'_>) -> String {
        let ([over_setting, at_setting], [setting, metric]) = (&self.titles, self.columns);
        let drawn = if has_one_setting(&self.curves) {
            let rows: Vec<Row> = self.curves.iter().filter_map(row).collect();
            let data = rows::data(metric, &rows, "measured");
            let chart = RowChart {
                title: at_setting,
                rows: &rows,
                values: self.values_of_rows.clone(),
                explanation: String::new(),
                asked_value: self.asked_value.clone(),
            };
            figure(at_setting, &data_name(result, at_setting), &data, |width| chart.draw(width))
        } else {
            let data = curves::data(setting, metric, &self.curves, ESTIMATED);
            let chart = CurveChart {
                title: over_setting,
                curves: &self.curves,
                unmeasured: ESTIMATED,
                settings: self.settings.clone(),
                values: self.values.clone(),
                asked_setting: self.asked_setting.clone(),
                asked_value: self.asked_value.clone(),
            };
            figure(over_setting, &data_name(result, over_setting), &data, |width| chart.draw(width))
        };
        drawn.map(|drawn| drawn + &self.not_drawn.html()).unwrap_or_default()
    }
}

/// Returns `true` if all points of all curves have the same setting, and nothing lies beyond them.
fn has_one_setting(curves: &[Curve]) -> bool {
    let mut settings = curves.iter().flat_map(|curve| &curve.points).map(|point| point.x);
    let first = settings.next();
    settings.all(|setting| Some(setting) == first) && curves.iter().all(|curve| curve.unmeasured.is_empty())
}

/// Row in place of a curve that has a single point.
fn row(curve: &Curve) -> Option<Row> {
    let Point { value, limits, .. } = *curve.points.first()?;
    let (name, system) = (curve.name.clone(), curve.system.clone());
    Some(Row { name, system, value, limits, others: Vec::new() })
}

fn point(x: f64, measurement: &Measurement) -> Point {
    Point { x, value: measurement.value, limits: measurement.interval }
}
