//! Default statement files of each protocol, in `defaults/`. A system's folder overrides them.

use std::collections::BTreeMap;

use include_dir::{Dir, include_dir};

use crate::statement_file::StatementKind;

static DEFAULTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/defaults");

/// File that is used for every system of a protocol.
pub(crate) struct DefaultFile {
    /// Path with the folder of all default files.
    pub(crate) path: String,
    pub(crate) text: &'static str,
    pub(crate) kind: StatementKind,
}

/// Returns the default files of a workload for systems of this protocol, by their names without ending. A file
/// of the workload replaces the one that all workloads share.
pub(crate) fn default_files(protocol: &str, workload: &str) -> BTreeMap<&'static str, DefaultFile> {
    files_in(&[protocol.to_owned(), format!("{protocol}/{workload}")])
}

/// Returns the default files of a workload for systems of this protocol, without those that workloads share.
pub(crate) fn workload_default_files(protocol: &str, workload: &str) -> BTreeMap<&'static str, DefaultFile> {
    files_in(&[format!("{protocol}/{workload}")])
}

/// Returns the files of these folders, by their names without ending. Files of later folders replace those of
/// earlier ones.
fn files_in(folder_paths: &[String]) -> BTreeMap<&'static str, DefaultFile> {
    let mut files = BTreeMap::new();
    for folder_path in folder_paths {
        let Some(folder) = DEFAULTS.get_dir(folder_path) else { continue };
        for file in folder.files() {
            let name = file.path().file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let (Some((stem, kind)), Some(text)) =
                (StatementKind::parse_file_name(name), file.contents_utf8())
            else {
                continue;
            };
            files.insert(stem, DefaultFile { path: format!("defaults/{folder_path}/{name}"), text, kind });
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{ALL_RULES, WorkloadRules};

    #[test]
    fn a_file_of_the_workload_replaces_the_shared_one() {
        let analytics = default_files("sqlite", "analytics");
        assert_eq!(analytics["drop"].path, "defaults/sqlite/drop.sql");
        assert_eq!(analytics["q1"].path, "defaults/sqlite/analytics/q1.sql");
        assert!(default_files("mock", "analytics").is_empty());
    }

    /// Files that no workload reads would be ignored.
    #[test]
    fn every_file_is_one_that_a_workload_reads() {
        let is_rule_of =
            |rules: &dyn WorkloadRules, stem: &str| rules.files().iter().any(|file| file.name == stem);
        let mut pending = vec![&DEFAULTS];
        while let Some(folder) = pending.pop() {
            pending.extend(folder.dirs());
            for file in folder.files() {
                assert!(file.contents_utf8().is_some(), "{}", file.path().display());
                let path = file.path().to_str().expect("it is text");
                let parts: Vec<&str> = path.split('/').collect();
                let (stem, _) =
                    StatementKind::parse_file_name(parts.last().expect("it has a name")).expect(path);
                let is_read = match parts[..] {
                    [_, _] => ALL_RULES.iter().any(|rules| is_rule_of(*rules, stem)),
                    [_, workload, _] => {
                        ALL_RULES.iter().any(|rules| rules.name() == workload && is_rule_of(*rules, stem))
                    }
                    _ => false,
                };
                assert!(is_read, "{path}");
            }
        }
    }
}
