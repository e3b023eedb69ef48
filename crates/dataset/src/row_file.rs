//! Files of rows that systems load, written one row after the other.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use crate::error::DataError;

/// A file of rows with its length so far.
pub(crate) struct RowFile {
    path: PathBuf,
    file: BufWriter<File>,
    length: u64,
}

impl RowFile {
    /// Creates the file, or empties it if it exists.
    pub(crate) fn create(path: PathBuf) -> Result<Self, DataError> {
        let file = File::create(&path).map_err(|error| DataError::io("write", &path, error))?;
        Ok(Self { path, file: BufWriter::with_capacity(1 << 18, file), length: 0 })
    }

    /// Appends bytes, which need not be a whole row.
    pub(crate) fn write(&mut self, row: &[u8]) -> Result<(), DataError> {
        self.length += row.len() as u64;
        self.file.write_all(row).map_err(|error| DataError::io("write", &self.path, error))
    }

    /// Number of bytes written so far.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Completes the file and returns its path.
    pub(crate) fn finish(mut self) -> Result<PathBuf, DataError> {
        self.file.flush().map_err(|error| DataError::io("write", &self.path, error))?;
        Ok(self.path)
    }
}
