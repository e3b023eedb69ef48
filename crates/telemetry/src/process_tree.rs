//! Process trees: which processes and threads belong to one server.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;

/// Lists all descendants of `root` at any depth, without `root` itself, in no particular order.
///
/// # Errors
/// If `/proc` cannot be listed.
pub fn descendants(root: u32) -> io::Result<Vec<u32>> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in std::fs::read_dir("/proc")? {
        let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // Processes may end while `/proc` is being listed.
        if let Some(parent) = std::fs::read_to_string(proc_file(pid, "stat")).ok().and_then(|s| parent(&s)) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut next = vec![root];
    while let Some(pid) = next.pop() {
        // Entries are removed, so that a reused pid cannot form a cycle.
        for child in children.remove(&pid).unwrap_or_default() {
            found.push(child);
            next.push(child);
        }
    }
    Ok(found)
}

/// Most attempts to sum over a process tree until no process starts or ends meanwhile. A process that ends
/// during a pass is in no sum, neither on its own nor with its parent.
const LOOKS: u32 = 20;

/// Calls `sum` with the descendants of `root` until the process tree did not change meanwhile, up to
/// [`LOOKS`] times, and returns the last result. `sum` must skip processes that no longer exist.
pub(crate) fn sum_over_stable_tree<T>(
    root: u32,
    mut sum: impl FnMut(&[u32]) -> io::Result<T>,
) -> io::Result<T> {
    let sorted = || {
        descendants(root).map(|mut pids| {
            pids.sort_unstable();
            pids
        })
    };
    let mut pids = sorted()?;
    for _ in 1..LOOKS {
        let found = sum(&pids)?;
        let again = sorted()?;
        if again == pids {
            return Ok(found);
        }
        pids = again;
    }
    sum(&pids)
}

/// Lists all threads of `root` and its descendants as (process, thread), those of `root` first.
///
/// # Errors
/// If `root` does not exist, or `/proc` cannot be listed.
pub fn threads(root: u32) -> io::Result<Vec<(u32, u32)>> {
    let mut found = Vec::new();
    add_threads(root, &mut found)?;
    for pid in descendants(root)? {
        // Processes may have ended since they were listed.
        add_threads(pid, &mut found).ok();
    }
    Ok(found)
}

fn add_threads(pid: u32, found: &mut Vec<(u32, u32)>) -> io::Result<()> {
    for entry in std::fs::read_dir(proc_file(pid, "task"))? {
        if let Some(thread) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) {
            found.push((pid, thread));
        }
    }
    Ok(())
}

/// Parses the parent's pid: field 4 of proc_pid_stat(5), the second one after the name.
fn parent(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
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
        let found = descendants(std::process::id()).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.contains(&child.id()));
        assert!(!found.contains(&1) && !found.contains(&std::process::id()));
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
        let mut looks = Vec::new();
        let found = sum_over_stable_tree(parent.id(), |pids| {
            if looks.is_empty() {
                input.write_all(b"\n")?;
                output.read_line(&mut String::new())?;
            }
            looks.push(pids.len());
            Ok(pids.len())
        });
        drop(input);
        parent.wait().unwrap();
        assert_eq!((found.unwrap(), looks), (0, vec![1, 0]));
        assert!(sum_over_stable_tree(1, |_| Err::<(), _>(io::Error::other("gone"))).is_err());
    }
}
