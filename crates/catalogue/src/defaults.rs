//! Default statement files of each protocol, in `defaults/`. A system's folder overrides them.

use std::collections::BTreeMap;

use include_dir::{Dir, include_dir};

static DEFAULTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/defaults");

/// First part of the path of every default file.
const FOLDER: &str = "defaults/";

/// Returns `true` for the path of a default file, `false` for that of a file in a system's folder.
pub(crate) fn is_default(path: &str) -> bool {
    path.starts_with(FOLDER)
}

/// Returns the default files of a workload for systems of this protocol: path and text by file name, such as
/// `create.sql`. A file of the workload replaces the one that all workloads share.
pub(crate) fn of(protocol: &str, workload: &str) -> BTreeMap<String, (String, &'static str)> {
    let mut found = BTreeMap::new();
    for place in [protocol.to_owned(), format!("{protocol}/{workload}")] {
        let Some(folder) = DEFAULTS.get_dir(&place) else { continue };
        for file in folder.files() {
            let Some(name) = file.path().file_name().and_then(|name| name.to_str()) else { continue };
            let Some(text) = file.contents_utf8() else { continue };
            found.insert(name.to_owned(), (format!("{FOLDER}{place}/{name}"), text));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_workload_replaces_the_shared_one() {
        let analytics = of("sqlite", "analytics");
        assert_eq!(analytics["drop.sql"].0, "defaults/sqlite/drop.sql");
        assert_eq!(analytics["q1.sql"].0, "defaults/sqlite/analytics/q1.sql");
        assert!(of("mock", "analytics").is_empty());
    }

    #[test]
    fn all_files_are_text_in_a_folder_of_a_protocol() {
        let mut waiting = vec![&DEFAULTS];
        while let Some(folder) = waiting.pop() {
            waiting.extend(folder.dirs());
            for file in folder.files() {
                assert!(file.contents_utf8().is_some(), "{}", file.path().display());
                assert!((2..=3).contains(&file.path().components().count()), "{}", file.path().display());
            }
        }
    }
}
