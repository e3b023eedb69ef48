//! The steps of a turn in order: import, export, reads, copy, indexes, updates.

use jsonathlon_catalogue::{Expected, LoadMode};
use jsonathlon_schema::record::{Cell, Failure, FailureKind, Phase, Trial, Verdict};
use jsonathlon_telemetry::page_cache::{COLD_LIMIT, residency};
use jsonathlon_worker::protocol::{ExportReply, LoadMethod, LoadReply, Op};

use super::{
    TableProgress, history,
    trials::{self, READS},
    turn::{COPY, DocumentsTurn, StepResult},
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
        one: &mut TargetState<'a>,
        kept: &mut TableProgress,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let keys = trials::keys(&self.tests, self.part, self.own, self.round);
        if keys.iter().all(|key| recorder.has(key)) {
            return Ok(());
        }
        if let Some(failure) = &kept.failed {
            // A failed import is not repeated.
            return self.fail_remaining(&failure.clone(), recorder);
        }
        if let Some(why) = self.tests.at.too_large(self.part) {
            let why = Failure::new(FailureKind::Refused, why);
            let cells = trials::cells(&self.tests, self.part, self.own, self.round);
            return cells
                .iter()
                .try_for_each(|(cell, orders)| self.not_applicable(&why, cell, *orders, recorder));
        }
        let what = format!("round {}: {} {}", self.round, one.cells.target.file_name(), self.truth.table);
        recorder.observer.event(&RunEvent::Began { work: Activity::Turn, what: &what });
        one.session.subject().set_activity(&what);
        let done = self.all(one, kept, recorder)?;
        if let Err(failure) = done {
            one.session.kill();
            self.fail_remaining(&failure, recorder)?;
        }
        if let Err(failure) = TrialError::split_fatal(one.session.close())? {
            let name = one.cells.target.file_name();
            recorder.warn(&format!("{name}: failed to close: {}", failure.error));
        }
        Ok(())
    }

    /// Runs all steps in order. The inner failure is why the remaining steps could not run.
    fn all(
        &self,
        one: &mut TargetState<'a>,
        kept: &mut TableProgress,
        recorder: &mut TrialRecorder<'_>,
    ) -> StepResult<()> {
        let session = &mut one.session;
        if let Err(failure) = self.import(session, kept, recorder)? {
            kept.failed = Some(failure.clone());
            return Ok(Err(failure));
        }
        let before = match self.round {
            1 => TrialError::split_fatal(self.settle_and_measure(&[TABLE], session))?.map(Some),
            _ => TrialError::split_fatal(self.settle(&[TABLE], false, session))?.map(|_| None),
        };
        let before = match before {
            Ok(before) => before,
            Err(failure) => return Ok(Err(failure)),
        };
        if let Err(failure) = self.exports(session, kept, recorder)? {
            return Ok(Err(failure));
        }
        for (file, test, expected) in READS {
            if let Err(failure) = self.reads(file, test, expected, session, recorder)? {
                return Ok(Err(failure));
            }
        }
        if self.round == 1 && self.own.cold {
            for (file, expected) in trials::cold_reads() {
                if let Err(failure) = self.cold(file, expected, session, recorder)? {
                    return Ok(Err(failure));
                }
            }
        }
        let copied = self.copy(session, recorder)?;
        let copied = match copied {
            Ok(copied) => copied,
            Err(failure) => return Ok(Err(failure)),
        };
        if let Some(before) = before
            && let Err(failure) = self.disk(&before, copied, session, recorder)?
        {
            return Ok(Err(failure));
        }
        if let Err(failure) = self.drop_copy(session)? {
            return Ok(Err(failure));
        }
        if let Err(failure) = self.indexes(session, recorder)? {
            return Ok(Err(failure));
        }
        if self.round == 1
            && let Some(versions) = self.own.history
            && let Err(failure) = history::write(self, versions, session, recorder)?
        {
            return Ok(Err(failure));
        }
        if self.own.update_path {
            return update::paths(self, session, recorder);
        }
        Ok(Ok(()))
    }

    /// Records all trials of the round without a record as failed, with the reason.
    fn fail_remaining(&self, failure: &Failure, recorder: &mut TrialRecorder<'_>) -> Result<(), RunError> {
        let mut failure = failure.clone();
        let round = self.round;
        for (cell, orders) in trials::cells(&self.tests, self.part, self.own, round) {
            for order in 0..orders {
                let key = cell.trial_key(round, order);
                if !recorder.has(&key) {
                    recorder.failed(key.clone(), &cell, round, order, failure.followed_by("not done"))?;
                    failure = failure.recorded_in(&key);
                }
            }
        }
        Ok(())
    }

    /// Imports the documents into a new table and verifies them by value.
    fn import(
        &self,
        session: &mut Session<'_>,
        kept: &mut TableProgress,
        recorder: &mut TrialRecorder<'_>,
    ) -> StepResult<()> {
        let cell = self.tests.import();
        let key = cell.trial_key(self.round, 0);
        let tried = TrialError::split_fatal(self.try_import(session, kept, recorder))?;
        match tried {
            Ok(trial) => {
                if !recorder.has(&key) {
                    recorder.trial(key, trial)?;
                }
                Ok(Ok(()))
            }
            Err(failure) => {
                recorder.failed(key.clone(), &cell, self.round, 0, failure.clone())?;
                Ok(Err(failure.recorded_in(&key).followed_by("the import failed")))
            }
        }
    }

    fn try_import(
        &self,
        session: &mut Session<'_>,
        kept: &mut TableProgress,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<Trial, TrialError> {
        if kept.is_fresh {
            session.open()?;
            for table in [TABLE, COPY] {
                if kept.has.contains(&table) {
                    let drop = session.statements("drop", &[("table", table)])?;
                    session.run(drop, self.limit())?;
                }
            }
            kept.has.clear();
        } else {
            session.reset_data()?;
            session.open()?;
            kept.is_fresh = true;
            kept.has.clear();
        }
        let create = session.statements("create", &[("table", TABLE)])?;
        session.run(create, self.limit())?;
        kept.has.push(TABLE);
        let plain = PlainName::of(self.file)?;
        let path = plain.text();
        let values = [("table", TABLE), ("file", path.as_str())];
        let load = match self.part.load {
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
        self.timed(&mut trial, seconds, &loaded.usage, self.source_bytes);
        trial.metrics.extend(loaded.sync_seconds.map(|seconds| ("sync_s".to_owned(), seconds)));
        put_client_memory(&mut trial, session);
        trial.verdict = match self.part.lacks("export") {
            Some(_) => Verdict::Unverified,
            None => {
                let out = self.verified_export(TABLE, self.truth.digest, session)?;
                kept.texts = Some((out.texts, out.bytes));
                Verdict::Exact
            }
        };
        Ok(trial)
    }

    fn exports(
        &self,
        session: &mut Session<'_>,
        kept: &TableProgress,
        recorder: &mut TrialRecorder<'_>,
    ) -> StepResult<()> {
        let (cell, orders) = (self.tests.export(), self.own.reads);
        if self.record_unsupported("export", &cell, orders, recorder)? {
            return Ok(Ok(()));
        }
        for order in 0..orders {
            let key = cell.trial_key(self.round, order);
            if recorder.has(&key) {
                continue;
            }
            match TrialError::split_fatal(self.export(&cell, order, session, kept))? {
                Ok(trial) => recorder.trial(key, trial)?,
                Err(failure) => return self.failed(&failure, &cell, orders, session, recorder),
            }
        }
        Ok(Ok(()))
    }

    fn export(
        &self,
        cell: &Cell,
        order: u32,
        session: &mut Session<'_>,
        kept: &TableProgress,
    ) -> Result<Trial, TrialError> {
        session.open()?;
        let statement = session.statement("export", &[("table", TABLE)])?;
        let out: ExportReply =
            session.request(&Op::Export { statement, values: false }, self.limit(), &mut |_| {})?;
        // Must be the same texts that were verified by value after the import.
        if kept.texts != Some((out.texts, out.bytes)) {
            let error = "the texts that came out are not those that came out before".to_owned();
            return Err(TrialError::failed(FailureKind::Wrong, error));
        }
        let mut trial = new_trial(cell, self.round, order);
        self.timed(&mut trial, out.seconds, &out.usage, self.source_bytes);
        trial.metrics.insert("delivered_bytes".into(), out.bytes as f64);
        put_client_memory(&mut trial, session);
        trial.verdict = Verdict::Exact;
        Ok(trial)
    }

    fn reads(
        &self,
        file: &str,
        test: &str,
        expected: Expected,
        session: &mut Session<'_>,
        recorder: &mut TrialRecorder<'_>,
    ) -> StepResult<()> {
        if !trials::has_form(self.part, file) {
            return Ok(Ok(()));
        }
        let (cell, orders) = (self.tests.read(file, Phase::Hot), self.own.reads);
        if self.record_unsupported(test, &cell, orders, recorder)? {
            return Ok(Ok(()));
        }
        let statement = match TrialError::split_fatal(session.statement(file, &[("table", TABLE)]))? {
            Ok(statement) => statement,
            Err(failure) => return Ok(Err(failure)),
        };
        self.time_query(&statement, expected, &cell, session, recorder)
    }

    fn cold(
        &self,
        file: &str,
        expected: Expected,
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
        match TrialError::split_fatal(self.try_cold(file, expected, &cell, session))? {
            Ok(trial) => {
                recorder.trial(key, trial)?;
                Ok(Ok(()))
            }
            Err(failure) => self.failed(&failure, &cell, 1, session, recorder),
        }
    }

    fn try_cold(
        &self,
        file: &str,
        expected: Expected,
        cell: &Cell,
        session: &mut Session<'_>,
    ) -> Result<Trial, TrialError> {
        session.restart_cold()?;
        let known = match session.is_remote() {
            true => None,
            false => residency(session.folder()).map_err(|error| {
                TrialError::failed(
                    FailureKind::Environment,
                    format!("failed to ask what is in memory: {error}"),
                )
            })?,
        };
        let statement = session.statement(file, &[("table", TABLE)])?;
        let answered = self.query_once(&statement, expected, session)?;
        let mut trial = self.answered(cell, 0, &answered);
        match known {
            Some(known) if known.share() <= COLD_LIMIT => {}
            _ => trial.cell.phase = Phase::ColdUnverified,
        }
        trial.metrics.extend(known.map(|known| ("resident_share".to_owned(), known.share())));
        Ok(trial)
    }
}

/// Adds the peak memory of the worker as a client, through which documents pass one by one. Not for embedded
/// engines.
fn put_client_memory(trial: &mut Trial, session: &Session<'_>) {
    let peak = session.peak_client_bytes();
    trial.metrics.extend(peak.map(|bytes| ("peak_client_bytes".to_owned(), bytes as f64)));
}
