//! CPU time of other processes, finer than the kernel's clock tick where possible.

use std::io;
use std::time::Duration;

use crate::process::{Usage, stat};
use crate::process_tree;
use crate::process_tree::proc_file;

/// CPU time that `root` and all its descendants have used so far. Children that have ended and been waited
/// for count with their parents, in clock ticks (10 ms).
///
/// # Errors
/// If `root` does not exist.
pub fn of_tree(root: u32) -> io::Result<Duration> {
    process_tree::sum_over_stable_tree(root, |pids| {
        let root_time = process_time(root)?;
        let times = pids.iter().map(|pid| process_time(*pid).unwrap_or_default());
        Ok(times.fold(root_time, |sum, time| sum + time))
    })
}

/// CPU time of one process and of its ended children.
fn process_time(pid: u32) -> io::Result<Duration> {
    let ended = Duration::from_secs_f64(Usage::ended_children(&stat(pid)?)?.cpu_s());
    // A process's `schedstat` omits threads that have ended; only the tick-based counter includes them. The
    // finer counter is therefore used for single-threaded processes only, such as those of
    // process-per-connection servers.
    let mut threads = std::fs::read_dir(proc_file(pid, "task"))?;
    let is_single_threaded = threads.next().is_some() && threads.next().is_none();
    let schedstat =
        is_single_threaded.then(|| std::fs::read_to_string(proc_file(pid, "schedstat")).ok()).flatten();
    let cpu_time = match schedstat.as_deref().and_then(parse_schedstat) {
        Some(cpu_time) => cpu_time,
        None => Duration::from_secs_f64(Usage::of_process(pid)?.cpu_s()),
    };
    Ok(cpu_time + ended)
}

/// Parses the first number of `/proc/PID/schedstat`: nanoseconds spent on a CPU.
fn parse_schedstat(text: &str) -> Option<Duration> {
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_of_a_child_is_seen_while_it_lives_and_afterwards() {
        let pid = std::process::id();
        let before = of_tree(pid).unwrap();
        let mut child = std::process::Command::new("sh")
            .args(["-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; read line"])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        while of_tree(child.id()).unwrap() < Duration::from_millis(30) {
            std::thread::yield_now();
        }
        assert!(of_tree(pid).unwrap() - before >= Duration::from_millis(30));
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(of_tree(pid).unwrap() - before >= Duration::from_millis(20));
        assert!(of_tree(u32::MAX - 1).is_err());
    }

    #[test]
    fn nanoseconds_come_first() {
        assert_eq!(parse_schedstat("1500 20 3\n"), Some(Duration::from_nanos(1500)));
        assert_eq!(parse_schedstat(""), None);
    }
}
