//! What can be wrong with a catalogue, or with what was asked of it.

use std::io;

use jsonathlon_servers::Transport;

use super::near::did_you_mean;
use crate::bytes;

/// Why a catalogue could not be read, or does not hold what was asked for.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// A folder or file could not be read at all.
    #[error("read {path}: {source}")]
    Read {
        /// The folder or file.
        path: String,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file says something that is not allowed.
    #[error("{}", located(.file, *.line, .key.as_deref(), .message))]
    Invalid {
        /// The file, as a path or as `built-in NAME/FILE`.
        file: String,
        /// Its line, counted from 1, where one can be named.
        line: Option<usize>,
        /// The key, dotted, in a file that has keys.
        key: Option<String>,
        /// What is wrong and what to do.
        message: String,
    },
    /// The system's folder does not tell how it is reached so.
    #[error(
        "{system} is not reached over `{}`, for its folder has no {lacks}: leave it out of --systems, or choose --transport tcp",
        transport.word()
    )]
    NoTransport {
        /// Its name.
        system: String,
        /// What was asked for.
        transport: Transport,
        /// The key that its folder lacks, and what that would say.
        lacks: &'static str,
    },
    /// The budget of memory is below what the system works with.
    #[error(
        "{system} needs {} of memory at least, and may have {} here: give it more with --memory, choose --profile stock, or leave it out of --systems",
        bytes::shown(*least_bytes), bytes::shown(*budget_bytes)
    )]
    Memory {
        /// Its name.
        system: String,
        /// What it was given.
        budget_bytes: u64,
        /// What it needs.
        least_bytes: u64,
    },
    /// The system's folder says nothing of servers by address.
    #[error("{system} cannot be reached by address: its folder has no [address]")]
    NoAddress {
        /// Its name.
        system: String,
    },
    /// The user's own programs are not where they should be.
    #[error("{system}={path}: {message}")]
    Own {
        /// The system.
        system: String,
        /// Where they were looked for.
        path: String,
        /// What is wrong.
        message: String,
    },
    /// No system of this name.
    #[error("there is no system `{name}`{}; there is {}", did_you_mean(.name, .known.iter().map(String::as_str)), listed(.known))]
    UnknownSystem {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The system has no such version.
    #[error("{system} has no version `{version}`{}; there is {}", did_you_mean(.version, .known.iter().map(String::as_str)), listed(.known))]
    UnknownVersion {
        /// The system.
        system: String,
        /// What was asked for.
        version: String,
        /// What there is.
        known: Vec<String>,
    },
    /// No system asked for has such a variant.
    #[error("{system} has no variant `{variant}`{}; there is {}", did_you_mean(.variant, .known.iter().map(String::as_str)), listed(.known))]
    UnknownVariant {
        /// The system or systems.
        system: String,
        /// What was asked for.
        variant: String,
        /// What there is, aliases included.
        known: Vec<String>,
    },
    /// The system has no such storage setting.
    #[error("{system} has no storage setting `{storage}`{}; there is {}", did_you_mean(.storage, .known.iter().map(String::as_str)), listed(.known))]
    UnknownStorage {
        /// The system.
        system: String,
        /// What was asked for.
        storage: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The system has no such durability tier.
    #[error("{system} has no durability tier `{tier}`{}; it has {}", did_you_mean(.tier, .known.iter().map(String::as_str)), listed(.known))]
    UnknownDurability {
        /// The system.
        system: String,
        /// What was asked for.
        tier: String,
        /// What there is.
        known: Vec<String>,
    },
    /// There is no such workload.
    #[error("there is no workload `{name}`{}; workloads are {}", did_you_mean(.name, .known.iter().map(String::as_str)), listed(.known))]
    UnknownWorkload {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// None of the chosen systems runs the workload.
    #[error("no chosen system runs {workload}: {}; it is run by {}", .reasons.join("; "), listed(.by))]
    NotRun {
        /// The workload.
        workload: String,
        /// Why each of them does not, with the file.
        reasons: Vec<String>,
        /// The systems that do.
        by: Vec<String>,
    },
    /// The version exists, but not for this machine.
    #[error("{system} {version} is not available for {platform}; it is for {}", listed(.known))]
    Platform {
        /// The system.
        system: String,
        /// The version.
        version: String,
        /// This machine, as `linux-x86_64`.
        platform: String,
        /// The platforms that the version is available for.
        known: Vec<String>,
    },
    /// A selection could not be understood.
    #[error("`{text}` is not a selection: {message}")]
    Selection {
        /// What was given.
        text: String,
        /// What is expected.
        message: String,
    },
}

fn located(file: &str, line: Option<usize>, key: Option<&str>, message: &str) -> String {
    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
    let key = key.map(|key| format!(" `{key}`:")).unwrap_or_default();
    format!("{file}{line}:{key} {message}")
}

/// `a, b and c`, or `none`.
pub(crate) fn listed(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
