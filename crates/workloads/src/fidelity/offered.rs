//! The file that documents are offered from.

use std::path::{Path, PathBuf};

use crate::RunError;

/// The file that documents are offered from, one after the other.
pub(super) struct DocumentFile {
    pub(super) path: PathBuf,
}

impl DocumentFile {
    pub(super) fn new(work: &Path, configuration: &str) -> Result<Self, RunError> {
        std::fs::create_dir_all(work).map_err(RunError::io(format!("make {}", work.display())))?;
        Ok(Self { path: work.join(format!("{configuration}.document.json")) })
    }

    pub(super) fn write(&self, bytes: &[u8]) -> Result<(), RunError> {
        std::fs::write(&self.path, bytes).map_err(RunError::io(format!("write {}", self.path.display())))
    }
}

impl Drop for DocumentFile {
    fn drop(&mut self) {
        // It may never have been written; what is left of a run's work is removed anyway.
        std::fs::remove_file(&self.path).ok();
    }
}
