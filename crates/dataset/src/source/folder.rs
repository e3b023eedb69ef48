//! Selection of the files of a folder that hold documents.

use std::path::{Path, PathBuf};

use crate::error::DataError;
use crate::left_out::{SkipReason, SkippedEntry};

/// File extensions of newline-delimited JSON.
const ENDINGS: [&str; 3] = ["json", "ndjson", "jsonl"];
/// File extensions of compressed files, which may follow another extension. Compression itself is detected
/// from the content.
const COMPRESSED: [&str; 2] = ["gz", "zst"];
/// File extensions of archives, which are never read.
const ARCHIVES: [&str; 9] = ["tar", "tgz", "tzst", "tbz2", "txz", "zip", "7z", "rar", "cpio"];
/// Extensions that mark a compressed file as something else than JSON, e.g. `csv` in `x.csv.gz`.
const OTHERS: [&str; 12] =
    ["csv", "tsv", "txt", "log", "md", "xml", "html", "sql", "parquet", "avro", "orc", "yaml"];

/// Entries of a folder, split into files to read and everything else.
#[derive(Debug)]
pub(super) struct Listing {
    /// Files to read, in bytewise order of their names.
    pub(super) files: Vec<PathBuf>,
    /// Entries that are not read, in the same order.
    pub(super) left_out: Vec<SkippedEntry>,
}

/// Lists a folder without its subfolders. Fails if no file can be read as documents.
pub(super) fn list(folder: &Path) -> Result<Listing, DataError> {
    let read_error = |error| DataError::io("read", folder, error);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(read_error)? {
        names.push(entry.map_err(read_error)?.file_name());
    }
    names.sort_unstable_by(|a, b| a.as_encoded_bytes().cmp(b.as_encoded_bytes()));
    let (mut files, mut left_out) = (Vec::new(), Vec::new());
    for path in names.iter().map(|name| folder.join(name)) {
        match skip_reason(&path) {
            None => files.push(path),
            Some(reason) => left_out.push(SkippedEntry { path, reason }),
        }
    }
    if files.is_empty() {
        return Err(DataError::NothingReadable { folder: folder.to_path_buf(), left_out });
    }
    Ok(Listing { files, left_out })
}

/// Returns the reason why a path is not read, or `None` if it is read. Symbolic links are followed.
fn skip_reason(path: &Path) -> Option<SkipReason> {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    if path.is_dir() {
        return Some(SkipReason::Folder);
    }
    if name.starts_with('.') {
        return Some(SkipReason::Hidden);
    }
    let mut extensions = name.split('.').skip(1).collect::<Vec<_>>().into_iter().rev();
    let last = extensions.next();
    let is_listed =
        |list: &[&str], extension: Option<&str>| extension.is_some_and(|extension| list.contains(&extension));
    if is_listed(&ENDINGS, last) {
        return None;
    }
    let is_compressed = is_listed(&COMPRESSED, last);
    let inner = if is_compressed { extensions.next() } else { last };
    if is_listed(&ARCHIVES, inner) {
        return Some(SkipReason::Archive);
    }
    match (is_compressed, is_listed(&OTHERS, inner)) {
        (true, false) => None,
        (true, true) => inner.zip(last).map(|(a, b)| SkipReason::Ending(Some(format!("{a}.{b}")))),
        (false, _) => Some(SkipReason::Ending(last.map(str::to_owned))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_holds_documents() {
        let reason = |name: &str| skip_reason(Path::new("/nowhere").join(name).as_path());
        for name in [
            "a.json",
            "A.JSON",
            "a.ndjson",
            "b.jsonl",
            "a.json.gz",
            "part-0001.gz",
            "x.2024.zst",
            "a.log.json",
        ] {
            assert_eq!(reason(name), None, "{name}");
        }
        let unknown = |ending: &str| Some(SkipReason::Ending(Some(ending.to_owned())));
        for (name, expected) in [
            ("a.tar.gz", Some(SkipReason::Archive)),
            ("a.TGZ", Some(SkipReason::Archive)),
            ("a.zip", Some(SkipReason::Archive)),
            ("a.log", unknown("log")),
            ("a.csv.gz", unknown("csv.gz")),
            ("README", Some(SkipReason::Ending(None))),
            (".a.json", Some(SkipReason::Hidden)),
        ] {
            assert_eq!(reason(name), expected, "{name}");
        }
    }
}
