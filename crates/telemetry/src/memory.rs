//! Memory usage of a process or of a process tree.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::process::field;
use crate::process_tree;
use crate::process_tree::proc_file;

/// Proportional set sizes (PSS) in bytes: private pages in full, shared pages divided by the number of
/// processes that map them. Sizes of a server's processes can be added; resident set sizes would count shared
/// buffers once per process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Total PSS, bytes; the other fields are its parts.
    pub pss_bytes: u64,
    /// Heaps and stacks, bytes; 0 on kernels before 5.9, like the other parts.
    pub anonymous_bytes: u64,
    /// Shared memory segments and memory files, such as a server's shared buffers, bytes.
    pub shared_bytes: u64,
    /// Mapped files, bytes: program code, and data files of engines that map them.
    pub file_bytes: u64,
}

impl Memory {
    /// Reads the memory of `pid` alone (`/proc/PID/smaps_rollup`).
    ///
    /// # Errors
    /// If the process does not exist, or this user may not read its memory map.
    pub fn of_process(pid: u32) -> io::Result<Self> {
        Self::parse(&std::fs::read_to_string(proc_file(pid, "smaps_rollup"))?)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no Pss in smaps_rollup"))
    }

    /// Adds the memory of `root` and all its descendants.
    ///
    /// # Errors
    /// If `root` does not exist, or this user may not read its memory map.
    pub fn of_tree(root: u32) -> io::Result<Self> {
        let mut sum = Self::of_process(root)?;
        for pid in process_tree::descendants(root)? {
            // Processes that have ended meanwhile hold no memory.
            sum = sum.plus(&Self::of_process(pid).unwrap_or_default());
        }
        Ok(sum)
    }

    fn parse(text: &str) -> Option<Self> {
        let bytes = |name| field(text, name).map(|kib| kib * 1024);
        Some(Self {
            pss_bytes: bytes("Pss:")?,
            // Kernels before 5.9 do not report the parts.
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

/// Largest resident set size of `pid` so far, bytes (`VmHWM`). Used for coordinator and workers, which share
/// no memory with other processes.
///
/// # Errors
/// If the process does not exist.
pub fn peak_resident_bytes(pid: u32) -> io::Result<u64> {
    let text = std::fs::read_to_string(proc_file(pid, "status"))?;
    field(&text, "VmHWM:")
        .map(|kib| kib * 1024)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no VmHWM in status"))
}

#[derive(Debug, Default)]
struct PeakState {
    stop: bool,
    peak: Option<Memory>,
}

/// Samples the memory of a process tree on a background thread and keeps the sample with the largest PSS.
#[derive(Debug)]
pub struct PeakSampler {
    state: Arc<Mutex<PeakState>>,
    thread: Option<JoinHandle<()>>,
}

impl PeakSampler {
    /// Takes a sample at once and then every `interval`, until [`PeakSampler::finish`] is called or `root`
    /// has ended.
    #[must_use]
    pub fn start(root: u32, interval: Duration) -> Self {
        let state = Arc::new(Mutex::new(PeakState::default()));
        let shared = Arc::clone(&state);
        let thread = std::thread::Builder::new()
            .name("peak-sampler".into())
            .spawn(move || {
                while let Ok(memory) = Memory::of_tree(root) {
                    let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
                    if state.peak.is_none_or(|peak| peak.pss_bytes < memory.pss_bytes) {
                        state.peak = Some(memory);
                    }
                    if state.stop {
                        break;
                    }
                    drop(state);
                    std::thread::park_timeout(interval);
                }
            })
            .ok();
        Self { state, thread }
    }

    /// Takes a last sample and returns the largest one; `None` if no sample succeeded.
    #[must_use]
    pub fn finish(mut self) -> Option<Memory> {
        self.end();
        self.state.lock().unwrap_or_else(PoisonError::into_inner).peak
    }

    fn end(&mut self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).stop = true;
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A panic of the sampler loses nothing: the peak so far is kept.
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
        // The kernel rounds each part to whole KiB, and the sums include children of other tests.
        assert!(peak.pss_bytes.abs_diff(sum) < 1 << 20, "{peak:?}");
        assert!(peak_resident_bytes(pid).unwrap() > 64 << 20);
    }

    #[test]
    fn a_process_that_is_gone_is_an_error() {
        assert!(Memory::of_process(u32::MAX - 1).is_err());
        assert_eq!(PeakSampler::start(u32::MAX - 1, Duration::from_millis(1)).finish(), None);
    }

    #[test]
    fn an_old_kernels_answer_is_not_split() {
        let memory = Memory::parse("Rss: 12 kB\nPss: 8 kB\n").unwrap();
        assert_eq!(memory, Memory { pss_bytes: 8192, ..Memory::default() });
        assert_eq!(Memory::parse("Rss: 12 kB\n"), None);
    }
}
