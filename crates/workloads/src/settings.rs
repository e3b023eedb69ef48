//! What the user can set about a run.

use jsonathlon_results::id::State;
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

/// Settings of a run; written to its manifest, so that a resumed run plans the same trials.
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
    /// States in which the questions are asked. Sizes are taken in both whatever this says.
    pub states: Vec<State>,
    /// Hot trials a round at least.
    pub hot_trials: u32,
    /// Hot trials a round at most.
    pub most_hot_trials: u32,
    /// Seconds that hot trials of one question may take in one round, between these two numbers: a fast
    /// question is asked more often, because its single times scatter more.
    pub hot_duration_s: f64,
    /// Whether questions are asked cold, with the engine restarted before each.
    #[serde(default = "yes")]
    pub cold: bool,
    /// Whether the published definition of cold is measured too.
    pub cold_os: bool,
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
    /// Cores that systems may use; all that this process may.
    pub cores: usize,
}

fn yes() -> bool {
    true
}

impl Settings {
    /// Rounds that begin with a load, of a system whose first load and draining took `seconds`.
    #[must_use]
    pub fn load_rounds_of(&self, seconds: f64) -> u32 {
        let most = self.load_rounds.unwrap_or(if seconds < SHORT_LOAD_S { LOAD_ROUNDS } else { 1 });
        most.max(1)
    }

    /// Hot trials of a question that takes `seconds`.
    #[must_use]
    pub fn hot_trials_of(&self, seconds: f64) -> u32 {
        let fitting = (self.hot_duration_s / seconds.max(1e-9)).ceil();
        // A float beyond u32 becomes the largest u32, which the upper limit cuts.
        (fitting as u32).min(self.most_hot_trials).max(self.hot_trials)
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
            states: vec![State::Drained],
            hot_trials: 3,
            most_hot_trials: 20,
            hot_duration_s: 0.3,
            cold: true,
            cold_os: false,
            keep_data: false,
            seed: 1,
            transport: Transport::default(),
            elsewhere: Vec::new(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_questions_are_asked_more_often_within_limits() {
        let settings = Settings::default();
        for (seconds, trials) in
            [(0.0, 20), (0.001, 20), (0.015, 20), (0.075, 4), (0.2, 3), (1.0, 3), (3600.0, 3)]
        {
            assert_eq!(settings.hot_trials_of(seconds), trials, "{seconds}");
        }
        let fixed = Settings { hot_trials: 7, most_hot_trials: 7, ..settings };
        assert_eq!((fixed.hot_trials_of(1e-6), fixed.hot_trials_of(100.0)), (7, 7));
    }
}
