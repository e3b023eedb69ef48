//! Entries of folders and archives of documents that are not read, and the reason for each.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Maximum number of names listed per kind.
const SHOWN: usize = 3;

/// Reason why an entry of a folder or archive is not read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// A symbolic link to a folder, which could lead back to a folder above it, or any link in an archive.
    Link,
    /// An archive of a format that is not read.
    Archive,
    /// An archive within an archive.
    NestedArchive,
    /// A file that holds no JSON, or is of another format.
    NotJson,
    /// A member of an archive that is encrypted, or compressed by an unsupported method, which is named.
    Packed(String),
    /// A file with an unsupported extension. `None` if the name has no extension.
    Ending(Option<String>),
    /// A file or folder whose name begins with a dot.
    Hidden,
}

/// An entry of a folder of documents, or a member of an archive, that is not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedEntry {
    /// Path of the entry, including the folder. Of a member, `archive.zip: folder/member`.
    pub path: PathBuf,
    /// Reason why the entry is not read.
    pub reason: SkipReason,
}

impl SkippedEntry {
    /// Path below `folder`, for messages.
    fn name(&self, folder: &Path) -> String {
        let path = self.path.strip_prefix(folder).unwrap_or(&self.path);
        // File names are untrusted: control characters must not reach the terminal.
        let name = path.to_string_lossy().replace(char::is_control, "?");
        if self.reason == SkipReason::Link { format!("{name}/") } else { name }
    }
}

impl SkipReason {
    fn describe(&self, count: usize) -> String {
        let plural = if count == 1 { "" } else { "s" };
        match self {
            SkipReason::Link => format!("{count} link{plural}"),
            SkipReason::Archive => format!("{count} archive{plural}"),
            SkipReason::NestedArchive => format!("{count} archive{plural} within an archive"),
            SkipReason::NotJson if count == 1 => "1 file that is no JSON".to_owned(),
            SkipReason::NotJson => format!("{count} files that are no JSON"),
            SkipReason::Packed(method) => format!("{count} member{plural} packed by {method}"),
            SkipReason::Ending(Some(ending)) => format!("{count} .{ending} file{plural}"),
            SkipReason::Ending(None) => format!("{count} file{plural} without an ending"),
            SkipReason::Hidden => format!("{count} hidden file{plural} or folder{plural}"),
        }
    }

    /// What to do to have entries like this read.
    fn remedy(&self) -> &'static str {
        match self {
            SkipReason::Link => "name what a link leads to by itself",
            SkipReason::Archive | SkipReason::NestedArchive => "unpack archives",
            SkipReason::NotJson => "convert files of other formats to JSON",
            SkipReason::Packed(_) => "unpack the archive",
            SkipReason::Ending(_) | SkipReason::Hidden => {
                "name a file of JSON by itself, or end its name in .json"
            }
        }
    }
}

/// Folder that holds all entries.
fn common_folder(left_out: &[SkippedEntry]) -> PathBuf {
    let mut parents = left_out.iter().map(|entry| entry.path.parent().unwrap_or(Path::new("")));
    let first = parents.next().unwrap_or(Path::new("")).to_path_buf();
    parents.fold(first, |folder, parent| {
        let shared = folder.components().zip(parent.components()).take_while(|(a, b)| a == b);
        shared.map(|(component, _)| component).collect()
    })
}

/// Lists skipped entries by kind, each with its count and first names. Empty if `left_out` is empty.
pub fn list_by_reason(left_out: &[SkippedEntry]) -> String {
    let folder = common_folder(left_out);
    let mut sorted: Vec<&SkippedEntry> = left_out.iter().collect();
    sorted.sort_by(|a, b| a.reason.cmp(&b.reason).then_with(|| a.path.cmp(&b.path)));
    let mut text = String::new();
    for group in sorted.chunk_by(|a, b| a.reason == b.reason) {
        let Some(first) = group.first() else { continue };
        let names: Vec<String> = group.iter().take(SHOWN).map(|entry| entry.name(&folder)).collect();
        let ellipsis = if group.len() > SHOWN { ", …" } else { "" };
        let separator = if text.is_empty() { "" } else { ", " };
        let count = first.reason.describe(group.len());
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{separator}{count} ({}{ellipsis})", names.join(", "));
    }
    text
}

/// Returns one sentence that lists the skipped entries and how to have them read. `None` if there are none.
pub fn describe(left_out: &[SkippedEntry]) -> Option<String> {
    let folder = left_out.first().map(|_| common_folder(left_out))?;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
    let mut remedies: Vec<&str> = Vec::new();
    let mut reasons: Vec<&SkipReason> = left_out.iter().map(|entry| &entry.reason).collect();
    reasons.sort();
    for remedy in reasons.into_iter().map(SkipReason::remedy) {
        if !remedies.contains(&remedy) {
            remedies.push(remedy);
        }
    }
    Some(format!(
        "not read in {}: {}; to have them read, {}",
        folder.display(),
        list_by_reason(left_out),
        remedies.join("; ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_out_is_told_by_kind_with_its_remedy() {
        assert_eq!(describe(&[]), None);
        let entry = |name: &str, reason| SkippedEntry { path: Path::new("data").join(name), reason };
        let log = || SkipReason::Ending(Some("log".into()));
        let entries = [
            entry(".x", SkipReason::Hidden),
            entry("1.log", log()),
            entry("2.log", log()),
            entry("2023", SkipReason::Link),
            entry("new/x.json", SkipReason::NotJson),
            entry("a.zip: old/b.tar", SkipReason::NestedArchive),
            entry("3.log", log()),
            entry("4.log", log()),
            entry("README", SkipReason::Ending(None)),
            entry("old.7z", SkipReason::Archive),
        ];
        assert_eq!(
            describe(&entries).unwrap(),
            "not read in data: 1 link (2023/), 1 archive (old.7z), 1 archive within an archive \
             (a.zip: old/b.tar), 1 file that is no JSON (new/x.json), 1 file without an ending (README), \
             4 .log files (1.log, 2.log, 3.log, …), 1 hidden file or folder (.x); to have them read, name what a \
             link leads to by itself; unpack archives; convert files of other formats to JSON; name a file of JSON by \
             itself, or end its name in .json"
        );
        assert_eq!(
            describe(&entries[3..4]).unwrap(),
            "not read in data: 1 link (2023/); to have them read, name what a link leads to by itself"
        );
    }
}
