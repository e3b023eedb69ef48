//! Which files of a folder hold documents.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::error::DataError;

/// The endings of files that are read. Whether a file is compressed is told by its content, not by these.
const ENDINGS: [&str; 5] = ["json", "ndjson", "jsonl", "gz", "zst"];

/// What a folder holds.
#[derive(Debug)]
pub(super) struct Listing {
    /// Files to read, in the bytewise order of their names.
    pub(super) files: Vec<PathBuf>,
    /// All else, in the same order.
    pub(super) skipped: Vec<PathBuf>,
}

/// Lists a folder, without going into folders within it.
pub(super) fn list(folder: &Path) -> Result<Listing, DataError> {
    let failed = |error| DataError::io("read", folder, error);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        names.push(entry.map_err(failed)?.file_name());
    }
    names.sort_unstable_by(|a, b| a.as_encoded_bytes().cmp(b.as_encoded_bytes()));
    let (files, skipped): (Vec<PathBuf>, Vec<PathBuf>) =
        names.iter().map(|name| folder.join(name)).partition(|path| holds_documents(path));
    if files.is_empty() {
        return Err(DataError::NothingReadable { folder: folder.to_path_buf(), skipped });
    }
    Ok(Listing { files, skipped })
}

/// A file (a link to one counts) with one of the endings, and not a hidden one.
fn holds_documents(path: &Path) -> bool {
    let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    !hidden && ENDINGS.iter().any(|known| known.eq_ignore_ascii_case(ending)) && !path.is_dir()
}
