//! What every workload works with, and one configuration at work.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use jsonathlon_dataset::stage::Staged;
use jsonathlon_measure::control::Control;
use jsonathlon_measure::series::Subject;
use jsonathlon_results::id::State;
use jsonathlon_results::record::{Failure, FailureKind, Metrics, Verdict};

use crate::RunError;
use crate::cells::{Cells, control_cell};
use crate::engine::WorkerCommand;
use crate::pace::Pace;
use crate::recorder::{Recorder, blank};
use crate::session::{Ended, Session};
use crate::settings::{PageCache, Settings};
use crate::spent::Spent;
use crate::target::Target;

/// The one table of every system.
pub const TABLE: &str = "documents";

/// Limit of statements that only look something up.
pub(crate) const LOOK_UP: Duration = Duration::from_secs(600);

/// The documents that a system holds: all that were offered but these.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accepted {
    /// Lines of the clean file that it refused, from 0.
    pub refused_lines: HashSet<u64>,
    /// Places of the suspects that it took, in order.
    pub suspects: Vec<usize>,
}

/// What a run gives its workload: targets, documents, settings, and where everything lies.
pub struct Bench<'a> {
    /// The workload's name in records.
    pub workload: &'static str,
    /// Configurations under test.
    pub targets: &'a [Target],
    /// The documents.
    pub staged: &'a Staged,
    /// Settings that all workloads share.
    pub settings: &'a Settings,
    /// Measured read bandwidth of the disk, bytes per second.
    pub disk_bytes_per_s: Option<f64>,
    pub(crate) worker: &'a WorkerCommand,
    pub(crate) work: PathBuf,
    pub(crate) logs: PathBuf,
    /// Whether the run goes on with an interrupted one.
    pub(crate) resumed: bool,
    /// When the program began with it, of which its budget is counted, together with what was spent before.
    pub(crate) begun: Instant,
    pub(crate) spent: Spent,
    /// The system under test, as the run's series sees it.
    pub(crate) subject: Subject,
    pub(crate) cancelled: &'a dyn Fn() -> bool,
}

/// One configuration at work: its session, and what is known of its last load.
pub struct UnderTest<'a> {
    /// Its session.
    pub session: Session<'a>,
    /// Its cells.
    pub cells: Cells<'a>,
    /// Whether it was loaded since the program began.
    pub(crate) is_loaded: bool,
    /// What it holds, or why nothing is asked of it.
    pub holds: Result<Accepted, Failure>,
    /// Seconds that its last load took, and its draining after that.
    pub(crate) load_s: f64,
    pub(crate) drained_s: f64,
}

impl<'a> Bench<'a> {
    /// The cells of a target.
    #[must_use]
    pub fn cells(&self, target: &'a Target) -> Cells<'a> {
        Cells { workload: self.workload, target, documents: self.staged.documents }
    }

    /// Every target before its load.
    #[must_use]
    pub fn all_under_test(&self) -> Vec<UnderTest<'a>> {
        self.targets.iter().map(|target| self.under_test(target, &target.file_name())).collect()
    }

    /// A target before its load, in a folder of this name.
    pub(crate) fn under_test(&self, target: &'a Target, name: &str) -> UnderTest<'a> {
        let session = self.session_in(target, self.work.join(name), name);
        UnderTest {
            session,
            cells: self.cells(target),
            is_loaded: false,
            holds: Err(Failure::new(FailureKind::Environment, "it was not loaded")),
            load_s: 0.0,
            drained_s: 0.0,
        }
    }

    /// A session of a target whose data lie in `folder`; its logs are called `name`.
    pub(crate) fn session_in(&self, target: &'a Target, folder: PathBuf, name: &str) -> Session<'a> {
        let mut session = Session::new(
            target,
            self.worker,
            folder,
            self.logs.join(format!("{name}.log")),
            self.settings.cores,
            self.subject.clone(),
            self.cancelled,
        );
        if let PageCache::Capped(bytes) = self.settings.page_cache {
            session.most_memory = Some(bytes);
        }
        session
    }

    /// Removes what the run's configurations have left elsewhere. However the run ended, a guest leaves nothing
    /// behind, and what an interrupted run of the same name has left goes too.
    pub fn leave(&self, all: &mut [UnderTest<'_>], recorder: &mut Recorder<'_>) {
        for one in all {
            let keep = self.settings.keep_data;
            let left = match self.resumed && !one.is_loaded {
                true => one.session.leave_behind_nothing(keep),
                false => one.session.leave(keep),
            };
            if let Err(Ended::Failed(failure)) = left {
                recorder.warn(&format!("{}: not removed: {}", one.cells.target.file_name(), failure.error));
            }
        }
    }

    /// Seconds that the run has taken so far; what it was interrupted is none of it.
    #[must_use]
    pub fn elapsed_s(&self) -> f64 {
        self.spent.seconds + self.begun.elapsed().as_secs_f64()
    }

    /// Counts the rounds from now on, those in one state of the data where there are several.
    pub(crate) fn pace(&self, state: Option<State>) -> Pace {
        Pace::new(self.settings.enough, self.settings.rounds, self.elapsed_s(), self.spent.rounds(state))
    }

    /// Times the control: how fast the machine is at this moment, whatever the systems do. `place` is the turn's
    /// within the round.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn control(
        &self,
        round: u32,
        place: usize,
        control: &mut Control,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), RunError> {
        let order = u32::try_from(place).unwrap_or(u32::MAX);
        let cell = control_cell(self.workload);
        let key = cell.trial_key(round, order);
        if recorder.has(&key) {
            return Ok(());
        }
        let times = control.slice();
        let mut trial = blank(&cell, round, order);
        trial.verdict = Verdict::Exact;
        trial.metrics = Metrics::from([
            ("control_memory_s".to_owned(), times.memory_s),
            ("control_compute_s".to_owned(), times.compute_s),
        ]);
        recorder.trial(key, trial)
    }
}
