//! A server kept to some CPUs.

use std::io;

use jsonathlon_measure::tree;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};

/// Pins all threads of a process and of those that it started. What they start later inherits it.
pub(super) fn pin(process: u32, cpus: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(*cpu);
    }
    for pid in tree::below(process)?.into_iter().chain([process]) {
        let threads = match std::fs::read_dir(format!("/proc/{pid}/task")) {
            Ok(threads) => threads,
            // It has ended meanwhile.
            Err(_) => continue,
        };
        for thread in threads.flatten() {
            let number = thread.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
            if let Some(thread) = number.and_then(Pid::from_raw) {
                match sched_setaffinity(Some(thread), &set) {
                    Err(rustix::io::Errno::SRCH) | Ok(()) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }
    Ok(())
}
