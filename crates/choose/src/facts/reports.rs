//! Times of the user's questions, at rest and while the load goes on.

use jsonathlon_results::cell_summary::CellSummary;
use jsonathlon_schema::id::DataState;
use jsonathlon_schema::metric::{QUESTION_P50_US, SECONDS};
use jsonathlon_schema::record::{ALL_QUESTIONS, Phase};

use super::cells::Participation;
use super::serving::rate_of;
use super::{Measured, ReportFacts};

/// Times of a configuration's questions, in the order in which they are asked.
pub(super) fn reports(
    at_rest: Option<Participation<'_>>,
    beside_load: Option<Participation<'_>>,
    rate: Option<f64>,
) -> Vec<ReportFacts> {
    let mut reports: Vec<ReportFacts> = Vec::new();
    if let Some((run, configuration)) = at_rest {
        let titles = run.run.manifest.user_questions();
        reports.extend(titles.iter().map(|question| blank(&question.name, &question.title)));
        for entry in run.cells(configuration).filter(|entry| is_drained_question(entry)) {
            let report = report_of(&mut reports, entry);
            match entry.cell.phase {
                Phase::Hot | Phase::HotNotInMemory => report.hot = Some(run.measure(entry, &SECONDS)),
                Phase::Cold => report.cold = Some(run.measure(entry, &SECONDS)),
                Phase::ColdUnverified if report.cold.is_none() => {
                    let words = "files could not be shown to be out of memory";
                    report.cold = Some(Measured::Absent(words.to_owned()));
                }
                _ => {}
            }
        }
    }
    if let Some((run, configuration)) = beside_load {
        let entries: Vec<&CellSummary> =
            run.cells(configuration).filter(|entry| is_drained_question(entry)).collect();
        for entry in entries.iter().filter(|entry| entry.cell.phase == Phase::Still) {
            let report = report_of(&mut reports, entry);
            if report.hot.is_none() {
                report.hot = Some(run.measure(entry, &QUESTION_P50_US));
            }
        }
        let beside: Vec<&&CellSummary> =
            entries.iter().filter(|entry| entry.cell.phase == Phase::Both).collect();
        let is_at_rate = |entry: &CellSummary| rate.is_some() && rate_of(entry) == rate;
        let has_rate = beside.iter().any(|entry| is_at_rate(entry));
        // Without a rate, the load is as fast as the system lets it be.
        let counts = |entry: &CellSummary| match has_rate {
            true => is_at_rate(entry),
            false => !entry.cell.is_open_loop(),
        };
        for entry in beside.into_iter().filter(|entry| counts(entry)) {
            let report = report_of(&mut reports, entry);
            if report.under_load.is_none() {
                report.under_load = Some(run.measure(entry, &QUESTION_P50_US));
            }
        }
    }
    reports.retain(|report| report.hot.is_some() || report.cold.is_some() || report.under_load.is_some());
    reports
}

/// Says of questions that only other systems were asked why this one was not.
pub(super) fn complete(all: &[Vec<ReportFacts>], reports: &mut Vec<ReportFacts>, reason: &str) {
    let absent = || Some(Measured::Absent(reason.to_owned()));
    for other in all.iter().flatten() {
        if !reports.iter().any(|report| report.question == other.question) {
            reports.push(blank(&other.question, &other.title));
        }
        let Some(report) = reports.iter_mut().find(|report| report.question == other.question) else {
            continue;
        };
        if other.hot.is_some() && report.hot.is_none() {
            report.hot = absent();
        }
        if other.under_load.is_some() && report.under_load.is_none() {
            report.under_load = absent();
        }
    }
}

fn blank(question: &str, title: &str) -> ReportFacts {
    ReportFacts {
        question: question.to_owned(),
        title: if title.is_empty() { question.to_owned() } else { title.to_owned() },
        hot: None,
        cold: None,
        under_load: None,
    }
}

/// Report of a cell's question, added if it is not there yet.
fn report_of<'r>(reports: &'r mut Vec<ReportFacts>, entry: &CellSummary) -> &'r mut ReportFacts {
    let name = entry.cell.step.word();
    let index = reports.iter().position(|report| report.question == name).unwrap_or_else(|| {
        reports.push(blank(name, name));
        reports.len() - 1
    });
    &mut reports[index]
}

/// Cells of single questions on data as they were loaded.
fn is_drained_question(entry: &CellSummary) -> bool {
    let cell = &entry.cell;
    let is_drained = cell.state.is_none_or(|state| state == DataState::Drained);
    is_drained && cell.step.is_workload_step() && cell.step.word() != ALL_QUESTIONS
}
