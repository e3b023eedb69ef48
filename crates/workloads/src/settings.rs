//! What the user can set about a run.

use serde::{Deserialize, Serialize};

/// A condition of the data that figures are taken in and never mixed between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Background work has ended by itself.
    Drained,
    /// The system was told to put its data in its best order.
    Compacted,
}

impl State {
    /// The word used in files and tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Drained => "drained",
            Self::Compacted => "compacted",
        }
    }
}

/// Settings of a run; written to its manifest, so that a resumed run plans the same trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Rounds.
    pub rounds: u32,
    /// Limit of one trial, seconds.
    pub timeout_s: f64,
    /// Limit of a load or a settling, seconds.
    pub load_timeout_s: f64,
    /// States in which the questions are asked. Sizes are taken in both whatever this says.
    pub states: Vec<State>,
    /// Hot trials a round at least.
    pub hot_trials: u32,
    /// Hot trials a round of a question that takes less than `fast_below_s`.
    pub fast_trials: u32,
    /// What counts as fast, seconds.
    pub fast_below_s: f64,
    /// Whether the published definition of cold is measured too.
    pub cold_os: bool,
    /// Whether databases' folders stay.
    pub keep_data: bool,
    /// Seed of generated documents.
    pub seed: u64,
    /// Cores that systems may use; all that this process may.
    pub cores: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            rounds: 5,
            timeout_s: 3600.0,
            load_timeout_s: 12.0 * 3600.0,
            states: vec![State::Drained],
            hot_trials: 3,
            fast_trials: 20,
            fast_below_s: 0.1,
            cold_os: false,
            keep_data: false,
            seed: 1,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}
