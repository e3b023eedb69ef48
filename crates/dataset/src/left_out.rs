//! Entries of a folder of documents that are not read, and the reason for each.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Maximum number of names listed per kind.
const SHOWN: usize = 3;

/// Reason why an entry of a folder is not read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// A subfolder; folders are not read recursively.
    Folder,
    /// An archive of files, recognised by its file extension.
    Archive,
    /// A file with an unsupported extension. `None` if the name has no extension.
    Ending(Option<String>),
    /// A file whose name begins with a dot.
    Hidden,
}

/// An entry of a folder of documents that is not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedEntry {
    /// Path of the entry, including the folder.
    pub path: PathBuf,
    /// Reason why the entry is not read.
    pub reason: SkipReason,
}

impl SkippedEntry {
    fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy();
        // File names are untrusted: control characters must not reach the terminal.
        let name: String = name.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
        if self.reason == SkipReason::Folder { format!("{name}/") } else { name }
    }
}

impl SkipReason {
    fn describe(&self, count: usize) -> String {
        let plural = if count == 1 { "" } else { "s" };
        match self {
            SkipReason::Folder => format!("{count} subfolder{plural}"),
            SkipReason::Archive => format!("{count} archive{plural}"),
            SkipReason::Ending(Some(ending)) => format!("{count} .{ending} file{plural}"),
            SkipReason::Ending(None) => format!("{count} file{plural} without an ending"),
            SkipReason::Hidden => format!("{count} hidden file{plural}"),
        }
    }
}

/// Lists skipped entries by kind, each with its count and first names. Empty if `left_out` is empty.
pub fn list_by_reason(left_out: &[SkippedEntry]) -> String {
    let mut sorted: Vec<&SkippedEntry> = left_out.iter().collect();
    sorted.sort_by(|a, b| a.reason.cmp(&b.reason).then_with(|| a.path.cmp(&b.path)));
    let mut text = String::new();
    for group in sorted.chunk_by(|a, b| a.reason == b.reason) {
        let Some(first) = group.first() else { continue };
        let names: Vec<String> = group.iter().take(SHOWN).map(|entry| entry.name()).collect();
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
    let folder = left_out.first()?.path.parent().unwrap_or(Path::new("."));
    let mut remedies = Vec::new();
    if left_out.iter().any(|entry| entry.reason == SkipReason::Archive) {
        remedies.push("unpack archives");
    }
    if left_out.iter().any(|entry| entry.reason == SkipReason::Folder) {
        remedies.push("name a subfolder by itself");
    }
    if left_out.iter().any(|entry| matches!(entry.reason, SkipReason::Ending(_) | SkipReason::Hidden)) {
        remedies.push("name a file of newline-delimited JSON by itself, or end its name in .ndjson");
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
            entry("2023", SkipReason::Folder),
            entry("3.log", log()),
            entry("4.log", log()),
            entry("README", SkipReason::Ending(None)),
            entry("old.tar.gz", SkipReason::Archive),
        ];
        assert_eq!(
            describe(&entries).unwrap(),
            "not read in data: 1 subfolder (2023/), 1 archive (old.tar.gz), 1 file without an ending (README), \
             4 .log files (1.log, 2.log, 3.log, …), 1 hidden file (.x); to have them read, unpack archives; name a \
             subfolder by itself; name a file of newline-delimited JSON by itself, or end its name in .ndjson"
        );
        assert_eq!(
            describe(&entries[3..4]).unwrap(),
            "not read in data: 1 subfolder (2023/); to have them read, name a subfolder by itself"
        );
    }
}
