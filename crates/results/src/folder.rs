//! Layout, lock and manifest of the run folder.

use std::fs::{File, TryLockError};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use jsonathlon_schema::manifest::{Manifest, SCHEMA};
use jsonathlon_schema::record::JournalRecord;
use jsonathlon_telemetry::series::Sample;

use crate::ResultsError;
use crate::journal::{self, Journal};

const SUBFOLDERS: [&str; 6] = ["plans", "histograms", "answers", "rejects", "logs", "work"];
const LOCK: &str = "lock";
/// File that makes a folder that of a choice, whose runs are in its subfolders.
pub const CHOICE: &str = "choose.json";
pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const JOURNAL: &str = "journal.ndjson";

/// Run folder that is locked, so that only this process may write to it.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// Held while the folder is in use. The kernel releases the lock however the process ends.
    _lock: File,
}

impl RunFolder {
    /// Creates and locks a new run folder, or uses an existing folder without a run.
    ///
    /// # Errors
    /// [`ResultsError::Occupied`] if the folder holds a run, [`ResultsError::Locked`] if another process uses
    /// it, [`ResultsError::Io`] if it cannot be created or written to.
    pub fn create(path: &Path) -> Result<Self, ResultsError> {
        std::fs::create_dir_all(path).map_err(ResultsError::io("create", path))?;
        let folder = Self::lock(path)?;
        if folder.manifest_path().exists() {
            return Err(ResultsError::Occupied { path: path.to_owned() });
        }
        for name in SUBFOLDERS {
            let subfolder = folder.path.join(name);
            std::fs::create_dir_all(&subfolder).map_err(ResultsError::io("create", subfolder))?;
        }
        Ok(folder)
    }

    /// Removes the folder of a run that produced nothing: the subfolders made by [`RunFolder::create`] with
    /// their contents, and the lock. Other files in the folder are kept.
    ///
    /// # Errors
    /// [`ResultsError::Io`] if a subfolder or the lock cannot be removed.
    pub fn abandon(self) -> Result<(), ResultsError> {
        for name in SUBFOLDERS {
            let subfolder = self.path.join(name);
            std::fs::remove_dir_all(&subfolder).map_err(ResultsError::io("remove", subfolder))?;
        }
        let lock = self.path.join(LOCK);
        std::fs::remove_file(&lock).map_err(ResultsError::io("remove", lock))?;
        // `remove_dir` fails if the folder still holds other files, which must stay.
        std::fs::remove_dir(&self.path).ok();
        Ok(())
    }

    /// Opens and locks the folder of an earlier run to resume it.
    ///
    /// # Errors
    /// Those of [`read_manifest`], and [`ResultsError::Locked`] if another process uses the folder.
    pub fn open(path: &Path) -> Result<(Self, Manifest), ResultsError> {
        let manifest = read_manifest(path)?;
        Ok((Self::lock(path)?, manifest))
    }

    fn lock(path: &Path) -> Result<Self, ResultsError> {
        let path = std::fs::canonicalize(path).map_err(ResultsError::io("open", path))?;
        let lock_path = path.join(LOCK);
        let lock = File::create(&lock_path).map_err(ResultsError::io("write to", &lock_path))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(ResultsError::Locked { path }),
            Err(TryLockError::Error(source)) => {
                Err(ResultsError::Io { action: "lock", path: lock_path, source })
            }
        }
    }

    /// Canonical absolute path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Folder for engines' data and staged documents, which is emptied when the run ends.
    #[must_use]
    pub fn work_path(&self) -> PathBuf {
        self.path.join("work")
    }

    /// Folder for the output of workers and servers.
    #[must_use]
    pub fn logs_path(&self) -> PathBuf {
        self.path.join("logs")
    }

    /// Opens the telemetry file, which has one JSON line per second, for appending.
    ///
    /// # Errors
    /// [`ResultsError::Io`] if the file cannot be opened or shortened.
    pub fn open_series(&self) -> Result<File, ResultsError> {
        let path = series_path(&self.path);
        // A killed run may have left half a line, which is cut off.
        if let Ok(content) = std::fs::read(&path) {
            let complete_length = content.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
            let shortened =
                File::options().write(true).open(&path).and_then(|file| file.set_len(complete_length as u64));
            shortened.map_err(ResultsError::io("write to", &path))?;
        }
        File::options().create(true).append(true).open(&path).map_err(ResultsError::io("write to", &path))
    }

    fn manifest_path(&self) -> PathBuf {
        manifest_path(&self.path)
    }

    /// Writes the manifest atomically, see [`write_atomic`].
    ///
    /// # Errors
    /// [`ResultsError::Io`] if the folder cannot be written to.
    pub fn write_manifest(&self, manifest: &Manifest) -> Result<(), ResultsError> {
        let mut text = serde_json::to_vec_pretty(manifest).map_err(|error| ResultsError::Corrupt {
            path: self.manifest_path(),
            line: error.line(),
            message: error.to_string(),
        })?;
        text.push(b'\n');
        write_atomic(&self.manifest_path(), &text)
    }

    /// Writes a file below the folder, such as a plan or an answer, and returns its path relative to the
    /// folder.
    ///
    /// # Errors
    /// [`ResultsError::Io`] if the file cannot be written.
    pub fn write_file(&self, relative: &str, content: &[u8]) -> Result<String, ResultsError> {
        let path = self.path.join(relative);
        std::fs::write(&path, content).map_err(ResultsError::io("write", &path))?;
        Ok(relative.to_owned())
    }

    /// Opens the journal and returns it with the records that it contains.
    ///
    /// # Errors
    /// Those of [`Journal::open`].
    pub fn open_journal(&self) -> Result<(Journal, Vec<JournalRecord>), ResultsError> {
        Journal::open(&journal_path(&self.path))
    }
}

/// Reads the manifest of the run in the folder `path`. Its format is checked before anything else in it.
///
/// # Errors
/// [`ResultsError::NotARun`] if there is no manifest, [`ResultsError::Version`] if it has another format,
/// [`ResultsError::Corrupt`] if it cannot be parsed, [`ResultsError::UnknownSetting`] if nothing reads one of
/// its settings, [`ResultsError::Io`] if it cannot be read.
pub fn read_manifest(path: &Path) -> Result<Manifest, ResultsError> {
    let file = manifest_path(path);
    let text = match std::fs::read(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(ResultsError::NotARun { path: path.to_owned() });
        }
        Err(source) => return Err(ResultsError::Io { action: "read", path: file, source }),
    };
    let corrupt = |error: serde_json::Error| ResultsError::Corrupt {
        path: file.clone(),
        line: error.line(),
        message: error.to_string(),
    };
    let value: serde_json::Value = serde_json::from_slice(&text).map_err(corrupt)?;
    if let Some(found) = value.get("schema").and_then(serde_json::Value::as_u64) {
        ResultsError::check_format(path, u32::try_from(found).unwrap_or(u32::MAX), SCHEMA)?;
    }
    let manifest: Manifest = serde_json::from_value(value).map_err(corrupt)?;
    match manifest.unknown_setting().map(str::to_owned) {
        Some(name) => Err(ResultsError::UnknownSetting { path: file, name }),
        None => Ok(manifest),
    }
}

/// Returns `true` if `path` is the folder of a run, that is, if it contains a manifest.
#[must_use]
pub fn is_run_folder(path: &Path) -> bool {
    manifest_path(path).exists()
}

/// Reads the records of a run's journal. Empty if the run was interrupted before its first trial. Callers
/// read the manifest first, because it says whether the run has the format of this program.
///
/// # Errors
/// Those of [`journal::read`] if the journal exists.
pub fn read_records(path: &Path) -> Result<Vec<JournalRecord>, ResultsError> {
    let file = journal_path(path);
    if file.exists() { journal::read(&file) } else { Ok(Vec::new()) }
}

/// Path of an answer's file relative to the run folder. `configuration` is the name of
/// [`Configuration::file_name`](jsonathlon_schema::manifest::Configuration::file_name).
#[must_use]
pub fn answer_file(configuration: &str, step: &str, digest: &str) -> String {
    let short: String = digest.trim_start_matches("blake3:").chars().take(16).collect();
    format!("answers/{configuration}-{step}-{short}.json")
}

/// Reads a text file of a run folder by its path relative to the folder. `None` if the file does not exist,
/// or if the path leads out of the folder, because run folders may come from other people.
#[must_use]
pub fn read_run_file(path: &Path, relative: &str) -> Option<String> {
    let is_normal = |part: std::path::Component<'_>| matches!(part, std::path::Component::Normal(_));
    if relative.is_empty() || !Path::new(relative).components().all(is_normal) {
        return None;
    }
    let folder = std::fs::canonicalize(path).ok()?;
    let file = std::fs::canonicalize(folder.join(relative)).ok()?;
    if !file.starts_with(&folder) || !file.is_file() {
        return None;
    }
    let bytes = std::fs::read(file).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads the telemetry of a run. Empty if there is none. Lines that cannot be parsed, such as half a line of
/// a killed run, are skipped, because telemetry only supplements the results.
///
/// # Errors
/// [`ResultsError::Io`] if the file exists and cannot be read.
pub fn read_series(path: &Path) -> Result<Vec<Sample>, ResultsError> {
    let file = series_path(path);
    match std::fs::read(&file) {
        Ok(text) => Ok(text
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(ResultsError::Io { action: "read", path: file, source }),
    }
}

fn series_path(path: &Path) -> PathBuf {
    path.join("series.ndjson")
}

fn manifest_path(path: &Path) -> PathBuf {
    path.join(MANIFEST)
}

fn journal_path(path: &Path) -> PathBuf {
    path.join(JOURNAL)
}

/// Writes a file atomically: it has the whole content or is unchanged. An existing file is replaced, and a
/// symbolic link is not followed, because run folders may come from other people.
///
/// # Errors
/// [`ResultsError::Io`] if the file cannot be written.
pub fn write_atomic(path: &Path, text: &[u8]) -> Result<(), ResultsError> {
    let write = || -> std::io::Result<()> {
        // A bare file name has an empty parent, which stands for the current folder.
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // Mode of an ordinary new file, to which the umask applies; `tempfile` would use 0600.
        let permissions = std::fs::Permissions::from_mode(0o666);
        let mut file = tempfile::Builder::new().permissions(permissions).tempfile_in(parent)?;
        file.write_all(text)?;
        file.as_file().sync_all()?;
        file.persist(path).map(drop).map_err(|error| error.error)
    };
    write().map_err(ResultsError::io("write", path))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn two_runs_cannot_share_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let run_path = folder.path().join("run");
        let run_folder = RunFolder::create(&run_path).unwrap();
        assert!(matches!(RunFolder::create(&run_path), Err(ResultsError::Locked { .. })));
        drop(run_folder);
        let run_folder = RunFolder::create(&run_path).unwrap();
        std::fs::write(run_folder.manifest_path(), "{}").unwrap();
        drop(run_folder);
        assert!(matches!(RunFolder::create(&run_path), Err(ResultsError::Occupied { .. })));
    }

    #[test]
    fn an_abandoned_folder_is_gone_but_not_what_others_keep_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let run_path = folder.path().join("run");
        RunFolder::create(&run_path).unwrap().abandon().unwrap();
        assert!(!run_path.exists());
        let run_folder = RunFolder::create(&run_path).unwrap();
        std::fs::write(run_path.join("mine"), "").unwrap();
        run_folder.abandon().unwrap();
        assert_eq!(std::fs::read_dir(&run_path).unwrap().count(), 1);
    }

    #[test]
    fn a_link_in_the_place_of_a_file_is_replaced_and_not_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("own"), folder.path().join("report.html"));
        std::fs::write(&target, "mine").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        write_atomic(&link, b"page").unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"mine");
        assert_eq!(std::fs::read(&link).unwrap(), b"page");
        assert!(!link.is_symlink());
        // The temporary file must be removed if it cannot be renamed.
        let occupied = folder.path().join("taken");
        std::fs::create_dir(&occupied).unwrap();
        write_atomic(&occupied, b"page").unwrap_err();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn folders_without_a_run_say_so() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(RunFolder::open(folder.path()), Err(ResultsError::NotARun { .. })));
        for rubbish in ["{", "{}", r#"{"schema": 2}"#] {
            std::fs::write(folder.path().join("manifest.json"), rubbish).unwrap();
            assert!(matches!(read_manifest(folder.path()), Err(ResultsError::Corrupt { .. })), "{rubbish}");
        }
    }

    #[test]
    fn a_setting_that_nothing_reads_is_named() {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/manifest.json");
        let golden = std::fs::read_to_string(golden).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let read = |change: &dyn Fn(&mut Value)| {
            let mut manifest: Value = serde_json::from_str(&golden).unwrap();
            change(&mut manifest);
            std::fs::write(folder.path().join("manifest.json"), manifest.to_string()).unwrap();
            read_manifest(folder.path())
        };
        let misspelt = read(&|manifest: &mut Value| manifest["settings"]["load_round"] = json!(2));
        let message = misspelt.unwrap_err().to_string();
        assert!(message.contains("manifest.json has the setting `load_round`, which"), "{message}");
        read(&|_: &mut Value| {}).unwrap();
        // A workload that only another version has is known by its name.
        let other = read(&|manifest: &mut Value| {
            manifest["workloads"] = json!(["fetch"]);
            manifest["settings"]["fetch"] = json!({"clients": 3});
        });
        assert_eq!(other.unwrap().unknown_setting(), None);
    }

    /// A run of another version has other members too, none of which is looked at.
    #[test]
    fn runs_of_other_versions_are_refused_and_not_called_corrupt() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("journal.ndjson"), "{\"v\":1,\"key\":\"x\"}\nrubbish\n").unwrap();
        for (text, expected) in [
            (r#"{"schema": 1, "data": {}}"#, "was made by version 0.1, whose format 1 this"),
            (r#"{"schema": 99}"#, "was made by a newer version, whose format 99 this"),
            (r#"{"schema": 4294967296}"#, "was made by a newer version"),
        ] {
            std::fs::write(folder.path().join("manifest.json"), text).unwrap();
            let errors = [
                read_manifest(folder.path()).unwrap_err(),
                RunFolder::open(folder.path()).unwrap_err(),
                crate::run::Run::read(folder.path()).unwrap_err(),
            ];
            for error in errors {
                let message = error.to_string();
                assert!(message.starts_with(&format!("{} {expected}", folder.path().display())), "{message}");
            }
        }
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let error = RunFolder::create(&file).unwrap_err().to_string();
        assert!(error.contains("failed to create") && error.contains("file"), "{error}");
    }
}
