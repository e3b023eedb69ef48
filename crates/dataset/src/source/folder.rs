//! Selection of the files of a folder that hold documents.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use crate::error::DataError;
use crate::skipped_entries::{SkipReason, SkippedEntry};

/// File extensions of JSON.
const ENDINGS: [&str; 6] = ["json", "ndjson", "jsonl", "ldjson", "jsonlines", "geojson"];
/// File extensions of compressed files, which may follow another extension. Compression itself is detected
/// from the content.
const COMPRESSED: [&str; 5] = ["gz", "zst", "bz2", "xz", "zstd"];
/// File extensions of archives whose members are read.
const ARCHIVES: [&str; 7] = ["tar", "tgz", "tzst", "tbz2", "tbz", "txz", "zip"];
/// File extensions of archives that are never read.
const OTHER_ARCHIVES: [&str; 3] = ["7z", "rar", "cpio"];
/// Extensions that mark a compressed file as something else than JSON, e.g. `csv` in `x.csv.gz`.
const OTHERS: [&str; 12] =
    ["csv", "tsv", "txt", "log", "md", "xml", "html", "sql", "parquet", "avro", "orc", "yaml"];

/// Entries of a folder, split into files to read and everything else.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// Files to read, in bytewise order of their paths below the folder.
    pub(super) files: Vec<PathBuf>,
    /// Entries that are not read, in the same order.
    pub(super) left_out: Vec<SkippedEntry>,
}

/// Lists a folder with its subfolders. Fails if no file can be read as documents.
pub(super) fn list(folder: &Path) -> Result<Listing, DataError> {
    let mut listing = Listing::default();
    let mut pending = vec![folder.to_path_buf()];
    while let Some(next) = pending.pop() {
        let read_error = |error| DataError::io("read", &next, error);
        for entry in std::fs::read_dir(&next).map_err(read_error)? {
            let path = entry.map_err(read_error)?.path();
            let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
            let reason = match (name.starts_with('.'), path.is_dir()) {
                (true, _) => Some(SkipReason::Hidden),
                (false, true) if path.is_symlink() => Some(SkipReason::Link),
                (false, true) => {
                    pending.push(path);
                    continue;
                }
                (false, false) => skip_reason(&name),
            };
            match reason {
                None => listing.files.push(path),
                Some(reason) => listing.left_out.push(SkippedEntry { path, reason }),
            }
        }
    }
    // All paths begin with the same folder, so that they are in the order of the rest.
    listing.files.sort_unstable_by(|a, b| compare(a, b));
    listing.left_out.sort_unstable_by(|a, b| compare(&a.path, &b.path));
    if listing.files.is_empty() {
        let left_out = listing.left_out;
        return Err(DataError::NothingReadable { folder: folder.to_path_buf(), left_out });
    }
    Ok(listing)
}

fn compare(a: &Path, b: &Path) -> Ordering {
    a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes())
}

/// Returns the reason why a member of an archive is not read, or `None` if it is read. `path` is its path
/// within the archive.
pub(super) fn member_skip_reason(path: &str) -> Option<SkipReason> {
    let path = path.trim_start_matches("./").to_lowercase();
    if path.split('/').any(|part| part.starts_with('.')) {
        return Some(SkipReason::Hidden);
    }
    let name = path.rsplit('/').next().unwrap_or_default();
    if is_archive_name(name) { Some(SkipReason::NestedArchive) } else { skip_reason(name) }
}

/// Returns `true` if the name, in lower case, is that of an archive.
fn is_archive_name(name: &str) -> bool {
    let mut extensions = name.split('.').skip(1).collect::<Vec<_>>().into_iter().rev();
    let last = extensions.next().unwrap_or_default();
    let inner = if COMPRESSED.contains(&last) { extensions.next().unwrap_or_default() } else { last };
    ARCHIVES.contains(&inner) || OTHER_ARCHIVES.contains(&inner)
}

/// Returns the reason why a file of this name, in lower case, is not read, or `None` if it is read.
fn skip_reason(name: &str) -> Option<SkipReason> {
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
        return None;
    }
    if is_listed(&OTHER_ARCHIVES, inner) {
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
        let reason = |name: &str| skip_reason(&name.to_lowercase());
        for name in [
            "a.json",
            "A.JSON",
            "a.ndjson",
            "b.jsonl",
            "a.json.gz",
            "part-0001.gz",
            "x.2024.zst",
            "a.log.json",
            "a.json.bz2",
            "a.xz",
            "a.tar.gz",
            "a.TGZ",
            "a.zip",
        ] {
            assert_eq!(reason(name), None, "{name}");
        }
        let unknown = |ending: &str| Some(SkipReason::Ending(Some(ending.to_owned())));
        for (name, expected) in [
            ("a.7z", Some(SkipReason::Archive)),
            ("a.log", unknown("log")),
            ("a.csv.gz", unknown("csv.gz")),
            ("README", Some(SkipReason::Ending(None))),
        ] {
            assert_eq!(reason(name), expected, "{name}");
        }
    }

    #[test]
    fn names_tell_which_members_are_read() {
        for (path, expected) in [
            ("a.json", None),
            ("./a/b.json.gz", None),
            ("a/.git/b.json", Some(SkipReason::Hidden)),
            ("__MACOSX/._a.json", Some(SkipReason::Hidden)),
            ("a/b.TAR.xz", Some(SkipReason::NestedArchive)),
            ("b.zip", Some(SkipReason::NestedArchive)),
            ("b.rar", Some(SkipReason::NestedArchive)),
            ("b.txt", Some(SkipReason::Ending(Some("txt".to_owned())))),
        ] {
            assert_eq!(member_skip_reason(path), expected, "{path}");
        }
    }
}
