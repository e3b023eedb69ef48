//! The durability workload: are acknowledged writes still there after a crash?
//!
//! Clients insert and update. At a random moment the system's processes are killed, or the power of its disk
//! is cut. The system is started again, and all documents are read. What may be lost is declared in the
//! system's folder, for each durability tier and for process crashes and power losses separately. A crash
//! that loses writes yields a finding with evidence, not a failed trial. Writes count as kept only if all
//! documents could be read.

mod crash_report;
mod crash_test;

pub mod settings;

use crash_test::CrashTest;
use settings::DurabilitySettings;

use jsonathlon_catalogue::{Configuration, Durability as Tier, SERVING, ServingSetup};
use jsonathlon_dataset::records::{KeyType, RecordSet, Records};
use jsonathlon_loadgen::{
    mix::{Mix, RequestDistribution},
    operation::Operation,
};
use jsonathlon_schema::durability::CrashKind;
use jsonathlon_schema::id::DataState;
use jsonathlon_schema::record::{CLIENTS, Cell, DURABILITY, Failure, FailureKind, Phase, Verdict};
use jsonathlon_schema::settings::WorkloadSettings;
use jsonathlon_schema::workload::WorkloadKind;

use crate::{
    RunError,
    cells::Cells,
    expected_time::{ExpectedPart, ExpectedTime, RoundCount, RunOutline, RunPart, TypicalTimes},
    observer::{Activity, RunEvent},
    recorder::{TrialRecorder, new_trial},
    run_context::{FIRST_ROUND, RunContext, TargetState},
    serving::scripts,
    session::TrialError,
    snapshot::Snapshot,
    target::Target,
    workload::Workload,
};

/// Name of the workload in the journal and on the command line.
pub const NAME: &str = WorkloadKind::Durability.name();

/// Disk space in bytes for two copies of a server's data folder without documents.
const EMPTY_SERVERS_BYTES: u64 = 1 << 30;
/// The only part of the run; its rounds are the tiers of a target.
const TIERS: RunPart = RunPart::Rounds(DataState::Drained);
/// Expected seconds of a crash test apart from the work of the clients and two starts.
const CRASH_TEST_S: f64 = 0.7;

/// The durability workload: crash tests with an audit of the acknowledged writes.
#[derive(Debug)]
pub struct Durability {
    settings: DurabilitySettings,
}

impl Durability {
    /// Creates the workload after checking the settings of its records.
    ///
    /// # Errors
    /// If records cannot be generated from the settings.
    pub fn new(settings: DurabilitySettings) -> Result<Self, String> {
        settings.records.prepare().map_err(|error| error.to_string())?;
        Ok(Self { settings })
    }

    /// Durability tiers of a configuration that the settings select, safest first.
    fn tiers<'t>(&self, configuration: &'t Configuration) -> Vec<&'t Tier> {
        let selected = &self.settings.tiers;
        let tiers = configuration.durabilities();
        tiers.filter(|tier| selected.is_empty() || selected.contains(&tier.tier)).collect()
    }

    /// Cell of all crashes of one kind in one tier.
    fn cell(&self, cells: &Cells<'_>, tier: &Tier, kind: CrashKind) -> Cell {
        let mut cell = cells.cell(kind.word(), Phase::Steady, None);
        cell.parameters.insert(DURABILITY.to_owned(), tier.tier.word().into());
        cell.parameters.insert(CLIENTS.to_owned(), self.settings.clients.into());
        cell
    }

    /// Prepares the records as a configuration stores them, with its name for the key member.
    ///
    /// # Errors
    /// If records cannot be generated with these settings.
    fn records(&self, serving: &ServingSetup) -> Result<RecordSet, String> {
        let records = Records { key_member: serving.key_member.clone(), ..self.settings.records.clone() };
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

    fn settings(&self) -> Result<WorkloadSettings, serde_json::Error> {
        WorkloadSettings::for_workload(WorkloadKind::Durability, &self.settings)
    }

    fn unsupported_reason(&self, target: &Target) -> Option<String> {
        let name = &target.configuration.system;
        if target.remote.is_some() {
            return Some(format!("{name} runs on a remote server, which must not be crashed"));
        }
        let Some(serving) = target.configuration.serving() else {
            return Some(format!("{name} has no folder {SERVING}/"));
        };
        if self.settings.records.key_type == KeyType::Bigint && serving.bigint_key.is_none() {
            return Some(format!("{name} does not support 64-bit integer keys in this workload"));
        }
        if let Err(reason) = self.records(&serving) {
            return Some(format!("{name} cannot store these records: {reason}"));
        }
        if serving.statements(Operation::Read.file()).is_empty() {
            return Some(format!("{name} has no read by key, which the check after a crash needs"));
        }
        if write_mix(&serving).is_none() {
            return Some(format!("{name} supports neither inserts nor updates"));
        }
        let names: Vec<&str> = target.configuration.durabilities().map(|tier| tier.tier.word()).collect();
        self.tiers(&target.configuration)
            .is_empty()
            .then(|| format!("{name} has none of the selected durability tiers, only {}", names.join(", ")))
    }

    fn required_disk_bytes(&self, document_bytes: u64, _: u64) -> u64 {
        // Systems run one after the other. Each needs space for the loaded data, and for a copy to which the
        // clients add records until the crash.
        EMPTY_SERVERS_BYTES + 4 * document_bytes
    }

    fn size_option_hint(&self) -> &'static str {
        "a smaller --scale"
    }

    fn measures_times(&self) -> bool {
        false
    }

    fn expected_time(&self, outline: &RunOutline<'_>) -> ExpectedTime {
        let settings = &self.settings;
        let crashes = settings.crash_kinds.len() as f64 * f64::from(settings.crashes);
        let work_s = f64::midpoint(settings.crash_within_s.0, settings.crash_within_s.1);
        let tier_s = |times: TypicalTimes| {
            let crash_s = work_s + 2.0 * times.start_s + CRASH_TEST_S;
            times.load_seconds(outline.typical_documents) + crashes * crash_s
        };
        let tier_counts: Vec<usize> =
            outline.configurations.iter().map(|configuration| self.tiers(configuration).len()).collect();
        let most_tiers = tier_counts.iter().copied().max().unwrap_or(0);
        let turns_of = |number: usize| -> Vec<f64> {
            let targets = outline.configurations.iter().zip(&tier_counts);
            let turn = |(configuration, count): (&&Configuration, &usize)| match number < *count {
                true => tier_s(TypicalTimes::of(configuration)),
                false => 0.0,
            };
            targets.map(turn).collect()
        };
        let turns = (0..most_tiers).map(turns_of).collect();
        let rounds = u32::try_from(most_tiers).unwrap_or(u32::MAX);
        let part = ExpectedPart::new(TIERS, turns, rounds, RoundCount::Fixed);
        ExpectedTime::new(vec![part], outline.settings)
    }

    fn planned_keys(&self, context: &RunContext<'_>) -> Vec<String> {
        let mut keys = Vec::new();
        for target in context.targets {
            let cells = context.cells(target);
            for tier in self.tiers(&target.configuration) {
                for kind in &self.settings.crash_kinds {
                    let cell = self.cell(&cells, tier, *kind);
                    keys.extend((1..=self.settings.crashes).map(|crash| cell.trial_key(crash, 0)));
                }
            }
        }
        keys
    }

    fn run(&self, context: &RunContext<'_>, recorder: &mut TrialRecorder<'_>) -> Result<(), RunError> {
        let settings = &self.settings;
        let kinds: Vec<&str> = settings.crash_kinds.iter().map(|kind| kind.word()).collect();
        let tiers: usize = context.targets.iter().map(|target| self.tiers(&target.configuration).len()).sum();
        let crashes = tiers * settings.crash_kinds.len() * settings.crashes as usize;
        recorder.observer.event(&RunEvent::Schedule(&format!(
            "{crashes} crashes: {} of each kind ({}) in each durability tier of each configuration \
             ({tiers} tiers in total), each after {:.2} to {:.2} s of work by {} clients; \
             a crash needs two starts of its system ({} in total)",
            settings.crashes,
            kinds.join(", "),
            settings.crash_within_s.0,
            settings.crash_within_s.1,
            settings.clients,
            2 * crashes
        )));
        for (position, target) in context.targets.iter().enumerate() {
            for (number, tier) in (1..).zip(self.tiers(&target.configuration)) {
                let target_in_tier = with_tier(target, tier)?;
                self.run_tier(context, &target_in_tier, tier, recorder)?;
                recorder.end_turn(TIERS, number, position, target);
            }
        }
        Ok(())
    }
}

/// Half inserts and half updates, or only one of them if the system does not support the other. `None` if it
/// supports neither.
fn write_mix(serving: &ServingSetup) -> Option<Mix> {
    let supported: Vec<Operation> = [Operation::Insert, Operation::Update]
        .into_iter()
        .filter(|operation| !serving.statements(operation.file()).is_empty())
        .collect();
    let share = 1.0 / supported.len().max(1) as f64;
    let shares = supported.iter().map(|operation| (*operation, share)).collect();
    let mix = Mix { name: "writes".to_owned(), shares, requests: RequestDistribution::Uniform };
    (!supported.is_empty() && scripts::missing_operations(serving, &mix).is_empty()).then_some(mix)
}

/// Returns the target with the settings of a durability tier.
fn with_tier(target: &Target, tier: &Tier) -> Result<Target, RunError> {
    let configuration = target.configuration.clone().with_durability(tier.tier);
    let configuration = configuration.map_err(|error| RunError::Catalogue(error.to_string()))?;
    let setup = configuration.setups.get(SERVING).cloned().unwrap_or_else(|| target.setup.clone());
    Ok(Target { configuration, setup, ..target.clone() })
}

/// One configuration in one durability tier, with everything that its crash tests share.
struct TierTarget<'a> {
    /// Base name of the folders and logs of the crash tests.
    name: String,
    target: &'a Target,
    tier: &'a Tier,
    setup: ServingSetup,
    records: RecordSet,
    /// Declaration of the key column's type, which replaces `{{key_type}}` in statements.
    key_type: String,
    mix: Mix,
    /// Digest of everything that determines the durability of the configuration in this tier.
    basis: String,
}

impl Durability {
    /// Runs all crash tests of a target in a tier.
    fn run_tier(
        &self,
        context: &RunContext<'_>,
        target: &Target,
        tier: &Tier,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let cells = context.cells(target);
        let has_open_trials = |kind: CrashKind, recorder: &TrialRecorder<'_>| {
            let cell = self.cell(&cells, tier, kind);
            (1..=self.settings.crashes).any(|crash| !recorder.has(&cell.trial_key(crash, 0)))
        };
        if !self.settings.crash_kinds.iter().any(|kind| has_open_trials(*kind, recorder)) {
            return Ok(());
        }
        let unsupported = |reason: String| RunError::Catalogue(format!("{NAME} cannot run: {reason}"));
        let name = format!("{}.{}", target.file_name(), tier.tier);
        let Some((setup, mix)) =
            target.configuration.serving().and_then(|setup| write_mix(&setup).map(|mix| (setup, mix)))
        else {
            return Err(unsupported(self.unsupported_reason(target).unwrap_or_default()));
        };
        let records = self.records(&setup).map_err(unsupported)?;
        let key_type = match records.records().key_type {
            KeyType::Text => setup.text_key.clone(),
            KeyType::Bigint => setup.bigint_key.clone().unwrap_or_default(),
        };
        let basis = target.durability_basis();
        let tier_target = TierTarget { name, target, tier, setup, records, key_type, mix, basis };
        let mut loaded = context.target_state(target, &tier_target.name);
        let result = self.run_crashes(context, &tier_target, &mut loaded, recorder);
        loaded.session.kill();
        if !context.settings.keep_data {
            // Best effort: nothing depends on the removal.
            std::fs::remove_dir_all(loaded.session.folder()).ok();
        }
        result
    }

    /// Loads the records once, and runs each crash test on a copy of the loaded data.
    fn run_crashes<'a>(
        &self,
        context: &RunContext<'a>,
        tier_target: &TierTarget<'a>,
        loaded: &mut TargetState<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        loaded.session.set_placeholder("key_type", &tier_target.key_type);
        context.load(FIRST_ROUND, loaded, recorder)?;
        let snapshot = match &loaded.load_result {
            Ok(_) => {
                Ok(Snapshot::take(loaded.session.folder()).map_err(RunError::io("copy the loaded data"))?)
            }
            Err(failure) => Err(crate::loading::skipped_after_load_failure(failure)),
        };
        let settings = &self.settings;
        for &kind in &settings.crash_kinds {
            let cell = self.cell(&loaded.cells, tier_target.tier, kind);
            for crash in 1..=settings.crashes {
                let key = cell.trial_key(crash, 0);
                if recorder.has(&key) {
                    continue;
                }
                let snapshot = match &snapshot {
                    Ok(snapshot) => snapshot,
                    Err(failure) => {
                        recorder.record_failure(key, &cell, crash, 0, failure.clone())?;
                        continue;
                    }
                };
                let activity = format!("{} {kind} crash {crash} of {}", tier_target.name, settings.crashes);
                recorder
                    .observer
                    .event(&RunEvent::Began { activity: Activity::TargetTurn, description: &activity });
                let crash_test =
                    CrashTest { context, settings, tier_target, kind, crash_number: crash, snapshot };
                if let Some(reason) = crash_test.impossible_reason() {
                    let mut trial = new_trial(&cell, crash, 0);
                    trial.verdict = Verdict::NotApplicable;
                    trial.failure = Some(Failure::new(FailureKind::Environment, reason));
                    recorder.record_trial(key, trial)?;
                    continue;
                }
                match TrialError::split_fatal(crash_test.run(recorder))? {
                    Ok((metrics, findings)) => {
                        let mut trial = new_trial(&cell, crash, 0);
                        trial.verdict = Verdict::Exact;
                        trial.metrics = metrics;
                        trial.findings = findings;
                        recorder.record_trial(key, trial)?;
                    }
                    Err(failure) => recorder.record_failure(key, &cell, crash, 0, failure)?,
                }
            }
        }
        Ok(())
    }
}
