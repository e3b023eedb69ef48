//! User settings of a durability run.

use std::fmt;

use jsonathlon_dataset::records::Records;
use jsonathlon_powerfail::OutageError;
use jsonathlon_schema::manifest::{POWER, PROCESS};
use serde::{Deserialize, Serialize};

/// What a crash affects: only the processes of a system, or also the power of its disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CrashKind {
    /// The system's processes are killed: data handed to the kernel survives.
    Process,
    /// The power of the system's disk is cut first: only synced data survives.
    Power,
}

impl CrashKind {
    /// Both kinds, process crash first.
    pub const ALL: [Self; 2] = [Self::Process, Self::Power];

    /// Name in files, in tables and on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Process => PROCESS,
            Self::Power => POWER,
        }
    }
}

impl fmt::Display for CrashKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Settings that only this workload has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DurabilitySettings {
    /// Records that are loaded before clients begin.
    pub records: Records,
    /// Names of the durability tiers to test; empty for all tiers of a system.
    pub tiers: Vec<String>,
    /// Kinds of crash to test.
    pub kinds: Vec<CrashKind>,
    /// Number of crashes of each kind in each tier.
    pub stops: u32,
    /// Number of clients that insert and update.
    pub clients: u32,
    /// Minimum and maximum seconds of work before a crash; the moment is uniformly distributed between them.
    pub work_s: (f64, f64),
    /// Seconds that a system may take to start after a crash.
    pub recovery_s: f64,
    /// Size in bytes of the disk whose power is cut.
    pub disk_bytes: u64,
    /// Timeout of an operation in seconds.
    pub timeout_s: f64,
}

impl DurabilitySettings {
    /// Enters a mount namespace for disks whose power can be cut, if such disks are requested and available.
    /// May re-execute this program, so it must be called before any other work.
    ///
    /// # Errors
    /// If such disks are available but the namespace cannot be entered.
    pub fn enter(&self) -> Result<(), String> {
        if !self.kinds.contains(&CrashKind::Power) {
            return Ok(());
        }
        match jsonathlon_powerfail::enter() {
            // If disks are unavailable, the crash tests report that with the reason.
            Ok(()) | Err(OutageError::Unavailable { .. }) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }
}
