//! A cap on the memory of processes, the page cache of what they read and write included: a control group of the kernel's
//! (cgroups(7)), of its first or its second version, below the one that this process is in.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::cgroup::{MOUNTS, OWN, below, mine, mounted};
use crate::process::field;

/// How the names of all such groups begin; the process that made one stands behind it.
const PREFIX: &str = "jsonathlon-";
/// How often and how long the end of the last process of a group is waited for.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

static COUNT: AtomicU64 = AtomicU64::new(0);

/// A group of processes that may have so much memory together. It is gone when this is dropped and its processes have
/// ended.
#[derive(Debug)]
pub struct MemoryCap {
    folder: PathBuf,
}

impl MemoryCap {
    /// A group without processes. Groups that programs have left which are gone are removed.
    ///
    /// # Errors
    /// The kernel has no such groups, or does not let this process make one.
    pub fn new(bytes: u64) -> io::Result<Self> {
        let (parent, limit) = parent(&fs::read_to_string(MOUNTS)?, &fs::read_to_string(OWN)?)?;
        remove_left(&parent);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let cap = Self { folder: parent.join(format!("{PREFIX}{}-{number}", std::process::id())) };
        fs::create_dir(&cap.folder).map_err(|error| named(&error, &cap.folder))?;
        let file = cap.folder.join(limit);
        fs::write(&file, bytes.to_string()).map_err(|error| named(&error, &file))?;
        Ok(cap)
    }

    /// The file to which whoever moves a process in writes its number.
    #[must_use]
    pub fn processes(&self) -> PathBuf {
        self.folder.join("cgroup.procs")
    }

    /// How many of its processes the kernel has killed so far because the group had no more memory.
    #[must_use]
    pub fn killed(&self) -> u64 {
        // Of the first version and of the second one: "oom_kill 3".
        ["memory.oom_control", "memory.events"]
            .iter()
            .find_map(|file| field(&fs::read_to_string(self.folder.join(file)).ok()?, "oom_kill "))
            .unwrap_or(0)
    }

    /// Moves a process in; those that it starts from now on are in, too.
    ///
    /// # Errors
    /// The kernel does not let this process do so.
    pub fn take(&self, process: u32) -> io::Result<()> {
        fs::write(self.processes(), process.to_string()).map_err(|error| named(&error, &self.folder))
    }
}

impl Drop for MemoryCap {
    fn drop(&mut self) {
        for _ in 0..TRIES {
            match fs::remove_dir(&self.folder) {
                // Its last process is on its way out.
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => std::thread::sleep(PAUSE),
                _ => return,
            }
        }
    }
}

fn named(error: &io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// The group below which others can be made, and the file of a group that holds its limit.
fn parent(mounts: &str, own: &str) -> io::Result<(PathBuf, &'static str)> {
    if let Some(mount) = mounted(mounts, "cgroup", Some("memory")) {
        return Ok((below(mount, mine(own, "memory")), "memory.limit_in_bytes"));
    }
    let none = || io::Error::new(io::ErrorKind::Unsupported, "there are no control groups for memory");
    let mount = mounted(mounts, "cgroup2", None).ok_or_else(none)?;
    // A group that has processes gives nothing to groups below it: the nearest one above that does is taken.
    let own = below(mount, mine(own, ""));
    let gives = |folder: &&Path| {
        let given = fs::read_to_string(folder.join("cgroup.subtree_control"));
        folder.starts_with(mount)
            && given.is_ok_and(|given| given.split_whitespace().any(|one| one == "memory"))
    };
    let found = own.ancestors().find(gives).ok_or_else(none)?;
    Ok((found.to_owned(), "memory.max"))
}

/// Removes groups of programs that are gone; one that still has processes stays.
fn remove_left(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let maker = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next());
        if maker.is_some_and(|maker| !Path::new("/proc").join(maker).exists()) {
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
        for (own, expected) in [
            ("5:cpu:/\n4:memory:/a/b\n0::/\n", format!("{mount}/a/b")),
            ("4:cpu,memory:/a\n", format!("{mount}/a")),
            ("4:memory:/of/the/machine\n", mount.to_owned()),
        ] {
            assert_eq!(parent(&first, own).unwrap(), (expected.into(), "memory.limit_in_bytes"), "{own}");
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
            // Not every machine lets its users make groups; anything else is a fault.
            Err(error) => {
                use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem, Unsupported};
                let kind = error.kind();
                assert!(matches!(kind, PermissionDenied | ReadOnlyFilesystem | Unsupported), "{error}");
                return eprintln!("not tested, since this machine has no control groups to give: {error}");
            }
        };
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        cap.take(child.id()).unwrap();
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
        assert_eq!(cap.killed(), 0);
        fs::write(cap.folder.join("memory.events"), "low 0\noom 7\noom_kill 2\noom_group_kill 0\n").unwrap();
        assert_eq!(cap.killed(), 2);
        fs::write(cap.folder.join("memory.oom_control"), "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n")
            .unwrap();
        assert_eq!(cap.killed(), 3);
    }

    #[test]
    fn what_programs_have_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let mine = format!("{PREFIX}{}-0", std::process::id());
        for name in [mine.as_str(), "jsonathlon-999999999-3", "others"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        remove_left(folder.path());
        let mut left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [mine.as_str(), "others"]);
    }
}
