//! The analytics workload: the same documents into one JSON column of every system, then the five
//! questions of the billion-document JSON challenge and one that nobody prepared for.

mod ask;
mod load;
mod record;
mod refused;
mod rounds;
mod settle;

pub mod bound;
pub mod plan;
pub mod structure;
pub mod verify;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use jsonathlon_dataset::reference::Answers;
use jsonathlon_dataset::stage::Staged;
use jsonathlon_measure::series::Subject;
use jsonathlon_results::record::{Failure, FailureKind};

use crate::RunError;
use crate::session::{AskError, Session, WorkerCommand};
use crate::settings::Settings;
use crate::target::Target;
pub(crate) use load::is_json;
use plan::Cells;
pub(crate) use record::Recorder;
pub(crate) use record::cell_result;

/// The one table of every system.
pub(crate) const TABLE: &str = "documents";
/// The table in which single documents are tried.
pub(crate) const PROBE: &str = "documents_on_trial";

/// Limit of statements that only look something up.
const LOOK_UP: Duration = Duration::from_secs(600);

/// Everything that the targets of one run share.
pub(crate) struct Analytics<'a> {
    pub(crate) targets: &'a [Target],
    pub(crate) staged: &'a Staged,
    pub(crate) settings: &'a Settings,
    pub(crate) disk_bytes_per_s: Option<f64>,
    pub(crate) worker: &'a WorkerCommand,
    pub(crate) work: PathBuf,
    pub(crate) logs: PathBuf,
    /// Whether the run goes on with an interrupted one.
    pub(crate) resumed: bool,
    /// When the run began, of which its budget is counted.
    pub(crate) begun: Instant,
    /// The system under test, as the run's series sees it.
    pub(crate) subject: Subject,
    pub(crate) cancelled: &'a dyn Fn() -> bool,
}

/// A target with what is known of its last load.
struct Prepared<'a> {
    session: Session<'a>,
    cells: Cells<'a>,
    /// Whether it was loaded since the program began.
    is_loaded: bool,
    /// What its questions must answer, or why they are not asked.
    answers: Result<Answers, Failure>,
    /// Seconds that its last load took, and its draining after that.
    load_s: f64,
    drained_s: f64,
}

impl<'a> Analytics<'a> {
    /// The keys of all planned trials.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.targets.iter().flat_map(|target| self.cells(target).keys(self.settings)).collect()
    }

    fn cells(&self, target: &'a Target) -> Cells<'a> {
        Cells { target, documents: self.staged.documents }
    }

    /// Loads targets and asks them in rounds, in every state that was asked for.
    pub(crate) fn run(&self, recorder: &mut Recorder<'_>) -> Result<(), RunError> {
        let mut prepared: Vec<Prepared<'a>> =
            self.targets.iter().map(|target| self.prepared(target)).collect();
        let ended = self.all(&mut prepared, recorder);
        // However it ended, a guest leaves nothing behind, and what an interrupted run of the same name has left
        // goes too; the first error is the one that matters.
        for one in &mut prepared {
            let keep = self.settings.keep_data;
            let left = match self.resumed && !one.is_loaded {
                true => one.session.leave_behind_nothing(keep),
                false => one.session.leave(keep),
            };
            if let Err(AskError::Failed(failure)) = left {
                recorder.warn(&format!("{}: not removed: {}", one.cells.target.file_name(), failure.error));
            }
        }
        ended
    }

    /// A target before its load.
    fn prepared(&self, target: &'a Target) -> Prepared<'a> {
        let session = Session::new(
            target,
            self.worker,
            self.work.join(target.file_name()),
            self.logs.join(format!("{}.log", target.file_name())),
            self.settings.cores,
            self.subject.clone(),
            self.cancelled,
        );
        let answers = Err(Failure { kind: FailureKind::Environment, error: "it was not loaded".into() });
        Prepared {
            session,
            cells: self.cells(target),
            is_loaded: false,
            answers,
            load_s: 0.0,
            drained_s: 0.0,
        }
    }
}

fn not_asked(failure: &Failure) -> Failure {
    Failure { kind: failure.kind, error: format!("not done, because loading failed: {}", failure.error) }
}
