//! What can go wrong with a run folder.

use std::path::PathBuf;

/// Why a run folder could not be made, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultsError {
    /// The operating system refused.
    #[error("failed to {action} {}: {source}", path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's own words.
        source: std::io::Error,
    },
    /// A new run may not overwrite an old one.
    #[error("{} already holds a run; choose another --out, or continue it with --resume", path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
    },
    /// No manifest there.
    #[error("{} holds no run (manifest.json is missing); name a folder that `jsonathlon run` made", path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
    },
    /// A result file is never written over.
    #[error("{} is there already; choose another folder, or remove it first", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Somebody else is working in it.
    #[error("{} is in use by another jsonathlon; wait for it or choose another --out", path.display())]
    Locked {
        /// The folder.
        path: PathBuf,
    },
    /// A file of the folder cannot be understood.
    #[error("failed to understand {} at line {line}: {message}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// Why.
        message: String,
    },
    /// Written by a newer program.
    #[error("{} has version {found}, this program knows up to {known}; use a newer jsonathlon", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Version found.
        found: u32,
        /// Newest version this program reads.
        known: u32,
    },
    /// Two runs whose figures say nothing about each other.
    #[error("{0}")]
    Incomparable(String),
    /// A text that cannot be the name of a baseline.
    #[error(
        "{name:?} is no name for a baseline: use letters, digits, `.`, `-` and `_`, with a letter or a digit first, 100 at most"
    )]
    BaselineName {
        /// The text.
        name: String,
    },
    /// No baseline of this name.
    #[error("there is no baseline {name:?} in {}; {}", folder.display(), known_baselines(known))]
    NoBaseline {
        /// The name.
        name: String,
        /// Where it was looked for.
        folder: PathBuf,
        /// Names that are there.
        known: Vec<String>,
    },
    /// A baseline is written over only when asked for.
    #[error("the baseline {name:?} is there already ({}); choose another name, or replace it with --force", path.display())]
    BaselineExists {
        /// The name.
        name: String,
        /// Its folder.
        path: PathBuf,
    },
    /// What has a baseline's name is something else.
    #[error("{} is no baseline: it holds more than manifest.json, journal.ndjson and report.html; choose another name, or move it away", path.display())]
    NotABaseline {
        /// What it is.
        path: PathBuf,
    },
    /// Nowhere to keep baselines.
    #[error("there is no folder for baselines: set JSONATHLON_BASELINES, XDG_DATA_HOME or HOME")]
    NoDataFolder,
    /// A run without data that an export needs.
    #[error("{0}")]
    Missing(String),
}

impl ResultsError {
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}

fn known_baselines(known: &[String]) -> String {
    let save = "`jsonathlon compare --save-baseline NAME RUN` saves one";
    if known.is_empty() {
        format!("none is saved yet; {save}")
    } else {
        format!("there is {}; {save}", known.join(", "))
    }
}
