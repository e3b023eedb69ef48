//! The fidelity workload: does a system return the document that it was given?
//!
//! Each document is stored alone in a new table, by the bulk load path and as one parameter. It is read back
//! as a whole and as the value of its member. Results are findings, not metrics: whether the document was
//! accepted or rejected, the error message, and the differences of the returned document. A document that
//! crashes the engine is a finding, too, and the run continues with the next one.

mod deepest;
mod offered;
mod outcome;
mod probe;

pub mod settings;

use std::time::Duration;

use offered::DocumentFile;
use probe::{InsertPath, Probe};
use settings::{FidelitySettings, KnownCase};

use jsonathlon_catalogue::FIDELITY;
use jsonathlon_dataset::{
    DataError,
    fidelity::{Case, Nesting},
};
use jsonathlon_schema::record::{Cell, Failure, FailureKind, Finding, Phase, Verdict};

use crate::{
    RunError,
    cells::Cells,
    observer::{Activity, RunEvent},
    recorder::{TrialRecorder, new_trial},
    run_context::{RunContext, TargetState},
    session::{Session, TrialError},
    target::Target,
    workload::Workload,
};

/// Maximum duration of one statement on one document; the run's own timeout applies if it is shorter.
const LIMIT: Duration = Duration::from_secs(60);
/// Number of consecutive failures to start an engine or create its table after which the system is skipped.
const FAILED_STARTS: u32 = 3;
/// Number of documents between two syncs of the journal, because a sync takes longer than a document.
const SYNCED: usize = 64;
/// Disk space in bytes of a table with one document, WAL included.
const DISK: u64 = 256 << 20;

/// The fidelity workload with the documents of its corpus.
#[derive(Debug)]
pub struct Fidelity {
    settings: FidelitySettings,
    cases: Vec<Case>,
    /// Kinds of nesting whose maximum depth is searched.
    nestings: Vec<Nesting>,
}

impl Fidelity {
    /// Creates the workload and reads its corpus.
    ///
    /// # Errors
    /// If the corpus cannot be read or does not contain a requested case.
    pub fn new(settings: FidelitySettings) -> Result<Self, DataError> {
        let (cases, nestings) = (settings.corpus.cases()?, settings.corpus.nestings());
        Ok(Self { settings, cases, nestings })
    }
}

impl Workload for Fidelity {
    fn name(&self) -> &'static str {
        FIDELITY
    }

    fn settings(&self) -> serde_json::Value {
        let cases: Vec<KnownCase> = self.cases.iter().map(KnownCase::of).collect();
        serde_json::json!({"corpus": self.settings.corpus, "cases": cases})
    }

    fn unsupported_reason(&self, target: &Target) -> Option<String> {
        let name = &target.configuration.system;
        target.configuration.fidelity().is_none().then(|| format!("{name} has no folder {FIDELITY}/"))
    }

    fn required_disk_bytes(&self, _: u64, systems: u64) -> u64 {
        DISK * systems
    }

    fn size_option_hint(&self) -> &'static str {
        "fewer --cases"
    }

    fn planned_keys(&self, bench: &RunContext<'_>) -> Vec<String> {
        let of = |target| {
            let cells = bench.cells(target);
            self.steps().map(move |step| cell(&cells, step).trial_key(1, 0))
        };
        bench.targets.iter().flat_map(of).collect()
    }

    fn run(&self, bench: &RunContext<'_>, recorder: &mut TrialRecorder<'_>) -> Result<(), RunError> {
        recorder.observer.event(&RunEvent::Schedule(&format!(
            "{} configurations × {} documents: each in by the bulk path and as a parameter, out whole and as a value",
            bench.targets.len(),
            self.cases.len()
        )));
        let mut all = bench.all_under_test();
        let mut ended = Ok(());
        for one in &mut all {
            ended = self.configuration(bench, one, recorder);
            one.session.kill();
            if !bench.settings.keep_data && !one.session.is_remote() {
                // Best effort: nothing depends on the removal.
                std::fs::remove_dir_all(one.session.folder()).ok();
            }
            if ended.is_err() {
                break;
            }
        }
        // The first error is returned, so the clean-up only warns.
        bench.drop_remote_objects_of(&mut all, recorder);
        ended
    }
}

fn cell(cells: &Cells<'_>, step: &str) -> Cell {
    cells.cell(step, Phase::Steady, None)
}

impl Fidelity {
    /// Names of the steps of each configuration: all cases, then all kinds of nesting.
    fn steps(&self) -> impl Iterator<Item = &str> {
        let nestings = self.nestings.iter().map(|nesting| nesting.name());
        self.cases.iter().map(|case| case.name.as_str()).chain(nestings)
    }

    /// Runs all documents through one configuration.
    fn configuration(
        &self,
        bench: &RunContext<'_>,
        one: &mut TargetState<'_>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let Some(part) = one.cells.target.configuration.fidelity() else { return Ok(()) };
        if self.steps().all(|step| recorder.has(&cell(&one.cells, step).trial_key(1, 0))) {
            return Ok(());
        }
        let what = one.cells.target.file_name();
        recorder.observer.event(&RunEvent::Began { work: Activity::Turn, what: &what });
        one.session.subject().set_activity(&what);
        one.is_loaded = true;
        let file = DocumentFile::new(&bench.work, &what)?;
        let limit = LIMIT.min(Duration::from_secs_f64(bench.settings.timeout_s));
        let mut starts = RestartFailures::default();
        for (place, case) in self.cases.iter().enumerate() {
            if place % SYNCED == 0 {
                recorder.sync()?;
            }
            starts.tried(&cell(&one.cells, &case.name), one, recorder, |session| {
                file.write(&case.bytes)?;
                both_ways(&Probe { case, part, file: &file.path, limit }, session)
            })?;
        }
        for nesting in &self.nestings {
            starts.tried(&cell(&one.cells, nesting.name()), one, recorder, |session| {
                deepest::find(*nesting, part, &file, limit, session)
            })?;
        }
        recorder.sync()?;
        if let Err(failure) = TrialError::split_fatal(one.session.close())? {
            recorder.warn(&format!("{what}: failed to close: {}", failure.error));
        }
        Ok(())
    }
}

/// Stores a document in both ways. A crash in one of them does not prevent the other.
fn both_ways(probe: &Probe<'_>, session: &mut Session<'_>) -> Result<Vec<Finding>, TrialError> {
    let mut all = Vec::new();
    for way in InsertPath::BOTH {
        if session.pid().is_none() {
            // The data of an engine that was killed may be unusable, so the next engine starts with an empty
            // folder.
            session.reset_data()?;
            session.open()?;
        }
        let (findings, is_rankable) = probe.through(way, session)?;
        all.extend(findings);
        if !is_rankable {
            session.kill();
        }
    }
    Ok(all)
}

/// Number of consecutive failures, and the last one.
#[derive(Default)]
struct RestartFailures {
    failed: u32,
    last: Option<Failure>,
}

impl RestartFailures {
    /// Runs the work that returns the findings of one cell, unless they are recorded or too many starts have
    /// failed.
    fn tried(
        &mut self,
        cell: &Cell,
        one: &mut TargetState<'_>,
        recorder: &mut TrialRecorder<'_>,
        findings: impl FnOnce(&mut Session<'_>) -> Result<Vec<Finding>, TrialError>,
    ) -> Result<(), RunError> {
        let key = cell.trial_key(1, 0);
        if recorder.has(&key) {
            return Ok(());
        }
        if let Some(failure) = self.given_up() {
            return recorder.failed(key, cell, 1, 0, failure);
        }
        match TrialError::split_fatal(findings(&mut one.session))? {
            Ok(findings) => {
                *self = Self::default();
                let mut trial = new_trial(cell, 1, 0);
                trial.verdict = Verdict::Exact;
                trial.findings = findings;
                recorder.trial_unsynced(key, trial)
            }
            Err(failure) => {
                one.session.kill();
                recorder.failed(key.clone(), cell, 1, 0, failure.clone())?;
                self.failed(failure.recorded_in(&key));
                Ok(())
            }
        }
    }

    fn failed(&mut self, failure: Failure) {
        self.failed += 1;
        self.last = Some(failure);
    }

    /// Failure of the remaining cells after [`FAILED_STARTS`] failures in a row; `None` before that.
    fn given_up(&self) -> Option<Failure> {
        let last = self.last.as_ref().filter(|_| self.failed >= FAILED_STARTS)?;
        let words = format!("not tried: it failed {} times in a row", self.failed);
        Some(Failure { kind: FailureKind::Environment, ..last.followed_by(&words) })
    }
}
