//! What a process, or a tree of processes, holds in memory.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::process::field;
use crate::tree;
use crate::tree::proc_file;

/// Proportional set sizes in bytes: private pages whole, shared ones by their share, so that the processes
/// of one server may be summed (resident set sizes would count shared buffers once a process).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// All of it.
    pub pss_bytes: u64,
    /// Heaps and stacks.
    pub anonymous_bytes: u64,
    /// Shared memory segments and memory files, such as a server's shared buffers.
    pub shared_bytes: u64,
    /// Mapped files: program code, and data files of engines that map them.
    pub file_bytes: u64,
}

impl Memory {
    /// Of `pid` alone (`/proc/PID/smaps_rollup`).
    ///
    /// # Errors
    /// When the process is gone or not ours to look at.
    pub fn of(pid: u32) -> io::Result<Self> {
        Self::parse(&std::fs::read_to_string(proc_file(pid, "smaps_rollup"))?)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no Pss in smaps_rollup"))
    }

    /// Of `root` and everything below it.
    ///
    /// # Errors
    /// When `root` is gone or not ours to look at.
    pub fn of_tree(root: u32) -> io::Result<Self> {
        let mut sum = Self::of(root)?;
        for pid in tree::below(root)? {
            // Whoever ended meanwhile holds nothing.
            sum = sum.plus(&Self::of(pid).unwrap_or_default());
        }
        Ok(sum)
    }

    fn parse(text: &str) -> Option<Self> {
        let bytes = |name| field(text, name).map(|kib| kib * 1024);
        Some(Self {
            pss_bytes: bytes("Pss:")?,
            // Kernels before 5.9 do not split it.
            anonymous_bytes: bytes("Pss_Anon:").unwrap_or(0),
            shared_bytes: bytes("Pss_Shmem:").unwrap_or(0),
            file_bytes: bytes("Pss_File:").unwrap_or(0),
        })
    }

    fn plus(&self, other: &Self) -> Self {
        Self {
            pss_bytes: self.pss_bytes + other.pss_bytes,
            anonymous_bytes: self.anonymous_bytes + other.anonymous_bytes,
            shared_bytes: self.shared_bytes + other.shared_bytes,
            file_bytes: self.file_bytes + other.file_bytes,
        }
    }
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

#[derive(Debug, Default)]
struct Seen {
    stop: bool,
    peak: Option<Memory>,
}

/// Samples the memory of a tree of processes in the background and keeps the largest sample.
#[derive(Debug)]
pub struct PeakSampler {
    seen: Arc<Mutex<Seen>>,
    thread: Option<JoinHandle<()>>,
}

impl PeakSampler {
    /// Samples the tree of `root` at once and then every `interval` until stopped or the root is gone.
    #[must_use]
    pub fn start(root: u32, interval: Duration) -> Self {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let shared = Arc::clone(&seen);
        let thread = std::thread::Builder::new()
            .name("peak-sampler".into())
            .spawn(move || {
                while let Ok(memory) = Memory::of_tree(root) {
                    let mut seen = shared.lock().unwrap_or_else(PoisonError::into_inner);
                    if seen.peak.is_none_or(|peak| peak.pss_bytes < memory.pss_bytes) {
                        seen.peak = Some(memory);
                    }
                    if seen.stop {
                        break;
                    }
                    drop(seen);
                    std::thread::park_timeout(interval);
                }
            })
            .ok();
        Self { seen, thread }
    }

    /// Takes a last sample and returns the largest one; `None` when not one could be taken.
    #[must_use]
    pub fn finish(mut self) -> Option<Memory> {
        self.end();
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).peak
    }

    fn end(&mut self) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).stop = true;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_seen_and_split() {
        let pid = std::process::id();
        let sampler = PeakSampler::start(pid, Duration::from_millis(5));
        let block = vec![1_u8; 64 << 20];
        assert!(block.iter().map(|b| u64::from(*b)).sum::<u64>() > 0);
        let peak = sampler.finish().unwrap();
        drop(block);
        assert!(peak.pss_bytes > 64 << 20 && peak.anonymous_bytes > 64 << 20, "{peak:?}");
        let sum = peak.anonymous_bytes + peak.shared_bytes + peak.file_bytes;
        // The kernel rounds each part to whole KiB by itself, and sums over children of other tests.
        assert!(peak.pss_bytes.abs_diff(sum) < 1 << 20, "{peak:?}");
        assert!(peak_resident_bytes(pid).unwrap() > 64 << 20);
    }

    #[test]
    fn a_process_that_is_gone_is_an_error() {
        assert!(Memory::of(u32::MAX - 1).is_err());
        assert_eq!(PeakSampler::start(u32::MAX - 1, Duration::from_millis(1)).finish(), None);
    }

    #[test]
    fn an_old_kernels_answer_is_not_split() {
        let memory = Memory::parse("Rss: 12 kB\nPss: 8 kB\n").unwrap();
        assert_eq!(memory, Memory { pss_bytes: 8192, ..Memory::default() });
        assert_eq!(Memory::parse("Rss: 12 kB\n"), None);
    }
}
