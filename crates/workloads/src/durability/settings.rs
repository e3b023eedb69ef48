//! What the user can set about a run of durability.

use std::fmt;

use jsonathlon_dataset::records::Records;
use jsonathlon_outage::OutageError;
use jsonathlon_results::manifest::{POWER, PROCESS};
use serde::{Deserialize, Serialize};

/// How a system is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopKind {
    /// Its processes are killed: what they handed to the kernel stays.
    Process,
    /// The power of its disk is cut first: only what was synced stays.
    Power,
}

impl StopKind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Process, Self::Power];

    /// The word used in files, tables and on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Process => PROCESS,
            Self::Power => POWER,
        }
    }
}

impl fmt::Display for StopKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Settings of this workload alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DurabilitySettings {
    /// The records that are there before clients begin.
    pub records: Records,
    /// Durability tiers, of those that a system has; all of them where none is named.
    pub tiers: Vec<String>,
    /// How systems are stopped.
    pub kinds: Vec<StopKind>,
    /// Stops of each kind in each tier.
    pub stops: u32,
    /// Clients that insert and update.
    pub clients: u32,
    /// Seconds of work before a stop, at least and at most; each moment between is as likely as any other.
    pub work_s: (f64, f64),
    /// Seconds that a system may take to come up after a stop.
    pub recovery_s: f64,
    /// Bytes of the disk whose power is cut.
    pub disk_bytes: u64,
    /// Seconds after which an operation is given up.
    pub timeout_s: f64,
}

impl DurabilitySettings {
    /// Makes room for disks whose power can be cut, where they are wanted and can be had. It may start the program
    /// again in its own place, so that nothing is to be begun before.
    ///
    /// # Errors
    /// Disks can be had, and yet no room can be made.
    pub fn enter(&self) -> Result<(), String> {
        if !self.kinds.contains(&StopKind::Power) {
            return Ok(());
        }
        match jsonathlon_outage::enter() {
            // Whoever makes one says so, and why.
            Ok(()) | Err(OutageError::Unavailable { .. }) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }
}
