//! Manifest of a run: everything needed to repeat it, written before the first trial.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::durability::Durability;
use crate::id::ConfigurationId;
use crate::machine::ClockProperties;
use crate::machine::Machine;
use crate::ranking::{MemoryProfile, MemorySetting, PreparationClass};
use crate::record::Cell;
use crate::settings::{ManifestSettings, fidelity::KnownCase, questions::UserQuestion};
use crate::transport::Transport;
use crate::workload::WorkloadName;

/// Format version of the manifest and of the summaries made from it; files of any other version are refused.
pub const SCHEMA: u32 = 2;

/// Description of the documents that a run uses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataSetInfo {
    /// Number of documents offered: input lines that are valid JSON.
    pub documents: u64,
    /// Size of the documents in bytes as newline-delimited JSON.
    pub bytes: u64,
    /// Digest of the documents as newline-delimited JSON.
    pub digest: String,
    /// Description of the source for readers.
    pub source: String,
    /// Serialised source, so that `--resume` needs no arguments.
    pub origin: serde_json::Value,
    /// Number of lines that are neither blank nor JSON. The file [`DataSetInfo::NO_DOCUMENTS`] lists them.
    pub no_documents: u64,
    /// The first few of these lines, each with its input, line number and error, for readers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first_no_documents: Vec<String>,
    /// One sentence about files of the source's folder that were not read. `None` if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
    /// Seconds that staging the documents took: writing or reading, digest and reference answers.
    pub staging_s: f64,
    /// Size in bytes of the same documents in formats that are not databases: `raw`, `gzip-6`, `lz4`,
    /// `zstd-1`. Empty for workloads that do not load them.
    pub reference_sizes: BTreeMap<String, u64>,
}

impl DataSetInfo {
    /// File in the run folder that lists the lines that are not documents, one JSON object per line.
    pub const NO_DOCUMENTS: &str = "no-documents.ndjson";
}

/// Configuration under test: a system with its version, variant, storage setting and memory profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// Identity of the configuration. Its version is the one that was requested.
    #[serde(flatten)]
    pub id: ConfigurationId,
    /// Display name of the system.
    pub title: String,
    /// Display name of the variant.
    pub variant_title: String,
    /// Whether the engine runs inside the worker process, so that its times include no network.
    pub embedded: bool,
    /// Transport to the server. `None` without a server that the run starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// Whether the vendor no longer supports the version.
    pub end_of_life: bool,
    /// Release day of the version, if newer ones exist that cannot be obtained or used. `None` otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outdated: Option<String>,
    /// Preparation class: what the system was told about the documents.
    pub preparation: PreparationClass,
    /// How the system's memory settings were chosen. `None` only for remote servers, whose operators set
    /// their memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<MemoryProfile>,
    /// Memory budget in bytes. `None` if the memory profile has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Memory settings that implement the profile. Empty if none were set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory_settings: Vec<MemorySetting>,
    /// Durability tier: what a crash may lose. `None` if no tier was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<Durability>,
    /// Why the system is not designed for the run's workload, in words. `None` if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_made_for: Option<String>,
    /// Number of documents in the unit of work that the engine assigns to one core. `None` if not declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel_unit: Option<u64>,
    /// Steps that answer another question than the stated one, with the reason. They are neither compared nor
    /// ranked.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other_questions: BTreeMap<String, String>,
    /// Further rule that separates rankings within a preparation class; see [`Configuration::ranking`]. Empty
    /// for most configurations.
    pub ranks_with: String,
    /// Whether the configuration is ranked at all.
    pub ranked: bool,
    /// Whether this is a reference row, such as the yardstick, which is never ranked.
    pub reference: bool,
    /// Digest of everything that configures the system.
    pub configuration_digest: String,
    /// Digest of the installed artifact. `None` for systems that are part of this program.
    pub artifact_digest: Option<String>,
    /// Shared libraries that its programs load from the machine. Empty if there are none or they were not
    /// determined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machine_libraries: Vec<String>,
    /// Deviations from the system's defaults, with reasons.
    pub exceptions: Vec<SettingDeviation>,
}

/// Sort key of rankings in tables: preparation class (as-is, prepared, extracted, own), then memory profile
/// (sized first, remote servers last), then further rules (none first).
type RankingOrder = (PreparationClass, usize, String);

impl Configuration {
    /// Returns `true` if the cell belongs to this configuration, including the memory profile.
    #[must_use]
    pub fn contains_cell(&self, cell: &Cell) -> bool {
        self.id == cell.id && self.profile == cell.profile
    }

    /// File name that no other configuration of the run has.
    #[must_use]
    pub fn file_name(&self) -> String {
        self.id.file_name(self.profile)
    }

    /// Name of the configuration's ranking for readers: `prepared`, `as-is, stock`, `prepared, approximate`.
    /// Two configurations may be ranked together if this text is equal and both are ranked.
    #[must_use]
    pub fn ranking(&self) -> String {
        let mut words = vec![self.preparation.word().to_owned()];
        match self.profile {
            Some(MemoryProfile::Sized) => {}
            Some(MemoryProfile::Stock) => words.push("stock".to_owned()),
            // A remote server has the memory that its operator assigned.
            None => words.push("memory not stated".to_owned()),
        }
        if !self.ranks_with.is_empty() {
            words.push(self.ranks_with.clone());
        }
        if !self.ranked {
            words.push("not ranked".to_owned());
        }
        words.join(", ")
    }

    /// Sort key of the configuration's ranking in tables.
    #[must_use]
    pub fn ranking_place(&self) -> RankingOrder {
        let profile = self.profile.map_or(2, |profile| profile as usize);
        (self.preparation, profile, format!("{}{}", if self.ranked { "" } else { "~" }, self.ranks_with))
    }

    /// Returns `true` if others may be compared with the configuration: it is ranked and not a reference row.
    #[must_use]
    pub fn is_ranked(&self) -> bool {
        self.ranked && !self.reference
    }
}

/// Deviation from a system's defaults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SettingDeviation {
    /// Setting or behaviour that differs.
    pub what: String,
    /// Reason why the deviation is necessary.
    pub why: String,
}

/// Plan of the run: its trials, by the keys that their records will have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialPlan {
    /// Keys of trials that must have a final record for the run to be complete.
    pub trials: Vec<String>,
}

/// Description of a run, stored as `manifest.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Format version with which the manifest was written.
    pub schema: u32,
    /// Version of the program that made the run.
    pub program: String,
    /// Start of the run as an RFC 3339 time.
    pub started: String,
    /// Command line without secrets: addresses with passwords are rejected beforehand.
    pub command: Vec<String>,
    /// Hardware and operating system of the machine.
    pub machine: Machine,
    /// Resolution of the clock used for times.
    pub clock: ClockProperties,
    /// Sequential read bandwidth of the run folder's disk in bytes per second. `None` if the file system has
    /// no direct reads.
    pub disk_bytes_per_s: Option<f64>,
    /// Documents that the run loads.
    pub data: DataSetInfo,
    /// Configurations under test, in plan order.
    pub configurations: Vec<Configuration>,
    /// Names of the run's workloads.
    pub workloads: Vec<WorkloadName>,
    /// Settings of the plan such as rounds and limits, so that `--resume` plans the same.
    pub settings: ManifestSettings,
    /// Planned trials of the run.
    pub plan: TrialPlan,
}

impl Manifest {
    /// Day on which the run started, `2026-11-23`, in UTC.
    #[must_use]
    pub fn day(&self) -> String {
        self.started.chars().take("2026-11-23".len()).collect()
    }

    /// Test documents of a fidelity run; empty for other workloads.
    #[must_use]
    pub fn fidelity_cases(&self) -> &[KnownCase] {
        let settings = self.settings.workload.fidelity.as_ref();
        settings.map(|settings| settings.cases.as_slice()).unwrap_or_default()
    }

    /// Name of a setting that is neither shared by all workloads nor that of a workload. `None` if there is no
    /// such setting. Only another version may know one of the run's workloads.
    #[must_use]
    pub fn unknown_setting(&self) -> Option<&str> {
        let mut names = self.settings.workload.other_workloads.keys();
        let unknown =
            names.find(|name| matches!(name, WorkloadName::Other(_)) && !self.workloads.contains(name));
        unknown.map(WorkloadName::as_str)
    }

    /// The user's questions of a run; empty for other workloads.
    #[must_use]
    pub fn user_questions(&self) -> &[UserQuestion] {
        let settings = self.settings.workload.questions.as_ref();
        settings.map(|settings| settings.questions.as_slice()).unwrap_or_default()
    }
}
