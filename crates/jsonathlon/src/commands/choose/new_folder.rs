//! The folder of a new choice, which disappears again if nothing is measured.

use std::path::{Path, PathBuf};

use jsonathlon_workloads::run::default_folder;

use crate::exit::Failure;

/// A folder that was empty or not there. Dropping it removes everything in it, unless it is to be kept.
#[derive(Debug)]
pub(super) struct NewFolder {
    path: PathBuf,
    /// Whether the user had made the folder, which then stays.
    existed: bool,
    is_kept: bool,
}

impl NewFolder {
    /// Creates the folder; without a path it is a default one, named by the current time.
    ///
    /// # Errors
    /// If the folder is not empty or cannot be created.
    pub(super) fn create(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path else {
            return Ok(Self { path: default_folder()?, existed: false, is_kept: false });
        };
        let failed = |what: &str, error: std::io::Error| {
            Failure::environment(format!("failed to {what} {}: {error}", path.display()))
        };
        let path = std::path::absolute(path).map_err(|error| failed("find", error))?;
        let existed = path.exists();
        std::fs::create_dir_all(&path).map_err(|error| failed("create", error))?;
        let mut entries = std::fs::read_dir(&path).map_err(|error| failed("open", error))?;
        if entries.next().is_some() {
            return Err(Failure::usage(format!(
                "{} is not empty: choose another folder, or resume a choice with --resume",
                path.display()
            )));
        }
        Ok(Self { path, existed, is_kept: false })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps the folder from now on.
    pub(super) fn keep(&mut self) {
        self.is_kept = true;
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        // What cannot be removed stays: the reason why the folder is not kept is reported already.
        if std::fs::remove_dir_all(&self.path).is_ok() && self.existed {
            std::fs::create_dir(&self.path).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_begun_in_vain_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (made, users) = (folder.path().join("a/made"), folder.path().join("users"));
        std::fs::create_dir(&users).unwrap();
        for path in [&made, &users] {
            let new = NewFolder::create(Some(path)).unwrap();
            std::fs::write(new.path().join("file"), "text").unwrap();
            assert!(NewFolder::create(Some(path)).unwrap_err().to_string().contains("is not empty"));
        }
        assert!(!made.exists() && std::fs::read_dir(&users).unwrap().next().is_none());
        let mut kept = NewFolder::create(Some(&made)).unwrap();
        kept.keep();
        drop(kept);
        assert!(made.exists());
    }
}
