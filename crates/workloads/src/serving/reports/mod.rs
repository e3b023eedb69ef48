//! Reports beside the load: a user's own questions, asked by streams at rest and once more while clients are at work.
//!
//! Before anything is timed, all systems are asked once over the documents as loaded, and their answers are held
//! against each other, as the questions workload does. Later answers are compared with the one agreed on as long as
//! no client changes documents. Where clients do, the documents of no two systems are the same, so that an answer
//! can only be checked to be one: it must have the question's columns and types.

pub(super) mod results;
pub(super) mod standing;

use jsonathlon_catalogue::Reports;
use jsonathlon_loadgen::reports::log::ReportsLog;
use jsonathlon_schema::{
    record::{ALL_QUESTIONS, Cell, INGEST},
    workload::WorkloadKind,
};

use super::{
    ServingTarget,
    settings::{ServedRecords, ServingSettings},
    trials::{self, TrialConditions},
};
use crate::{
    asking::Question,
    cells::Cells,
    expected_time::{RunOutline, TypicalTimes},
    questions::Questions,
    target::Target,
};

/// Names that questions cannot have here, because they are steps of a run.
const RESERVED: [&str; 2] = [ALL_QUESTIONS, INGEST];

/// Questions of the settings; `None` if there are none.
///
/// # Errors
/// If they cannot be asked over the records; the text names the option.
pub(super) fn questions(settings: &ServingSettings) -> Result<Option<Questions>, String> {
    let Some(reports) = &settings.reports else { return Ok(None) };
    if !matches!(settings.records, ServedRecords::Own { .. }) {
        return Err("--reports asks about your own documents: name them with --data".to_owned());
    }
    if reports.streams == 0 {
        return Err("--streams is at least 1".to_owned());
    }
    let names = reports.questions.questions.iter().map(|question| question.name.as_str());
    if let Some(name) = names.into_iter().find(|name| RESERVED.contains(name)) {
        return Err(format!(
            "--reports {}: the question `{name}` has the name of a step of this workload: rename it",
            reports.questions.folder.display()
        ));
    }
    Ok(Some(Questions::of_workload(reports.questions.clone(), WorkloadKind::Serving)))
}

/// Questions that a target has statements for. Empty without reports, or if the target cannot be asked any.
pub(super) fn questions_of(reports: Option<&Questions>, target: &Target) -> Vec<Question> {
    reports.map(|questions| questions.questions_of(&target.setup)).unwrap_or_default()
}

/// Cells of the reports of a trial, without the one of the trial itself.
pub(super) fn cells(cells: Cells<'_>, settings: &ServingSettings, conditions: &TrialConditions) -> Vec<Cell> {
    let mut all = trials::all_cells(cells, settings, conditions);
    all.pop();
    all
}

/// Why no question can be asked on this system; `None` if some can.
pub(super) fn refusal(target: &ServingTarget<'_>) -> Option<String> {
    if let Some(reason) = target.setup.reports.refusal() {
        return Some(reason.to_owned());
    }
    target.questions.is_empty().then(|| without_statement(target))
}

/// Says that the user's folder has no statement of a question for this system.
pub(super) fn without_statement(target: &ServingTarget<'_>) -> String {
    match &target.setup.reports {
        Reports::Asked { folder } => format!("there is no statement for it in {folder}"),
        _ => "there is no statement for it".to_owned(),
    }
}

/// Returns `true` if a question had no answer yet when it was given up, so that the system may still work on it.
pub(super) fn has_unfinished(log: &ReportsLog) -> bool {
    log.streams.iter().any(|stream| stream.unfinished.is_some())
}

/// Expected seconds of asking each question once.
pub(super) fn survey_seconds(questions: usize, times: TypicalTimes, outline: &RunOutline<'_>) -> f64 {
    let answer_s = times.statement_s + outline.typical_documents * times.question_document_s;
    times.start_s + questions as f64 * answer_s
}
