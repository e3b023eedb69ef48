//! One configuration's part of a round over one table: shared functions for running, verifying and recording
//! tests.

use std::{path::Path, time::Duration};

use jsonathlon_catalogue::{DocumentsSetup, QueryAnswer};
use jsonathlon_schema::{
    metric,
    record::{Cell, Failure, FailureKind, Trial, Verdict},
    value::Value,
};
use jsonathlon_telemetry::memory::peak_resident_bytes;
use jsonathlon_worker::protocol::{AskReply, ExportReply, Op};

use super::{expected::ExpectedAnswers, settings::DocumentsSettings, trials::TestCells};
use crate::{
    RunError,
    recorder::{SAME_REASON, TrialRecorder, new_trial},
    run_context::{RunContext, TABLE},
    session::{Session, TrialError},
};

/// Name of the table of copies.
pub(super) const COPY_TABLE: &str = "documents_copied";

/// One configuration's part of a round over one table.
pub(super) struct DocumentsTurn<'t, 'b, 'a> {
    pub(super) context: &'b RunContext<'a>,
    pub(super) settings: &'t DocumentsSettings,
    pub(super) setup: &'t DocumentsSetup,
    pub(super) tests: TestCells<'a>,
    pub(super) expected: &'t ExpectedAnswers,
    /// NDJSON file with the documents.
    pub(super) file: &'t Path,
    /// Total size in bytes of the documents' texts.
    pub(super) source_bytes: u64,
    pub(super) round: u32,
}

/// Result of a step: a value, a failure of the configuration, or an error that ends the run.
pub(super) type StepResult<T> = Result<Result<T, Failure>, RunError>;

impl<'a> DocumentsTurn<'_, '_, 'a> {
    /// Timeout of one statement.
    pub(super) fn limit(&self) -> Duration {
        Duration::from_secs_f64(self.context.settings.timeout_s)
    }

    pub(super) fn load_limit(&self) -> Duration {
        Duration::from_secs_f64(self.context.settings.load_timeout_s)
    }

    /// Records a test that the system does not support as not applicable. Returns `true` if it is
    /// unsupported.
    pub(super) fn record_unsupported(
        &self,
        test: &str,
        cell: &Cell,
        orders: u32,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<bool, RunError> {
        let Some(error) = self.setup.skip_reason(test) else { return Ok(false) };
        self.record_not_applicable(&Failure::new(FailureKind::Refused, error), cell, orders, recorder)?;
        Ok(true)
    }

    /// Records trials as not applicable, with the reason.
    pub(super) fn record_not_applicable(
        &self,
        reason: &Failure,
        cell: &Cell,
        orders: u32,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        for order in 0..orders {
            let key = cell.trial_key(self.round, order);
            if !recorder.has(&key) {
                let mut trial = new_trial(cell, self.round, order);
                trial.verdict = Verdict::NotApplicable;
                trial.failure = Some(reason.clone());
                recorder.record_trial(key, trial)?;
            }
        }
        Ok(())
    }

    /// Records a failed test. Restarts the engine if it crashed, hung or is down; the inner failure means
    /// that it did not restart and no further step can run.
    pub(super) fn record_failure(
        &self,
        failure: &Failure,
        cell: &Cell,
        orders: u32,
        session: &mut Session<'_>,
        recorder: &mut TrialRecorder<'_>,
    ) -> StepResult<()> {
        let (mut original, mut reported) = (failure.clone(), failure.clone());
        for order in 0..orders {
            let key = cell.trial_key(self.round, order);
            if !recorder.has(&key) {
                recorder.record_failure(key.clone(), cell, self.round, order, reported)?;
                original = original.with_cause_key(&key);
                reported = original.consequence(SAME_REASON);
            }
        }
        if matches!(failure.kind, FailureKind::Wrong | FailureKind::Refused) && session.worker_pid().is_some()
        {
            return Ok(Ok(()));
        }
        session.kill();
        TrialError::split_fatal(session.open().and_then(|()| self.check_all_present(session)))
    }

    /// Verifies that all documents are still there after an engine was killed.
    pub(super) fn check_all_present(&self, session: &mut Session<'_>) -> Result<(), TrialError> {
        let values = session.named_values("count", &[("table", TABLE)], self.limit())?;
        let expected = self.expected.table.documents;
        match values.values().next() {
            Some(Value::Int(count)) if count.unsigned_abs() == expected => Ok(()),
            count => {
                let error = format!("of {expected} documents the system now counts {count:?}");
                Err(TrialError::failed(FailureKind::Wrong, error))
            }
        }
    }

    /// Adds time and resource usage of a statement to a trial.
    pub(super) fn add_timing(
        &self,
        trial: &mut Trial,
        seconds: f64,
        usage: &jsonathlon_worker::protocol::OpUsage,
        bytes: u64,
    ) {
        trial.seconds = Some(seconds);
        let metrics = &mut trial.metrics;
        metrics.insert(metric::DOCUMENTS.name.to_owned(), self.expected.table.documents as f64);
        metrics.insert(metric::SOURCE_BYTES.name.to_owned(), self.source_bytes as f64);
        if seconds > 0.0 {
            metrics.insert(metric::BYTES_PER_S.name.to_owned(), bytes as f64 / seconds);
        }
        metrics.extend(usage.cpu_s.map(|cpu| metric::SERVER_CPU_S.with_value(cpu)));
        metrics.extend(usage.client_cpu_s.map(|cpu| metric::CLIENT_CPU_S.with_value(cpu)));
        if let Ok(bytes) = peak_resident_bytes(std::process::id()) {
            metrics.insert(metric::PEAK_COORDINATOR_BYTES.name.to_owned(), bytes as f64);
        }
    }

    /// Exports all documents of a table and compares them by value, outside of any measurement.
    pub(super) fn export_and_verify(
        &self,
        table: &str,
        digest: u64,
        session: &mut Session<'_>,
    ) -> Result<ExportReply, TrialError> {
        let statement = session.statement("export", &[("table", table)])?;
        let reply: ExportReply =
            session.request(&Op::Export { statement, values: true }, self.load_limit(), &mut |_| {})?;
        let wrong_answer = |error: String| Err(TrialError::failed(FailureKind::Wrong, error));
        let expected = self.expected.table.documents;
        if reply.documents != expected {
            return wrong_answer(format!("{} documents came out, {expected} went in", reply.documents));
        }
        if reply.values != Some(digest) {
            return wrong_answer("the documents that came out are not those that they should be".to_owned());
        }
        Ok(reply)
    }

    /// Reads one document and compares its digest; only the worker sees its text. Unverified if the system
    /// cannot read a single document.
    pub(super) fn verify_document(
        &self,
        number: u64,
        digest: u64,
        describe_error: impl FnOnce() -> String,
        session: &mut Session<'_>,
    ) -> Result<Verdict, TrialError> {
        let key = number.to_string();
        let statements = session.statements("read", &[("table", TABLE), ("key", &key)])?;
        let Some(statement) = statements.into_iter().next() else { return Ok(Verdict::Unverified) };
        let reply: ExportReply = session.request(&Op::Read { statement }, self.limit(), &mut |_| {})?;
        match (reply.documents, reply.values) {
            (1, Some(actual)) if actual == digest => Ok(Verdict::Exact),
            _ => Err(TrialError::failed(FailureKind::Wrong, describe_error())),
        }
    }

    /// Runs a query once untimed, then the planned number of trials.
    pub(super) fn time_query(
        &self,
        statement: &str,
        expected: QueryAnswer,
        cell: &Cell,
        session: &mut Session<'_>,
        recorder: &mut TrialRecorder<'_>,
    ) -> StepResult<()> {
        let orders = self.settings.reads;
        if (0..orders).all(|order| recorder.has(&cell.trial_key(self.round, order))) {
            return Ok(Ok(()));
        }
        let warm_up = TrialError::split_fatal(self.query_once(statement, expected, session))?;
        if let Err(failure) = warm_up {
            let is_simple = cell.parameters.contains_key("form");
            let is_refused = failure.kind == FailureKind::Refused || is_over_limit(&failure, session);
            if is_simple && is_refused && session.worker_pid().is_some() {
                // The simple form of a query may be too expensive, which is why a better form exists.
                self.record_not_applicable(&failure, cell, orders, recorder)?;
                return Ok(Ok(()));
            }
            return self.record_failure(&failure, cell, orders, session, recorder);
        }
        for order in 0..orders {
            let key = cell.trial_key(self.round, order);
            if recorder.has(&key) {
                continue;
            }
            match TrialError::split_fatal(self.query_once(statement, expected, session))? {
                Ok(reply) => recorder.record_trial(key, self.query_trial(cell, order, &reply))?,
                Err(failure) => return self.record_failure(&failure, cell, orders, session, recorder),
            }
        }
        Ok(Ok(()))
    }

    pub(super) fn query_trial(&self, cell: &Cell, order: u32, reply: &AskReply) -> Trial {
        let mut trial = new_trial(cell, self.round, order);
        self.add_timing(&mut trial, reply.seconds, &reply.usage, self.source_bytes);
        trial.server_seconds = reply.outcome.server_seconds;
        trial.rows = Some(reply.outcome.rows.len() as u64);
        trial.verdict = Verdict::Exact;
        trial
    }

    /// Runs a query once and verifies its answer.
    pub(super) fn query_once(
        &self,
        statement: &str,
        expected: QueryAnswer,
        session: &mut Session<'_>,
    ) -> Result<AskReply, TrialError> {
        session.open()?;
        let op = Op::Ask { statement: statement.to_owned() };
        let reply: AskReply = session.request(&op, self.limit(), &mut |_| {})?;
        match self.expected.difference(expected, &reply.outcome.rows) {
            None => Ok(reply),
            Some(difference) => Err(TrialError::failed(FailureKind::Wrong, difference)),
        }
    }
}

/// Fills the table name into a statement of an index.
pub(super) fn fill_table(session: &Session<'_>, text: &str) -> String {
    let table = format!("{}{TABLE}", session.target.table_prefix());
    text.replace("{{table}}", &table)
}

/// Returns `true` if a query was aborted for exceeding a resource limit and the engine is still running.
pub(super) fn is_over_limit(failure: &Failure, session: &Session<'_>) -> bool {
    failure.kind == FailureKind::Environment && session.worker_pid().is_some()
}
