//! Charts of a choice: response times over the rate, reports with and without load, and sizes over documents.

use jsonathlon_choose::Dimension;
use jsonathlon_choose::decision::Candidate;
use jsonathlon_choose::facts::{ALL_OPERATIONS, Measured, Measurement, ReportFacts};
use jsonathlon_choose::figures;
use jsonathlon_choose::needs::{Criterion, Need, Quantile, SizeAt};

use super::ChooseResult;
use super::evidence::rates;
use crate::chart::ValueAxis;
use crate::chart::colour::Symbol;
use crate::chart::curves::{self, Curve, CurveChart, Limit, Point, SettingAxis, Unmeasured};
use crate::chart::figure::{figure, file_name};
use crate::chart::rows::{self, Row, RowChart, SecondMark};
use crate::format;
use crate::page::html::escape;

/// Estimated sizes continue the curves of measured ones.
const ESTIMATED: Unmeasured = Unmeasured { word: "estimated", continues_curve: true };
/// Ratio of the largest to the smallest number of documents from which both axes are logarithmic.
const LOGARITHMIC: f64 = 20.0;
/// Operations whose response times users can limit.
const LIMITED_OPERATIONS: [&str; 3] = ["read", "update", ALL_OPERATIONS];

/// All charts as HTML, a section for each kind; empty if nothing of it was measured.
pub(super) fn charts(result: &ChooseResult<'_>) -> String {
    let mut html = String::new();
    let sections = [
        ("responses", "Response time over the rate", responses(result)),
        ("reports", "Reports", reports(result)),
        ("sizes", "Size over documents", sizes(result)),
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

/// Sentence on systems that a chart lacks, with the reasons; empty if it lacks none.
fn missing(systems: &[(String, String)]) -> String {
    if systems.is_empty() {
        return String::new();
    }
    let texts: Vec<String> = systems.iter().map(|(name, reason)| format!("{name} ({reason})")).collect();
    format!("<p class=\"explained\">Not drawn: {}.</p>\n", escape(&texts.join("; ")))
}

/// File name of the data of a chart with this title.
fn data_name(result: &ChooseResult<'_>, title: &str) -> String {
    let day = result.runs.first().map(|(_, run)| run.manifest.started.to_string()).unwrap_or_default();
    let day: String = day.chars().take(10).collect();
    file_name(&format!("choose {} {title} {day}", result.name))
}

fn system(candidate: &Candidate) -> String {
    candidate.facts.id.system.clone()
}

/// Why something has no value.
fn reason(measured: Option<&Measured>) -> String {
    match measured {
        Some(Measured::Failed(reason)) => format!("failed: {reason}"),
        Some(Measured::Absent(reason)) => reason.clone(),
        Some(Measured::Value(_)) | None => "not measured".to_owned(),
    }
}

/// A chart of response times for each kind of operation.
fn responses(result: &ChooseResult<'_>) -> String {
    let quantile = quantile(result);
    let mut operations: Vec<&str> = Vec::new();
    for candidate in &result.decision.candidates {
        for response in rates(&candidate.facts).into_iter().flat_map(|rate| &rate.response) {
            if !operations.contains(&response.operation.as_str()) {
                operations.push(&response.operation);
            }
        }
    }
    let charts = operations.into_iter().map(|operation| response_chart(result, operation, quantile));
    charts.collect()
}

/// Quantile of the user's need, else that by which systems are compared, else p99.
fn quantile(result: &ChooseResult<'_>) -> Quantile {
    let compared = result.decision.best.iter().find_map(|best| match best.criterion {
        Criterion::Response(quantile) => Some(quantile),
        _ => None,
    });
    match need(result, Dimension::Response) {
        Some(Need::Response { quantile, .. }) => quantile,
        _ => compared.unwrap_or(Quantile::P99),
    }
}

fn response_chart(result: &ChooseResult<'_>, operation: &str, quantile: Quantile) -> String {
    let mut curves = Vec::new();
    let mut without = Vec::new();
    for candidate in &result.decision.candidates {
        let mut points = Vec::new();
        let mut last = None;
        for rate in rates(&candidate.facts) {
            let response = rate.response.iter().find(|response| response.operation == operation);
            let measured = response.and_then(|response| response.quantiles.get(&quantile));
            last = measured.or(last);
            if let Some(measurement) = measured.and_then(Measured::value) {
                points.push(point(rate.offered, measurement));
            }
        }
        let name = candidate.facts.name.clone();
        if points.is_empty() {
            without.push((name, reason(last)));
        } else {
            curves.push(Curve { name, system: system(candidate), points, unmeasured: Vec::new() });
        }
    }
    let word = quantile.word();
    let values = || ValueAxis {
        title: format!("response time, {word}, less is better"),
        is_from_zero: false,
        format: &figures::duration,
    };
    let asked_value = || match need(result, Dimension::Response) {
        Some(need @ Need::Response { below_s, .. }) if LIMITED_OPERATIONS.contains(&operation) => {
            Some(Limit { value: below_s, name: format!("your limit: {}", need.limit_words()) })
        }
        _ => None,
    };
    let drawn = if has_one_setting(&curves) {
        let offered = curves.first().and_then(|curve| curve.points.first()).map_or(0.0, |point| point.x);
        let title = format!("{operation}: {word} of response times at {}", per_second(offered));
        let rows = rows_of(curves);
        let data = rows::data("response_s", &rows, "measured");
        figure(&title, &data_name(result, &title), &data, |width| {
            let values = values();
            let explanation = String::new();
            RowChart { title: &title, rows: &rows, values, explanation, asked_value: asked_value() }
                .draw(width)
        })
    } else {
        let title = format!("{operation}: {word} of response times over the rate");
        let data = curves::data("offered_ops_per_s", "response_s", &curves, ESTIMATED);
        figure(&title, &data_name(result, &title), &data, |width| {
            let chart = CurveChart {
                title: &title,
                curves: &curves,
                unmeasured: ESTIMATED,
                settings: SettingAxis { title: "operations offered per second", format: &format::count },
                values: values(),
                asked_setting: asked_rate(result),
                asked_value: asked_value(),
            };
            chart.draw(width)
        })
    };
    drawn.map(|drawn| drawn + &missing(&without)).unwrap_or_default()
}

/// Rate of the user's need, else the one that counts for all systems.
fn asked_rate(result: &ChooseResult<'_>) -> Option<Limit> {
    if let Some(Need::Rate(rate)) = need(result, Dimension::Rate) {
        return Some(Limit { value: rate, name: format!("your rate: {}", per_second(rate)) });
    }
    let offered = result.decision.candidates.iter().find_map(|candidate| candidate.facts.at_rate.as_ref());
    offered.map(|rate| Limit {
        value: rate.offered,
        name: format!("rate that is compared: {}", per_second(rate.offered)),
    })
}

fn per_second(rate: f64) -> String {
    format!("{}/s", format::integer(rate))
}

fn point(x: f64, measurement: &Measurement) -> Point {
    Point { x, value: measurement.value, limits: measurement.interval }
}

/// Returns `true` if all points of all curves have the same setting, and nothing lies beyond them.
fn has_one_setting(curves: &[Curve]) -> bool {
    let mut settings = curves.iter().flat_map(|curve| &curve.points).map(|point| point.x);
    let first = settings.next();
    settings.all(|setting| Some(setting) == first) && curves.iter().all(|curve| curve.unmeasured.is_empty())
}

/// Rows in place of curves that have a single point each.
fn rows_of(curves: Vec<Curve>) -> Vec<Row> {
    let row = |curve: Curve| {
        let point = curve.points.first().copied()?;
        let (value, limits) = (point.value, point.limits);
        Some(Row { name: curve.name, system: curve.system, value, limits, others: Vec::new() })
    };
    curves.into_iter().filter_map(row).collect()
}

/// A chart for each question.
fn reports(result: &ChooseResult<'_>) -> String {
    let mut questions: Vec<(&str, &str)> = Vec::new();
    for report in result.decision.candidates.iter().flat_map(|candidate| &candidate.facts.reports) {
        if !questions.iter().any(|(question, _)| *question == report.question) {
            questions.push((&report.question, &report.title));
        }
    }
    questions.into_iter().map(|(question, title)| report_chart(result, question, title)).collect()
}

/// Chart of one question: with load if it was asked so, else at rest, with the other times as hollow marks.
fn report_chart(result: &ChooseResult<'_>, question: &str, title: &str) -> String {
    let reports: Vec<(&Candidate, Option<&ReportFacts>)> = result
        .decision
        .candidates
        .iter()
        .map(|candidate| {
            (candidate, candidate.facts.reports.iter().find(|report| report.question == question))
        })
        .collect();
    let has_load = reports.iter().any(|(_, report)| report.is_some_and(|report| report.under_load.is_some()));
    let mut rows = Vec::new();
    let mut without = Vec::new();
    for (candidate, report) in reports {
        let name = candidate.facts.name.clone();
        let Some(report) = report else {
            let untested = candidate.facts.untested.get(&Dimension::Report).cloned();
            without.push((name, untested.unwrap_or_else(|| reason(None))));
            continue;
        };
        let main = if has_load { report.under_load.as_ref() } else { report.hot.as_ref() };
        let rest = [
            (Symbol::Circle, report.hot.as_ref().filter(|_| has_load), "at rest, hot"),
            (Symbol::Square, report.cold.as_ref(), "at rest, cold"),
        ];
        let others = rest.into_iter().filter_map(|(symbol, measured, word)| {
            let Measurement { value, interval, .. } = measured.and_then(Measured::value)?;
            Some(SecondMark { symbol, value: *value, limits: *interval, word })
        });
        let others: Vec<SecondMark> = others.collect();
        match main.and_then(Measured::value) {
            Some(main) => {
                let (value, limits) = (main.value, main.interval);
                rows.push(Row { name, system: system(candidate), value, limits, others });
            }
            None => {
                let times =
                    others.iter().map(|mark| format!("{} {}", mark.word, figures::duration(mark.value)));
                let texts: Vec<String> = std::iter::once(reason(main)).chain(times).collect();
                without.push((name, texts.join(", ")));
            }
        }
    }
    let title = if title.is_empty() { question } else { title };
    let main = if has_load { "with load" } else { "at rest, hot" };
    let data = rows::data("report_s", &rows, main);
    let drawn = figure(title, &data_name(result, title), &data, |width| {
        let chart = RowChart {
            title,
            rows: &rows,
            values: ValueAxis {
                title: "median time, less is better".to_owned(),
                is_from_zero: false,
                format: &figures::duration,
            },
            explanation: explanation(main, &rows),
            asked_value: need(result, Dimension::Report).and_then(|need| match need {
                Need::Report(below_s) => {
                    Some(Limit { value: below_s, name: format!("your limit, {}", need.limit_words()) })
                }
                _ => None,
            }),
        };
        chart.draw(width)
    });
    drawn.map(|drawn| drawn + &missing(&without)).unwrap_or_default()
}

/// What filled and hollow marks of reports stand for.
fn explanation(main: &str, rows: &[Row]) -> String {
    let has = |word: &str| rows.iter().flat_map(|row| &row.others).any(|mark| mark.word == word);
    let hot = has("at rest, hot").then_some("hollow circle: at rest, hot");
    let cold = has("at rest, cold").then_some("hollow square: at rest, cold");
    let filled = format!("filled circle: {main}");
    std::iter::once(filled.as_str()).chain(hot).chain(cold).collect::<Vec<_>>().join("; ")
}

/// Chart of sizes over numbers of documents, with estimates where sizes are estimated.
fn sizes(result: &ChooseResult<'_>) -> String {
    let size_need = need(result, Dimension::Size);
    let later = match size_need {
        Some(Need::Size { at: SizeAt::Later(documents) | SizeAt::Now(Some(documents)), .. }) => {
            Some(documents as f64)
        }
        _ => None,
    };
    let mut curves = Vec::new();
    let mut without = Vec::new();
    for candidate in &result.decision.candidates {
        let facts = &candidate.facts;
        let measured = facts.sizes.iter().filter_map(|size| Some((size.documents, size.bytes.value()?)));
        let points: Vec<Point> = measured.map(|(documents, bytes)| point(documents as f64, bytes)).collect();
        let judged = candidate.judgement(Dimension::Size).map(|judgement| &judgement.figure);
        let estimate = judged.filter(|figure| figure.is_estimate).and_then(|figure| figure.value);
        if points.is_empty() {
            without.push((facts.name.clone(), reason(facts.sizes.last().map(|size| &size.bytes))));
            continue;
        }
        let unmeasured = later.zip(estimate).into_iter().collect();
        curves.push(Curve { name: facts.name.clone(), system: system(candidate), points, unmeasured });
    }
    let asked_value = || match size_need {
        Some(need @ Need::Size { below_bytes, .. }) => {
            Some(Limit { value: below_bytes, name: format!("your limit: {}", need.limit_words()) })
        }
        _ => None,
    };
    let drawn = if has_one_setting(&curves) {
        let rows = rows_of(curves);
        let title = "size of the loaded documents";
        figure(title, &data_name(result, title), &rows::data("bytes", &rows, "measured"), |width| {
            let values = size_axis(true);
            let explanation = String::new();
            RowChart { title, rows: &rows, values, explanation, asked_value: asked_value() }.draw(width)
        })
    } else {
        let title = "size over the number of documents";
        let data = curves::data("documents", "bytes", &curves, ESTIMATED);
        figure(title, &data_name(result, title), &data, |width| {
            let chart = CurveChart {
                title,
                curves: &curves,
                unmeasured: ESTIMATED,
                settings: SettingAxis { title: "documents", format: &format::count },
                values: size_axis(!spans_magnitudes(&curves)),
                asked_setting: later.map(|documents| Limit {
                    value: documents,
                    name: format!("your number: {} documents", format::integer(documents)),
                }),
                asked_value: asked_value(),
            };
            chart.draw(width)
        })
    };
    drawn.map(|drawn| drawn + &missing(&without)).unwrap_or_default()
}

/// Axis of sizes. One that does not begin at zero is logarithmic, like that of the documents: only so is a size
/// that grows in proportion a straight line.
fn size_axis(is_from_zero: bool) -> ValueAxis<'static> {
    ValueAxis { title: "size on disk, less is better".to_owned(), is_from_zero, format: &format::bytes }
}

/// Returns `true` if numbers of documents are so far apart that their axis is logarithmic.
fn spans_magnitudes(curves: &[Curve]) -> bool {
    let measured = curves.iter().flat_map(|curve| &curve.points).map(|point| point.x);
    let settings =
        || measured.clone().chain(curves.iter().flat_map(|curve| &curve.unmeasured).map(|(x, _)| *x));
    let (low, high) = (settings().fold(f64::INFINITY, f64::min), settings().fold(0.0, f64::max));
    low > 0.0 && high / low >= LOGARITHMIC
}
