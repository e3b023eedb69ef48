//! Description of the machine on which a run was made, part of the run's manifest.

use serde::{Deserialize, Serialize};

/// Hardware, kernel and file system of the machine on which a run was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Machine {
    /// Number of CPU cores that the run's process may use; 1 if unknown.
    pub cores: usize,
    /// Model name of the first CPU in `/proc/cpuinfo`; empty if unknown.
    pub processor: String,
    /// Memory that the run's process may use, in bytes: the physical memory, or the cgroup limit if that is
    /// lower. 0 if unknown.
    pub memory_bytes: u64,
    /// Physical memory of the machine in bytes. `None` unless a cgroup limits the run's process to less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub physical_memory_bytes: Option<u64>,
    /// Kernel release, as in `uname -r`.
    pub kernel_release: String,
    /// Distribution name (`PRETTY_NAME` of `/etc/os-release`); empty if unknown.
    pub os: String,
    /// Machine architecture, as in `uname -m`.
    pub architecture: String,
    /// Type of the file system that contains the run folder, as in the mount table. `None` if unknown.
    pub file_system: Option<String>,
}

/// Resolution of a clock and the cost of reading it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClockProperties {
    /// Smallest non-zero difference between two consecutive readings of the clock, in nanoseconds; 0 if all
    /// readings were equal.
    pub min_step_ns: u64,
    /// Mean duration of one reading of the clock, in nanoseconds.
    pub mean_read_ns: f64,
}
