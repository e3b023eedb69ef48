//! Keeps a copy of a loaded data folder, so that every round starts with the same data without another load.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jsonathlon_servers::copy_all;

use crate::scratch::sibling_path;

/// Copy of one session's data folder. The engine must be stopped while the copy is made or restored.
#[derive(Debug)]
pub(crate) struct Snapshot {
    folder: PathBuf,
    copy: PathBuf,
}

impl Snapshot {
    /// Copies `folder` to a sibling folder, replacing an older copy.
    pub(crate) fn take(folder: &Path) -> io::Result<Self> {
        let copy = sibling_path(folder, "loaded");
        remove(&copy)?;
        copy_all(folder, &copy)?;
        Ok(Self { folder: folder.to_owned(), copy })
    }

    /// Restores the original folder to the state of the copy.
    pub(crate) fn restore(&self) -> io::Result<()> {
        self.restore_to(&self.folder)
    }

    /// Copies the data into another folder and replaces its contents.
    pub(crate) fn restore_to(&self, folder: &Path) -> io::Result<()> {
        remove(folder)?;
        copy_all(&self.copy, folder)
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        // Best effort: the run's work folder is removed at the end anyway.
        remove(&self.copy).ok();
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_folder_comes_back_as_it_was() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("system@1.2-plain");
        fs::create_dir_all(folder.join("data/base")).unwrap();
        fs::write(folder.join("data/base/1"), b"documents").unwrap();
        fs::set_permissions(folder.join("data"), fs::Permissions::from_mode(0o700)).unwrap();
        symlink("base", folder.join("data/link")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(folder.join("socket")).unwrap();
        let snapshot = Snapshot::take(&folder).unwrap();
        fs::write(folder.join("data/base/1"), b"changed").unwrap();
        fs::write(folder.join("data/base/2"), b"more").unwrap();
        snapshot.restore().unwrap();
        assert_eq!(fs::read(folder.join("data/link/1")).unwrap(), b"documents");
        assert!(!folder.join("data/base/2").exists() && !folder.join("socket").exists());
        assert_eq!(fs::metadata(folder.join("data")).unwrap().permissions().mode() & 0o777, 0o700);
        let copy = parent.path().join("system@1.2-plain.loaded");
        assert!(copy.exists());
        drop(snapshot);
        assert!(!copy.exists());
    }
}
