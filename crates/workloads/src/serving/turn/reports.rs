//! Asks reports in a turn of the serving workload, and records what became of them.

use std::collections::BTreeSet;
use std::time::Duration;

use jsonathlon_loadgen::mix::Mix;
use jsonathlon_loadgen::reports::job::{REPORTS, ReportQuestion, ReportsAlone, ReportsJob};
use jsonathlon_loadgen::reports::log::ReportsLog;
use jsonathlon_schema::record::{
    ALL_QUESTIONS, Cell, FAULTY_LOAD, FEWER_REPORTS, Failure, FailureKind, Finding, Trial, Verdict,
};
use jsonathlon_schema::settings::questions::UserQuestion;
use jsonathlon_worker::protocol::Op;

use super::ServingTurn;
use crate::RunError;
use crate::asking::{AnswerKey, Question};
use crate::observer::{Activity, RunEvent};
use crate::questions::{SurveyTarget, survey};
use crate::recorder::{TrialRecorder, new_trial};
use crate::run_context::{FIRST_ROUND, RunContext, TABLE};
use crate::serving::outcome::ServingResults;
use crate::serving::reports::results::{Checks, ReportResults};
use crate::serving::reports::standing::Standing;
use crate::serving::reports::{cells, has_unfinished, without_statement};
use crate::serving::trials::{self, TrialConditions};
use crate::serving::{Serving, ServingTarget};
use crate::session::{TrialError, forward_progress};

/// Longest measurement window beside reports in seconds, unless a longer one is planned.
const MAX_WINDOW_S: f64 = 60.0;
/// Longest time in seconds that an answer is waited for after the window.
const MAX_PATIENCE_S: f64 = 120.0;
/// Time for a trial in addition to its planned seconds: connecting, and gathering answers.
const GRACE_S: f64 = 60.0;

/// Loads every system that has questions, asks it each of them once, and determines the expected answers. Does nothing
/// without reports, and nothing but recalling the answers if a resumed run has recorded them all.
pub(in crate::serving) fn survey_reports<'a>(
    serving: &Serving,
    context: &RunContext<'a>,
    targets: &mut [ServingTarget<'a>],
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), RunError> {
    let (Some(questions), Some(settings)) = (&serving.reports, &serving.settings.reports) else {
        return Ok(());
    };
    let known: BTreeSet<String> =
        recorder.agreements.iter().map(|agreement| agreement.question.clone()).collect();
    let is_open = settings.questions.questions.iter().any(|question| !known.contains(&question.name));
    for target in targets.iter_mut().filter(|target| is_open && !target.questions.is_empty()) {
        let is_load_due = context.is_load_due(FIRST_ROUND, &target.state, recorder);
        ServingTurn::new(serving, context, FIRST_ROUND).restore_stopped(is_load_due, target, recorder)?;
    }
    let mut survey_targets: Vec<SurveyTarget<'_, 'a>> = targets
        .iter_mut()
        .map(|target| SurveyTarget {
            state: &mut target.state,
            questions: &target.questions,
            documents: &mut target.documents,
        })
        .collect();
    survey(questions, context, &mut survey_targets, recorder)
}

/// What reports were asked beside; by default nothing.
#[derive(Default)]
struct BesideLoad<'b> {
    /// Whether clients changed documents.
    is_changed: bool,
    loss: Option<&'b str>,
    kept_share: Option<f64>,
    /// What has to be said of the load in each of its reports.
    finding: Option<Finding>,
}

/// What reports beside a load with this verdict have to say. `None` if the load is as it should be.
fn faulty_load(verdict: Verdict, failure: Option<Failure>) -> Option<Finding> {
    if matches!(verdict, Verdict::Exact | Verdict::Approximate | Verdict::Unverified) {
        return None;
    }
    let message = failure.map_or_else(|| "operations of it failed".to_owned(), |failure| failure.error);
    Some(Finding { message: Some(message), ..Finding::new(FAULTY_LOAD, verdict.word()) })
}

impl<'a> ServingTurn<'_, '_, 'a> {
    /// Removes the records of a trial's reports if the trial itself has none: the run was interrupted while they were
    /// written.
    pub(in crate::serving) fn discard_incomplete(
        &self,
        conditions: &TrialConditions,
        target: &ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let unit = trials::all_cells(target.state.cells, self.settings, conditions);
        let keys: Vec<String> = unit.iter().map(|cell| cell.trial_key(self.round, 0)).collect();
        match keys.last() {
            Some(main) if unit.len() > 1 && !recorder.has(main) => recorder.discard_incomplete(&keys),
            _ => Ok(()),
        }
    }

    /// Work of the streams on this system.
    ///
    /// # Errors
    /// If no question can be asked, because all of them failed at rest.
    pub(in crate::serving) fn reports_job(
        &self,
        target: &ServingTarget<'a>,
        recorder: &TrialRecorder<'_>,
    ) -> Result<ReportsJob, TrialError> {
        let session = &target.state.session;
        let timeout_s = self.context.settings.timeout_s;
        let mut questions = Vec::new();
        for question in self.askable(target, recorder) {
            let statement = session.statement(&question.file, &[("table", TABLE)])?;
            questions.push(ReportQuestion { name: question.name.clone(), statement });
        }
        if questions.is_empty() {
            return Err(none_left());
        }
        Ok(ReportsJob {
            streams: self.settings.reports.as_ref().map_or(1, |reports| reports.streams),
            questions,
            session: session.statements("read_only", &[("table", TABLE)])?,
            seed: self.context.settings.seed.wrapping_add(u64::from(self.round) << 32),
            max_seconds: MAX_WINDOW_S.min(timeout_s).max(self.settings.duration_s),
            patience_s: MAX_PATIENCE_S.min(timeout_s),
        })
    }

    /// Questions that are asked on this system: those with a statement that did not fail at rest.
    fn askable<'t>(&self, target: &'t ServingTarget<'a>, recorder: &TrialRecorder<'_>) -> Vec<&'t Question> {
        let standing = |question: &&Question| self.standing(&question.name, target, recorder);
        target
            .questions
            .iter()
            .filter(|question| matches!(standing(question), Standing::Answered(..)))
            .collect()
    }

    /// How a system's answer to a question stood at rest.
    fn standing(&self, name: &str, target: &ServingTarget<'a>, recorder: &TrialRecorder<'_>) -> Standing {
        let is_named = |question: &&UserQuestion| question.name == name;
        let question = self.user_questions().iter().find(is_named);
        let has_approximate =
            question.is_some_and(|question| question.columns.iter().any(|column| column.approximate));
        Standing::find(&recorder.agreements, name, has_approximate, target.state.cells.target)
    }

    fn user_questions(&self) -> &[UserQuestion] {
        self.settings.reports.as_ref().map_or(&[], |reports| &reports.questions.questions)
    }

    /// Asks the reports without clients, and records them.
    pub(in crate::serving) fn measure_reports_at_rest(
        &mut self,
        conditions: &TrialConditions,
        changed_by: &mut Option<usize>,
        target: &mut ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let name = target.state.cells.target.file_name();
        let activity = format!("round {}: {name} reports at rest", self.round);
        recorder.observer.event(&RunEvent::Began { activity: Activity::TargetTurn, description: &activity });
        target.state.session.subject().set_activity(&activity);
        let has_ended = target.state.session.worker_pid().is_none();
        if (has_ended && target.has_run) || changed_by.is_some() {
            if let Err(failure) = self.restore_loaded_data(false, target, recorder)? {
                return self.fail_trial(conditions, &failure, target, recorder);
            }
            *changed_by = None;
        }
        if self.askable(target, recorder).is_empty() {
            let (log, load) = (ReportsLog::default(), BesideLoad::default());
            return self.record_reports(&log, conditions, &load, target, recorder).map(drop);
        }
        match TrialError::split_fatal(self.ask_at_rest(target, recorder))? {
            Ok((log, exits)) => {
                let loss = (!exits.is_empty()).then(|| exits.join("; "));
                let load = BesideLoad { loss: loss.as_deref(), ..BesideLoad::default() };
                self.record_reports(&log, conditions, &load, target, recorder)?;
                if loss.is_some() || has_unfinished(&log) {
                    target.state.session.kill();
                }
                Ok(())
            }
            Err(failure) => {
                target.state.session.kill();
                self.fail_trial(conditions, &failure, target, recorder)
            }
        }
    }

    fn ask_at_rest(
        &self,
        target: &mut ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(ReportsLog, Vec<String>), TrialError> {
        let reports = self.reports_job(target, recorder)?;
        target.has_run = true;
        let (ramp_s, seconds) = (self.settings.warmup_s, self.settings.duration_s);
        let limit_s = ramp_s + reports.max_seconds.max(seconds) + reports.patience_s + GRACE_S;
        let job = serde_json::json!({ REPORTS: ReportsAlone { reports, ramp_s, seconds } });
        let limit = Duration::from_secs_f64(limit_s);
        target.state.session.run_clients(&Op::Drive { job }, limit, &mut forward_progress(recorder.observer))
    }

    /// Records the reports beside a load. Returns what has to be said of the load: that fewer questions than planned
    /// were asked beside it.
    #[expect(clippy::too_many_arguments, reason = "what a trial is made of")]
    pub(in crate::serving) fn record_beside(
        &self,
        log: &ReportsLog,
        conditions: &TrialConditions,
        mix: &Mix,
        outcome: &ServingResults,
        loss: Option<&str>,
        target: &ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<Vec<Finding>, RunError> {
        let (verdict, failure) = outcome.verdict(true, loss);
        let load = BesideLoad {
            is_changed: !trials::only_reads(mix),
            loss,
            kept_share: outcome.kept_share(),
            finding: faulty_load(verdict, failure),
        };
        let missing = self.record_reports(log, conditions, &load, target, recorder)?;
        let message = format!("{} had no time beside it", missing.join(", "));
        let finding = Finding { message: Some(message), ..Finding::new(FEWER_REPORTS, "not all questions") };
        Ok(if missing.is_empty() { Vec::new() } else { vec![finding] })
    }

    /// Records a trial of each question and of all together. Returns the names of those without a time.
    fn record_reports(
        &self,
        log: &ReportsLog,
        conditions: &TrialConditions,
        load: &BesideLoad<'_>,
        target: &ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<Vec<String>, RunError> {
        let askable = self.askable(target, recorder);
        let results = ReportResults::new(log, askable.len(), load.loss, load.kept_share);
        let mut trials = Vec::new();
        for question in self.user_questions() {
            let cell = self.report_cell(conditions, &question.name, target);
            let index =
                askable.iter().copied().enumerate().find(|(_, askable)| askable.name == question.name);
            let standing = self.standing(&question.name, target, recorder);
            trials.push(match (index, standing) {
                (Some((index, question)), Standing::Answered(verdict, reason)) => {
                    let at_rest = load.is_changed.then_some((verdict, reason));
                    self.question_trial(&results, &cell, (index, question), at_rest, target)
                }
                (_, standing) => self.trial_without_answer(&cell, standing, target),
            });
        }
        let cell = self.report_cell(conditions, ALL_QUESTIONS, target);
        let planned = self.user_questions().len();
        let all = results.all_trial(&cell, self.round, &trials, planned);
        let missing = trials.iter().filter(|trial| !trial.verdict.has_time());
        let missing = missing.map(|trial| trial.cell.step.to_string()).collect();
        for mut trial in trials.into_iter().chain([all]) {
            if trial.verdict.has_time() {
                trial.findings.extend(load.finding.clone());
            }
            recorder.record_trial_unsynced(trial.cell.trial_key(self.round, 0), trial)?;
        }
        recorder.sync()?;
        Ok(missing)
    }

    fn question_trial(
        &self,
        results: &ReportResults<'_>,
        cell: &Cell,
        (index, question): (usize, &Question),
        at_rest: Option<(Verdict, Option<String>)>,
        target: &ServingTarget<'a>,
    ) -> Trial {
        let Some(questions) = self.reports else { return new_trial(cell, self.round, 0) };
        let cells = target.state.cells;
        let checks = Checks {
            compare: &|rows| questions.judge(&target.documents, cells, question, rows),
            shape_error: &|rows| questions.shape_error(&question.name, rows),
            at_rest,
        };
        results.question_trial(cell, self.round, u32::try_from(index).unwrap_or(u32::MAX), &checks)
    }

    /// Trial of a question that streams did not ask.
    fn trial_without_answer(&self, cell: &Cell, standing: Standing, target: &ServingTarget<'a>) -> Trial {
        let mut trial = new_trial(cell, self.round, 0);
        (trial.verdict, trial.failure) = match standing {
            Standing::Failed(failure) => (Verdict::Failed, Some(failure)),
            Standing::NotAsked | Standing::Answered(..) => {
                let failure = Failure::new(FailureKind::Refused, without_statement(target));
                (Verdict::NotApplicable, Some(failure))
            }
        };
        trial
    }

    fn report_cell(&self, conditions: &TrialConditions, question: &str, target: &ServingTarget<'a>) -> Cell {
        trials::report_cell(target.state.cells, self.settings, conditions, question)
    }

    /// Records that a trial failed, and with it what was to be asked beside it.
    pub(super) fn fail_trial(
        &self,
        conditions: &TrialConditions,
        failure: &Failure,
        target: &ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let round = self.round;
        for cell in cells(target.state.cells, self.settings, conditions) {
            let failure = match conditions.beside_reports {
                true => failure.consequence("the load that it was to be asked beside failed"),
                false => failure.clone(),
            };
            recorder.record_failure(cell.trial_key(round, 0), &cell, round, 0, failure)?;
        }
        let main = trials::cell(target.state.cells, self.settings, conditions);
        recorder.record_failure(main.trial_key(round, 0), &main, round, 0, failure.clone())
    }
}

/// Failure of a trial in which no question is left to ask.
fn none_left() -> TrialError {
    TrialError::failed(
        FailureKind::Refused,
        "every question of the reports failed at rest, so that none is asked",
    )
}
