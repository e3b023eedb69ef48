//! What a process costs: CPU, memory and input/output as the kernel counts them.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Counters of one process since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// CPU seconds in user mode.
    pub user_s: f64,
    /// CPU seconds in the kernel.
    pub system_s: f64,
    /// Bytes fetched from the storage layer (`read_bytes` of `/proc/PID/io`).
    pub read_bytes: u64,
    /// Bytes sent to the storage layer (`write_bytes`, cancelled writes not subtracted).
    pub written_bytes: u64,
    /// Page faults that needed input.
    pub major_faults: u64,
}

impl Usage {
    /// The counters of `pid` now.
    ///
    /// # Errors
    /// When the process is gone or `/proc` is not there.
    pub fn of(pid: u32) -> io::Result<Self> {
        let stat = std::fs::read_to_string(proc_file(pid, "stat"))?;
        let mut usage = parse_stat(&stat)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "unreadable /proc/PID/stat"))?;
        // Another user's process hides its io file: the CPU figures are still right.
        if let Ok(text) = std::fs::read_to_string(proc_file(pid, "io")) {
            usage.read_bytes = field(&text, "read_bytes:").unwrap_or(0);
            usage.written_bytes = field(&text, "write_bytes:").unwrap_or(0);
        }
        Ok(usage)
    }

    /// What was added since `earlier`.
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

    /// CPU seconds in user mode and in the kernel together.
    #[must_use]
    pub fn cpu_s(&self) -> f64 {
        self.user_s + self.system_s
    }
}

/// Proportional set size of `pid` in bytes: private pages whole, shared ones by their share, so that
/// the processes of one server may be summed (unlike resident set sizes).
///
/// # Errors
/// When the process is gone or not ours to look at.
pub fn pss_bytes(pid: u32) -> io::Result<u64> {
    let text = std::fs::read_to_string(proc_file(pid, "smaps_rollup"))?;
    field(&text, "Pss:")
        .map(|kib| kib * 1024)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no Pss in smaps_rollup"))
}

/// Largest resident set of `pid` so far, bytes (`VmHWM`); used for the program's own memory, where one
/// process shares nothing with another.
///
/// # Errors
/// When the process is gone.
pub fn peak_resident_bytes(pid: u32) -> io::Result<u64> {
    let text = std::fs::read_to_string(proc_file(pid, "status"))?;
    field(&text, "VmHWM:")
        .map(|kib| kib * 1024)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no VmHWM in status"))
}

/// Samples the proportional set size of one process in the background and keeps the largest.
#[derive(Debug)]
pub struct PeakSampler {
    stop: Arc<AtomicBool>,
    peak: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl PeakSampler {
    /// Samples `pid` at once and then every `interval` until stopped or the process is gone.
    #[must_use]
    pub fn start(pid: u32, interval: Duration) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let peak = Arc::new(AtomicU64::new(0));
        let (thread_stop, thread_peak) = (Arc::clone(&stop), Arc::clone(&peak));
        let thread = std::thread::Builder::new()
            .name("peak-sampler".into())
            .spawn(move || {
                while let Ok(bytes) = pss_bytes(pid) {
                    thread_peak.fetch_max(bytes, Ordering::Relaxed);
                    if thread_stop.load(Ordering::Relaxed) {
                        break;
                    }
                    std::thread::park_timeout(interval);
                }
            })
            .ok();
        Self { stop, peak, thread }
    }

    /// Takes a last sample and returns the largest one in bytes; `None` when not one could be taken.
    #[must_use]
    pub fn finish(mut self) -> Option<u64> {
        self.end();
        Some(self.peak.load(Ordering::Relaxed)).filter(|peak| *peak > 0)
    }

    fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A panicking sampler has nothing to hand on; the peak so far stands.
            let _ = thread.join();
        }
    }
}

impl Drop for PeakSampler {
    fn drop(&mut self) {
        self.end();
    }
}

fn proc_file(pid: u32, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{name}"))
}

/// The first number after `name` at the start of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    text.lines()
        .find_map(|line| line.strip_prefix(name))
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|number| number.parse().ok())
}

/// Reads `/proc/PID/stat` (proc_pid_stat(5)): the name in parentheses may hold anything, so fields are
/// counted from the last `)`.
fn parse_stat(stat: &str) -> Option<Usage> {
    let after = stat.rsplit_once(')')?.1;
    let fields: Vec<&str> = after.split_whitespace().collect();
    // Field 3 of the manual page (state) is index 0 here.
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    Some(Usage {
        major_faults: number(9)?,
        user_s: number(11)? as f64 / ticks,
        system_s: number(12)? as f64 / ticks,
        ..Usage::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194304 100 0 42 0 300 50 0 0 20 0 1 0 5 0 0";
        let usage = parse_stat(stat).unwrap();
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        assert_eq!(usage.major_faults, 42);
        assert!((usage.user_s - 300.0 / ticks).abs() < 1e-9);
        assert!((usage.system_s - 50.0 / ticks).abs() < 1e-9);
    }

    #[test]
    fn own_cpu_grows_with_work_and_memory_is_seen() {
        let pid = std::process::id();
        let before = Usage::of(pid).unwrap();
        let sampler = PeakSampler::start(pid, Duration::from_millis(5));
        let block = vec![1_u8; 64 << 20];
        let mut sum = 0_u64;
        // Once at least: other tests of this process use CPU time too.
        loop {
            sum = sum.wrapping_add(block.iter().map(|b| u64::from(*b)).sum::<u64>());
            if Usage::of(pid).unwrap().since(&before).cpu_s() >= 0.05 {
                break;
            }
        }
        assert!(sum > 0);
        assert!(sampler.finish().unwrap() > 64 << 20);
        assert!(peak_resident_bytes(pid).unwrap() > 64 << 20);
    }

    #[test]
    fn a_process_that_is_gone_is_an_error() {
        assert!(Usage::of(u32::MAX - 1).is_err());
        assert_eq!(PeakSampler::start(u32::MAX - 1, Duration::from_millis(1)).finish(), None);
    }
}
