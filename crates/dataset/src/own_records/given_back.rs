//! Documents that a load changed, as the system gave them back. They are on disk, because they may be as many
//! and as large as the data.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::files::append_at;
use crate::error::DataError;

/// Length in bytes of the place of a document: its offset and its length.
const PLACE_LENGTH: usize = 16;

/// Paths of the two files beside a baseline: the documents, and their places by record number. Records that
/// the load did not change are holes in the second one.
fn paths(baseline: &Path) -> [PathBuf; 2] {
    ["given-back", "places"].map(|ending| baseline.with_extension(ending))
}

fn place_position(number: u64) -> u64 {
    number.saturating_mul(PLACE_LENGTH as u64)
}

/// Removes the files beside a baseline, if there are any.
pub(super) fn remove(baseline: &Path) -> Result<(), DataError> {
    paths(baseline).iter().try_for_each(|path| match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(DataError::io("remove", path, error)),
        _ => Ok(()),
    })
}

/// Writes documents while a baseline is read.
#[derive(Debug)]
pub(super) struct GivenBackWriter {
    path: PathBuf,
    documents: BufWriter<File>,
    places: File,
    offset: u64,
}

impl GivenBackWriter {
    pub(super) fn create(baseline: &Path) -> Result<Self, DataError> {
        let create = |path: &Path| File::create(path).map_err(|error| DataError::io("write", path, error));
        let [path, places] = paths(baseline);
        let documents = BufWriter::with_capacity(1 << 18, create(&path)?);
        Ok(Self { documents, places: create(&places)?, path, offset: 0 })
    }

    /// Keeps the document of a record.
    pub(super) fn add(&mut self, number: u64, text: &[u8]) -> Result<(), DataError> {
        let length = text.len() as u64;
        let place = u128::from(self.offset) | u128::from(length) << 64;
        self.offset += length;
        let written = self.places.write_all_at(&place.to_le_bytes(), place_position(number));
        written
            .and_then(|()| self.documents.write_all(text))
            .map_err(|error| DataError::io("write", &self.path, error))
    }

    pub(super) fn finish(mut self) -> Result<(), DataError> {
        self.documents.flush().map_err(|error| DataError::io("write", &self.path, error))
    }
}

/// Documents of a baseline, shared by all threads; reads name their position.
#[derive(Debug)]
pub(super) struct GivenBackDocuments {
    documents: File,
    places: File,
}

impl GivenBackDocuments {
    /// Opens the documents of a baseline. `None` if the load changed no document.
    pub(super) fn open(baseline: &Path) -> Result<Option<Self>, DataError> {
        let [documents, places] = paths(baseline);
        if !documents.is_file() {
            return Ok(None);
        }
        let open = |path: &Path| File::open(path).map_err(|error| DataError::io("read", path, error));
        Ok(Some(Self { documents: open(&documents)?, places: open(&places)? }))
    }

    /// Appends the document of a record that the load changed.
    pub(super) fn read(&self, number: u64, out: &mut Vec<u8>) -> io::Result<()> {
        let mut place = [0; PLACE_LENGTH];
        self.places.read_exact_at(&mut place, place_position(number))?;
        let place = u128::from_le_bytes(place);
        let length = usize::try_from((place >> 64) as u64).map_err(io::Error::other)?;
        append_at(&self.documents, place as u64, length, out)
    }
}
