//! Baselines: runs saved under a name, to compare later runs with. Only the manifest and the journal are
//! stored, because a comparison reads nothing else.

use std::ffi::OsString;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::ResultsError;
use crate::folder::{self, is_run_folder, read_manifest, read_records};

/// Maximum length of a name in bytes. With the prefix and suffix of a temporary folder it still fits every
/// file system's limit.
const MAX_NAME_BYTES: usize = 100;

/// Files that a baseline may contain; the page is made by users. A folder with other files is not a baseline
/// and is not replaced.
const FILES: [&str; 3] = [folder::MANIFEST, folder::JOURNAL, "report.html"];

/// Folder that holds the baselines of the current user.
#[derive(Debug, Clone)]
pub struct Baselines {
    folder: PathBuf,
}

impl Baselines {
    /// Uses the baselines in `folder`, which need not exist yet.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Finds the folder: `JSONATHLON_BASELINES`, else `jsonathlon/baselines` in `XDG_DATA_HOME`, else in
    /// `.local/share` of `HOME`. `variable` looks up an environment variable. A relative `XDG_DATA_HOME` is
    /// ignored, as the XDG base directory specification demands.
    ///
    /// # Errors
    /// [`ResultsError::NoDataFolder`] if none of the three is set.
    pub fn from_environment(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, ResultsError> {
        let path_from = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(folder) = path_from("JSONATHLON_BASELINES") {
            return Ok(Self { folder });
        }
        let data = path_from("XDG_DATA_HOME")
            .filter(|path| path.is_absolute())
            .or_else(|| path_from("HOME").map(|home| home.join(".local/share")));
        let folder = data.ok_or(ResultsError::NoDataFolder)?.join("jsonathlon/baselines");
        Ok(Self { folder })
    }

    /// Names of all baselines, sorted. Empty if the folder cannot be read.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return Vec::new() };
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| is_name(name) && is_run_folder(&self.folder.join(name)))
            .collect();
        names.sort();
        names
    }

    /// Finds the folder of the baseline `name`, which can be read like a run folder.
    ///
    /// # Errors
    /// [`ResultsError::BaselineName`] if `name` is not valid, [`ResultsError::NoBaseline`] if there is no
    /// such baseline.
    pub fn find(&self, name: &str) -> Result<PathBuf, ResultsError> {
        let path = self.path_of(name)?;
        if is_run_folder(&path) {
            return Ok(path);
        }
        Err(ResultsError::NoBaseline {
            name: name.to_owned(),
            folder: self.folder.clone(),
            existing: self.names(),
        })
    }

    /// Saves the run in `run` as `name` and returns the folder of the baseline. An existing baseline is
    /// replaced only if `replace` is set, and other folders never are. On every error either the old or the
    /// new baseline is complete. After a crash this holds if the file system can exchange two folders
    /// atomically.
    ///
    /// # Errors
    /// Those of reading the run; [`ResultsError::BaselineName`], [`ResultsError::BaselineExists`] or
    /// [`ResultsError::NotABaseline`] if the name cannot be used; [`ResultsError::Io`] if the folder cannot
    /// be written to.
    pub fn save(&self, name: &str, run: &Path, replace: bool) -> Result<PathBuf, ResultsError> {
        let path = self.path_of(name)?;
        // A run that cannot be read is reported now, not when the baseline is used.
        read_manifest(run)?;
        read_records(run)?;
        let already_exists = || ResultsError::BaselineExists { name: name.to_owned(), path: path.clone() };
        let exists = path.symlink_metadata().is_ok();
        if exists && !replace {
            return Err(already_exists());
        }
        if exists {
            ensure_baseline(&path)?;
        }
        std::fs::create_dir_all(&self.folder).map_err(ResultsError::io("create", &self.folder))?;
        let temporary = TempSibling::create(&self.folder, name)?;
        copy(run, &temporary.0)?;
        if exists {
            exchange(&temporary.0, &path).map_err(ResultsError::io("replace", &path))?;
        } else {
            rename_new(&temporary.0, &path).map_err(|error| match error.kind() {
                // Another process has created it in the meantime.
                ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty | ErrorKind::NotADirectory => {
                    already_exists()
                }
                _ => ResultsError::io("write", &path)(error),
            })?;
        }
        sync(&self.folder)?;
        if exists {
            // After the exchange this folder holds the old baseline.
            temporary.remove().map_err(ResultsError::io("remove", &temporary.0))?;
        }
        Ok(path)
    }

    fn path_of(&self, name: &str) -> Result<PathBuf, ResultsError> {
        if is_name(name) {
            Ok(self.folder.join(name))
        } else {
            Err(ResultsError::BaselineName { name: name.to_owned() })
        }
    }
}

/// Returns `true` for a valid name of a baseline, which is a single path component.
fn is_name(text: &str) -> bool {
    text.len() <= MAX_NAME_BYTES
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
}

/// Temporary folder next to the baselines, which is removed on drop unless it was renamed. Its name begins
/// with a dot, which no baseline's name does.
struct TempSibling(PathBuf);

impl TempSibling {
    /// Creates a folder with a unique name; up to 1,000 name collisions are retried, as with equal process
    /// ids of containers.
    fn create(folder: &Path, name: &str) -> Result<Self, ResultsError> {
        let mut number = 0_u32;
        loop {
            let path = folder.join(format!(".{name}.{}.{number}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists && number < 1_000 => number += 1,
                Err(error) => return Err(ResultsError::io("create", path)(error)),
            }
        }
    }

    /// Removes the folder and the files that a baseline may contain. Fails if it contains other files.
    fn remove(&self) -> std::io::Result<()> {
        for file in FILES {
            match std::fs::remove_file(self.0.join(file)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        std::fs::remove_dir(&self.0)
    }
}

impl Drop for TempSibling {
    fn drop(&mut self) {
        self.remove().ok();
    }
}

/// Fails if a folder contains anything but the files of a baseline.
fn ensure_baseline(path: &Path) -> Result<(), ResultsError> {
    let read_error = ResultsError::io("read", path);
    let not_a_baseline = || ResultsError::NotABaseline { path: path.to_owned() };
    // A symbolic link may lead to any folder.
    if !path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(not_a_baseline());
    }
    let entries =
        std::fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(read_error)?;
    let is_expected = |entry: &std::fs::DirEntry| {
        entry.file_type().is_ok_and(|kind| kind.is_file())
            && FILES.iter().any(|file| entry.file_name() == *file)
    };
    if entries.iter().all(is_expected) { Ok(()) } else { Err(not_a_baseline()) }
}

/// Copies the files that a comparison reads, and syncs them.
fn copy(from: &Path, to: &Path) -> Result<(), ResultsError> {
    for file in [folder::MANIFEST, folder::JOURNAL] {
        let (source, target) = (from.join(file), to.join(file));
        // A run that was interrupted before its first trial has no journal.
        if source.exists() {
            let mut source = File::open(&source).map_err(ResultsError::io("read", source))?;
            let mut write = || {
                let mut file = File::create_new(&target)?;
                std::io::copy(&mut source, &mut file)?;
                file.sync_all()
            };
            write().map_err(ResultsError::io("write", &target))?;
        }
    }
    sync(to)
}

/// Syncs a folder, so that its entries survive a crash.
fn sync(folder: &Path) -> Result<(), ResultsError> {
    File::open(folder).and_then(|file| file.sync_all()).map_err(ResultsError::io("sync", folder))
}

/// Renames a folder to a path that must not exist.
fn rename_new(new: &Path, target: &Path) -> std::io::Result<()> {
    match renameat_with(CWD, new, CWD, target, RenameFlags::NOREPLACE) {
        // An ordinary rename replaces at most an empty folder.
        Err(error) if is_unsupported(error) => std::fs::rename(new, target),
        result => Ok(result?),
    }
}

/// Exchanges two folders, atomically if the file system supports it.
fn exchange(new: &Path, target: &Path) -> std::io::Result<()> {
    match renameat_with(CWD, new, CWD, target, RenameFlags::EXCHANGE) {
        Err(error) if is_unsupported(error) => exchange_in_steps(new, target),
        result => Ok(result?),
    }
}

/// Exchanges two folders by renaming. Between two of these steps `target` does not exist.
fn exchange_in_steps(new: &Path, target: &Path) -> std::io::Result<()> {
    let mut old = new.as_os_str().to_owned();
    old.push(".old");
    std::fs::rename(target, &old)?;
    if let Err(error) = std::fs::rename(new, target) {
        std::fs::rename(&old, target)?;
        return Err(error);
    }
    std::fs::rename(&old, new)
}

/// Returns `true` if the kernel or the file system does not support the operation.
fn is_unsupported(error: rustix::io::Errno) -> bool {
    use rustix::io::Errno;
    [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP].contains(&error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Result<PathBuf, ResultsError> {
        let lookup =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
        Baselines::from_environment(lookup).map(|baselines| baselines.folder)
    }

    #[test]
    fn the_folder_follows_the_environment() {
        let home = ("HOME", "/home/me");
        assert_eq!(environment(&[("JSONATHLON_BASELINES", "here"), home]).unwrap(), PathBuf::from("here"));
        let data = ("XDG_DATA_HOME", "/data");
        assert_eq!(environment(&[data, home]).unwrap(), PathBuf::from("/data/jsonathlon/baselines"));
        let in_home = PathBuf::from("/home/me/.local/share/jsonathlon/baselines");
        assert_eq!(environment(&[("XDG_DATA_HOME", "not/absolute"), home]).unwrap(), in_home);
        assert_eq!(environment(&[("JSONATHLON_BASELINES", ""), home]).unwrap(), in_home);
        assert!(matches!(environment(&[]), Err(ResultsError::NoDataFolder)));
    }

    #[test]
    fn names_are_names_of_one_folder() {
        for name in ["main", "v1.0", "2026-11-22_quiet", "7"] {
            assert!(is_name(name), "{name}");
        }
        let long = "x".repeat(MAX_NAME_BYTES + 1);
        for name in ["", ".", "..", ".x", "-x", "_x", "a/b", "../a", "a b", "a\n", "é", "a|b", &long] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn folders_are_exchanged_and_none_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let (new, target) = (folder.path().join("new"), folder.path().join("place"));
        for (path, name) in [(&new, "1"), (&target, "2")] {
            std::fs::create_dir(path).unwrap();
            std::fs::write(path.join(name), "").unwrap();
        }
        let assert_files = |in_new: &str, in_target: &str| {
            assert!(new.join(in_new).exists() && target.join(in_target).exists());
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
        };
        exchange(&new, &target).unwrap();
        assert_files("2", "1");
        exchange_in_steps(&new, &target).unwrap();
        assert_files("1", "2");
        // The exchange is undone if the new folder does not exist.
        assert!(exchange_in_steps(&folder.path().join("none"), &target).is_err());
        assert_files("1", "2");
    }

    #[test]
    fn nothing_is_put_over_anything() {
        let folder = tempfile::tempdir().unwrap();
        let (new, target) = (folder.path().join("new"), folder.path().join("place"));
        std::fs::create_dir(&new).unwrap();
        std::fs::create_dir(&target).unwrap();
        assert_eq!(
            rename_new(&new, &target).unwrap_err().kind(),
            ErrorKind::AlreadyExists,
            "not even an empty folder"
        );
        std::fs::remove_dir(&target).unwrap();
        rename_new(&new, &target).unwrap();
        assert!(target.exists() && !new.exists());
    }

    #[test]
    fn what_is_half_made_is_gone_and_what_is_not_known_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (
            TempSibling::create(folder.path(), "x").unwrap(),
            TempSibling::create(folder.path(), "x").unwrap(),
        );
        assert_ne!(first.0, second.0);
        std::fs::write(first.0.join(folder::JOURNAL), "").unwrap();
        std::fs::write(second.0.join("mine"), "").unwrap();
        let second_path = second.0.clone();
        drop((first, second));
        assert!(second_path.join("mine").exists());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
