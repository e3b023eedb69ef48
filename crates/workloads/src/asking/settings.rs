//! What the user can set about how questions are asked.

use jsonathlon_results::id::State;
use serde::{Deserialize, Serialize};

/// Settings of workloads that ask questions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskSettings {
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
    /// Rounds in which they are; all of them where this is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold_rounds: Option<u32>,
    /// Whether the published definition of cold is measured too.
    pub cold_os: bool,
}

fn yes() -> bool {
    true
}

impl AskSettings {
    /// Hot trials of a question that takes `seconds`.
    #[must_use]
    pub fn hot_trials_of(&self, seconds: f64) -> u32 {
        let fitting = (self.hot_duration_s / seconds.max(1e-9)).ceil();
        // A float beyond u32 becomes the largest u32, which the upper limit cuts.
        (fitting as u32).min(self.most_hot_trials).max(self.hot_trials)
    }

    /// Whether questions are asked cold in `round`.
    #[must_use]
    pub fn is_cold(&self, round: u32) -> bool {
        self.cold && self.cold_rounds.is_none_or(|rounds| round <= rounds)
    }
}

impl Default for AskSettings {
    fn default() -> Self {
        Self {
            states: vec![State::Drained],
            hot_trials: 3,
            most_hot_trials: 20,
            hot_duration_s: 0.3,
            cold: true,
            cold_rounds: None,
            cold_os: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_questions_are_asked_more_often_within_limits() {
        let settings = AskSettings::default();
        for (seconds, trials) in
            [(0.0, 20), (0.001, 20), (0.015, 20), (0.075, 4), (0.2, 3), (1.0, 3), (3600.0, 3)]
        {
            assert_eq!(settings.hot_trials_of(seconds), trials, "{seconds}");
        }
        let fixed = AskSettings { hot_trials: 7, most_hot_trials: 7, ..settings };
        assert_eq!((fixed.hot_trials_of(1e-6), fixed.hot_trials_of(100.0)), (7, 7));
    }
}
