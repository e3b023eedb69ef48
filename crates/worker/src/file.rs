//! The documents of a file, for loads by row.

use std::path::Path;

use jsonathlon_connection::driver::{DocumentSource, DriverError, Result};
use jsonathlon_dataset::DataError;
use jsonathlon_dataset::source::{Documents as Lines, Source};

/// Documents borrowed from the data set reader's blocks.
pub(super) struct FileDocuments {
    lines: Lines,
}

impl FileDocuments {
    /// Opens a file of newline-delimited JSON.
    pub(super) fn open(file: &Path) -> Result<Self> {
        let lines = Source::Path(file.to_owned()).documents().map_err(unreadable)?;
        Ok(Self { lines })
    }
}

impl DocumentSource for FileDocuments {
    fn next_document(&mut self) -> Result<Option<&[u8]>> {
        self.lines.next_line().map_err(unreadable)
    }
}

fn unreadable(error: DataError) -> DriverError {
    DriverError::Documents(error.to_string())
}
