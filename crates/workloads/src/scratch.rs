//! Names of files and folders that exist beside a session's data folder for a while.

use std::path::{Path, PathBuf};

/// Path beside `folder` with `.ending` appended to its name.
///
/// `Path::with_extension` is not an option, because versions contain dots: it would cut off the rest of a
/// configuration's name, and configurations would share their files.
pub(crate) fn sibling_path(folder: &Path, ending: &str) -> PathBuf {
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(ending);
    folder.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_of_one_version_share_no_file() {
        let files = ["plain", "indexed"].map(|variant| {
            sibling_path(&Path::new("work").join(format!("postgresql@18.6-{variant}-default")), "part")
        });
        assert_eq!(files[0], Path::new("work/postgresql@18.6-plain-default.part"));
        assert_ne!(files[0], files[1]);
    }
}
