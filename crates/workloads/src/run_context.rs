//! The environment of a workload, and the state of one configuration in it.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use jsonathlon_dataset::stage::StagedDocuments;
use jsonathlon_schema::id::DataState;
use jsonathlon_schema::metric;
use jsonathlon_schema::record::{Failure, FailureKind, Metrics, Verdict};
use jsonathlon_schema::settings::{PageCachePolicy, RunSettings};
use jsonathlon_telemetry::control::Control;
use jsonathlon_telemetry::series::SubjectHandle;

use crate::RunError;
use crate::cells::{Cells, control_cell};
use crate::earlier_time::EarlierTime;
use crate::engine::WorkerCommand;
use crate::expected_time::RunOutline;
use crate::recorder::{TrialRecorder, new_trial};
use crate::session::{Session, TrialError};
use crate::stopping::RoundController;
use crate::target::Target;

/// Name of the only table that every system has.
pub const TABLE: &str = "documents";

/// Number of the first round, in which every target is loaded.
pub(crate) const FIRST_ROUND: u32 = 1;

/// Timeout of statements that only look up a value.
pub(crate) const LOOKUP_TIMEOUT: Duration = Duration::from_secs(600);

/// Documents that a system holds: all offered documents except the rejected ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoadedDocuments {
    /// Line numbers in the clean file of the rejected documents, from 0.
    pub rejected_lines: HashSet<u64>,
    /// Indices into [`StagedDocuments::suspects`] of the accepted suspects, ascending.
    pub accepted_suspects: Vec<usize>,
}

/// Environment that a run passes to its workload: targets, documents, settings and folders.
pub struct RunContext<'a> {
    /// Name of the workload in the journal.
    pub workload: &'static str,
    /// Configurations under test, in the order of the plan.
    pub targets: &'a [Target],
    /// Staged documents, ready for loading.
    pub staged: &'a StagedDocuments,
    /// Settings that all workloads share.
    pub settings: &'a RunSettings,
    /// Measured read bandwidth of the disk, bytes per second; `None` if unknown.
    pub disk_bytes_per_s: Option<f64>,
    pub(crate) worker: &'a WorkerCommand,
    pub(crate) work_folder: PathBuf,
    pub(crate) log_folder: PathBuf,
    /// Whether the run continues an interrupted one.
    pub(crate) is_resumed: bool,
    /// Start of the current process's work. A time budget covers the time since then plus `earlier_time`.
    pub(crate) started_at: Instant,
    pub(crate) earlier_time: EarlierTime,
    /// Handle that gives the telemetry sampler the system under test.
    pub(crate) subject: SubjectHandle,
    pub(crate) cancelled: &'a dyn Fn() -> bool,
}

/// One configuration under test: its session and the result of its last load.
pub struct TargetState<'a> {
    /// Session of the configuration; its engine may be stopped.
    pub session: Session<'a>,
    /// Builder of the configuration's cells.
    pub cells: Cells<'a>,
    /// Whether the current process has loaded the system.
    pub(crate) is_loaded: bool,
    /// Documents that the system holds, or why no trial can run on it.
    pub load_result: Result<LoadedDocuments, Failure>,
    /// Duration of the last load, and of the settle after it, in seconds.
    pub(crate) load_s: f64,
    pub(crate) settle_s: f64,
}

impl<'a> RunContext<'a> {
    /// Returns the cell builder of a target.
    #[must_use]
    pub fn cells(&self, target: &'a Target) -> Cells<'a> {
        Cells { workload: self.workload, target, documents: self.staged.documents }
    }

    /// Creates the state of every target before its load.
    #[must_use]
    pub fn target_states(&self) -> Vec<TargetState<'a>> {
        self.targets.iter().map(|target| self.target_state(target, &target.file_name())).collect()
    }

    /// Creates the state of a target before its load; `name` is the name of its data folder and its log.
    pub(crate) fn target_state(&self, target: &'a Target, name: &str) -> TargetState<'a> {
        let session = self.session_in(target, self.work_folder.join(name), name);
        TargetState {
            session,
            cells: self.cells(target),
            is_loaded: false,
            load_result: Err(Failure::new(FailureKind::Environment, "it was not loaded")),
            load_s: 0.0,
            settle_s: 0.0,
        }
    }

    /// Creates a session of a target with its data in `folder`. `name` is the base name of the log files.
    pub(crate) fn session_in(&self, target: &'a Target, folder: PathBuf, name: &str) -> Session<'a> {
        let mut session = Session::new(
            target,
            self.worker,
            folder,
            self.log_folder.join(format!("{name}.log")),
            self.settings.cores,
            self.subject.clone(),
            self.cancelled,
        );
        if let PageCachePolicy::Capped(bytes) = self.settings.page_cache {
            session.memory_limit_bytes = Some(bytes);
        }
        session
    }

    /// Removes the run's databases from remote servers, however the run ended, unless data is kept.
    /// A resumed run also removes what the interrupted run created. A removal that fails is a warning.
    pub fn drop_remote_objects_of(
        &self,
        target_states: &mut [TargetState<'_>],
        recorder: &mut TrialRecorder<'_>,
    ) {
        for target_state in target_states {
            let keep_data = self.settings.keep_data;
            let result = match self.is_resumed && !target_state.is_loaded {
                true => target_state.session.drop_leftovers(keep_data),
                false => target_state.session.drop_remote_objects(keep_data),
            };
            if let Err(TrialError::Failed(failure)) = result {
                let system = target_state.cells.target.file_name();
                recorder.warn(&format!("{system}: not removed: {}", failure.error));
            }
        }
    }

    /// What the expected duration of the run depends on.
    #[must_use]
    pub fn outline(&self) -> RunOutline<'a> {
        let configurations = self.targets.iter().map(|target| &target.configuration).collect();
        RunOutline::new(configurations, self.settings, self.staged.documents, self.staged.bytes)
    }

    /// Time that the run has taken so far, without pauses between its processes.
    #[must_use]
    pub fn elapsed_s(&self) -> f64 {
        self.earlier_time.seconds + self.started_at.elapsed().as_secs_f64()
    }

    /// Creates the round counter from now on. If the workload has data states, only rounds in `state` count.
    pub(crate) fn round_controller(&self, state: Option<DataState>) -> RoundController {
        RoundController::new(
            self.settings.stopping,
            self.settings.rounds,
            self.elapsed_s(),
            self.earlier_time.round_seconds(state),
        )
    }

    /// Times the control kernels, which show how fast the machine is independently of the systems. `position`
    /// is the position of the turn within the round.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn time_control(
        &self,
        round: u32,
        position: usize,
        control: &mut Control,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let order = u32::try_from(position).unwrap_or(u32::MAX);
        let cell = control_cell(self.workload);
        let key = cell.trial_key(round, order);
        if recorder.has(&key) {
            return Ok(());
        }
        let times = control.slice();
        let mut trial = new_trial(&cell, round, order);
        trial.verdict = Verdict::Exact;
        trial.metrics = Metrics::from([
            metric::CONTROL_MEMORY_S.with_value(times.memory_s),
            metric::CONTROL_COMPUTE_S.with_value(times.compute_s),
        ]);
        recorder.record_trial(key, trial)
    }
}
