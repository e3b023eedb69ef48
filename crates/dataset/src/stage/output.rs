//! Output files of staging, which are removed if staging fails.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::DataError;

/// Bytes copied between two checks for cancellation.
const COPY_CHUNK: u64 = 8 << 20;

/// A file being written. Removed when dropped without [`Output::finish`].
#[derive(Debug)]
pub(super) struct Output {
    path: PathBuf,
    file: File,
    length: u64,
    is_finished: bool,
}

impl Output {
    /// Creates the file, replacing one left by an earlier run.
    pub(super) fn create(path: PathBuf) -> Result<Self, DataError> {
        let file = File::create(&path).map_err(|error| DataError::io("write", &path, error))?;
        Ok(Output { path, file, length: 0, is_finished: false })
    }

    /// Appends bytes to the end of the file.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        self.file.write_all(bytes).map_err(|error| DataError::io("write", &self.path, error))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Appends the first `length` bytes of another file.
    pub(super) fn copy_from(
        &mut self,
        path: &Path,
        length: u64,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), DataError> {
        let mut input = File::open(path).map_err(|error| DataError::io("read", path, error))?;
        let mut remaining = length;
        while remaining > 0 {
            if cancelled() {
                return Err(DataError::Cancelled);
            }
            let copied = io::copy(&mut (&mut input).take(remaining.min(COPY_CHUNK)), &mut self.file)
                .map_err(|error| DataError::io("write", &self.path, error))?;
            if copied == 0 {
                let source =
                    io::Error::new(io::ErrorKind::UnexpectedEof, "the file shrank while it was read");
                return Err(DataError::Io { action: "read", path: path.to_path_buf(), source });
            }
            remaining -= copied;
        }
        self.length += length;
        Ok(())
    }

    /// Returns the number of bytes written so far.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Keeps the file and returns its path.
    pub(super) fn finish(mut self) -> PathBuf {
        self.is_finished = true;
        self.path.clone()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if !self.is_finished {
            // Best effort: a file that cannot be removed is left behind.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
