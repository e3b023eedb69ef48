//! CPU time, I/O and page faults of a process or a process tree, as the kernel counts them.

use std::io;

use serde::{Deserialize, Serialize};

use crate::process_tree::{self, fields_from_state, proc_file};

/// Resource counters of a process or process tree since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// CPU time in user mode, seconds.
    pub user_s: f64,
    /// CPU time in the kernel, seconds.
    pub system_s: f64,
    /// Bytes read from the storage layer (`read_bytes` of `/proc/PID/io`); 0 if this user may not read that
    /// file.
    pub read_bytes: u64,
    /// Bytes of pages made dirty (`write_bytes`, cancelled writes not subtracted); 0 like `read_bytes`.
    /// Kernels that cache files in large pages count the whole page for each write into it: see
    /// [`crate::activity::DiskWrites`].
    pub written_bytes: u64,
    /// Page faults that had to read from storage.
    pub major_faults: u64,
}

/// Reads `/proc/PID/stat` as text.
pub(crate) fn stat(pid: u32) -> io::Result<String> {
    std::fs::read_to_string(proc_file(pid, "stat"))
}

impl Usage {
    /// Reads the counters of `pid` alone; CPU time of its children is not included.
    ///
    /// # Errors
    /// If the process does not exist or `/proc` is not mounted.
    pub fn of_process(pid: u32) -> io::Result<Self> {
        Self::from_stat(pid, &stat(pid)?)
    }

    /// Reads the counters of `root` and all its descendants.
    ///
    /// The CPU time of children that have ended and been waited for is part of their parents', so that
    /// short-lived server backends are counted. The same holds for their bytes: `/proc/PID/io` adds them when
    /// the child is waited for.
    ///
    /// # Errors
    /// If `root` does not exist.
    pub fn of_tree(root: u32) -> io::Result<Self> {
        let with_children = |pid: u32| {
            let stat = stat(pid)?;
            Ok::<_, io::Error>(Self::from_stat(pid, &stat)?.plus(&Self::ended_children(&stat)?))
        };
        process_tree::sum_over_stable_tree(root, |pids| {
            let descendants = pids.iter().filter_map(|pid| with_children(*pid).ok());
            Ok(descendants.fold(with_children(root)?, |sum, usage| sum.plus(&usage)))
        })
    }

    fn from_stat(pid: u32, stat: &str) -> io::Result<Self> {
        let mut usage = parse_stat(stat, PROCESS).ok_or_else(unreadable)?;
        // `io` of another user's process cannot be read; the CPU counters are still valid.
        if let Ok(text) = std::fs::read_to_string(proc_file(pid, "io")) {
            usage.read_bytes = field(&text, "read_bytes:").unwrap_or(0);
            usage.written_bytes = field(&text, "write_bytes:").unwrap_or(0);
        }
        Ok(usage)
    }

    /// Counters of the children that have ended, from the `stat` of their parent; without bytes.
    pub(crate) fn ended_children(stat: &str) -> io::Result<Self> {
        parse_stat(stat, ENDED_CHILDREN).ok_or_else(unreadable)
    }

    fn plus(&self, other: &Self) -> Self {
        Self {
            user_s: self.user_s + other.user_s,
            system_s: self.system_s + other.system_s,
            read_bytes: self.read_bytes + other.read_bytes,
            written_bytes: self.written_bytes + other.written_bytes,
            major_faults: self.major_faults + other.major_faults,
        }
    }

    /// Increase of each counter since `earlier`, at least 0.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            user_s: (self.user_s - earlier.user_s).max(0.0),
            system_s: (self.system_s - earlier.system_s).max(0.0),
            read_bytes: self.read_bytes.saturating_sub(earlier.read_bytes),
            written_bytes: self.written_bytes.saturating_sub(earlier.written_bytes),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
        }
    }

    /// CPU time in user mode and in the kernel together, seconds.
    #[must_use]
    pub fn cpu_s(&self) -> f64 {
        self.user_s + self.system_s
    }
}

/// Indices of (major faults, user time, system time) in `/proc/PID/stat`, counted from the state, which is
/// field 3 of proc_pid_stat(5). [`ENDED_CHILDREN`] has those of the children that the process has waited for.
const PROCESS: [usize; 3] = [9, 11, 12];
const ENDED_CHILDREN: [usize; 3] = [10, 13, 14];

/// CPU time of a process and of its children that have ended, in seconds, from its `/proc/PID/stat`.
pub(crate) fn cpu_s_with_ended_children(stat: &str) -> Option<f64> {
    Some(parse_stat(stat, PROCESS)?.cpu_s() + parse_stat(stat, ENDED_CHILDREN)?.cpu_s())
}

/// Page faults and CPU times from the text of `/proc/PID/stat`, at indices such as [`PROCESS`].
fn parse_stat(stat: &str, [faults, user, system]: [usize; 3]) -> Option<Usage> {
    let fields: Vec<&str> = fields_from_state(stat)?.collect();
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    Some(Usage {
        major_faults: number(faults)?,
        user_s: number(user)? as f64 / ticks,
        system_s: number(system)? as f64 / ticks,
        ..Usage::default()
    })
}

fn unreadable() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "unreadable /proc/PID/stat")
}

/// First number after `name` on the first line that begins with `name`; `None` if there is none.
pub(crate) fn field(text: &str, name: &str) -> Option<u64> {
    text.lines()
        .find_map(|line| line.strip_prefix(name))
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|number| number.parse().ok())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194304 100 0 42 43 300 50 20 10 20 0 1 0 5 0 0";
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        let usage = parse_stat(stat, PROCESS).unwrap();
        assert_eq!(usage.major_faults, 42);
        assert!((usage.user_s - 300.0 / ticks).abs() < 1e-9);
        assert!((usage.system_s - 50.0 / ticks).abs() < 1e-9);
        let children = parse_stat(stat, ENDED_CHILDREN).unwrap();
        assert_eq!(children.major_faults, 43);
        assert!((children.cpu_s() - 30.0 / ticks).abs() < 1e-9);
    }

    #[test]
    fn own_cpu_grows_with_work() {
        let pid = std::process::id();
        let before = Usage::of_process(pid).unwrap();
        let block = vec![1_u8; 1 << 20];
        let mut sum = 0_u64;
        // At least one pass, because other tests of this process use CPU time, too.
        loop {
            sum = sum.wrapping_add(block.iter().map(|b| u64::from(*b)).sum::<u64>());
            if Usage::of_process(pid).unwrap().since(&before).cpu_s() >= 0.05 {
                break;
            }
        }
        assert!(sum > 0);
    }

    #[test]
    fn a_tree_counts_grandchildren_and_those_that_have_ended() {
        // The first subshell uses CPU time and is waited for; the second one is still running.
        let burn = "i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done";
        let script = format!("( {burn} ); ( {burn}; echo burnt; sleep 60 ) & wait");
        let mut child =
            Command::new("sh").args(["-c", &script]).stdout(std::process::Stdio::piped()).spawn().unwrap();
        let mut line = [0; 6];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut line).unwrap();
        let process = Usage::of_process(child.id()).unwrap();
        let tree = Usage::of_tree(child.id()).unwrap();
        let descendants = process_tree::descendants(child.id()).unwrap();
        for pid in &descendants {
            Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!descendants.is_empty());
        assert!(tree.cpu_s() >= process.cpu_s() + 0.02, "{tree:?} {process:?}");
    }

    #[test]
    fn a_process_that_is_gone_is_an_error() {
        assert!(Usage::of_process(u32::MAX - 1).is_err());
        assert!(Usage::of_tree(u32::MAX - 1).is_err());
    }
}
