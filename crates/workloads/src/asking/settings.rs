//! User settings of workloads that ask questions.

use jsonathlon_schema::id::DataState;
use serde::{Deserialize, Serialize};

/// How often, and in which data states and phases, questions are asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuestionSettings {
    /// Data states in which questions are asked, drained by default. Sizes are measured in both states in any
    /// case.
    pub states: Vec<DataState>,
    /// Minimum number of hot trials per round; 3 by default.
    pub hot_trials: u32,
    /// Maximum number of hot trials per round; 20 by default.
    pub most_hot_trials: u32,
    /// Seconds that hot trials of one question should take per round, within both limits; 0.3 by default.
    /// Fast questions get more trials, because their single times vary more.
    pub hot_duration_s: f64,
    /// Whether questions are asked cold, with an engine restart before each. On by default.
    #[serde(default = "yes")]
    pub cold: bool,
    /// Number of rounds with cold trials, from the first; `None` for all rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold_rounds: Option<u32>,
    /// Whether to also measure the published definition of cold: page cache dropped, engine still running.
    pub cold_os: bool,
}

fn yes() -> bool {
    true
}

impl QuestionSettings {
    /// Number of hot trials for a question that takes `seconds`.
    #[must_use]
    pub fn hot_trials_of(&self, seconds: f64) -> u32 {
        let fitting = (self.hot_duration_s / seconds.max(1e-9)).ceil();
        // A float beyond `u32` is converted to the largest `u32`, which the maximum then limits.
        (fitting as u32).min(self.most_hot_trials).max(self.hot_trials)
    }

    /// Returns `true` if questions are asked cold in `round`.
    #[must_use]
    pub fn is_cold(&self, round: u32) -> bool {
        self.cold && self.cold_rounds.is_none_or(|rounds| round <= rounds)
    }
}

impl Default for QuestionSettings {
    fn default() -> Self {
        Self {
            states: vec![DataState::Drained],
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
        let settings = QuestionSettings::default();
        for (seconds, trials) in
            [(0.0, 20), (0.001, 20), (0.015, 20), (0.075, 4), (0.2, 3), (1.0, 3), (3600.0, 3)]
        {
            assert_eq!(settings.hot_trials_of(seconds), trials, "{seconds}");
        }
        let fixed = QuestionSettings { hot_trials: 7, most_hot_trials: 7, ..settings };
        assert_eq!((fixed.hot_trials_of(1e-6), fixed.hot_trials_of(100.0)), (7, 7));
    }
}
