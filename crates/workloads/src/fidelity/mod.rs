//! The fidelity workload: does a system return the document that it was given?
//!
//! Each document is stored alone in a new table, by the bulk load path and as one parameter. It is read back
//! as a whole and as the value of its member. Results are findings, not metrics: whether the document was
//! accepted or rejected, the error message, and the differences of the returned document. A document that
//! crashes the engine is a finding, too, and the run continues with the next one.

mod depth_search;
mod document_file;
mod outcome;
mod probe;

use std::time::Duration;

use document_file::DocumentFile;
use probe::{InsertPath, Probe};

use jsonathlon_catalogue::FIDELITY;
use jsonathlon_dataset::{
    DataError,
    fidelity::{Case, Nesting, display_bytes, selected_cases, selected_nestings},
};
use jsonathlon_schema::{
    id::DataState,
    record::{Cell, Failure, FailureKind, Finding, Phase, Verdict},
    settings::{
        WorkloadSettings,
        fidelity::{CorpusSelection, FidelitySettings, KnownCase},
    },
};

use crate::{
    RunError,
    cells::Cells,
    expected_time::{ExpectedPart, ExpectedTime, RunOutline, RunPart, TypicalTimes},
    observer::{Activity, RunEvent},
    recorder::{TrialRecorder, new_trial},
    run_context::{RunContext, TargetState},
    session::{Session, TrialError},
    target::Target,
    workload::Workload,
};

/// Maximum duration of one statement on one document; the run's own timeout applies if it is shorter.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(60);
/// Number of consecutive failures to start an engine or create its table after which the system is skipped.
const MAX_FAILED_STARTS: u32 = 3;
/// Number of documents between two syncs of the journal, because a sync takes longer than a document.
const SYNC_INTERVAL: usize = 64;
/// Maximum number of bytes of a document that the manifest keeps for reports.
const SHOWN_BYTES: usize = 400;
/// Disk space in bytes of a table with one document, WAL included.
const DISK: u64 = 256 << 20;
/// The only part of the run.
const CASES: RunPart = RunPart::Rounds(DataState::Drained);
/// Expected number of statements for one document, stored in both ways.
const STATEMENTS: f64 = 12.0;
/// Expected number of documents with which the maximum depth of one kind of nesting is searched.
const SEARCHED_DEPTHS: f64 = 20.0;

/// The fidelity workload with the documents of its corpus.
#[derive(Debug)]
pub struct Fidelity {
    corpus: CorpusSelection,
    cases: Vec<Case>,
    /// Kinds of nesting whose maximum depth is searched.
    nestings: Vec<Nesting>,
}

impl Fidelity {
    /// Creates the workload and reads its corpus.
    ///
    /// # Errors
    /// If the corpus cannot be read or does not contain a requested case.
    pub fn new(corpus: CorpusSelection) -> Result<Self, DataError> {
        let (cases, nestings) = (selected_cases(&corpus)?, selected_nestings(&corpus));
        Ok(Self { corpus, cases, nestings })
    }
}

impl Workload for Fidelity {
    fn name(&self) -> &'static str {
        FIDELITY
    }

    fn settings(&self) -> Result<WorkloadSettings, serde_json::Error> {
        let cases = self.cases.iter().map(known_case).collect();
        let fidelity = Some(FidelitySettings { corpus: self.corpus.clone(), cases });
        Ok(WorkloadSettings { fidelity, ..WorkloadSettings::default() })
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

    fn measures_times(&self) -> bool {
        false
    }

    fn expected_time(&self, outline: &RunOutline<'_>) -> ExpectedTime {
        let documents = self.cases.len() as f64 + SEARCHED_DEPTHS * self.nestings.len() as f64;
        let turn = |times: TypicalTimes| times.start_s + documents * STATEMENTS * times.statement_s;
        let turns = outline.configurations.iter().map(|one| turn(TypicalTimes::of(one))).collect();
        ExpectedTime::new(vec![ExpectedPart::once(CASES, turns)], outline.settings)
    }

    fn planned_keys(&self, context: &RunContext<'_>) -> Vec<String> {
        let keys_of = |target| {
            let cells = context.cells(target);
            self.steps().map(move |step| cell(&cells, step).trial_key(1, 0))
        };
        context.targets.iter().flat_map(keys_of).collect()
    }

    fn run(&self, context: &RunContext<'_>, recorder: &mut TrialRecorder<'_>) -> Result<(), RunError> {
        recorder.observer.event(&RunEvent::Schedule(&format!(
            "{} configurations × {} documents: each in by the bulk path and as a parameter, \
             out whole and as a value",
            context.targets.len(),
            self.cases.len()
        )));
        let mut targets = context.target_states();
        let mut result = Ok(());
        for (index, state) in targets.iter_mut().enumerate() {
            result = self.run_configuration(context, state, recorder);
            recorder.end_turn(CASES, 1, index, state.cells.target);
            state.session.kill();
            if !context.settings.keep_data && !state.session.is_remote() {
                // Best effort: nothing depends on the removal.
                std::fs::remove_dir_all(state.session.folder()).ok();
            }
            if result.is_err() {
                break;
            }
        }
        // The first error is returned, so the clean-up only warns.
        context.drop_remote_objects_of(&mut targets, recorder);
        result
    }
}

/// Describes a case for the manifest.
fn known_case(case: &Case) -> KnownCase {
    KnownCase {
        name: case.name.clone(),
        requirement: case.requirement,
        source: case.source.clone(),
        probes: case.probes.clone(),
        decides_i_json: case.decides_i_json(),
        bytes: case.bytes.len() as u64,
        document: display_bytes(&case.bytes, SHOWN_BYTES),
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
    fn run_configuration(
        &self,
        context: &RunContext<'_>,
        state: &mut TargetState<'_>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let Some(setup) = state.cells.target.configuration.fidelity() else { return Ok(()) };
        if self.steps().all(|step| recorder.has(&cell(&state.cells, step).trial_key(1, 0))) {
            return Ok(());
        }
        let name = state.cells.target.file_name();
        recorder.observer.event(&RunEvent::Began { activity: Activity::TargetTurn, description: &name });
        state.session.subject().set_activity(&name);
        state.is_loaded = true;
        let file = DocumentFile::new(&context.work_folder, &name)?;
        let limit = STATEMENT_TIMEOUT.min(Duration::from_secs_f64(context.settings.timeout_s));
        let mut failures = RestartFailures::default();
        for (index, case) in self.cases.iter().enumerate() {
            if index % SYNC_INTERVAL == 0 {
                recorder.sync()?;
            }
            failures.run_cell(&cell(&state.cells, &case.name), state, recorder, |session| {
                file.write(&case.bytes)?;
                insert_both_ways(&Probe { case, setup, file: &file.path, limit }, session)
            })?;
        }
        for nesting in &self.nestings {
            failures.run_cell(&cell(&state.cells, nesting.name()), state, recorder, |session| {
                depth_search::find(*nesting, setup, &file, limit, session)
            })?;
        }
        recorder.sync()?;
        if let Err(failure) = TrialError::split_fatal(state.session.close())? {
            recorder.warn(&format!("{name}: failed to close the session: {}", failure.error));
        }
        Ok(())
    }
}

/// Stores a document in both ways. A crash in one of them does not prevent the other.
fn insert_both_ways(probe: &Probe<'_>, session: &mut Session<'_>) -> Result<Vec<Finding>, TrialError> {
    let mut all_findings = Vec::new();
    for insert_path in InsertPath::BOTH {
        if session.worker_pid().is_none() {
            // The data of an engine that was killed may be unusable, so the next engine starts with an empty
            // folder.
            session.reset_data()?;
            session.open()?;
        }
        let (findings, is_healthy) = probe.run(insert_path, session)?;
        all_findings.extend(findings);
        if !is_healthy {
            session.kill();
        }
    }
    Ok(all_findings)
}

/// Number of consecutive failures, and the last one.
#[derive(Default)]
struct RestartFailures {
    count: u32,
    last: Option<Failure>,
}

impl RestartFailures {
    /// Records the findings of one cell that `find` returns, unless they are recorded or too many starts
    /// have failed.
    fn run_cell(
        &mut self,
        cell: &Cell,
        state: &mut TargetState<'_>,
        recorder: &mut TrialRecorder<'_>,
        find: impl FnOnce(&mut Session<'_>) -> Result<Vec<Finding>, TrialError>,
    ) -> Result<(), RunError> {
        let key = cell.trial_key(1, 0);
        if recorder.has(&key) {
            return Ok(());
        }
        if let Some(failure) = self.skip_failure() {
            return recorder.record_failure(key, cell, 1, 0, failure);
        }
        match TrialError::split_fatal(find(&mut state.session))? {
            Ok(findings) => {
                *self = Self::default();
                let mut trial = new_trial(cell, 1, 0);
                trial.verdict = Verdict::Exact;
                trial.findings = findings;
                recorder.record_trial_unsynced(key, trial)
            }
            Err(failure) => {
                state.session.kill();
                recorder.record_failure(key.clone(), cell, 1, 0, failure.clone())?;
                self.record(failure.with_cause_key(&key));
                Ok(())
            }
        }
    }

    fn record(&mut self, failure: Failure) {
        self.count += 1;
        self.last = Some(failure);
    }

    /// Failure of the remaining cells after [`MAX_FAILED_STARTS`] failures in a row; `None` before that.
    fn skip_failure(&self) -> Option<Failure> {
        let last = self.last.as_ref().filter(|_| self.count >= MAX_FAILED_STARTS)?;
        let message = format!("not tried: it failed {} times in a row", self.count);
        Some(Failure { kind: FailureKind::Environment, ..last.consequence(&message) })
    }
}
