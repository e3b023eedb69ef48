//! What the user can set about a run, whatever its workload.

use jsonathlon_measure::memory_cap::MemoryCap;
use jsonathlon_systems::Transport;
use serde::{Deserialize, Serialize};

use crate::pace::Enough;

/// Loads of a system that takes less than this are trials like any others, and repeated.
const SHORT_LOAD_S: f64 = 60.0;
/// Rounds that then begin with a load.
pub(crate) const LOAD_ROUNDS: u32 = 3;

/// A system that the program did not install: a server by address, or the user's own programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elsewhere {
    /// The system whose folder describes it.
    pub system: String,
    /// Its address, which holds no password, or the path of its programs.
    pub at: String,
    /// Its number among those of this system, counted from 1, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// What it said about its version when the run began.
    pub reported: String,
    /// What the run's own databases are called there, before their number.
    pub name: String,
    /// The user's command that restarts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<String>,
}

/// Settings that all workloads share. They are written to the manifest, so that a resumed run plans the same trials;
/// each workload's own stand there under its name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Rounds at least, which are planned.
    pub rounds: u32,
    /// When there are enough of them.
    #[serde(default)]
    pub enough: Enough,
    /// Rounds that begin with a load into a fresh folder; none where each system's first load decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_rounds: Option<u32>,
    /// Limit of one trial, seconds.
    pub timeout_s: f64,
    /// Limit of a load or a settling, seconds.
    pub load_timeout_s: f64,
    /// Whether databases' folders stay.
    pub keep_data: bool,
    /// Seed of generated documents.
    pub seed: u64,
    /// How servers are reached.
    #[serde(default)]
    pub transport: Transport,
    /// Systems that the program did not install.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<Elsewhere>,
    /// Whether the page cache is part of systems' memory.
    #[serde(default, skip_serializing_if = "PageCache::is_free")]
    pub page_cache: PageCache,
    /// Cores that systems may use; all that this process may.
    pub cores: usize,
}

/// What of the page cache systems may have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageCache {
    /// Whatever the machine has.
    #[default]
    Free,
    /// Each system has so many bytes together with its processes' own memory.
    Capped(u64),
    /// It was to be capped, and why it is not.
    Uncapped(String),
}

impl PageCache {
    /// So many bytes for each system, where the kernel lets this process cap them.
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
    /// Rounds that begin with a load, of a system whose first load and draining took `seconds`.
    #[must_use]
    pub fn load_rounds_of(&self, seconds: f64) -> u32 {
        let most = self.load_rounds.unwrap_or(if seconds < SHORT_LOAD_S { LOAD_ROUNDS } else { 1 });
        most.max(1)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            rounds: 5,
            enough: Enough::Rounds,
            load_rounds: None,
            timeout_s: 3600.0,
            load_timeout_s: 12.0 * 3600.0,
            keep_data: false,
            seed: 1,
            transport: Transport::default(),
            elsewhere: Vec::new(),
            page_cache: PageCache::Free,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}
