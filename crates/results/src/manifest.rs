//! What a run is: everything that must be known to repeat it, written before its first trial.

use std::collections::BTreeMap;
use std::fmt;

use jsonathlon_measure::clock::ClockResolution;
use jsonathlon_measure::machine::Machine;
use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::ranking::{MemorySetting, Preparation, Profile};

/// Version of the manifest and of the summaries made from it.
pub const SCHEMA: u32 = 1;

/// The documents of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Data {
    /// Documents offered: lines that are JSON.
    pub documents: u64,
    /// Their bytes as newline-delimited JSON.
    pub bytes: u64,
    /// Digest of those bytes.
    pub digest: String,
    /// Where they came from, for a reader.
    pub source: String,
    /// The source in the program's own form, so that `--resume` needs no arguments.
    pub origin: serde_json::Value,
    /// Lines that are neither blank nor JSON, and so no documents; the file [`Data::NO_DOCUMENTS`] lists them.
    pub no_documents: u64,
    /// The first of them, each with its input, its line there and what is wrong, for a reader.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first_no_documents: Vec<String>,
    /// What lies in the source's folder and was not read, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
    /// Seconds that making them ready took.
    #[serde(default)]
    pub staging_s: Option<f64>,
    /// Size of the same documents in formats that are not databases: `raw`, `gzip-6`, `lz4`, `zstd-1`.
    #[serde(default)]
    pub reference_sizes: BTreeMap<String, u64>,
}

impl Data {
    /// The file in a run's folder that lists the lines that are no documents, one JSON object a line.
    pub const NO_DOCUMENTS: &str = "no-documents.ndjson";
}

/// One configuration under test: a system in a version, variant and storage setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// Which one it is; the version is the one asked for.
    #[serde(flatten)]
    pub id: Id,
    /// Name of the system for people.
    pub title: String,
    /// Variant in words.
    pub variant_title: String,
    /// Runs inside a process of the harness: no network in its times.
    pub embedded: bool,
    /// How its server is reached, `tcp` or `unix`; none for what has no server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// No longer supported by its makers.
    pub end_of_life: bool,
    /// The day of its release, where newer versions were out that could not be had, or not be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outdated: Option<String>,
    /// What the system was told about the documents; none in runs of version 0.1.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preparation: Option<Preparation>,
    /// How its memory was set; none in runs of version 0.1.0, and by address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// The budget of memory, where the profile has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// What was set for that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory_settings: Vec<MemorySetting>,
    /// What a crash may lose, where that was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<Durability>,
    /// Why it is not made for the run's workload, in words; none where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_made_for: Option<String>,
    /// Documents in the unit that the engine gives to one core as a whole, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel_unit: Option<u64>,
    /// Steps whose answers are not the question's, and why: they are neither compared nor ranked.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other_questions: BTreeMap<String, String>,
    /// What sets it apart within its class; see [`Configuration::ranking`].
    pub ranks_with: String,
    /// Whether it is ranked at all.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub ranked: bool,
    /// A row to read others by, never ranked.
    #[serde(default)]
    pub reference: bool,
    /// Digest over everything that configures it.
    pub configuration_digest: String,
    /// Digest of the artifact; none for what is part of the program.
    pub artifact_digest: Option<String>,
    /// Shared libraries that its programs took from the machine; none where nobody looked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machine_libraries: Vec<String>,
    /// Deviations from the system's defaults, with reasons.
    pub exceptions: Vec<Exception>,
}

/// A durability tier and what a configuration may lose in it, as its folder documents it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Durability {
    /// The tier.
    pub tier: String,
    /// What a crash of the system's process may lose, in words.
    pub process_crash: String,
    /// What a loss of power may lose, in words.
    pub power_loss: String,
    /// The digest of what it stands on, by which what durability runs have shown is found; none in older runs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub basis: String,
    /// What durability runs beside this one had shown of it when it began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tested: Vec<Tested>,
}

/// The step of stops by which processes are killed.
pub const PROCESS: &str = "process";
/// The step of stops by which the power is cut.
pub const POWER: &str = "power";

/// Stops of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tested {
    /// [`PROCESS`] or [`POWER`].
    pub kind: String,
    /// How many.
    pub stops: u64,
    /// After how many of them everything was there.
    pub kept: u64,
    /// After how many what the tier promised was there.
    pub as_promised: u64,
    /// The day, as `2026-11-23`.
    pub date: String,
}

impl fmt::Display for Tested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, stops, kept, as_promised, date } = self;
        let cuts = match (kind.as_str(), stops) {
            (POWER, 1) => "power cut",
            (POWER, _) => "power cuts",
            (_, 1) => "kill",
            _ => "kills",
        };
        write!(f, "kept in {kept} of {stops} {cuts}")?;
        if as_promised < stops {
            write!(f, ", as promised in {as_promised}")?;
        }
        write!(f, ", {date}")
    }
}

/// The word for a class or profile that a run does not state, as those of version 0.1.0 do not.
const NOT_STATED: &str = "not stated";

/// Orders rankings for tables: as-is, prepared, extracted, not stated; the usual profile first; plain rules first.
type Place = (usize, usize, String);

impl Configuration {
    /// A name that is a file name and is shared by no other configuration of a run.
    #[must_use]
    pub fn file_name(&self) -> String {
        self.id.file_name(self.profile)
    }

    /// The ranking that it stands in, for people: `prepared`, `as-is, stock`, `prepared, approximate`. Two
    /// configurations may be ranked together where this is the same text and both are ranked at all.
    #[must_use]
    pub fn ranking(&self) -> String {
        let class = self.preparation.map_or(NOT_STATED, Preparation::word);
        let mut words = vec![class.to_owned()];
        match (self.preparation, self.profile) {
            (_, Some(Profile::Sized)) | (None, None) => {}
            (_, Some(Profile::Stock)) => words.push("stock".to_owned()),
            // A server by address has the memory that its owner gave it.
            (Some(_), None) => words.push("memory not stated".to_owned()),
        }
        if !self.ranks_with.is_empty() {
            words.push(self.ranks_with.clone());
        }
        if !self.ranked {
            words.push("not ranked".to_owned());
        }
        words.join(", ")
    }

    /// Where its ranking stands among others in tables.
    #[must_use]
    pub fn ranking_place(&self) -> Place {
        let class = self.preparation.map_or(Preparation::ALL.len(), |class| class as usize);
        let profile = self.profile.map_or(2, |profile| profile as usize);
        (class, profile, format!("{}{}", if self.ranked { "" } else { "~" }, self.ranks_with))
    }

    /// Whether it may be held against others at all: no reference row, and not kept out of rankings.
    #[must_use]
    pub fn is_ranked(&self) -> bool {
        self.ranked && !self.reference
    }
}

fn yes() -> bool {
    true
}

/// What there was before runs named their workloads.
fn analytics() -> Vec<String> {
    vec!["analytics".to_owned()]
}

fn is_yes(value: &bool) -> bool {
    *value
}

/// One deviation from a system's defaults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception {
    /// What differs.
    pub what: String,
    /// Why it has to.
    pub why: String,
}

/// A planned trial, by the key its record will have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    /// Keys of trials that must have a terminal record for the run to be complete.
    pub trials: Vec<String>,
}

/// The manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Format version.
    pub schema: u32,
    /// Version of this program.
    pub program: String,
    /// When the run began, RFC 3339.
    pub started: String,
    /// The command line, without secrets (addresses with passwords are refused before).
    pub command: Vec<String>,
    /// The machine.
    pub machine: Machine,
    /// What the clock can resolve.
    pub clock: ClockResolution,
    /// Sequential read bandwidth of the run folder's disk, bytes per second.
    pub disk_bytes_per_s: Option<f64>,
    /// The documents.
    pub data: Data,
    /// The configurations, in plan order.
    pub configurations: Vec<Configuration>,
    /// The workloads that were run.
    #[serde(default = "analytics")]
    pub workloads: Vec<String>,
    /// Settings of the plan (rounds, limits), so that `--resume` plans the same; each workload's own under its name.
    pub settings: serde_json::Value,
    /// The plan.
    pub plan: Planned,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_shown_is_told_in_a_few_words() {
        let tested = |kind: &str, kept, as_promised| Tested {
            kind: kind.to_owned(),
            stops: 10,
            kept,
            as_promised,
            date: "2026-11-23".to_owned(),
        };
        assert_eq!(tested(POWER, 10, 10).to_string(), "kept in 10 of 10 power cuts, 2026-11-23");
        assert_eq!(tested(PROCESS, 4, 10).to_string(), "kept in 4 of 10 kills, 2026-11-23");
        assert_eq!(tested(PROCESS, 4, 9).to_string(), "kept in 4 of 10 kills, as promised in 9, 2026-11-23");
        let one = Tested { stops: 1, ..tested(POWER, 1, 1) };
        assert_eq!(one.to_string(), "kept in 1 of 1 power cut, 2026-11-23");
    }
}
