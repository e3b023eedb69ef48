//! Description of the machine of a run, as its manifest holds it.

use serde::{Deserialize, Serialize};

/// Hardware, kernel and file system of the machine of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// CPU cores that this process may use; 1 if unknown.
    pub cores: usize,
    /// Model name of the first CPU in `/proc/cpuinfo`; empty if unknown.
    pub processor: String,
    /// Memory that this process may use, bytes: the machine's, or the cgroup limit if that is lower. 0 if
    /// unknown.
    pub memory_bytes: u64,
    /// Physical memory of the machine, bytes; `None` unless a cgroup limits this process to less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical_memory_bytes: Option<u64>,
    /// Kernel release, as in `uname -r`.
    pub kernel: String,
    /// Distribution name (`PRETTY_NAME` of `/etc/os-release`); empty if unknown.
    pub os: String,
    /// Instruction set, as in `uname -m`.
    pub architecture: String,
    /// File system type under the run folder, as in the mount table; `None` if unknown.
    pub file_system: Option<String>,
}

/// Resolution of a clock and the cost of reading it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClockResolution {
    /// Smallest non-zero difference between two consecutive readings, nanoseconds; 0 if all readings were
    /// equal.
    pub step_ns: u64,
    /// Mean cost of one reading, nanoseconds.
    pub reading_ns: f64,
}
