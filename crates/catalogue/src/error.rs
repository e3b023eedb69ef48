//! Errors of reading a catalogue, and of asking it for something that it does not hold.

use std::io;

use jsonathlon_schema::{and_list::and_list, durability::DurabilityTier, transport::Transport};

use super::did_you_mean::did_you_mean;
use crate::bytes;

/// Why a catalogue could not be read, or does not hold what was asked for.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// A folder or file could not be read.
    #[error("read {path}: {source}")]
    Read {
        /// Path of the folder or file.
        path: String,
        /// Error reported by the operating system.
        source: io::Error,
    },
    /// A file holds something that is not allowed, or lacks something.
    #[error("{}", format_location(.file, *.line, .key.as_deref(), .message))]
    Invalid {
        /// The file, as a path or as `built-in NAME/FILE`.
        file: String,
        /// Line, counted from 1. `None` if the error belongs to no single line.
        line: Option<usize>,
        /// Dotted path of the key. `None` if the error belongs to no key.
        key: Option<String>,
        /// What is wrong and how to correct it.
        message: String,
    },
    /// The system's folder does not define the requested transport.
    #[error(
        "{system} is not reached over `{}`, for its folder has no {missing_key}: leave it out of --systems, or choose --transport tcp",
        transport.word()
    )]
    NoTransport {
        /// Name of the system that was selected.
        system: String,
        /// Transport that was requested, by `--transport`.
        transport: Transport,
        /// Key that the folder lacks, with its meaning.
        missing_key: &'static str,
    },
    /// The memory budget is smaller than the system needs.
    #[error(
        "{system} needs {} of memory at least, and may have {} here: give it more with --memory, choose --profile stock, or leave it out of --systems",
        bytes::to_text(*least_bytes), bytes::to_text(*budget_bytes)
    )]
    TooLittleMemory {
        /// Name of the system that was selected.
        system: String,
        /// Memory budget of the run, in bytes.
        budget_bytes: u64,
        /// Smallest budget with which the system works, in bytes.
        least_bytes: u64,
    },
    /// The system's folder has no `[address]`, so remote servers of it cannot be used.
    #[error("{system} cannot be reached by address: its folder has no [address]")]
    NoAddress {
        /// Name of the system that was selected.
        system: String,
    },
    /// User-supplied binaries are missing.
    #[error("{system}={path}: {message}")]
    MissingPrograms {
        /// Name of the system that was selected.
        system: String,
        /// Path where the binaries were looked for.
        path: String,
        /// Description of what is missing.
        message: String,
    },
    /// No system has the requested name.
    #[error("there is no system `{name}`{}; there is {}", did_you_mean(.name, .known.iter().map(String::as_str)), join_names(.known))]
    UnknownSystem {
        /// Name that was requested.
        name: String,
        /// Names of all systems.
        known: Vec<String>,
    },
    /// The system has no such version, on any platform.
    #[error("{system} has no version `{version}`{}; there is {}", did_you_mean(.version, .known.iter().map(String::as_str)), join_names(.known))]
    UnknownVersion {
        /// Name of the system that was selected.
        system: String,
        /// Version that was requested.
        version: String,
        /// All versions of the system.
        known: Vec<String>,
    },
    /// None of the selected systems has such a variant.
    #[error("{system} has no variant `{variant}`{}; there is {}", did_you_mean(.variant, .known.iter().map(String::as_str)), join_names(.known))]
    UnknownVariant {
        /// Names of the selected systems, separated by commas.
        system: String,
        /// Variant that was requested.
        variant: String,
        /// All names and aliases of variants that could be requested.
        known: Vec<String>,
    },
    /// A system has such a variant, and none of the selected ones has it for the workload.
    #[error("{system} has the variant `{variant}` for other workloads than {workload}; there is {}; the default is {default}", join_names(.known))]
    OtherVariant {
        /// System that has the variant.
        system: String,
        /// Variant that was requested.
        variant: String,
        /// Name of the workload.
        workload: String,
        /// All names and aliases of variants that could be requested.
        known: Vec<String>,
        /// Name and title of the default variant of the system for the workload.
        default: String,
    },
    /// The system has no such storage setting.
    #[error("{system} has no storage setting `{storage}`{}; there is {}", did_you_mean(.storage, .known.iter().map(String::as_str)), join_names(.known))]
    UnknownStorage {
        /// Name of the system that was selected.
        system: String,
        /// Storage setting that was requested.
        storage: String,
        /// All storage settings of the system.
        known: Vec<String>,
    },
    /// The system has no such durability tier.
    #[error("{system} has no durability tier `{tier}`; it has {}", join_tiers(.known))]
    UnknownDurability {
        /// Name of the system that was selected.
        system: String,
        /// Durability tier that was requested.
        tier: DurabilityTier,
        /// All durability tiers of the system.
        known: Vec<DurabilityTier>,
    },
    /// There is no workload with the requested name.
    #[error("there is no workload `{name}`{}; workloads are {}", did_you_mean(.name, .known.iter().map(String::as_str)), join_names(.known))]
    UnknownWorkload {
        /// Name that was requested.
        name: String,
        /// Names of all workloads.
        known: Vec<String>,
    },
    /// None of the chosen systems runs the workload.
    #[error("no chosen system runs {workload}: {}; it is run by {}", .reasons.join("; "), join_names(.supported_by))]
    NotRun {
        /// Name of the workload.
        workload: String,
        /// Reason of each chosen system, with the file that states it.
        reasons: Vec<String>,
        /// Names of the systems that run the workload.
        supported_by: Vec<String>,
    },
    /// The version exists, but not for this platform.
    #[error("{system} {version} is not available for {platform}; it is for {}", join_names(.known))]
    Platform {
        /// Name of the system that was selected.
        system: String,
        /// Version that was requested.
        version: String,
        /// Platform of this machine, such as `linux-x86_64`.
        platform: String,
        /// Platforms that the version is available for.
        known: Vec<String>,
    },
    /// The text of a selection is malformed.
    #[error("`{text}` is not a selection: {message}")]
    Selection {
        /// Text that was given by the user.
        text: String,
        /// What was expected instead.
        message: String,
    },
}

fn format_location(file: &str, line: Option<usize>, key: Option<&str>, message: &str) -> String {
    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
    let key = key.map(|key| format!(" `{key}`:")).unwrap_or_default();
    format!("{file}{line}:{key} {message}")
}

/// Formats names as `a, b and c`; returns `none` if there are none.
pub fn join_names(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { and_list(names) }
}

fn join_tiers(tiers: &[DurabilityTier]) -> String {
    let words: Vec<String> = tiers.iter().map(DurabilityTier::to_string).collect();
    join_names(&words)
}
