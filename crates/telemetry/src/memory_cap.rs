//! Memory cap for processes, including the page cache of their files: a cgroup (cgroups(7), v1 or v2) below
//! the one of this process.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::cgroup::{MOUNTS_FILE, SELF_CGROUP_FILE, cgroup_folder, cgroup_path, mount_point};
use crate::process::field;

/// Prefix of the names of these cgroups; the pid of the process that created one follows.
const PREFIX: &str = "jsonathlon-";
/// Number of attempts to remove a cgroup, with [`PAUSE`] in between, while its last process is ending.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

static COUNT: AtomicU64 = AtomicU64::new(0);

/// A cgroup whose processes share a memory limit. Dropping it removes the cgroup if its processes have ended.
#[derive(Debug)]
pub struct MemoryCap {
    folder: PathBuf,
}

impl MemoryCap {
    /// Creates a cgroup without processes, limited to `bytes`. Removes cgroups left behind by processes that
    /// no longer exist.
    ///
    /// # Errors
    /// If the kernel has no memory cgroups, or this process may not create one.
    pub fn new(bytes: u64) -> io::Result<Self> {
        let (parent, limit) =
            parent(&fs::read_to_string(MOUNTS_FILE)?, &fs::read_to_string(SELF_CGROUP_FILE)?)?;
        remove_orphans(&parent);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let cap = Self { folder: parent.join(format!("{PREFIX}{}-{number}", std::process::id())) };
        fs::create_dir(&cap.folder).map_err(|error| with_path(&error, &cap.folder))?;
        let file = cap.folder.join(limit);
        fs::write(&file, bytes.to_string()).map_err(|error| with_path(&error, &file))?;
        Ok(cap)
    }

    /// Path of `cgroup.procs`: writing a pid to it moves that process into the cgroup.
    #[must_use]
    pub fn processes(&self) -> PathBuf {
        self.folder.join("cgroup.procs")
    }

    /// Number of the cgroup's processes that the kernel has killed so far because the limit was reached.
    #[must_use]
    pub fn oom_kills(&self) -> u64 {
        // In cgroup v1 and v2 respectively: "oom_kill 3".
        ["memory.oom_control", "memory.events"]
            .iter()
            .find_map(|file| field(&fs::read_to_string(self.folder.join(file)).ok()?, "oom_kill "))
            .unwrap_or(0)
    }

    /// Moves `process` into the cgroup; children that it starts from now on are in it, too.
    ///
    /// # Errors
    /// If this process may not move it.
    pub fn add_process(&self, process: u32) -> io::Result<()> {
        fs::write(self.processes(), process.to_string()).map_err(|error| with_path(&error, &self.folder))
    }
}

impl Drop for MemoryCap {
    fn drop(&mut self) {
        for _ in 0..TRIES {
            match fs::remove_dir(&self.folder) {
                // The last process is still ending.
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => std::thread::sleep(PAUSE),
                _ => return,
            }
        }
    }
}

fn with_path(error: &io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Finds the cgroup below which a cap can be created, and the name of the file that holds its limit.
fn parent(mounts: &str, cgroups: &str) -> io::Result<(PathBuf, &'static str)> {
    if let Some(mount) = mount_point(mounts, "cgroup", Some("memory")) {
        return Ok((cgroup_folder(mount, cgroup_path(cgroups, "memory")), "memory.limit_in_bytes"));
    }
    let unsupported = || io::Error::new(io::ErrorKind::Unsupported, "there are no control groups for memory");
    let mount = mount_point(mounts, "cgroup2", None).ok_or_else(unsupported)?;
    // In v2, cgroups with processes cannot delegate controllers: the nearest ancestor that delegates memory
    // is used.
    let folder = cgroup_folder(mount, cgroup_path(cgroups, ""));
    let delegates_memory = |folder: &&Path| {
        let enabled = fs::read_to_string(folder.join("cgroup.subtree_control"));
        folder.starts_with(mount)
            && enabled.is_ok_and(|enabled| enabled.split_whitespace().any(|name| name == "memory"))
    };
    let parent = folder.ancestors().find(delegates_memory).ok_or_else(unsupported)?;
    Ok((parent.to_owned(), "memory.max"))
}

/// Removes cgroups of processes that no longer exist; those that still contain processes stay.
fn remove_orphans(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let creator = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next());
        if creator.is_some_and(|creator| !Path::new("/proc").join(creator).exists()) {
            fs::remove_dir(entry.path()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_both_versions_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let mount = folder.path().to_str().unwrap();
        fs::create_dir_all(folder.path().join("a/b")).unwrap();
        let first = format!("x / ext4 rw 0 0\ncgroup {mount} cgroup rw,memory,relatime 0 0\n");
        for (cgroups, expected) in [
            ("5:cpu:/\n4:memory:/a/b\n0::/\n", format!("{mount}/a/b")),
            ("4:cpu,memory:/a\n", format!("{mount}/a")),
            ("4:memory:/of/the/machine\n", mount.to_owned()),
        ] {
            let (folder, limit) = parent(&first, cgroups).unwrap();
            assert_eq!((folder, limit), (expected.into(), "memory.limit_in_bytes"), "{cgroups}");
        }
        let second = format!("x / ext4 rw 0 0\ncgroup2 {mount} cgroup2 rw 0 0\n");
        assert_eq!(parent(&second, "0::/a/b\n").unwrap_err().kind(), io::ErrorKind::Unsupported);
        fs::write(folder.path().join("a/cgroup.subtree_control"), "cpu memory\n").unwrap();
        assert_eq!(parent(&second, "0::/a/b\n").unwrap(), (format!("{mount}/a").into(), "memory.max"));
        assert!(parent("x / ext4 rw 0 0\n", "0::/\n").is_err());
    }

    #[test]
    fn a_group_holds_what_is_moved_in_and_is_gone_afterwards() {
        let cap = match MemoryCap::new(64 << 20) {
            Ok(cap) => cap,
            // Not every machine lets its users create cgroups; any other error is a failure.
            Err(error) => {
                use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem, Unsupported};
                let kind = error.kind();
                assert!(matches!(kind, PermissionDenied | ReadOnlyFilesystem | Unsupported), "{error}");
                return eprintln!("not tested, since this machine has no control groups to give: {error}");
            }
        };
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        cap.add_process(child.id()).unwrap();
        let inside = fs::read_to_string(cap.processes()).unwrap();
        assert_eq!(inside.trim(), child.id().to_string());
        let folder = cap.folder.clone();
        child.kill().unwrap();
        child.wait().unwrap();
        drop(cap);
        assert!(!folder.exists());
    }

    #[test]
    fn who_was_killed_for_want_of_memory_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let cap = MemoryCap { folder: folder.path().join("group") };
        fs::create_dir(&cap.folder).unwrap();
        assert_eq!(cap.oom_kills(), 0);
        fs::write(cap.folder.join("memory.events"), "low 0\noom 7\noom_kill 2\noom_group_kill 0\n").unwrap();
        assert_eq!(cap.oom_kills(), 2);
        fs::write(cap.folder.join("memory.oom_control"), "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n")
            .unwrap();
        assert_eq!(cap.oom_kills(), 3);
    }

    #[test]
    fn what_programs_have_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let living = format!("{PREFIX}{}-0", std::process::id());
        for name in [living.as_str(), "jsonathlon-999999999-3", "others"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        remove_orphans(folder.path());
        let mut remaining: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        remaining.sort();
        assert_eq!(remaining, [living.as_str(), "others"]);
    }
}
