//! User settings of a run that all workloads share.

use serde::{Deserialize, Serialize};

use jsonathlon_catalogue::Transport;
use jsonathlon_telemetry::memory_cap::MemoryCap;

use crate::stopping::StoppingRule;

/// If load and settle of a system take less time than this, loads are repeated like other trials.
const SHORT_LOAD_S: f64 = 60.0;
/// Number of rounds that begin with a load if loads are repeated.
pub(crate) const LOAD_ROUNDS: u32 = 3;

/// A system that jsonathlon does not install: a remote server, or user-supplied binaries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalSystem {
    /// Name of the catalogue system that describes it.
    pub system: String,
    /// Address of the remote server, without password, or path of the binaries.
    pub at: String,
    /// Number among several external systems of the same catalogue system, from 1; `None` if there is only
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// Version that the system reported when the run began.
    pub reported: String,
    /// Prefix of the names of the run's databases on the remote server; a number follows.
    pub name: String,
    /// User-supplied command that restarts the server; `None` if the server must not be restarted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<String>,
}

/// Settings that all workloads share. The manifest contains them, so that a resumed run plans the same
/// trials; settings of a single workload are stored under its name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Minimum number of rounds; their trials are planned in the manifest.
    pub rounds: u32,
    /// Stopping rule; defaults to exactly `rounds` rounds.
    #[serde(default)]
    #[serde(rename = "enough")]
    pub stopping: StoppingRule,
    /// Number of rounds that begin with a load into a fresh folder. `None` if the duration of each system's
    /// first load decides, see [`Settings::load_rounds_of`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_rounds: Option<u32>,
    /// Timeout of one trial in seconds; defaults to 3600.
    pub timeout_s: f64,
    /// Timeout of a load or a settle in seconds; defaults to 12 hours.
    pub load_timeout_s: f64,
    /// Whether data folders and the run's databases on remote servers are kept after the run.
    pub keep_data: bool,
    /// Seed of generated documents; defaults to 1.
    pub seed: u64,
    /// Transport by which clients connect to servers.
    #[serde(default)]
    pub transport: Transport,
    /// External systems of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "elsewhere")]
    pub external_systems: Vec<ExternalSystem>,
    /// Whether a memory limit of the systems includes the page cache.
    #[serde(default, skip_serializing_if = "PageCachePolicy::is_free")]
    pub page_cache: PageCachePolicy,
    /// Number of cores that systems may use; defaults to all cores that this process may use.
    pub cores: usize,
}

/// Page cache that systems may use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageCachePolicy {
    /// All free memory of the machine.
    #[default]
    Free,
    /// Memory limit in bytes for each system, page cache and process memory together.
    Capped(u64),
    /// A limit was requested but cannot be enforced; the text is the reason.
    Uncapped(String),
}

impl PageCachePolicy {
    /// Returns a limit of `bytes` for each system, or [`Self::Uncapped`] if the kernel does not let this
    /// process enforce it.
    #[must_use]
    pub fn capped(bytes: u64) -> Self {
        match MemoryCap::new(bytes) {
            Ok(_) => Self::Capped(bytes),
            Err(error) => Self::Uncapped(error.to_string()),
        }
    }

    fn is_free(&self) -> bool {
        *self == Self::Free
    }
}

impl Settings {
    /// Number of rounds that begin with a load, for a system whose first load and settle took `seconds`.
    #[must_use]
    pub fn load_rounds_of(&self, seconds: f64) -> u32 {
        let rounds = self.load_rounds.unwrap_or(if seconds < SHORT_LOAD_S { LOAD_ROUNDS } else { 1 });
        rounds.max(1)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            rounds: 5,
            stopping: StoppingRule::Rounds,
            load_rounds: None,
            timeout_s: 3600.0,
            load_timeout_s: 12.0 * 3600.0,
            keep_data: false,
            seed: 1,
            transport: Transport::default(),
            external_systems: Vec::new(),
            page_cache: PageCachePolicy::Free,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}
