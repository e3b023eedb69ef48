//! The page cache of a data folder: written out, dropped, and asked how much is left.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{Advice, fadvise};
use serde::{Deserialize, Serialize};

/// Share of resident pages above which a trial is not called cold.
pub const COLD_LIMIT: f64 = 0.01;

/// How much of a folder's files the page cache holds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Residency {
    /// Bytes of the files.
    pub total_bytes: u64,
    /// Bytes of them in memory.
    pub resident_bytes: u64,
}

impl Residency {
    /// Resident share, 0 to 1; an empty folder is cold.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.total_bytes == 0 { 0.0 } else { self.resident_bytes as f64 / self.total_bytes as f64 }
    }
}

/// Regular files under `folder`, at any depth, symbolic links not followed.
///
/// # Errors
/// When a folder cannot be listed.
pub fn files_under(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Bytes that the files under `folder` occupy on disk (`st_blocks`), holes not counted.
///
/// # Errors
/// When the folder cannot be listed.
pub fn allocated_bytes(folder: &Path) -> io::Result<u64> {
    use std::os::unix::fs::MetadataExt;
    let mut total = 0;
    for file in files_under(folder)? {
        match std::fs::symlink_metadata(&file) {
            // st_blocks counts 512-byte units whatever the file system's block is (stat(2)).
            Ok(metadata) => total += metadata.blocks() * 512,
            // Engines remove files in the background.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(total)
}

/// Bytes that some entries of `folder` occupy on disk: of each path, relative to it, the file or everything under
/// the folder. A path that ends in `*` stands for all entries whose names begin so; what is not there has none.
///
/// # Errors
/// When a folder cannot be listed.
pub fn allocated_bytes_of(folder: &Path, paths: &[String]) -> io::Result<u64> {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::MetadataExt;

    let mut total = 0;
    for path in paths {
        let (path, open) = path.strip_suffix('*').map_or((path.as_str(), false), |path| (path, true));
        let path = folder.join(path);
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { continue };
        let entries = match std::fs::read_dir(parent) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for entry in entries {
            let entry = entry?;
            let found = entry.file_name();
            if if open { found.as_bytes().starts_with(name.as_bytes()) } else { found == name } {
                total += match entry.file_type() {
                    Ok(kind) if kind.is_dir() => allocated_bytes(&entry.path())?,
                    Ok(kind) if kind.is_file() => {
                        entry.metadata().map_or(0, |metadata| metadata.blocks() * 512)
                    }
                    _ => 0,
                };
            }
        }
    }
    Ok(total)
}

/// Writes everything below the file system of `folder` to disk.
///
/// # Errors
/// When the folder cannot be opened or the file system reports a failed write.
pub fn sync_file_system(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(folder)?)?)
}

/// Writes the files under `folder` out, all at once, and asks the kernel to forget their pages. Needs no privilege:
/// `POSIX_FADV_DONTNEED` works for whoever may open the file, on pages nobody has mapped or dirtied.
///
/// # Errors
/// When the file system reports a failed write, the folder cannot be listed or a file not opened.
pub fn drop_folder(folder: &Path) -> io::Result<()> {
    drop_written(folder, sync_file_system)
}

/// The same with another way of writing everything out. That is done once: to sync each file again, although there is
/// nothing to be written any more, costs a flush of the disk's own cache for every one of them.
fn drop_written(folder: &Path, sync: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    sync(folder)?;
    for path in files_under(folder)? {
        drop_pages(&path)?;
    }
    Ok(())
}

/// Asks the kernel to forget a file's pages that have been written out.
fn drop_pages(path: &Path) -> io::Result<()> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    fadvise(&file, 0, None, Advice::DontNeed)?;
    Ok(())
}

/// Asks the kernel how much of the files under `folder` is in memory, through util-linux's `fincore`,
/// which maps each file and calls mincore(2) without reading it. `None` when the command is not there:
/// then nothing is known, and a trial may not be called cold.
///
/// # Errors
/// When the folder cannot be listed or the command's answer not be understood.
pub fn residency(folder: &Path) -> io::Result<Option<Residency>> {
    let files: Vec<PathBuf> = files_under(folder)?;
    let mut sum = Residency { total_bytes: 0, resident_bytes: 0 };
    // Far below the kernel's limit on arguments, whatever the paths' lengths.
    for some in files.chunks(256) {
        let output = Command::new("fincore")
            .args(["--bytes", "--noheadings", "--raw", "--output", "RES,SIZE"])
            .args(some)
            .stdin(Stdio::null())
            .output();
        let output = match output {
            Ok(output) => output,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let text = String::from_utf8_lossy(&output.stdout);
        for line in text.lines() {
            let mut numbers = line.split_whitespace().map(str::parse::<u64>);
            match (numbers.next(), numbers.next()) {
                (Some(Ok(resident)), Some(Ok(total))) => {
                    // Whole pages are resident, files end anywhere.
                    sum.resident_bytes += resident.min(total);
                    sum.total_bytes += total;
                }
                _ => return Err(io::Error::new(io::ErrorKind::InvalidData, format!("fincore: {line}"))),
            }
        }
    }
    Ok(Some(sum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn logs_are_found_by_name_beginning_and_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(path("data/#redo")).unwrap();
        for name in ["data/binlog.1", "data/binlog.2", "data/table", "data/#redo/1"] {
            std::fs::write(path(name), vec![1; 8192]).unwrap();
        }
        let bytes = |paths: &[&str]| {
            let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
            allocated_bytes_of(folder.path(), &paths).unwrap()
        };
        let one = allocated_bytes(&path("data/#redo")).unwrap();
        assert!(one >= 8192);
        assert_eq!(bytes(&["data/binlog.*"]), 2 * one);
        assert_eq!(bytes(&["data/binlog.*", "data/#redo", "data/none", "nowhere/x*"]), 3 * one);
        assert_eq!(bytes(&["data/binlog"]), 0);
        assert_eq!(bytes(&["data*"]), 4 * one);
    }

    #[test]
    fn a_dropped_file_is_cold_and_a_read_one_is_warm() {
        // Not in a memory file system: its pages cannot be dropped.
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = folder.path().join("inner").join("data");
        std::fs::create_dir(path.parent().unwrap()).unwrap();
        let mut file = File::create(&path).unwrap();
        file.write_all(&vec![7; 8 << 20]).unwrap();
        drop(file);
        drop_folder(folder.path()).unwrap();
        let cold = residency(folder.path()).unwrap().expect("fincore (util-linux) is needed by this test");
        assert_eq!(cold.total_bytes, 8 << 20);
        assert!(cold.share() <= COLD_LIMIT, "{cold:?}");
        assert_eq!(std::fs::read(&path).unwrap().len(), 8 << 20);
        assert!(residency(folder.path()).unwrap().unwrap().share() > 0.9);
        assert!(allocated_bytes(folder.path()).unwrap() >= 8 << 20);
    }

    #[test]
    fn many_small_files_are_dropped_after_one_sync_of_all() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        for number in 0..300 {
            std::fs::write(folder.path().join(format!("part{number}")), vec![7; 8192]).unwrap();
        }
        let mut syncs = 0;
        drop_written(folder.path(), |path| {
            syncs += 1;
            sync_file_system(path)
        })
        .unwrap();
        assert_eq!(syncs, 1);
        let cold = residency(folder.path()).unwrap().expect("fincore (util-linux) is needed by this test");
        assert_eq!(cold.total_bytes, 300 * 8192);
        assert!(cold.share() <= COLD_LIMIT, "{cold:?}");
        let failed = drop_written(folder.path(), |_| Err(io::Error::other("no")));
        assert_eq!(failed.unwrap_err().to_string(), "no");
    }

    #[test]
    fn an_empty_folder_is_cold() {
        let folder = tempfile::tempdir().unwrap();
        let empty = Residency { total_bytes: 0, resident_bytes: 0 };
        assert_eq!(empty.share(), 0.0);
        assert_eq!(allocated_bytes(folder.path()).unwrap(), 0);
    }
}
