//! The steps of a turn in order: import, export, reads, copy, indexes, updates.

use jsonathlon_catalogue::{LoadMode, QueryAnswer};
use jsonathlon_schema::metric;
use jsonathlon_schema::record::{Cell, Failure, FailureKind, Phase, Trial, Verdict};
use jsonathlon_telemetry::page_cache::{COLD_LIMIT, residency};
use jsonathlon_worker::protocol::{ExportReply, LoadMethod, LoadReply, Op};

use super::{
    TableProgress, history,
    trials::{self, READS},
    turn::{COPY_TABLE, DocumentsTurn, StepResult},
    update,
};
use crate::{
    RunError,
    observer::{Activity, RunEvent},
    plain_name::PlainName,
    recorder::{TrialRecorder, new_trial},
    run_context::{TABLE, TargetState},
    session::{Session, TrialError, forward_progress},
};

impl<'a> DocumentsTurn<'_, '_, 'a> {
    /// Runs every trial of this round that the journal does not contain yet, so that a resumed run skips
    /// finished trials.
    pub(super) fn run_missing_trials(
        &self,
        state: &mut TargetState<'a>,
        progress: &mut TableProgress,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let keys = trials::keys(&self.tests, self.setup, self.settings, self.round);
        if keys.iter().all(|key| recorder.has(key)) {
            return Ok(());
        }
        if let Some(failure) = &progress.failure {
            // A failed import is not repeated.
            return self.fail_remaining(&failure.clone(), recorder);
        }
        if let Some(reason) = self.tests.configured_table.size_skip_reason(self.setup) {
            let reason = Failure::new(FailureKind::Refused, reason);
            let cells = trials::cells(&self.tests, self.setup, self.settings, self.round);
            return cells
                .iter()
                .try_for_each(|(cell, orders)| self.record_not_applicable(&reason, cell, *orders, recorder));
        }
        let name = state.cells.target.file_name();
        let activity = format!("round {}: {name} {}", self.round, self.expected.table);
        recorder.observer.event(&RunEvent::Began { activity: Activity::TargetTurn, description: &activity });
        state.session.subject().set_activity(&activity);
        let result = self.run_steps(state, progress, recorder)?;
        if let Err(failure) = result {
            state.session.kill();
            self.fail_remaining(&failure, recorder)?;
        }
        if let Err(failure) = TrialError::split_fatal(state.session.close())? {
            let name = state.cells.target.file_name();
            recorder.warn(&format!("{name}: failed to close the session: {}", failure.error));
        }
        Ok(())
    }

    /// Runs all steps in order. The inner failure is why the remaining steps could not run.
    fn run_steps(
        &self,
        state: &mut TargetState<'a>,
        progress: &mut TableProgress,
        recorder: &mut TrialRecorder<'_>,
    ) -> StepResult<()> {
        let session = &mut state.session;
        if let Err(failure) = self.import(session, progress, recorder)? {
            progress.failure = Some(failure.clone());
            return Ok(Err(failure));
        }
        let result = match self.round {
            1 => TrialError::split_fatal(self.settle_and_measure(&[TABLE], session))?.map(Some),
            _ => TrialError::split_fatal(self.settle(&[TABLE], false, session))?.map(|_| None),
        };
        let disk_before = match result {
            Ok(disk_before) => disk_before,
            Err(failure) => return Ok(Err(failure)),
        };
        if let Err(failure) = self.run_exports(session, progress, recorder)? {
            return Ok(Err(failure));
        }
        if let Err(failure) = self.run_reads(session, recorder)? {
            return Ok(Err(failure));
        }
        let result = self.copy(session, recorder)?;
        let has_copy = match result {
            Ok(has_copy) => has_copy,
            Err(failure) => return Ok(Err(failure)),
        };
        if let Some(disk_before) = disk_before
            && let Err(failure) = self.record_disk_space(&disk_before, has_copy, session, recorder)?
        {
            return Ok(Err(failure));
        }
        if let Err(failure) = self.drop_copy(session)? {
            return Ok(Err(failure));
        }
        if let Err(failure) = self.run_indexes(session, recorder)? {
            return Ok(Err(failure));
        }
        if self.round == 1
            && let Some(versions) = self.settings.versions
            && let Err(failure) = history::write(self, versions, session, recorder)?
        {
            return Ok(Err(failure));
        }
        if self.settings.update_path {
            return update::update_paths(self, session, recorder);
        }
        Ok(Ok(()))
    }

    /// Runs all queries hot, and in round 1 then cold if the settings say so.
    fn run_reads(&self, session: &mut Session<'_>, recorder: &mut TrialRecorder<'_>) -> StepResult<()> {
        for (file, test, expected) in READS {
            if let Err(failure) = self.run_read(file, test, expected, session, recorder)? {
                return Ok(Err(failure));
            }
        }
        if self.round == 1 && self.settings.cold {
            for (file, expected) in trials::cold_reads() {
                if let Err(failure) = self.run_cold_read(file, expected, session, recorder)? {
                    return Ok(Err(failure));
                }
            }
        }
        Ok(Ok(()))
    }

    /// Records all trials of the round without a record as failed, with the reason.
    fn fail_remaining(&self, failure: &Failure, recorder: &mut TrialRecorder<'_>) -> Result<(), RunError> {
        let mut failure = failure.clone();
        let round = self.round;
        for (cell, orders) in trials::cells(&self.tests, self.setup, self.settings, round) {
            for order in 0..orders {
                let key = cell.trial_key(round, order);
                if !recorder.has(&key) {
                    recorder.record_failure(
                        key.clone(),
                        &cell,
                        round,
                        order,
                        failure.consequence("not done"),
                    )?;
                    failure = failure.with_cause_key(&key);
                }
            }
        }
        Ok(())
    }

    /// Imports the documents into a new table and verifies them by value.
    fn import(
        &self,
        session: &mut Session<'_>,
        progress: &mut TableProgress,
        recorder: &mut TrialRecorder<'_>,
    ) -> StepResult<()> {
        let cell = self.tests.import();
        let key = cell.trial_key(self.round, 0);
        let result = TrialError::split_fatal(self.try_import(session, progress, recorder))?;
        match result {
            Ok(trial) => {
                if !recorder.has(&key) {
                    recorder.record_trial(key, trial)?;
                }
                Ok(Ok(()))
            }
            Err(failure) => {
                recorder.record_failure(key.clone(), &cell, self.round, 0, failure.clone())?;
                Ok(Err(failure.with_cause_key(&key).consequence("the import failed")))
            }
        }
    }

    /// Creates the table anew: empties the data folder first, or drops the tables if it was emptied before.
    fn create_table(
        &self,
        session: &mut Session<'_>,
        progress: &mut TableProgress,
    ) -> Result<(), TrialError> {
        if progress.is_fresh {
            session.open()?;
            for table in [TABLE, COPY_TABLE] {
                if progress.existing_tables.contains(&table) {
                    let drop = session.statements("drop", &[("table", table)])?;
                    session.run(drop, self.limit())?;
                }
            }
            progress.existing_tables.clear();
        } else {
            session.reset_data()?;
            session.open()?;
            progress.is_fresh = true;
            progress.existing_tables.clear();
        }
        let create = session.statements("create", &[("table", TABLE)])?;
        session.run(create, self.limit())?;
        progress.existing_tables.push(TABLE);
        Ok(())
    }

    fn try_import(
        &self,
        session: &mut Session<'_>,
        progress: &mut TableProgress,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<Trial, TrialError> {
        self.create_table(session, progress)?;
        let plain_name = PlainName::new(self.file)?;
        let path = plain_name.text();
        let values = [("table", TABLE), ("file", path.as_str())];
        let load = match self.setup.load {
            LoadMode::File => LoadMethod::Statement { statements: session.statements("load", &values)? },
            LoadMode::Rows | LoadMode::Stream => LoadMethod::Keyed {
                statement: session.statement("load", &values)?,
                file: self.file.to_owned(),
            },
        };
        let sync = !session.is_remote();
        let loaded: LoadReply = session.request(
            &Op::Load { load, sync },
            self.load_limit(),
            &mut forward_progress(recorder.observer),
        )?;
        if let Some(reject) = loaded.rejects.first() {
            let error = format!("document {}: {}", reject.line, reject.reason);
            return Err(TrialError::failed(FailureKind::Refused, error));
        }
        self.check_all_present(session)?;
        let mut trial = new_trial(&self.tests.import(), self.round, 0);
        // Time in which the kernel writes data to the disk afterwards is not part of the statement.
        let seconds = loaded.seconds - loaded.sync_seconds.unwrap_or_default();
        self.add_timing(&mut trial, seconds, &loaded.usage, self.source_bytes);
        trial.metrics.extend(loaded.sync_seconds.map(|seconds| metric::SYNC_S.with_value(seconds)));
        put_client_memory(&mut trial, session);
        trial.verdict = match self.setup.skip_reason("export") {
            Some(_) => Verdict::Unverified,
            None => {
                let reply = self.export_and_verify(TABLE, self.expected.original_digest, session)?;
                progress.verified_texts = Some((reply.texts, reply.bytes));
                Verdict::Exact
            }
        };
        Ok(trial)
    }

    fn run_exports(
        &self,
        session: &mut Session<'_>,
        progress: &TableProgress,
        recorder: &mut TrialRecorder<'_>,
    ) -> StepResult<()> {
        let (cell, orders) = (self.tests.export(), self.settings.reads);
        if self.record_unsupported("export", &cell, orders, recorder)? {
            return Ok(Ok(()));
        }
        for order in 0..orders {
            let key = cell.trial_key(self.round, order);
            if recorder.has(&key) {
                continue;
            }
            match TrialError::split_fatal(self.time_export(&cell, order, session, progress))? {
                Ok(trial) => recorder.record_trial(key, trial)?,
                Err(failure) => return self.record_failure(&failure, &cell, orders, session, recorder),
            }
        }
        Ok(Ok(()))
    }

    fn time_export(
        &self,
        cell: &Cell,
        order: u32,
        session: &mut Session<'_>,
        progress: &TableProgress,
    ) -> Result<Trial, TrialError> {
        session.open()?;
        let statement = session.statement("export", &[("table", TABLE)])?;
        let reply: ExportReply =
            session.request(&Op::Export { statement, values: false }, self.limit(), &mut |_| {})?;
        // Must be the same texts that were verified by value after the import.
        if progress.verified_texts != Some((reply.texts, reply.bytes)) {
            let error = "the texts that came out are not those that came out before".to_owned();
            return Err(TrialError::failed(FailureKind::Wrong, error));
        }
        let mut trial = new_trial(cell, self.round, order);
        self.add_timing(&mut trial, reply.seconds, &reply.usage, self.source_bytes);
        trial.metrics.insert(metric::DELIVERED_BYTES.name.to_owned(), reply.bytes as f64);
        put_client_memory(&mut trial, session);
        trial.verdict = Verdict::Exact;
        Ok(trial)
    }

    fn run_read(
        &self,
        file: &str,
        test: &str,
        expected: QueryAnswer,
        session: &mut Session<'_>,
        recorder: &mut TrialRecorder<'_>,
    ) -> StepResult<()> {
        if !trials::has_form(self.setup, file) {
            return Ok(Ok(()));
        }
        let (cell, orders) = (self.tests.read(file, Phase::Hot), self.settings.reads);
        if self.record_unsupported(test, &cell, orders, recorder)? {
            return Ok(Ok(()));
        }
        let statement = match TrialError::split_fatal(session.statement(file, &[("table", TABLE)]))? {
            Ok(statement) => statement,
            Err(failure) => return Ok(Err(failure)),
        };
        self.time_query(&statement, expected, &cell, session, recorder)
    }

    fn run_cold_read(
        &self,
        file: &str,
        expected: QueryAnswer,
        session: &mut Session<'_>,
        recorder: &mut TrialRecorder<'_>,
    ) -> StepResult<()> {
        let cell = self.tests.read(file, Phase::Cold);
        let key = cell.trial_key(1, 0);
        if recorder.has(&key)
            || !self.tests.cells.target.can_be_cold()
            || self.record_unsupported(file, &cell, 1, recorder)?
        {
            return Ok(Ok(()));
        }
        match TrialError::split_fatal(self.try_cold_read(file, expected, &cell, session))? {
            Ok(trial) => {
                recorder.record_trial(key, trial)?;
                Ok(Ok(()))
            }
            Err(failure) => self.record_failure(&failure, &cell, 1, session, recorder),
        }
    }

    fn try_cold_read(
        &self,
        file: &str,
        expected: QueryAnswer,
        cell: &Cell,
        session: &mut Session<'_>,
    ) -> Result<Trial, TrialError> {
        session.restart_cold()?;
        let resident = match session.is_remote() {
            true => None,
            false => residency(session.folder()).map_err(|error| {
                TrialError::failed(
                    FailureKind::Environment,
                    format!("failed to ask what is in memory: {error}"),
                )
            })?,
        };
        let statement = session.statement(file, &[("table", TABLE)])?;
        let reply = self.query_once(&statement, expected, session)?;
        let mut trial = self.query_trial(cell, 0, &reply);
        match resident {
            Some(resident) if resident.share() <= COLD_LIMIT => {}
            _ => trial.cell.phase = Phase::ColdUnverified,
        }
        trial.metrics.extend(resident.map(|resident| metric::RESIDENT_SHARE.with_value(resident.share())));
        Ok(trial)
    }
}

/// Adds the peak memory of the worker as a client, through which documents pass one by one. Not for embedded
/// engines.
fn put_client_memory(trial: &mut Trial, session: &Session<'_>) {
    let peak = session.peak_client_bytes();
    trial.metrics.extend(peak.map(|bytes| metric::PEAK_CLIENT_BYTES.with_value(bytes as f64)));
}
