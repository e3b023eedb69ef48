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
    for (_, thread) in tree::threads(process)? {
        let Some(thread) = i32::try_from(thread).ok().and_then(Pid::from_raw) else { continue };
        match sched_setaffinity(Some(thread), &set) {
            // It has ended meanwhile.
            Err(rustix::io::Errno::SRCH) | Ok(()) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
