//! Page cache and disk usage of a data folder: syncing, dropping cached pages, and measuring residency.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{Advice, fadvise};
use serde::{Deserialize, Serialize};

/// Largest share of resident pages at which a trial counts as cold.
pub const COLD_LIMIT: f64 = 0.01;

/// Part of a folder's files that is in the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Residency {
    /// Total size of the files, bytes.
    pub total_bytes: u64,
    /// Bytes of the files that are in memory.
    pub resident_bytes: u64,
}

impl Residency {
    /// Resident share of the bytes, 0 to 1; 0 for an empty folder.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.total_bytes == 0 { 0.0 } else { self.resident_bytes as f64 / self.total_bytes as f64 }
    }
}

/// Lists the regular files under `folder` at any depth, sorted by path. Symbolic links are not followed.
///
/// # Errors
/// If a folder cannot be listed.
pub fn files_under(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(current) = folders.pop() {
        let entries = match std::fs::read_dir(&current) {
            // An engine may remove a folder while its neighbours are listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound && current != folder => continue,
            entries => entries?,
        };
        for entry in entries {
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

/// Disk space that the files under `folder` occupy, bytes (`st_blocks`); holes do not count.
///
/// # Errors
/// If a folder cannot be listed or a file cannot be examined.
pub fn allocated_bytes(folder: &Path) -> io::Result<u64> {
    use std::os::unix::fs::MetadataExt;
    let mut total = 0;
    for file in files_under(folder)? {
        match std::fs::symlink_metadata(&file) {
            // st_blocks counts units of 512 bytes, whatever the block size of the file system is (stat(2)).
            Ok(metadata) => total += metadata.blocks() * 512,
            // Engines remove files in the background.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(total)
}

/// Disk space that the given entries of `folder` occupy, bytes: files, or everything under a folder.
///
/// `paths` are relative to `folder`. A path that ends in `*` matches all entries whose names begin with it.
/// Missing entries count as 0.
///
/// # Errors
/// If a folder cannot be listed.
pub fn allocated_bytes_of(folder: &Path, paths: &[String]) -> io::Result<u64> {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::MetadataExt;

    let mut total = 0;
    for path in paths {
        let (path, is_prefix) = path.strip_suffix('*').map_or((path.as_str(), false), |path| (path, true));
        let path = folder.join(path);
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { continue };
        let entries = match std::fs::read_dir(parent) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for entry in entries {
            let entry = entry?;
            let file_name = entry.file_name();
            let is_match =
                if is_prefix { file_name.as_bytes().starts_with(name.as_bytes()) } else { file_name == name };
            if is_match {
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

/// Writes all dirty data of the file system that holds `folder` to disk (`syncfs`).
///
/// # Errors
/// If the folder cannot be opened or the file system reports a failed write.
pub fn sync_file_system(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(folder)?)?)
}

/// Writes the files under `folder` to disk with one sync and drops their pages from the page cache.
///
/// Needs no privilege: `POSIX_FADV_DONTNEED` works for every user who may open the file, on pages that are
/// neither mapped nor dirty.
///
/// # Errors
/// If the file system reports a failed write, the folder cannot be listed, or a file cannot be opened.
pub fn drop_folder(folder: &Path) -> io::Result<()> {
    drop_written(folder, sync_file_system)
}

/// [`drop_folder`] with a replaceable `sync`. The sync runs once for the whole folder, because syncing each
/// file would flush the disk's own cache once per file, even if nothing is left to write.
fn drop_written(folder: &Path, sync: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    sync(folder)?;
    for path in files_under(folder)? {
        drop_pages(&path)?;
    }
    Ok(())
}

/// Asks the kernel to drop those pages of a file that have been written to disk.
fn drop_pages(path: &Path) -> io::Result<()> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    fadvise(&file, 0, None, Advice::DontNeed)?;
    Ok(())
}

/// Measures how much of the files under `folder` is in memory, by util-linux's `fincore`.
///
/// `fincore` maps each file and calls mincore(2) without reading it. `None` if the command is not installed
/// or cannot open one of the files: then the residency is unknown and a trial may not be called cold.
///
/// # Errors
/// If the folder cannot be listed, or the command's output cannot be parsed.
pub fn residency(folder: &Path) -> io::Result<Option<Residency>> {
    let files: Vec<PathBuf> = files_under(folder)?;
    let mut sum = Residency { total_bytes: 0, resident_bytes: 0 };
    // Far below the kernel's limit on arguments, whatever the lengths of the paths.
    for chunk in files.chunks(256) {
        let output = Command::new("fincore")
            .args(["--bytes", "--noheadings", "--raw", "--output", "RES,SIZE"])
            .args(chunk)
            .stdin(Stdio::null())
            .output();
        let output = match output {
            Ok(output) => output,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let text = String::from_utf8_lossy(&output.stdout);
        // A file that `fincore` cannot open has no line. If it still exists, its pages are unknown.
        let line_count = text.lines().count();
        if line_count < chunk.len() && line_count < chunk.iter().filter(|file| file.exists()).count() {
            return Ok(None);
        }
        for line in text.lines() {
            let mut numbers = line.split_whitespace().map(str::parse::<u64>);
            match (numbers.next(), numbers.next()) {
                (Some(Ok(resident)), Some(Ok(total))) => {
                    // Residency is counted in whole pages, but a file may end within a page.
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
    use std::io::Write;

    use super::*;

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
        let unit = allocated_bytes(&path("data/#redo")).unwrap();
        assert!(unit >= 8192);
        assert_eq!(bytes(&["data/binlog.*"]), 2 * unit);
        assert_eq!(bytes(&["data/binlog.*", "data/#redo", "data/none", "nowhere/x*"]), 3 * unit);
        assert_eq!(bytes(&["data/binlog"]), 0);
        assert_eq!(bytes(&["data*"]), 4 * unit);
    }

    #[test]
    fn a_dropped_file_is_cold_and_a_read_one_is_warm() {
        // Not in a memory file system, because its pages cannot be dropped.
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
