//! Why there is no disk, or no longer one.

use std::path::{Path, PathBuf};

/// What this crate answers with.
pub type Result<T> = std::result::Result<T, OutageError>;

/// Why a disk could not be made, cut, mounted again or closed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutageError {
    /// The machine or the user lacks what such a disk needs.
    #[error("no disk whose power can be cut: {lacking}: {remedy}")]
    Unavailable {
        /// What is lacking.
        lacking: String,
        /// What to do.
        remedy: String,
    },
    /// Processes still use the disk that is to be unmounted.
    #[error("the disk at {} is still in use after {waited_s} s, by {}", folder.display(), by(holders))]
    Held {
        /// Where it is mounted.
        folder: PathBuf,
        /// How long was waited for them to end, s.
        waited_s: u64,
        /// Each with its process id, its name, and how it uses the disk.
        holders: Vec<String>,
    },
    /// Something failed that nobody can foresee.
    #[error("failed to {action}: {reason}")]
    Failed {
        /// What was to be done.
        action: String,
        /// Why it was not, in the words of the kernel or of the tool.
        reason: String,
    },
}

fn by(holders: &[String]) -> String {
    if holders.is_empty() { "nobody who can be found".to_owned() } else { holders.join(", ") }
}

impl OutageError {
    pub(crate) fn unavailable(lacking: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Unavailable { lacking: lacking.into(), remedy: remedy.into() }
    }

    pub(crate) fn failed(action: impl Into<String>, reason: impl ToString) -> Self {
        Self::Failed { action: action.into(), reason: reason.to_string() }
    }
}

/// Makes an error of what was to be done with a file or folder.
pub(crate) fn failed<E: ToString>(action: &str, path: &Path) -> impl FnOnce(E) -> OutageError {
    let action = format!("{action} {}", path.display());
    move |error| OutageError::failed(action, error)
}
