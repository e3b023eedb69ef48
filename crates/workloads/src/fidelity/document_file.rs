//! The file through which documents are passed to a system.

use std::path::{Path, PathBuf};

use crate::RunError;

/// File with the current document; overwritten for each document and removed at the end.
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
        // The file may never have been written; the run's work folder is removed in any case.
        std::fs::remove_file(&self.path).ok();
    }
}
