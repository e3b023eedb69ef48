//! Notices that a file was written to while it was read.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::DataError;

/// Size and time of the last change of a file, as they were when it was opened.
#[derive(Clone, Debug)]
pub(super) struct FileState {
    path: PathBuf,
    length: u64,
    modified: Option<SystemTime>,
}

impl FileState {
    /// Reads the state of a file. `None` if it is no regular file, or cannot be examined.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
        Some(FileState {
            path: path.to_path_buf(),
            length: metadata.len(),
            modified: metadata.modified().ok(),
        })
    }

    /// Fails with [`DataError::ChangedWhileRead`] if the file is no longer as it was.
    pub(super) fn check(&self) -> Result<(), DataError> {
        match FileState::of(&self.path) {
            Some(state) if state.length == self.length && state.modified == self.modified => Ok(()),
            _ => Err(DataError::ChangedWhileRead { input: self.path.display().to_string() }),
        }
    }
}
