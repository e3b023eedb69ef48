//! Errors of creating, power-cutting, remounting and closing a disk.

use std::path::{Path, PathBuf};

/// Result of the fallible functions of this crate.
pub type Result<T> = std::result::Result<T, OutageError>;

/// Why a disk could not be created, power-cut, mounted again or closed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutageError {
    /// The machine or the user lacks a prerequisite of such a disk.
    #[error("no disk whose power can be cut: {lacking}: {remedy}")]
    Unavailable {
        /// The missing prerequisite, or the error message that shows it.
        lacking: String,
        /// What the user can do about it, as an imperative.
        remedy: String,
    },
    /// Processes still use the disk that is to be unmounted.
    #[error("the disk at {} is still in use after {waited_s} s, by {}", folder.display(), names(holders))]
    Held {
        /// Folder on which the disk is mounted.
        folder: PathBuf,
        /// How long the unmount waited for the processes to end, in whole seconds.
        waited_s: u64,
        /// The processes, each as `name (process id): how it uses the disk`. Empty if none could be found.
        holders: Vec<String>,
    },
    /// Any other failure of a system call or of a tool.
    #[error("failed to {action}: {reason}")]
    Failed {
        /// What was attempted, as an infinitive with its object.
        action: String,
        /// The cause, usually the message of the kernel or of the tool.
        reason: String,
    },
}

fn names(holders: &[String]) -> String {
    if holders.is_empty() { "an unknown process".to_owned() } else { holders.join(", ") }
}

impl OutageError {
    pub(crate) fn unavailable(lacking: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Unavailable { lacking: lacking.into(), remedy: remedy.into() }
    }

    pub(crate) fn failed(action: impl Into<String>, reason: impl ToString) -> Self {
        Self::Failed { action: action.into(), reason: reason.to_string() }
    }
}

/// Returns a closure that converts an error into [`OutageError::Failed`] for `action` on `path`.
pub(crate) fn failed<E: ToString>(action: &str, path: &Path) -> impl FnOnce(E) -> OutageError {
    let action = format!("{action} {}", path.display());
    move |error| OutageError::failed(action, error)
}
