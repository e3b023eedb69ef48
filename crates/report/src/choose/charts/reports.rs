//! Times of the user's questions, with and without load.

use jsonathlon_choose::Dimension;
use jsonathlon_choose::facts::ReportFacts;
use jsonathlon_choose::figures;
use jsonathlon_choose::needs::Need;

use super::{NotDrawn, data_name, drawable, limit, need, untested};
use crate::chart::ValueAxis;
use crate::chart::colour::Symbol;
use crate::chart::figure::figure;
use crate::chart::rows::{self, Row, RowChart, SecondMark};
use crate::choose::ChooseResult;

/// Conditions of questions, as the legend names them.
const WITH_LOAD: &str = "with load";
const HOT: &str = "at rest, hot";
const COLD: &str = "at rest, cold";

/// A chart for each question.
pub(super) fn figures(result: &ChooseResult<'_>) -> String {
    let mut questions: Vec<(&str, &str)> = Vec::new();
    for report in result.decision.candidates.iter().flat_map(|candidate| &candidate.facts.reports) {
        if !questions.iter().any(|(question, _)| *question == report.question) {
            questions.push((&report.question, &report.title));
        }
    }
    questions.into_iter().map(|(question, title)| chart(result, question, title)).collect()
}

/// Chart of one question: with load if it was asked so, else at rest, with the other times as hollow marks.
fn chart(result: &ChooseResult<'_>, question: &str, title: &str) -> String {
    let has_load = result.decision.candidates.iter().any(|candidate| {
        let mut reports = candidate.facts.reports.iter();
        reports.any(|report| report.question == question && report.under_load.is_some())
    });
    let (rows, not_drawn) = rows(result, question, has_load);
    let title = if title.is_empty() { question } else { title };
    let main = if has_load { WITH_LOAD } else { HOT };
    let chart = RowChart {
        title,
        rows: &rows,
        values: ValueAxis {
            title: "median time, less is better".to_owned(),
            is_from_zero: false,
            format: &figures::duration,
        },
        explanation: explanation(main, &rows),
        asked_value: match need(result, Dimension::Report) {
            Some(need @ Need::Report(below_s)) => Some(limit(need, below_s)),
            _ => None,
        },
    };
    let data = rows::data("report_s", &rows, main);
    let drawn = figure(title, &data_name(result, title), &data, |width| chart.draw(width));
    drawn.map(|drawn| drawn + &not_drawn.html()).unwrap_or_default()
}

/// A row for each system, and what is missing in them.
fn rows(result: &ChooseResult<'_>, question: &str, has_load: bool) -> (Vec<Row>, NotDrawn) {
    let (mut rows, mut not_drawn) = (Vec::new(), NotDrawn::default());
    for candidate in &result.decision.candidates {
        let (name, system) = (candidate.facts.name.clone(), candidate.facts.id.system.clone());
        let Some(report) = candidate.facts.reports.iter().find(|report| report.question == question) else {
            not_drawn.add(&name, &untested(candidate, Dimension::Report));
            continue;
        };
        let others = others(report, has_load);
        match drawable(if has_load { report.under_load.as_ref() } else { report.hot.as_ref() }) {
            Ok(main) => {
                rows.push(Row { name, system, value: main.value, limits: main.interval, others });
            }
            Err(reason) => {
                let times =
                    others.iter().map(|mark| format!("{} {}", mark.word, figures::duration(mark.value)));
                let texts: Vec<String> = std::iter::once(reason).chain(times).collect();
                not_drawn.add(&name, &texts.join(", "));
            }
        }
    }
    (rows, not_drawn)
}

/// Times at rest beside the main one.
fn others(report: &ReportFacts, has_load: bool) -> Vec<SecondMark> {
    let rest = [
        (Symbol::Circle, report.hot.as_ref().filter(|_| has_load), HOT),
        (Symbol::Square, report.cold.as_ref(), COLD),
    ];
    let marks = rest.into_iter().filter_map(|(symbol, measured, word)| {
        let measurement = drawable(measured).ok()?;
        Some(SecondMark { symbol, value: measurement.value, limits: measurement.interval, word })
    });
    marks.collect()
}

/// What filled and hollow marks stand for.
fn explanation(main: &str, rows: &[Row]) -> String {
    let has = |word: &str| rows.iter().flat_map(|row| &row.others).any(|mark| mark.word == word);
    let hot = has(HOT).then(|| format!("hollow circle: {HOT}"));
    let cold = has(COLD).then(|| format!("hollow square: {COLD}"));
    std::iter::once(format!("filled circle: {main}")).chain(hot).chain(cold).collect::<Vec<_>>().join("; ")
}
