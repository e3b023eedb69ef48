//! Brings a system to the data as loaded: loads or restores them, starts the system and warms it up.

use std::time::Duration;

use jsonathlon_loadgen::mix::{Mix, RequestDistribution};
use jsonathlon_loadgen::operation::Operation;
use jsonathlon_loadgen::report::JobReport;
use jsonathlon_schema::record::{Failure, FailureKind};
use jsonathlon_stats::arrival::Arrival;

use super::ServingTurn;
use crate::RunError;
use crate::pinning;
use crate::questions::DocumentSet;
use crate::recorder::TrialRecorder;
use crate::run_context::TABLE;
use crate::serving::{ServingTarget, baseline, scripts, trials, wal};
use crate::session::{TrialError, as_str_pairs};
use crate::snapshot::Snapshot;

/// Maximum seconds of unmeasured reads that warm up a system after its start.
const WARM_UP_S: f64 = 1.0;
/// Maximum number of clients that warm up a system.
const WARM_UP_CLIENTS: u32 = 8;

impl<'a> ServingTurn<'_, '_, 'a> {
    /// Loads the data or restores the snapshot of the last load, then starts the system and warms it up.
    pub(in crate::serving) fn restore_loaded_data(
        &self,
        is_load_due: bool,
        target: &mut ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<Result<(), Failure>, RunError> {
        self.restore_stopped(is_load_due, target, recorder)?;
        if let Err(failure) = &target.state.load_result {
            return Ok(Err(failure.clone()));
        }
        TrialError::split_fatal(self.start(target, recorder))
    }

    /// Loads the data or restores the snapshot of the last load, and leaves the system stopped. A failure is in the
    /// target's load result.
    pub(in crate::serving) fn restore_stopped(
        &self,
        is_load_due: bool,
        target: &mut ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let context = self.context;
        target.has_run = false;
        target.load_number += 1;
        target.state.session.kill();
        let has_writes = self.settings.mixes.iter().any(|mix| !trials::only_reads(mix));
        if is_load_due || !target.state.is_loaded || (has_writes && target.snapshot.is_none()) {
            target.snapshot = None;
            context.load(self.round, &mut target.state, recorder)?;
            if let Ok(loaded) = &target.state.load_result {
                target.documents = DocumentSet::new(context.staged, loaded);
            }
            if target.state.load_result.is_ok()
                && let Err(failure) = TrialError::split_fatal(self.complete_load(target, recorder))?
            {
                target.state.load_result = Err(self.record_load_fault(failure, target, recorder)?);
            }
            if target.state.load_result.is_ok() && has_writes && !target.state.session.is_remote() {
                let snapshot = Snapshot::take(target.state.session.folder());
                target.snapshot = Some(snapshot.map_err(RunError::io("copy the loaded data"))?);
            }
        } else if let Some(snapshot) = &target.snapshot {
            snapshot.restore().map_err(RunError::io("put the loaded data back"))?;
        }
        Ok(())
    }

    /// Records that what follows a load found it wrong: the system holds other documents than it reported, so that the
    /// load itself is void. Returns the failure for what is not done because of it.
    fn record_load_fault(
        &self,
        failure: Failure,
        target: &ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<Failure, RunError> {
        if failure.kind != FailureKind::Wrong {
            return Ok(failure);
        }
        let (round, load) = (self.round, target.state.cells.load());
        let key = load.trial_key(round, 1);
        recorder.record_failure(key.clone(), &load, round, 1, failure.clone())?;
        Ok(failure.with_cause_key(&key))
    }

    /// Timeout of statements that process all documents.
    pub(super) fn load_limit(&self) -> Duration {
        Duration::from_secs_f64(self.context.settings.load_timeout_s)
    }

    /// Does what follows a load: builds an index, and reads back what the system made of a user's documents.
    fn complete_load(
        &self,
        target: &mut ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), TrialError> {
        self.build_path_index(target)?;
        baseline::read(self.context, self.settings, target, recorder)
    }

    /// Builds the index that only searches by a nested value need, if the mixes have such searches.
    fn build_path_index(&self, target: &mut ServingTarget<'a>) -> Result<(), TrialError> {
        let has_search = |mix: &Mix| {
            mix.shares.iter().any(|(operation, _)| matches!(operation, Operation::Find | Operation::Count))
        };
        if !self.settings.mixes.iter().any(has_search) {
            return Ok(());
        }
        let values = scripts::statement_values(
            &target.setup,
            target.records.paths(),
            self.settings.projection,
            Operation::Find,
        );
        let values = as_str_pairs(&values);
        let statements = target.state.session.statements("index_path", &values)?;
        if statements.is_empty() {
            return Ok(());
        }
        target.state.session.open()?;
        target.state.session.run(statements, self.load_limit())?;
        target.state.session.close()
    }

    fn start(
        &self,
        target: &mut ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), TrialError> {
        target.state.session.open()?;
        if let Some(cpus) = &self.settings.server_cpus
            && let Some(server) = target.state.session.engine_pid()
            && target.state.session.worker_pid() != Some(server)
        {
            pinning::pin(server, cpus).map_err(|error| {
                TrialError::failed(FailureKind::Environment, format!("failed to pin the server: {error}"))
            })?;
        }
        let statements = target.state.session.statements("warm", &[("table", TABLE)])?;
        if !statements.is_empty() {
            target.state.session.run(statements, self.load_limit())?;
        }
        let warm_up_mix = Mix {
            name: "warm-up".into(),
            shares: vec![(Operation::Read, 1.0)],
            requests: RequestDistribution::Uniform,
        };
        if scripts::missing_operations(&target.setup, &warm_up_mix).is_empty() {
            let clients = target.setup.clients.unwrap_or(WARM_UP_CLIENTS).min(WARM_UP_CLIENTS);
            // Not longer than a trial, so that tiny test runs stay short.
            let seconds = WARM_UP_S.min(self.settings.warmup_s + self.settings.duration_s);
            let job = self.job(&warm_up_mix, clients, Arrival::Closed, (0.0, seconds), target)?;
            let report: JobReport = self.drive(&job, target, recorder)?;
            if let Some(answer) = report.wrong_answers.first() {
                return Err(TrialError::failed(
                    FailureKind::Wrong,
                    format!("documents are not what was loaded: {answer}"),
                ));
            }
        }
        let has_writes = self.settings.mixes.iter().any(|mix| !trials::only_reads(mix));
        if has_writes && target.idle_wal_bytes_per_s.is_none() {
            let idle_s = self.settings.duration_s.min(wal::MAX_IDLE_S);
            target.idle_wal_bytes_per_s =
                wal::idle_bytes_per_s(&mut target.state.session, &target.setup, idle_s)?;
        }
        Ok(())
    }
}
