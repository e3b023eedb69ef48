//! The fidelity workload: does a system give back the document it was given?
//!
//! Each document goes alone into a fresh table, by the bulk path and as one parameter, and comes out whole and as the
//! value of its member. What was accepted, what was refused and with which words, and how what came back differs are
//! findings, not figures. A document that ends the engine is a finding too: the others go on.

mod deepest;
mod offered;
mod outcome;
mod probe;

pub mod settings;

use std::time::Duration;

use jsonathlon_dataset::DataError;
use jsonathlon_dataset::fidelity::{Case, Nesting};
use jsonathlon_results::record::{Cell, Failure, FailureKind, Finding, Phase, Verdict};
use jsonathlon_systems::FIDELITY;

use crate::RunError;
use crate::bench::{Bench, UnderTest};
use crate::cells::Cells;
use crate::observer::{Event, Work};
use crate::recorder::{Recorder, blank};
use crate::session::{Ended, Session};
use crate::target::Target;
use crate::workload::Workload;
use offered::DocumentFile;
use probe::{Probe, Way};
use settings::{FidelitySettings, KnownCase};

/// Longest that one statement over one document may take; the run's own limit counts where it is shorter.
const LIMIT: Duration = Duration::from_secs(60);
/// How often in a row an engine may not come up, or not make its table, before nothing more is tried with it.
const FAILED_STARTS: u32 = 3;
/// Documents after which the journal is waited for: a document takes less time than that.
const SYNCED: usize = 64;
/// Bytes on the disk of a table with one document, its logs included.
const DISK: u64 = 256 << 20;

/// The workload.
#[derive(Debug)]
pub struct Fidelity {
    settings: FidelitySettings,
    cases: Vec<Case>,
    /// What is looked for the deepest document of.
    nestings: Vec<Nesting>,
}

impl Fidelity {
    /// With these settings.
    ///
    /// # Errors
    /// The corpus cannot be read, or a case that is named is not in it.
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

    fn refuses(&self, target: &Target) -> Option<String> {
        let name = &target.configuration.system;
        target.configuration.fidelity().is_none().then(|| format!("{name} has no folder {FIDELITY}/"))
    }

    fn room(&self, _: u64, systems: u64) -> u64 {
        DISK * systems
    }

    fn less(&self) -> &'static str {
        "fewer --cases"
    }

    fn keys(&self, bench: &Bench<'_>) -> Vec<String> {
        let of = |target| {
            let cells = bench.cells(target);
            self.steps().map(move |step| cell(&cells, step).trial_key(1, 0))
        };
        bench.targets.iter().flat_map(of).collect()
    }

    fn run(&self, bench: &Bench<'_>, recorder: &mut Recorder<'_>) -> Result<(), RunError> {
        recorder.observer.event(&Event::Pace(&format!(
            "{} configurations × {} documents: each in by the bulk path and as a parameter, out whole and as a value",
            bench.targets.len(),
            self.cases.len()
        )));
        let mut all = bench.all_under_test();
        let mut ended = Ok(());
        for one in &mut all {
            ended = self.configuration(bench, one, recorder);
            one.session.kill();
            if !bench.settings.keep_data && !one.session.is_guest() {
                // Nothing depends on it.
                std::fs::remove_dir_all(one.session.folder()).ok();
            }
            if ended.is_err() {
                break;
            }
        }
        // The first error is the one that matters.
        bench.leave(&mut all, recorder);
        ended
    }
}

fn cell(cells: &Cells<'_>, step: &str) -> Cell {
    cells.cell(step, Phase::Steady, None)
}

impl Fidelity {
    /// What is done with each configuration, by the names of its cells.
    fn steps(&self) -> impl Iterator<Item = &str> {
        let nestings = self.nestings.iter().map(|nesting| nesting.name());
        self.cases.iter().map(|case| case.name.as_str()).chain(nestings)
    }

    /// All documents through one configuration.
    fn configuration(
        &self,
        bench: &Bench<'_>,
        one: &mut UnderTest<'_>,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), RunError> {
        let Some(part) = one.cells.target.configuration.fidelity() else { return Ok(()) };
        if self.steps().all(|step| recorder.has(&cell(&one.cells, step).trial_key(1, 0))) {
            return Ok(());
        }
        let what = one.cells.target.file_name();
        recorder.observer.event(&Event::Began { work: Work::Turn, what: &what });
        one.session.subject().does(&what);
        one.is_loaded = true;
        let file = DocumentFile::new(&bench.work, &what)?;
        let limit = LIMIT.min(Duration::from_secs_f64(bench.settings.timeout_s));
        let mut starts = Starts::default();
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
        if let Err(failure) = Ended::split(one.session.close())? {
            recorder.warn(&format!("{what}: failed to close: {}", failure.error));
        }
        Ok(())
    }
}

/// A document by both ways in; what ends the engine in one of them does not keep the other from being tried.
fn both_ways(probe: &Probe<'_>, session: &mut Session<'_>) -> Result<Vec<Finding>, Ended> {
    let mut all = Vec::new();
    for way in Way::BOTH {
        if session.pid().is_none() {
            // What is left of an engine that was ended may not open any more.
            session.start_afresh()?;
            session.open()?;
        }
        let (findings, is_well) = probe.through(way, session)?;
        all.extend(findings);
        if !is_well {
            session.kill();
        }
    }
    Ok(all)
}

/// How often in a row nothing could be tried, and why at last.
#[derive(Default)]
struct Starts {
    failed: u32,
    last: Option<Failure>,
}

impl Starts {
    /// Does what gives the findings of one cell, unless they are there or nothing comes up any more.
    fn tried(
        &mut self,
        cell: &Cell,
        one: &mut UnderTest<'_>,
        recorder: &mut Recorder<'_>,
        findings: impl FnOnce(&mut Session<'_>) -> Result<Vec<Finding>, Ended>,
    ) -> Result<(), RunError> {
        let key = cell.trial_key(1, 0);
        if recorder.has(&key) {
            return Ok(());
        }
        if let Some(failure) = self.given_up() {
            return recorder.failed(key, cell, 1, 0, failure);
        }
        match Ended::split(findings(&mut one.session))? {
            Ok(findings) => {
                *self = Self::default();
                let mut trial = blank(cell, 1, 0);
                trial.verdict = Verdict::Exact;
                trial.findings = findings;
                recorder.quick_trial(key, trial)
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

    /// Why nothing more is tried.
    fn given_up(&self) -> Option<Failure> {
        let last = self.last.as_ref().filter(|_| self.failed >= FAILED_STARTS)?;
        let words = format!("not tried: it failed {} times in a row", self.failed);
        Some(Failure { kind: FailureKind::Environment, ..last.followed_by(&words) })
    }
}
