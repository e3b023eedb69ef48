//! Synthetic runs for tests of code that reads runs.

pub mod frontier;
pub mod serving;

use jsonathlon_schema::id::{ConfigurationId, DataState, Step};
use jsonathlon_schema::machine::ClockProperties;
use jsonathlon_schema::machine::Machine;
use jsonathlon_schema::manifest::{Configuration, DataSetInfo, Manifest, SCHEMA, TrialPlan};
use jsonathlon_schema::ranking::{MemoryProfile, PreparationClass};
use jsonathlon_schema::record::{Cell, JournalRecord, Parameters, Phase, RecordBody, Trial, Verdict};
use jsonathlon_schema::settings::{
    ManifestSettings, RunSettings, WorkloadSettings, questions::QuestionSettings,
};
use jsonathlon_schema::workload::WorkloadKind;

use crate::run::Run;

/// Number of documents of a synthetic run.
pub const DOCUMENTS: u64 = 1000;

/// Configuration of the class `as-is` with the memory profile `sized`, ranked with `json-only` ones. The
/// system `yardstick` is a reference row.
#[must_use]
pub fn configuration(system: &str, version: &str) -> Configuration {
    Configuration {
        id: ConfigurationId::new(system, version, "plain", "default"),
        title: system.into(),
        variant_title: "plain".into(),
        embedded: true,
        transport: None,
        end_of_life: false,
        outdated: None,
        preparation: PreparationClass::AsIs,
        profile: Some(MemoryProfile::Sized),
        memory_bytes: None,
        memory_settings: Vec::new(),
        durability: None,
        not_made_for: None,
        parallel_unit: None,
        other_questions: [].into(),
        ranked: true,
        ranks_with: "json-only".into(),
        reference: system == "yardstick",
        configuration_digest: "blake3:2222222222222222222222222222".into(),
        artifact_digest: None,
        machine_libraries: vec![],
        exceptions: vec![],
    }
}

/// Cell of a configuration in the analytics workload. Everything after the load is measured on drained data.
#[must_use]
pub fn cell(configuration: &Configuration, step: impl Into<Step>, phase: Phase) -> Cell {
    let step = step.into();
    let mut parameters: Parameters = [("scale".into(), DOCUMENTS.into())].into();
    if !configuration.reference {
        parameters.insert("preparation".into(), configuration.preparation.word().into());
    }
    if let Some(memory) = configuration.memory_bytes {
        parameters.insert("memory".into(), memory.into());
    }
    Cell {
        workload: WorkloadKind::Analytics.into(),
        id: configuration.id.clone(),
        profile: configuration.profile,
        state: (!matches!(step, Step::Load | Step::Structure)).then_some(DataState::Drained),
        step,
        phase,
        parameters,
    }
}

/// Record of a trial, under its planned key.
#[must_use]
pub fn record(trial: Trial) -> JournalRecord {
    JournalRecord::new(trial.cell.trial_key(trial.round, trial.order), RecordBody::Trial(Box::new(trial)))
}

/// Trial with the verdict [`Verdict::Exact`] that took `seconds`, the first repetition of its round.
#[must_use]
pub fn trial(cell: Cell, round: u32, seconds: Option<f64>) -> Trial {
    Trial { verdict: Verdict::Exact, seconds, ..Trial::blank(cell, round, 0) }
}

/// Complete run that consists of these records.
#[must_use]
pub fn run(name: &str, configurations: Vec<Configuration>, records: Vec<JournalRecord>) -> Run {
    let is_trial = |record: &&JournalRecord| matches!(record.body, RecordBody::Trial(_));
    let trials = records.iter().filter(is_trial).map(|record| record.key.clone()).collect();
    Run { path: name.into(), manifest: manifest(configurations, TrialPlan { trials }), records }
}

/// Manifest for [`DOCUMENTS`] documents and a fictitious machine.
#[must_use]
pub fn manifest(configurations: Vec<Configuration>, plan: TrialPlan) -> Manifest {
    Manifest {
        schema: SCHEMA,
        program: "0.2.0".into(),
        started: "2026-11-21T10:00:00Z".into(),
        command: vec![],
        machine: Machine {
            cores: 2,
            processor: "Some processor".into(),
            memory_bytes: 24_000_000_000,
            physical_memory_bytes: None,
            kernel_release: "6.1".into(),
            os: "Some system".into(),
            architecture: "x86_64".into(),
            file_system: Some("ext4".into()),
        },
        clock: ClockProperties { min_step_ns: 20, mean_read_ns: 25.0 },
        disk_bytes_per_s: None,
        data: DataSetInfo {
            documents: DOCUMENTS,
            bytes: 480 * DOCUMENTS,
            digest: "blake3:00".into(),
            source: "generated".into(),
            origin: serde_json::Value::Null,
            no_documents: 0,
            first_no_documents: Vec::new(),
            left_out: None,
            staging_s: 0.0,
            reference_sizes: [("raw".to_owned(), 480 * DOCUMENTS)].into(),
        },
        configurations,
        workloads: vec![WorkloadKind::Analytics.into()],
        settings: ManifestSettings {
            run: RunSettings { rounds: 5, cores: 2, ..RunSettings::default() },
            workload: WorkloadSettings {
                analytics: Some(QuestionSettings::default()),
                ..WorkloadSettings::default()
            },
        },
        plan,
    }
}
