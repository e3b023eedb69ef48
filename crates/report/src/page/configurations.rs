//! Configurations of a run, with what their documents came back as.

use std::collections::BTreeMap;

use jsonathlon_results::summary::Run;
use jsonathlon_schema::durability::Durability;
use jsonathlon_schema::id::ConfigurationId;
use jsonathlon_schema::manifest::{self, SettingDeviation};
use jsonathlon_schema::ranking::{MemoryProfile, MemorySetting, PreparationClass};
use jsonathlon_schema::record::{RecordBody, RoundTripOutcome};
use jsonathlon_schema::transport::Transport;
use serde::Serialize;

/// A system in a version, variant, storage setting and memory profile.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Configuration {
    /// Folder name of the system in the catalogue.
    system: String,
    /// Display name of the system.
    title: String,
    /// Version of the system, as it was requested.
    version: String,
    /// Name of the variant: how the system's folder sets it up.
    variant: String,
    /// Display name of the variant.
    variant_title: String,
    /// Name of the storage setting; empty if the system has none.
    storage: String,
    /// Whether the engine runs inside the worker process, so that its times include no network.
    embedded: bool,
    /// Transport to the server. `None` without a server that the run starts.
    transport: Option<Transport>,
    /// Whether the vendor no longer supports the version.
    end_of_life: bool,
    /// Release day of the version if newer ones exist that cannot be obtained or used. `None` otherwise.
    outdated: Option<String>,
    /// What was configured about the documents before loading.
    preparation: PreparationClass,
    /// How the memory settings are chosen. `None` for remote servers, whose operators set their memory.
    profile: Option<MemoryProfile>,
    /// Memory budget that the settings are sized for. `None` if the memory profile has none.
    memory_bytes: Option<u64>,
    /// What separates the ranking beyond class and profile, such as `approximate`; empty for most.
    ranks_with: String,
    /// Class, profile and `ranks_with` as one text; only configurations with equal text are ranked together.
    ranking: String,
    /// Whether it is ranked at all: statements exactly as published by others never are.
    ranked: bool,
    /// Whether this is a reference configuration such as the yardstick, which is never ranked.
    reference: bool,
    /// Digest of everything that configures the system.
    configuration_digest: String,
    /// Digest of the installed artifact. `None` for systems that are part of the program.
    artifact_digest: Option<String>,
    /// Settings that differ from the system's defaults, with reasons.
    exceptions: Vec<SettingDeviation>,
    /// Memory settings of the memory profile.
    settings: Vec<MemorySetting>,
    /// Documents in one unit of parallel work, such as a row group. `None` if not declared.
    parallel_unit: Option<u64>,
    /// What a crash may lose according to the system's folder. `None` if no tier was chosen.
    durability: Option<Durability>,
    /// Why the system is not made for the run's workload. `None` if it is.
    not_made_for: Option<String>,
    /// By question: why the system's statement asks a different question.
    other_questions: BTreeMap<String, String>,
    /// Result of reading documents back. `None` if they were not read back.
    structure: Option<Structure>,
    /// Rejected documents, by the system's own reason.
    rejects: Vec<Reject>,
}

/// How documents come back when they are read.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Structure {
    /// What is preserved of all documents that were compared.
    retains: RoundTripOutcome,
    /// Number of documents that were compared.
    compared: u64,
    /// Documents that came back byte for byte equal.
    equal_bytes: u64,
    /// Documents that came back as the same JSON value, including the byte-equal ones.
    equal_value: u64,
    /// Number of documents that show each kind of change.
    changes: BTreeMap<String, u64>,
}

/// Documents that a system rejected for the same reason.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Reject {
    /// Reason of the system, with the place of the first document and the remedy.
    reason: String,
    /// Number of documents rejected for this reason.
    documents: u64,
}

impl Configuration {
    pub(super) fn new(run: &Run, configuration: &manifest::Configuration) -> Self {
        let (structure, rejects) = Self::structure_and_rejects(run, configuration);
        let ranking = configuration.ranking();
        let manifest::Configuration {
            id: ConfigurationId { system, version, variant, storage },
            title,
            variant_title,
            embedded,
            transport,
            end_of_life,
            outdated,
            preparation,
            profile,
            memory_bytes,
            memory_settings: settings,
            parallel_unit,
            durability,
            not_made_for,
            other_questions,
            ranks_with,
            ranked,
            reference,
            configuration_digest,
            artifact_digest,
            machine_libraries: _,
            exceptions,
        } = configuration.clone();
        Self {
            system,
            title,
            version,
            variant,
            variant_title,
            storage,
            embedded,
            transport,
            end_of_life,
            outdated,
            preparation,
            profile,
            memory_bytes,
            ranks_with,
            ranking,
            ranked,
            reference,
            configuration_digest,
            artifact_digest,
            exceptions,
            settings,
            parallel_unit,
            durability,
            not_made_for,
            other_questions,
            structure,
            rejects,
        }
    }

    /// Structure that the configuration retains of documents, and the documents that it rejects.
    fn structure_and_rejects(
        run: &Run,
        configuration: &manifest::Configuration,
    ) -> (Option<Structure>, Vec<Reject>) {
        let mut structure = None;
        let mut rejects = Vec::new();
        for record in &run.records {
            match &record.body {
                RecordBody::Structure(report) if configuration.contains_cell(&report.cell) => {
                    structure = Some(Structure {
                        retains: report.retains,
                        compared: report.compared,
                        equal_bytes: report.equal_bytes,
                        equal_value: report.equal_value,
                        changes: report.changes.clone(),
                    });
                }
                RecordBody::Rejects(report) if configuration.contains_cell(&report.cell) => {
                    let reasons = report.reasons.iter();
                    rejects.extend(reasons.map(|(message, reason)| Reject {
                        reason: reason.describe(message),
                        documents: reason.documents,
                    }));
                }
                _ => {}
            }
        }
        (structure, rejects)
    }
}
