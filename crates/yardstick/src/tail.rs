//! Documents added after a table was built, in order of arrival, until they are merged into its columns.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{Result, YardstickError};

/// Extension of the file that keeps the documents between sessions.
const ENDING: &str = "tail";

/// Later documents of one table, one per line.
#[derive(Debug)]
pub struct AppendedDocuments {
    path: PathBuf,
    lines: Vec<u8>,
    /// Number of bytes of `lines` that are in the file.
    written: usize,
}

impl AppendedDocuments {
    /// Makes an empty tail for a table in `folder` that has none yet.
    #[must_use]
    pub fn new(folder: &Path, table: &str) -> Self {
        Self { path: path_of(folder, table), lines: Vec::new(), written: 0 }
    }

    /// Reads the tail that an earlier session left; `None` if there is none.
    ///
    /// # Errors
    /// [`YardstickError::File`] if the file exists but cannot be read.
    pub fn read(folder: &Path, table: &str) -> Result<Option<Self>> {
        let path = path_of(folder, table);
        match std::fs::read(&path) {
            Ok(lines) => Ok(Some(Self { path, written: lines.len(), lines })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed("read", &path, &error)),
        }
    }

    /// Appends one document, which is durable after [`Self::write`].
    pub fn push(&mut self, document: &[u8]) {
        self.lines.extend_from_slice(document);
        self.lines.push(b'\n');
    }

    /// Writes the documents pushed since the last call to the file and syncs it.
    ///
    /// # Errors
    /// [`YardstickError::File`] if the file cannot be written.
    pub fn write(&mut self) -> Result<()> {
        let unwritten = self.lines.get(self.written..).unwrap_or_default();
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)
            .and_then(|mut file| file.write_all(unwritten).and_then(|()| file.sync_data()))
            .map_err(|error| failed("write", &self.path, &error))?;
        self.written = self.lines.len();
        Ok(())
    }

    /// Iterates over all documents in order of arrival.
    pub fn documents(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
    }

    /// Removes the file; must be called after the documents were merged into the table's columns.
    ///
    /// # Errors
    /// [`YardstickError::File`] if the file cannot be removed.
    pub fn remove(self) -> Result<()> {
        std::fs::remove_file(&self.path).map_err(|error| failed("remove", &self.path, &error))
    }
}

fn path_of(folder: &Path, table: &str) -> PathBuf {
    folder.join(table).with_extension(ENDING)
}

fn failed(action: &str, path: &Path, error: &io::Error) -> YardstickError {
    YardstickError::File(format!("failed to {action} {}: {error}", path.display()))
}
