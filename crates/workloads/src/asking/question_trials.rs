//! Runs the cold and hot trials of one question.

use std::{collections::HashSet, time::Duration};

use jsonathlon_catalogue::QuestionRules;
use jsonathlon_dataset::digest::rows_digest;
use jsonathlon_results::folder::answer_file;
use jsonathlon_schema::{
    id::DataState,
    metric,
    record::{Bottleneck, Cell, Failure, FailureKind, Metrics, Phase, Trial},
    settings::{RunSettings, StoppingRule, questions::QuestionSettings},
    value::{Row, Value},
};
use jsonathlon_telemetry::page_cache::{COLD_LIMIT, residency};
use jsonathlon_worker::protocol::{AskReply, Op};

use super::{AnswerCheck, Question, plan};
use crate::{
    RunError, bottleneck,
    cells::Cells,
    in_memory::read_limit_bytes,
    observer::{Activity, RunEvent},
    plan_check,
    recorder::{MemoryReading, SAME_REASON, TrialRecorder, memory_metrics, new_trial},
    run_context::TABLE,
    session::{Session, TrialError},
};

/// Minimum and maximum number of warm-up executions. Warm-up ends early once an execution is not clearly
/// faster than all before it.
const WARM_UP: (usize, usize) = (2, 5);
/// An execution is clearly faster if its time is at most this share of the fastest time so far.
const STILL_WARMING: f64 = 0.9;

/// Runs the trials of one question in one round; holds what they share.
pub(crate) struct QuestionTrials<'a> {
    pub(crate) cells: Cells<'a>,
    pub(crate) settings: &'a RunSettings,
    pub(crate) question_settings: &'a QuestionSettings,
    pub(crate) disk_bytes_per_s: Option<f64>,
    /// Compares rows with the expected answer.
    pub(crate) judge: &'a dyn Fn(&[Row]) -> AnswerCheck,
    pub(crate) rules: &'a QuestionRules,
    pub(crate) question: &'a Question,
    pub(crate) state: DataState,
    pub(crate) round: u32,
}

/// Keys of questions that are not asked again, because one of their trials timed out.
pub(crate) type TimedOutQuestions = HashSet<String>;

impl QuestionTrials<'_> {
    fn cell(&self, phase: Phase) -> Cell {
        plan::question_cell(self.cells, &self.question.name, phase, self.state)
    }

    fn compare(&self, reply: &AskReply) -> AnswerCheck {
        if self.rules.other_question.is_some() {
            return AnswerCheck::unverified();
        }
        (self.judge)(&reply.outcome.rows)
    }

    fn limit(&self) -> Duration {
        Duration::from_secs_f64(self.settings.timeout_s)
    }

    /// Runs the cold and then the hot trials of this round. Trials that are already in the journal are
    /// skipped.
    pub(crate) fn ask(
        &self,
        session: &mut Session<'_>,
        timed_out: &mut TimedOutQuestions,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let keys = plan::question_keys(
            self.cells,
            &self.question.name,
            self.state,
            self.round,
            self.question_settings,
        );
        if keys.iter().all(|key| recorder.has(key)) {
            return Ok(());
        }
        let question = self.cell(Phase::Hot).key();
        if timed_out.contains(&question) {
            let failure = Failure::new(
                FailureKind::Timeout,
                "not asked again: an earlier trial of this question ran into its limit",
            );
            return self.fail(&failure, recorder);
        }
        // A run with a time budget or a target precision may have more rounds than planned.
        let round_total = match self.settings.stopping {
            StoppingRule::Rounds => format!(" of {}", self.settings.rounds),
            StoppingRule::Budget { .. } | StoppingRule::Precision { .. } => String::new(),
        };
        let system = self.cells.target.file_name();
        let activity = format!("round {}{round_total}: {system} {}", self.round, self.question.name);
        recorder.observer.event(&RunEvent::Began { activity: Activity::TargetTurn, description: &activity });
        session.subject().set_activity(&format!("{activity}, {}", self.state.word()));
        let statement =
            match TrialError::split_fatal(session.statement(&self.question.file, &[("table", TABLE)]))? {
                Ok(statement) => statement,
                Err(failure) => return self.fail(&failure, recorder),
            };
        let result = TrialError::split_fatal(self.try_ask(session, &statement, recorder))?;
        if let Err(failure) = result {
            // The engine may be in any state now, so the next question starts a new one. After a wrong answer
            // the engine can still be closed cleanly.
            if failure.kind != FailureKind::Wrong {
                session.kill();
            }
            if failure.kind == FailureKind::Timeout {
                timed_out.insert(question);
            }
            self.fail(&failure, recorder)?;
        }
        Ok(())
    }

    fn try_ask(
        &self,
        session: &mut Session<'_>,
        statement: &str,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), TrialError> {
        if plan::has_cold_trials(self.cells, self.round, self.question_settings) {
            self.run_cold(session, statement, recorder)?;
            if self.question_settings.cold_os && !session.is_remote() {
                self.run_cold_os(session, statement, recorder)?;
            }
        } else {
            session.open()?;
        }
        self.make_read_only(session)?;
        self.run_hot(session, statement, recorder)?;
        // After the trials, because reading a plan may load data into caches.
        self.check_plan(session, statement, recorder)
    }

    fn run_cold(
        &self,
        session: &mut Session<'_>,
        statement: &str,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), TrialError> {
        let cell = self.cell(Phase::Cold);
        let key = cell.trial_key(self.round, 0);
        if recorder.has(&key) {
            return session.open();
        }
        session.restart_cold()?;
        let mut trial = new_trial(&cell, self.round, 0);
        trial.metrics.insert(metric::OPEN_S.name.to_owned(), session.open_s);
        self.verify_cold(session, &mut trial)?;
        self.make_read_only(session)?;
        self.execute(session, statement, trial, key, None, recorder)?;
        Ok(())
    }

    /// Makes the session reject changes, if the system's folder has statements for that.
    fn make_read_only(&self, session: &mut Session<'_>) -> Result<(), TrialError> {
        super::make_read_only(session, self.limit())
    }

    fn run_cold_os(
        &self,
        session: &mut Session<'_>,
        statement: &str,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), TrialError> {
        let cell = self.cell(Phase::ColdOs);
        let key = cell.trial_key(self.round, 0);
        if recorder.has(&key) {
            return Ok(());
        }
        session.drop_pages()?;
        self.execute(session, statement, new_trial(&cell, self.round, 0), key, None, recorder)?;
        Ok(())
    }

    /// Checks with the kernel whether the data is out of memory. Otherwise the trial is recorded as
    /// `cold-unverified`.
    fn verify_cold(&self, session: &Session<'_>, trial: &mut Trial) -> Result<(), TrialError> {
        if session.is_remote() {
            trial.cell.phase = Phase::ColdUnverified;
            return Ok(());
        }
        let measured = residency(session.folder()).map_err(|error| {
            TrialError::failed(FailureKind::Environment, format!("failed to ask what is in memory: {error}"))
        })?;
        match measured {
            Some(residency) => {
                trial.metrics.insert(metric::RESIDENT_SHARE.name.to_owned(), residency.share());
                if residency.share() > COLD_LIMIT {
                    trial.cell.phase = Phase::ColdUnverified;
                }
            }
            None => trial.cell.phase = Phase::ColdUnverified,
        }
        Ok(())
    }

    fn run_hot(
        &self,
        session: &mut Session<'_>,
        statement: &str,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), TrialError> {
        let cell = self.cell(Phase::Hot);
        let max_read_bytes = read_limit_bytes(session);
        let mut fastest = f64::INFINITY;
        for execution in 0..WARM_UP.1 {
            let op = Op::Ask { statement: statement.to_owned() };
            let reply: AskReply = session.request(&op, self.limit(), &mut |_| {})?;
            // Answers without a time must be correct, too: every answer is compared.
            if let Some(difference) = self.compare(&reply).difference {
                let error = format!("while warming up: {difference}");
                return Err(TrialError::failed(FailureKind::Wrong, error));
            }
            // Compared with the fastest execution and not the last one: a single slow execution is noise, and
            // a normal one after it is not a sign of warming.
            let is_steady = reply.seconds > fastest * STILL_WARMING;
            fastest = fastest.min(reply.seconds);
            if execution + 1 >= WARM_UP.0 && is_steady {
                break;
            }
        }
        for order in 0..self.hot_trials(fastest, recorder) {
            let key = cell.trial_key(self.round, order);
            if recorder.has(&key) {
                continue;
            }
            let mut trial = new_trial(&cell, self.round, order);
            if order == 0 {
                // One reading per round, between trials, because reading the memory map of a large process
                // takes milliseconds. A peak within a short trial is not seen.
                if let Some(memory) = session.memory() {
                    trial.metrics.extend(memory_metrics(
                        MemoryReading::BetweenTrials,
                        memory,
                        session.idle_memory,
                    ));
                }
                match self.engine_metrics(session) {
                    Ok(metrics) => trial.metrics.extend(metrics),
                    // Additional metrics only: an engine that is down shows in the next trial.
                    Err(TrialError::Failed(failure)) => recorder.warn(&format!(
                        "{}: no metrics of its own: {}",
                        self.cells.target.file_name(),
                        failure.error
                    )),
                    Err(error) => return Err(error),
                }
            }
            self.execute(session, statement, trial, key, max_read_bytes, recorder)?;
        }
        Ok(())
    }

    /// Number of hot trials: as many as in the first round. More trials in fast rounds than in slow ones
    /// would bias the median towards fast rounds.
    fn hot_trials(&self, seconds: f64, recorder: &TrialRecorder<'_>) -> u32 {
        let cell = self.cell(Phase::Hot);
        let max_trials = self.question_settings.max_hot_trials.max(self.question_settings.hot_trials);
        let first_round_trials =
            (0..max_trials).take_while(|order| recorder.has(&cell.trial_key(1, *order))).count();
        if self.round > 1 && first_round_trials >= self.question_settings.hot_trials as usize {
            u32::try_from(first_round_trials).unwrap_or(max_trials)
        } else {
            self.question_settings.hot_trials_for(seconds)
        }
    }

    /// Metrics that the engine itself reports, if its folder has a statement `counters`. None for remote
    /// servers.
    fn engine_metrics(&self, session: &mut Session<'_>) -> Result<Metrics, TrialError> {
        // On a remote server, these numbers include the activity of other clients.
        if session.is_remote() || session.target.setup.statements("counters").is_empty() {
            return Ok(Metrics::new());
        }
        let values = session.named_values("counters", &[("table", TABLE)], self.limit())?;
        let number = |value: &Value| match value {
            Value::Int(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            _ => None,
        };
        Ok(values.iter().filter_map(|(name, value)| Some((name.clone(), number(value)?))).collect())
    }

    /// Runs one trial and records it, whatever the answer. A trial that reads more than `max_read_bytes` is
    /// not hot.
    fn execute(
        &self,
        session: &mut Session<'_>,
        statement: &str,
        mut trial: Trial,
        key: String,
        max_read_bytes: Option<u64>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), TrialError> {
        let op = Op::Ask { statement: statement.to_owned() };
        session.subject().begin_trial();
        let reply = session.request::<AskReply>(&op, self.limit(), &mut |_| {});
        // Telemetry samples once per second and skips short trials, so only long trials have samples.
        if let Some(peak) = session.subject().end_trial() {
            trial.metrics.extend(memory_metrics(MemoryReading::Peak, peak, session.idle_memory));
        }
        let reply = reply?;
        let check = self.compare(&reply);
        trial.at_ms = jiff::Timestamp::now().as_millisecond();
        trial.verdict = check.verdict;
        trial.rows = Some(reply.outcome.rows.len() as u64);
        trial.answer_digest = Some(rows_digest(&reply.outcome.rows));
        trial.server_seconds = reply.outcome.server_seconds;
        self.add_usage(&mut trial, &reply);
        if max_read_bytes.is_some_and(|limit| reply.usage.counters.read_bytes > limit) {
            trial.cell.phase = Phase::HotNotInMemory;
        }
        if let Some(error) = check.approximate_error {
            trial.metrics.insert(metric::RELATIVE_ERROR.name.to_owned(), error);
        }
        match check.difference {
            None => {
                trial.seconds = Some(reply.seconds);
                trial.bound_by = self.bottleneck_of(&reply);
            }
            Some(difference) => {
                trial.failure = Some(Failure::new(FailureKind::Wrong, difference));
            }
        }
        self.save_answer(&trial, &reply, recorder)
            .and_then(|()| recorder.record_trial(key, trial))
            .map_err(TrialError::from)
    }

    /// Adds throughput and resource usage of a statement to its trial, and what the engine itself counted.
    fn add_usage(&self, trial: &mut Trial, reply: &AskReply) {
        let usage = reply.usage;
        let per_second = self.cells.documents as f64 / reply.seconds.max(1e-9);
        trial.metrics.insert(metric::DOCUMENTS_PER_S.name.to_owned(), per_second);
        if let Some(cpu_s) = usage.cpu_s {
            trial.metrics.extend([
                metric::SERVER_CPU_S.with_value(cpu_s),
                metric::READ_BYTES.with_value(usage.counters.read_bytes as f64),
                metric::WRITTEN_BYTES.with_value(usage.counters.written_bytes as f64),
                metric::MAJOR_FAULTS.with_value(usage.counters.major_faults as f64),
            ]);
        }
        if let Some(client_cpu_s) = usage.client_cpu_s {
            trial.metrics.insert(metric::CLIENT_CPU_S.name.to_owned(), client_cpu_s);
        }
        trial.metrics.extend(
            [
                (metric::ENGINE_ROWS_READ, reply.outcome.rows_read),
                (metric::ENGINE_BYTES_READ, reply.outcome.bytes_read),
                (metric::ENGINE_MEMORY_BYTES, reply.outcome.memory_bytes),
            ]
            .into_iter()
            .filter_map(|(metric, value)| Some(metric.with_value(value? as f64))),
        );
    }

    /// Resource that limited the time of a statement; `None` if its CPU time is unknown or it was too short.
    fn bottleneck_of(&self, reply: &AskReply) -> Option<Bottleneck> {
        let usage = reply.usage;
        bottleneck::bottleneck(&bottleneck::TrialUsage {
            seconds: reply.seconds,
            cpu_s: usage.cpu_s?,
            read_bytes: usage.counters.read_bytes,
            written_bytes: usage.counters.written_bytes,
            cores: self.settings.cores,
            disk_bytes_per_s: self.disk_bytes_per_s,
        })
    }

    /// Saves each distinct answer once, in the run folder.
    fn save_answer(
        &self,
        trial: &Trial,
        reply: &AskReply,
        recorder: &TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let digest = trial.answer_digest.as_deref().unwrap_or_default();
        let file = answer_file(&self.cells.target.file_name(), &self.question.name, digest);
        if !recorder.folder.path().join(&file).exists() {
            let text = serde_json::json!({
                "question": self.question.name,
                "columns": self.question.columns,
                "rows": reply.outcome.rows,
            });
            recorder.folder.write_file(&file, text.to_string().as_bytes())?;
        }
        Ok(())
    }

    /// Saves the query plan and checks it against the declared access path, once per data state.
    fn check_plan(
        &self,
        session: &mut Session<'_>,
        statement: &str,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), TrialError> {
        let name = format!("{}-{}-{}", self.cells.target.file_name(), self.question.name, self.state.word());
        let violations = |text: &str| self.rules.violations(text);
        plan_check::check(
            session,
            self.cell(Phase::Hot),
            &name,
            statement,
            self.limit(),
            violations,
            recorder,
        )
    }

    /// Records every planned trial of this question and round without a record as failed, but at least one: a
    /// failure always removes the time of its cell.
    pub(crate) fn fail(&self, failure: &Failure, recorder: &mut TrialRecorder<'_>) -> Result<(), RunError> {
        let mut any_recorded = false;
        let (mut first_failure, mut next_failure) = (failure.clone(), failure.clone());
        for (phase, order) in plan::planned_trials(self.cells, self.round, self.question_settings) {
            let cell = self.cell(phase);
            let key = cell.trial_key(self.round, order);
            if !recorder.has(&key) {
                recorder.record_failure(key.clone(), &cell, self.round, order, next_failure)?;
                first_failure = first_failure.with_cause_key(&key);
                next_failure = first_failure.consequence(SAME_REASON);
                any_recorded = true;
            }
        }
        if any_recorded {
            return Ok(());
        }
        // A trial beyond the planned ones failed, which must be recorded, too.
        let cell = self.cell(Phase::Hot);
        let free_order = (0..=self.question_settings.max_hot_trials.max(self.question_settings.hot_trials))
            .find(|order| !recorder.has(&cell.trial_key(self.round, *order)));
        match free_order {
            Some(order) => {
                let key = cell.trial_key(self.round, order);
                recorder.record_failure(key, &cell, self.round, order, failure.clone())
            }
            None => Ok(()),
        }
    }
}
