//! Pins a system to a set of CPUs.

use std::io;

use jsonathlon_telemetry::process_tree;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};

/// Pins all threads of a process and of its child processes. Threads started later inherit the setting.
pub(crate) fn pin(process: u32, cpus: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(*cpu);
    }
    for (_, thread) in process_tree::threads(process)? {
        let Some(thread) = i32::try_from(thread).ok().and_then(Pid::from_raw) else { continue };
        match sched_setaffinity(Some(thread), &set) {
            // The thread has ended meanwhile.
            Err(rustix::io::Errno::SRCH) | Ok(()) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
