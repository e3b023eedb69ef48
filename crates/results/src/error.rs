//! Errors of run folders, baselines, comparisons and exports.

use std::path::{Path, PathBuf};

/// Why a run folder or a baseline could not be created, read, written or compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultsError {
    /// The operating system reported an error.
    #[error("failed to {action} {}: {source}", path.display())]
    Io {
        /// What was attempted, as a verb.
        action: &'static str,
        /// File or folder that was accessed.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// A new run may not overwrite an existing one.
    #[error("{} already holds a run; choose another --out, or continue it with --resume", path.display())]
    Occupied {
        /// Folder that already holds a run.
        path: PathBuf,
    },
    /// The folder has no manifest.
    #[error("{} holds no run (manifest.json is missing); name a folder that `jsonathlon run` made", path.display())]
    NotARun {
        /// Folder that was expected to hold a run.
        path: PathBuf,
    },
    /// Existing result files are never overwritten.
    #[error("{} is there already; choose another folder, or remove it first", path.display())]
    Exists {
        /// File that already exists.
        path: PathBuf,
    },
    /// Another process has locked the run folder.
    #[error("{} is in use by another jsonathlon; wait for it or choose another --out", path.display())]
    Locked {
        /// Run folder that is locked.
        path: PathBuf,
    },
    /// A file has invalid content.
    #[error("failed to understand {} at line {line}: {message}", path.display())]
    Corrupt {
        /// File with the invalid content.
        path: PathBuf,
        /// Line number, counted from 1.
        line: usize,
        /// Error message of the parser, or the violated rule.
        message: String,
    },
    /// A program of another version made the run, study or baseline, in a format that is not read here.
    #[error("{}", refusal(path, *format, *supported_format))]
    Version {
        /// Folder or file with the other format.
        path: PathBuf,
        /// Format version of the folder or file.
        format: u32,
        /// The only format version that this program reads.
        supported_format: u32,
    },
    /// The manifest has a setting that nothing reads, so that the run is not what its settings say.
    #[error(
        "{} has the setting `{name}`, which this version does not know: correct its name, or use the version that made the run",
        path.display()
    )]
    UnknownSetting {
        /// Manifest with the setting.
        path: PathBuf,
        /// Name of the setting.
        name: String,
    },
    /// Two runs or two sides of a run cannot be compared, for the given reason.
    #[error("{0}")]
    Incomparable(String),
    /// The text is not a valid name of a baseline.
    #[error(
        "{name:?} is no name for a baseline: use letters, digits, `.`, `-` and `_`, with a letter or a digit first, 100 at most"
    )]
    BaselineName {
        /// Name that the user gave.
        name: String,
    },
    /// There is no baseline with this name.
    #[error("there is no baseline {name:?} in {}; {}", folder.display(), known_baselines(existing))]
    NoBaseline {
        /// Name that was requested.
        name: String,
        /// Folder that was searched.
        folder: PathBuf,
        /// Names of the existing baselines, sorted.
        existing: Vec<String>,
    },
    /// A baseline is overwritten only on request.
    #[error("the baseline {name:?} is there already ({}); choose another name, or replace it with --force", path.display())]
    BaselineExists {
        /// Name of the existing baseline.
        name: String,
        /// Folder of the existing baseline.
        path: PathBuf,
    },
    /// The path of the baseline is a file, a link or a folder with other content, and is therefore not
    /// replaced.
    #[error("{} is no baseline: it holds more than manifest.json, journal.ndjson and report.html; choose another name, or move it away", path.display())]
    NotABaseline {
        /// Path that the baseline would have.
        path: PathBuf,
    },
    /// No environment variable says where to store baselines.
    #[error("there is no folder for baselines: set JSONATHLON_BASELINES, XDG_DATA_HOME or HOME")]
    NoDataFolder,
    /// The run lacks data that an export needs, as the message says.
    #[error("{0}")]
    Missing(String),
}

impl ResultsError {
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }

    /// Fails if `format`, that of `path`, is not the only one that this program reads. Callers check this
    /// before they read anything else, so that another format is never reported as a corrupt file.
    ///
    /// # Errors
    /// [`ResultsError::Version`], whose sentence says whether the program or the run is too old.
    pub fn check_format(path: &Path, format: u32, supported_format: u32) -> Result<(), Self> {
        match format == supported_format {
            true => Ok(()),
            false => Err(Self::Version { path: path.to_owned(), format, supported_format }),
        }
    }
}

/// Says which version made `path`, and what the user can do about it.
fn refusal(path: &Path, format: u32, supported_format: u32) -> String {
    let (version, advice) = match format {
        newer if newer > supported_format => ("a newer version", "use a newer jsonathlon"),
        1 => ("version 0.1", "run the benchmark again"),
        _ => ("an older version", "run the benchmark again"),
    };
    let path = path.display();
    format!("{path} was made by {version}, whose format {format} this version does not read; {advice}")
}

fn known_baselines(existing: &[String]) -> String {
    let hint = "`jsonathlon compare --save-baseline NAME RUN` saves one";
    if existing.is_empty() {
        format!("none is saved yet; {hint}")
    } else {
        format!("there is {}; {hint}", existing.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_formats_are_refused_in_one_sentence_that_says_which_side_is_too_old() {
        let refused =
            |format| ResultsError::check_format(Path::new("runs/x"), format, 3).unwrap_err().to_string();
        assert_eq!(
            refused(1),
            "runs/x was made by version 0.1, whose format 1 this version does not read; run the benchmark \
             again"
        );
        assert_eq!(
            refused(2),
            "runs/x was made by an older version, whose format 2 this version does not read; run the \
             benchmark again"
        );
        assert_eq!(
            refused(4),
            "runs/x was made by a newer version, whose format 4 this version does not read; use a newer \
             jsonathlon"
        );
        ResultsError::check_format(Path::new("runs/x"), 3, 3).unwrap();
    }
}
