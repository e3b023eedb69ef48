//! User settings of a durability run.

use jsonathlon_dataset::records::Records;
use jsonathlon_powerfail::OutageError;
use jsonathlon_schema::durability::{CrashKind, DurabilityTier};
use serde::{Deserialize, Serialize};

/// Settings that only this workload has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DurabilitySettings {
    /// Records that are loaded before clients begin.
    pub records: Records,
    /// Durability tiers to test; empty for all tiers of a system.
    pub tiers: Vec<DurabilityTier>,
    /// Kinds of crash to test.
    pub crash_kinds: Vec<CrashKind>,
    /// Number of crashes of each kind in each tier.
    pub crashes: u32,
    /// Number of clients that insert and update.
    pub clients: u32,
    /// Minimum and maximum seconds of work before a crash; the moment is uniformly distributed between them.
    pub crash_within_s: (f64, f64),
    /// Seconds that a system may take to start after a crash.
    pub recovery_timeout_s: f64,
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
    pub fn enter_namespace(&self) -> Result<(), String> {
        if !self.crash_kinds.contains(&CrashKind::Power) {
            return Ok(());
        }
        match jsonathlon_powerfail::enter() {
            // If disks are unavailable, the crash tests report that with the reason.
            Ok(()) | Err(OutageError::Unavailable { .. }) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }
}
