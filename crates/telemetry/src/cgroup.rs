//! Memory limits that cgroups (cgroups(7), v1 and v2) set for this process and its children, as in
//! containers, services and batch jobs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::field;

/// Lists the cgroups that this process is in; [`MOUNTS_FILE`] lists the cgroup file systems.
pub(crate) const SELF_CGROUP_FILE: &str = "/proc/self/cgroup";
pub(crate) const MOUNTS_FILE: &str = "/proc/self/mounts";

/// Names of the memory files of a cgroup version, and of the lines in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Names {
    limit: &'static str,
    used: &'static str,
    /// Lines of `memory.stat` with cached files, which the kernel evicts before it kills a process.
    files: [&'static str; 2],
    killed: &'static str,
}

const V1: Names = Names {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    files: ["total_inactive_file ", "total_active_file "],
    killed: "memory.oom_control",
};
const V2: Names = Names {
    limit: "memory.max",
    used: "memory.current",
    files: ["inactive_file ", "active_file "],
    killed: "memory.events",
};

/// The cgroups that contain this process, from its own up to the topmost visible one. Each may have a limit;
/// the smallest applies.
#[derive(Debug, Clone, Default)]
pub struct Groups {
    levels: Vec<(PathBuf, Names)>,
}

impl Groups {
    /// The cgroups of this process; empty if the kernel has no memory cgroups or shows none.
    #[must_use]
    pub fn current() -> Self {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        Self::of(&text(MOUNTS_FILE), &text(SELF_CGROUP_FILE))
    }

    fn of(mounts: &str, cgroups: &str) -> Self {
        // Both versions may be mounted at once; only one of them controls memory.
        let v1 = mount_point(mounts, "cgroup", Some("memory"))
            .map(|mount| (mount, cgroup_path(cgroups, "memory"), V1));
        let v2 = mount_point(mounts, "cgroup2", None).map(|mount| (mount, cgroup_path(cgroups, ""), V2));
        let mut levels = Vec::new();
        for (mount, path, names) in v1.into_iter().chain(v2) {
            let folder = cgroup_folder(mount, path);
            let ancestors = folder.ancestors().take_while(|level| level.starts_with(mount));
            levels.extend(ancestors.map(|level| (level.to_owned(), names)));
        }
        Self { levels }
    }

    /// Memory limit of these cgroups, bytes: the smallest one; `None` if there is no limit.
    #[must_use]
    pub fn limit_bytes(&self) -> Option<u64> {
        self.limits().map(|(_, _, limit)| limit).min()
    }

    /// Memory left below the limits, bytes; `None` if there is no limit. Cached files count as left, because
    /// the kernel evicts them for processes.
    #[must_use]
    pub fn available_bytes(&self) -> Option<u64> {
        let available_bytes = |(level, names, limit): (&Path, Names, u64)| {
            let used = number(&level.join(names.used))?;
            let stat = fs::read_to_string(level.join("memory.stat")).unwrap_or_default();
            let files: u64 = names.files.iter().filter_map(|name| field(&stat, name)).sum();
            Some(limit.saturating_sub(used.saturating_sub(files)))
        };
        self.limits().filter_map(available_bytes).min()
    }

    /// Number of processes in these cgroups that the kernel's OOM killer has killed so far.
    #[must_use]
    pub fn oom_kills(&self) -> u64 {
        let counts = self.levels.iter().map(|(level, names)| {
            let events = fs::read_to_string(level.join(names.killed)).unwrap_or_default();
            field(&events, "oom_kill ").unwrap_or(0)
        });
        // In cgroup v2 a level's count includes the levels below it, so the largest count is the total.
        counts.max().unwrap_or(0)
    }

    fn limits(&self) -> impl Iterator<Item = (&Path, Names, u64)> {
        self.levels.iter().filter_map(|(level, names)| {
            let limit = number(&level.join(names.limit))?;
            // cgroup v1 writes "no limit" as a huge number, larger than the memory of any machine.
            (limit < 1 << 62).then_some((level.as_path(), *names, limit))
        })
    }
}

/// Reads a file that holds one number; `None` if it holds `max` or cannot be read.
fn number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// Mount point of the first file system of type `kind` that is mounted with `option`, from the text of
/// [`MOUNTS_FILE`].
pub(crate) fn mount_point<'a>(mounts: &'a str, kind: &str, option: Option<&str>) -> Option<&'a str> {
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (folder, file_system_type) = (fields.next()?, fields.next()?);
        let mut options = fields.next()?.split(',');
        let is_match =
            file_system_type == kind && option.is_none_or(|option| options.any(|name| name == option));
        is_match.then_some(folder)
    })
}

/// Path of a process's cgroup for `controller` (empty for v2), from the text of `/proc/PID/cgroup`.
pub(crate) fn cgroup_path<'a>(cgroups: &'a str, controller: &str) -> Option<&'a str> {
    cgroups.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        controllers.split(',').any(|name| name == controller).then_some(path)
    })
}

/// Folder of a cgroup; the mount point if the path is not visible from here.
pub(crate) fn cgroup_folder(mount: &str, path: Option<&str>) -> PathBuf {
    let path = path.unwrap_or_default();
    let folder = Path::new(mount).join(path.trim_start_matches('/'));
    // In a container the path may be the host's, or may lead out of the visible hierarchy.
    if folder.is_dir() && !path.contains("..") { folder } else { PathBuf::from(mount) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a fake cgroup hierarchy from file contents by path.
    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn first(folder: &tempfile::TempDir, cgroups: &str) -> Groups {
        let mount = folder.path().display();
        Groups::of(&format!("x / ext4 rw 0 0\ncgroup {mount} cgroup rw,relatime,memory 0 0\n"), cgroups)
    }

    fn second(folder: &tempfile::TempDir, cgroups: &str) -> Groups {
        Groups::of(&format!("cgroup2 {} cgroup2 rw,nosuid 0 0\n", folder.path().display()), cgroups)
    }

    const NO_LIMIT: &str = "9223372036854771712\n";

    #[test]
    fn the_least_limit_on_the_way_up_holds_in_the_first_version() {
        let folder = tree(&[
            ("memory.limit_in_bytes", NO_LIMIT),
            ("docker/memory.limit_in_bytes", "1200000000\n"),
            ("docker/memory.usage_in_bytes", "700000000\n"),
            ("docker/memory.stat", "cache 1\ntotal_inactive_file 150000000\ntotal_active_file 50000000\n"),
            ("docker/job/memory.limit_in_bytes", NO_LIMIT),
            ("docker/job/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"),
        ]);
        let groups = first(&folder, "9:cpu:/\n4:cpuset,memory:/docker/job\n0::/\n");
        assert_eq!(groups.limit_bytes(), Some(1_200_000_000));
        assert_eq!(groups.available_bytes(), Some(700_000_000));
        assert_eq!(groups.oom_kills(), 3);
        // Seen from inside the container, where its own cgroup is the topmost one.
        let inside = tree(&[("memory.limit_in_bytes", "1200000000\n")]);
        assert_eq!(first(&inside, "4:memory:/docker/job\n").limit_bytes(), Some(1_200_000_000));
        assert_eq!(first(&inside, "4:memory:/../job\n").limit_bytes(), Some(1_200_000_000));
    }

    #[test]
    fn the_least_limit_on_the_way_up_holds_in_the_second_version() {
        let folder = tree(&[
            ("system.slice/memory.max", "2000000000\n"),
            ("system.slice/memory.current", "1900000000\n"),
            ("system.slice/memory.stat", "anon 5\nfile 900000000\ninactive_file 800000000\nactive_file 0\n"),
            ("system.slice/job/memory.max", "max\n"),
            ("system.slice/job/deeper/memory.max", "3000000000\n"),
            ("system.slice/job/deeper/memory.current", "100\n"),
            ("system.slice/job/deeper/memory.events", "low 0\noom 7\noom_kill 2\noom_group_kill 0\n"),
        ]);
        let groups = second(&folder, "0::/system.slice/job/deeper\n");
        assert_eq!(groups.limit_bytes(), Some(2_000_000_000));
        assert_eq!(groups.available_bytes(), Some(900_000_000));
        assert_eq!(groups.oom_kills(), 2);
    }

    #[test]
    fn without_groups_or_limits_there_is_no_limit() {
        let folder = tree(&[("a/memory.max", "max\n"), ("a/memory.limit_in_bytes", NO_LIMIT)]);
        for groups in [
            Groups::default(),
            first(&folder, "4:memory:/a\n"),
            second(&folder, "0::/a\n"),
            Groups::of("x / ext4 rw 0 0\n", "0::/\n"),
        ] {
            assert_eq!((groups.limit_bytes(), groups.available_bytes(), groups.oom_kills()), (None, None, 0));
        }
    }
}
