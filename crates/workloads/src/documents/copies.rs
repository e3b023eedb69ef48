//! Copies all documents with a small change, and measures the additional disk space.

use jsonathlon_schema::metric;
use jsonathlon_schema::record::{Cell, FailureKind, Metrics, Trial, Verdict};
use jsonathlon_telemetry::page_cache;
use jsonathlon_worker::protocol::RunReply;

use super::turn::{COPY_TABLE, DocumentsTurn, StepResult};
use crate::loading::{settle, sizes};
use crate::recorder::{TrialRecorder, new_trial};
use crate::run_context::TABLE;
use crate::session::{Session, TrialError};

impl DocumentsTurn<'_, '_, '_> {
    /// Copies every document with `l` set to 1, and verifies by value that nothing else has changed. Returns
    /// `true` if there is a copy afterwards.
    pub(super) fn copy(
        &self,
        session: &mut Session<'_>,
        recorder: &mut TrialRecorder<'_>,
    ) -> StepResult<bool> {
        let cell = self.tests.copy();
        if self.record_unsupported("copy", &cell, 1, recorder)? {
            return Ok(Ok(false));
        }
        let key = cell.trial_key(self.round, 0);
        let result = TrialError::split_fatal(self.try_copy(&cell, session))?;
        match result {
            Ok(trial) => {
                if !recorder.has(&key) {
                    recorder.record_trial(key, trial)?;
                }
                Ok(Ok(true))
            }
            Err(failure) => Ok(self.record_failure(&failure, &cell, 1, session, recorder)?.map(|()| false)),
        }
    }

    pub(super) fn try_copy(&self, cell: &Cell, session: &mut Session<'_>) -> Result<Trial, TrialError> {
        session.open()?;
        let create = session.statements("create", &[("table", COPY_TABLE)])?;
        session.run(create, self.limit())?;
        let statements = session.statements("copy", &[("table", TABLE), ("copy", COPY_TABLE)])?;
        let reply: RunReply = session.run(statements, self.limit())?;
        let mut trial = new_trial(cell, self.round, 0);
        self.add_timing(&mut trial, reply.seconds, &reply.usage, self.source_bytes);
        trial.verdict = match self.setup.skip_reason("export") {
            Some(_) => Verdict::Unverified,
            None => {
                self.export_and_verify(COPY_TABLE, self.expected.copy_digest, session)?;
                // The originals must be unchanged.
                self.export_and_verify(TABLE, self.expected.original_digest, session)?;
                Verdict::Exact
            }
        };
        Ok(trial)
    }

    /// Drops the table of copies, even if it is incomplete or missing.
    pub(super) fn drop_copy(&self, session: &mut Session<'_>) -> StepResult<()> {
        if self.setup.skip_reason("copy").is_some() {
            return Ok(Ok(()));
        }
        let result = session.open().and_then(|()| {
            let drop = session.statements("drop", &[("table", COPY_TABLE)])?;
            session.run(drop, self.limit())
        });
        match TrialError::split_fatal(result)? {
            // The table may not have been created at all.
            Err(failure) if failure.kind != FailureKind::Refused => Ok(Err(failure)),
            _ => Ok(Ok(())),
        }
    }

    /// Waits until the system has finished background work on these tables, such as statistics. Returns the
    /// seconds that it took, which belong to no test.
    pub(super) fn settle(
        &self,
        tables: &[&str],
        sync: bool,
        session: &mut Session<'_>,
    ) -> Result<f64, TrialError> {
        session.open()?;
        let mut seconds = 0.0;
        for table in tables {
            seconds += settle(session, "drain", table, self.context.settings.load_timeout_s, sync)?.seconds;
        }
        // Some sessions are unusable afterwards.
        session.reconnect()?;
        Ok(seconds)
    }

    /// Measures the disk space after the system has settled and stopped; then starts the system again.
    pub(super) fn settle_and_measure(
        &self,
        tables: &[&str],
        session: &mut Session<'_>,
    ) -> Result<Metrics, TrialError> {
        let seconds = self.settle(tables, !session.is_remote(), session)?;
        session.close()?;
        session.open()?;
        let mut metrics = Metrics::from([metric::DRAINED_S.with_value(seconds)]);
        metrics.extend(sizes(session, TABLE)?);
        if session.is_remote() {
            return Ok(metrics);
        }
        let to_error = |error: std::io::Error| {
            TrialError::failed(
                FailureKind::Environment,
                format!("failed to measure the data folder: {error}"),
            )
        };
        let total_bytes = page_cache::allocated_bytes(session.folder()).map_err(to_error)?;
        let log_bytes =
            page_cache::allocated_bytes_of(session.folder(), &session.target.setup.logs).map_err(to_error)?;
        metrics.insert(metric::FILES_BYTES.name.to_owned(), total_bytes.saturating_sub(log_bytes) as f64);
        metrics.insert(metric::LOG_BYTES.name.to_owned(), log_bytes as f64);
        Ok(metrics)
    }

    /// Records the disk space with and without the copy, and the copy's share relative to the documents'
    /// texts.
    pub(super) fn record_disk_space(
        &self,
        before: &Metrics,
        has_copy: bool,
        session: &mut Session<'_>,
        recorder: &mut TrialRecorder<'_>,
    ) -> StepResult<()> {
        let cell = self.tests.disk();
        let key = cell.trial_key(1, 0);
        if recorder.has(&key) {
            return Ok(Ok(()));
        }
        let mut trial = new_trial(&cell, 1, 0);
        trial.metrics = before.clone();
        trial.metrics.insert(metric::DOCUMENTS.name.to_owned(), self.expected.table.documents as f64);
        trial.metrics.insert(metric::SOURCE_BYTES.name.to_owned(), self.source_bytes as f64);
        trial.verdict = Verdict::Exact;
        if has_copy {
            let after = match TrialError::split_fatal(self.settle_and_measure(&[TABLE, COPY_TABLE], session))?
            {
                Ok(after) => after,
                Err(failure) => return self.record_failure(&failure, &cell, 1, session, recorder),
            };
            let files_bytes = |disk: &Metrics| disk.get(metric::FILES_BYTES.name).copied();
            if let (Some(before), Some(after)) = (files_bytes(before), files_bytes(&after)) {
                let added = (after - before).max(0.0);
                trial.metrics.insert(metric::FILES_WITH_COPY_BYTES.name.to_owned(), after);
                trial.metrics.insert(metric::ADDED_BYTES.name.to_owned(), added);
                let share = added / (self.source_bytes as f64).max(1.0);
                trial.metrics.insert(metric::ADDED_SHARE.name.to_owned(), share);
            }
        }
        recorder.record_trial(key, trial)?;
        Ok(Ok(()))
    }
}
