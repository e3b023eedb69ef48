//! The durability workload: are acknowledged writes still there after a crash?
//!
//! Clients insert and update. At a random moment the system's processes are killed, or the power of its disk
//! is cut. The system is started again, and all documents are read. The reference is the system's folder:
//! each durability tier declares what a process crash and a power loss may lose. Each crash yields a finding
//! with evidence, not a failure; it counts as kept only if everything was read.

mod crash_report;
mod crash_test;

pub mod settings;

use crash_test::CrashTest;
use settings::{CrashKind, DurabilitySettings};

use jsonathlon_catalogue::{Durability as Tier, SERVING, Serving as Part};
use jsonathlon_dataset::records::{KeyType, RecordSet, Records};
use jsonathlon_loadgen::{
    mix::{Mix, RequestDistribution},
    operation::Operation,
};
use jsonathlon_schema::record::{CLIENTS, Cell, DURABILITY, Failure, FailureKind, Phase, Verdict};
use jsonathlon_schema::workload::WorkloadKind;

use crate::{
    RunError,
    cells::Cells,
    observer::{Activity, RunEvent},
    recorder::{TrialRecorder, new_trial},
    run_context::{RunContext, TargetState},
    serving::scripts,
    session::TrialError,
    snapshot::Snapshot,
    target::Target,
    workload::Workload,
};

/// Name of the workload in the journal and on the command line.
pub const NAME: &str = WorkloadKind::Durability.name();

/// Disk space in bytes for two copies of a server's data without documents.
const DISK: u64 = 1 << 30;

/// The durability workload: crash tests with an audit of the acknowledged writes.
#[derive(Debug)]
pub struct Durability {
    settings: DurabilitySettings,
}

impl Durability {
    /// Creates the workload with these settings.
    ///
    /// # Errors
    /// If records cannot be generated from the settings.
    pub fn new(settings: DurabilitySettings) -> Result<Self, String> {
        settings.records.prepare().map_err(|error| error.to_string())?;
        Ok(Self { settings })
    }

    /// Durability tiers of a target that the settings select, safest first.
    fn tiers<'t>(&self, target: &'t Target) -> Vec<&'t Tier> {
        let wanted = &self.settings.tiers;
        let all = target.configuration.durabilities();
        all.filter(|tier| wanted.is_empty() || wanted.contains(&tier.name)).collect()
    }

    fn cell(&self, cells: &Cells<'_>, tier: &Tier, kind: CrashKind) -> Cell {
        let mut cell = cells.cell(kind.word(), Phase::Steady, None);
        cell.parameters.insert(DURABILITY.to_owned(), tier.name.clone().into());
        cell.parameters.insert(CLIENTS.to_owned(), self.settings.clients.into());
        cell
    }

    /// Description of the records as a configuration stores them, with the system's name for the key member.
    fn records(&self, part: &Part) -> Result<RecordSet, String> {
        let records = Records { key_member: part.key_member.clone(), ..self.settings.records.clone() };
        records.prepare().map_err(|error| error.to_string())
    }
}

impl Workload for Durability {
    fn name(&self) -> &'static str {
        NAME
    }

    fn section_name(&self) -> &'static str {
        SERVING
    }

    fn settings(&self) -> serde_json::Value {
        serde_json::to_value(&self.settings).unwrap_or_default()
    }

    fn unsupported_reason(&self, target: &Target) -> Option<String> {
        let name = &target.configuration.system;
        if target.remote.is_some() {
            return Some(format!(
                "the server of {name} is somebody else's, and must not be stopped the hard way"
            ));
        }
        let Some(part) = target.configuration.serving() else {
            return Some(format!("{name} has no folder {SERVING}/"));
        };
        if self.settings.records.key_type == KeyType::Bigint && part.bigint_key.is_none() {
            return Some(format!("{name} has no keys of 64-bit integers here"));
        }
        if let Err(why) = self.records(&part) {
            return Some(format!("{name} cannot hold these records: {why}"));
        }
        if part.statements(Operation::Read.file()).is_empty() {
            return Some(format!("{name} has no read by key, by which everything is looked for afterwards"));
        }
        if mix(&part).is_none() {
            return Some(format!("{name} neither inserts nor updates"));
        }
        let has: Vec<&str> = target.configuration.durabilities().map(|tier| tier.name.as_str()).collect();
        self.tiers(target).is_empty().then(|| format!("{name} has no such tier: it has {}", has.join(", ")))
    }

    fn required_disk_bytes(&self, documents: u64, _: u64) -> u64 {
        // Systems run one after the other: the loaded data, and a copy that clients extend until the crash.
        DISK + 4 * documents
    }

    fn size_option_hint(&self) -> &'static str {
        "fewer --records"
    }

    fn planned_keys(&self, bench: &RunContext<'_>) -> Vec<String> {
        let mut keys = Vec::new();
        for target in bench.targets {
            let cells = bench.cells(target);
            for tier in self.tiers(target) {
                for kind in &self.settings.kinds {
                    let cell = self.cell(&cells, tier, *kind);
                    keys.extend((1..=self.settings.stops).map(|stop| cell.trial_key(stop, 0)));
                }
            }
        }
        keys
    }

    fn run(&self, bench: &RunContext<'_>, recorder: &mut TrialRecorder<'_>) -> Result<(), RunError> {
        let own = &self.settings;
        let kinds: Vec<&str> = own.kinds.iter().map(|kind| kind.word()).collect();
        let tiers: usize = bench.targets.iter().map(|target| self.tiers(target).len()).sum();
        recorder.observer.event(&RunEvent::Schedule(&format!(
            "{tiers} configurations and tiers × {} × {} stops, {} clients, each after {:.2} to {:.2} s of work: each starts \
             its system twice, {} starts in all",
            kinds.join(", "),
            own.stops,
            own.clients,
            own.work_s.0,
            own.work_s.1,
            2 * tiers * own.kinds.len() * own.stops as usize
        )));
        for target in bench.targets {
            for tier in self.tiers(target) {
                let in_tier = in_tier(target, tier)?;
                self.tier(bench, &in_tier, tier, recorder)?;
            }
        }
        Ok(())
    }
}

/// Mix of half inserts and half updates; only one of them if the system has no other. `None` if it has
/// neither.
fn mix(part: &Part) -> Option<Mix> {
    let has: Vec<Operation> = [Operation::Insert, Operation::Update]
        .into_iter()
        .filter(|operation| !part.statements(operation.file()).is_empty())
        .collect();
    let share = 1.0 / has.len().max(1) as f64;
    let shares = has.iter().map(|operation| (*operation, share)).collect();
    let mix = Mix { name: "writes".to_owned(), shares, requests: RequestDistribution::Uniform };
    (!has.is_empty() && scripts::missing(part, &mix).is_empty()).then_some(mix)
}

/// Returns the target with the settings of a durability tier.
fn in_tier(target: &Target, tier: &Tier) -> Result<Target, RunError> {
    let configuration = target.configuration.clone().with_durability(&tier.name);
    let configuration = configuration.map_err(|error| RunError::Catalogue(error.to_string()))?;
    let part = configuration.parts.get(SERVING).cloned().unwrap_or_else(|| target.part.clone());
    Ok(Target { configuration, part, ..target.clone() })
}

/// One configuration in one durability tier.
struct TierTarget<'a> {
    /// Base name of its folders and logs.
    name: String,
    target: &'a Target,
    tier: &'a Tier,
    part: Part,
    records: RecordSet,
    key_type: String,
    mix: Mix,
    /// Digest of everything that determines its durability.
    basis: String,
}

impl Durability {
    /// Runs all crash tests of a target in a tier.
    fn tier(
        &self,
        bench: &RunContext<'_>,
        target: &Target,
        tier: &Tier,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let cells = bench.cells(target);
        let is_open = |kind: CrashKind, recorder: &TrialRecorder<'_>| {
            let cell = self.cell(&cells, tier, kind);
            (1..=self.settings.stops).any(|stop| !recorder.has(&cell.trial_key(stop, 0)))
        };
        if !self.settings.kinds.iter().any(|kind| is_open(*kind, recorder)) {
            return Ok(());
        }
        let refused = |why: String| RunError::Catalogue(format!("{NAME} cannot run: {why}"));
        let name = format!("{}.{}", target.file_name(), tier.name);
        let Some((part, mix)) =
            target.configuration.serving().and_then(|part| mix(&part).map(|mix| (part, mix)))
        else {
            return Err(refused(self.unsupported_reason(target).unwrap_or_default()));
        };
        let records = self.records(&part).map_err(refused)?;
        let key_type = match records.records().key_type {
            KeyType::Text => part.text_key.clone(),
            KeyType::Bigint => part.bigint_key.clone().unwrap_or_default(),
        };
        let basis = target.durability_basis();
        let one = TierTarget { name, target, tier, part, records, key_type, mix, basis };
        let mut loaded = bench.under_test(target, &one.name);
        let ended = self.stops(bench, &one, &mut loaded, recorder);
        loaded.session.kill();
        if !bench.settings.keep_data {
            // Best effort: nothing depends on the removal.
            std::fs::remove_dir_all(loaded.session.folder()).ok();
        }
        ended
    }

    fn stops<'a>(
        &self,
        bench: &RunContext<'a>,
        one: &TierTarget<'a>,
        loaded: &mut TargetState<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        loaded.session.set_placeholder("key_type", &one.key_type);
        bench.load(1, loaded, recorder)?;
        let snapshot = match &loaded.load_result {
            Ok(_) => {
                Ok(Snapshot::take(loaded.session.folder()).map_err(RunError::io("copy the loaded data"))?)
            }
            Err(failure) => Err(crate::loading::skipped_after_load_failure(failure)),
        };
        for kind in &self.settings.kinds {
            let cell = self.cell(&loaded.cells, one.tier, *kind);
            for stop in 1..=self.settings.stops {
                let key = cell.trial_key(stop, 0);
                if recorder.has(&key) {
                    continue;
                }
                let snapshot = match &snapshot {
                    Ok(snapshot) => snapshot,
                    Err(failure) => {
                        recorder.failed(key, &cell, stop, 0, failure.clone())?;
                        continue;
                    }
                };
                let what = format!("{} {kind} stop {stop} of {}", one.name, self.settings.stops);
                recorder.observer.event(&RunEvent::Began { work: Activity::Turn, what: &what });
                let stopping = CrashTest { bench, own: &self.settings, one, kind: *kind, stop, snapshot };
                if let Some(why) = stopping.not_applicable() {
                    let mut trial = new_trial(&cell, stop, 0);
                    trial.verdict = Verdict::NotApplicable;
                    trial.failure = Some(Failure::new(FailureKind::Environment, why));
                    recorder.trial(key, trial)?;
                    continue;
                }
                match TrialError::split_fatal(stopping.make(recorder))? {
                    Ok((metrics, findings)) => {
                        let mut trial = new_trial(&cell, stop, 0);
                        trial.verdict = Verdict::Exact;
                        trial.metrics = metrics;
                        trial.findings = findings;
                        recorder.trial(key, trial)?;
                    }
                    Err(failure) => recorder.failed(key, &cell, stop, 0, failure)?,
                }
            }
        }
        Ok(())
    }
}
