//! Process trees: which processes and threads belong to one server.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::str::SplitWhitespace;

/// Lists all descendants of `root` at any depth, without `root` itself, in no particular order.
///
/// # Errors
/// If `/proc` cannot be listed.
pub fn descendants(root: u32) -> io::Result<Vec<u32>> {
    let mut children = Children::default();
    visit_processes(Path::new("/proc"), |pid, stat| children.add(pid, stat))?;
    Ok(children.descendants(root))
}

/// Passes the pid of every process and the text of its `stat` to `visit`. `proc_folder` is `/proc`, or a
/// folder that looks like it.
///
/// # Errors
/// If the folder cannot be listed.
pub(crate) fn visit_processes(proc_folder: &Path, mut visit: impl FnMut(u32, &str)) -> io::Result<()> {
    for entry in std::fs::read_dir(proc_folder)? {
        let entry = entry?;
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // Processes may end while they are listed.
        if let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) {
            visit(pid, &stat);
        }
    }
    Ok(())
}

/// Children of processes, by the pid of their parent.
#[derive(Debug, Default)]
pub(crate) struct Children(HashMap<u32, Vec<u32>>);

impl Children {
    /// Adds a process with the parent that its `stat` names; one without a parent is not added.
    pub(crate) fn add(&mut self, pid: u32, stat: &str) {
        if let Some(parent) = parent(stat) {
            self.0.entry(parent).or_default().push(pid);
        }
    }

    /// All descendants of `root` at any depth, without `root` itself, in no particular order.
    pub(crate) fn descendants(mut self, root: u32) -> Vec<u32> {
        let mut pids = Vec::new();
        let mut pending = vec![root];
        while let Some(pid) = pending.pop() {
            // Entries are removed, so that a reused pid cannot form a cycle.
            for child in self.0.remove(&pid).unwrap_or_default() {
                pids.push(child);
                pending.push(child);
            }
        }
        pids
    }
}

/// Most attempts to sum over a process tree until no process starts or ends meanwhile. A process that ends
/// during a pass is in no sum, neither on its own nor with its parent.
const MAX_PASSES: u32 = 20;

/// Calls `sum` with the descendants of `root` until the process tree did not change meanwhile, up to
/// [`MAX_PASSES`] times, and returns the last result. `sum` must skip processes that no longer exist.
pub(crate) fn sum_over_stable_tree<T>(
    root: u32,
    mut sum: impl FnMut(&[u32]) -> io::Result<T>,
) -> io::Result<T> {
    let sorted_pids = || {
        descendants(root).map(|mut pids| {
            pids.sort_unstable();
            pids
        })
    };
    let mut pids = sorted_pids()?;
    for _ in 1..MAX_PASSES {
        let total = sum(&pids)?;
        let pids_after = sorted_pids()?;
        if pids_after == pids {
            return Ok(total);
        }
        pids = pids_after;
    }
    sum(&pids)
}

/// Lists all threads of `root` and its descendants as (process, thread), those of `root` first.
///
/// # Errors
/// If `root` does not exist, or `/proc` cannot be listed.
pub fn threads(root: u32) -> io::Result<Vec<(u32, u32)>> {
    let mut threads = Vec::new();
    add_threads(root, &mut threads)?;
    for pid in descendants(root)? {
        // Processes may have ended since they were listed.
        add_threads(pid, &mut threads).ok();
    }
    Ok(threads)
}

fn add_threads(pid: u32, threads: &mut Vec<(u32, u32)>) -> io::Result<()> {
    for entry in std::fs::read_dir(proc_file(pid, "task"))? {
        if let Some(thread) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) {
            threads.push((pid, thread));
        }
    }
    Ok(())
}

/// Fields of `/proc/PID/stat` (proc_pid_stat(5)) from the state on, which is field 3. The name before it stands
/// in parentheses and may contain any character, so fields are counted from the last `)`.
pub(crate) fn fields_from_state(stat: &str) -> Option<SplitWhitespace<'_>> {
    Some(stat.rsplit_once(')')?.1.split_whitespace())
}

/// Parses the parent's pid: field 4 of proc_pid_stat(5), the second one after the name.
fn parent(stat: &str) -> Option<u32> {
    fields_from_state(stat)?.nth(1)?.parse().ok()
}

/// Path of `/proc/PID/NAME`; `name` may contain slashes.
pub(crate) fn proc_file(pid: u32, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{name}"))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};

    use super::*;

    #[test]
    fn a_child_is_below_and_a_stranger_is_not() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pids = descendants(std::process::id()).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(pids.contains(&child.id()));
        assert!(!pids.contains(&1) && !pids.contains(&std::process::id()));
        assert!(descendants(u32::MAX - 1).unwrap().is_empty());
        assert!(threads(std::process::id()).unwrap().contains(&(std::process::id(), std::process::id())));
        assert!(threads(u32::MAX - 1).is_err());
        assert_eq!(parent("7 (a) b) S 12 7"), Some(12));
    }

    #[test]
    fn what_ends_while_it_is_looked_at_is_looked_at_again() {
        // A separate parent process, because other tests start children of this process as well.
        let mut parent = std::process::Command::new("sh")
            .args(["-c", "sleep 60 & read line; kill $!; wait; echo ended; read line"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        while descendants(parent.id()).unwrap().is_empty() {
            std::thread::yield_now();
        }
        let mut input = parent.stdin.take().unwrap();
        let mut output = BufReader::new(parent.stdout.take().unwrap());
        let mut counts = Vec::new();
        let total = sum_over_stable_tree(parent.id(), |pids| {
            if counts.is_empty() {
                input.write_all(b"\n")?;
                output.read_line(&mut String::new())?;
            }
            counts.push(pids.len());
            Ok(pids.len())
        });
        drop(input);
        parent.wait().unwrap();
        assert_eq!((total.unwrap(), counts), (0, vec![1, 0]));
        assert!(sum_over_stable_tree(1, |_| Err::<(), _>(io::Error::other("gone"))).is_err());
    }
}
