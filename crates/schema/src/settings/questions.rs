//! Settings of workloads that ask questions, and the user's own questions.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::id::DataState;

/// How often, and in which data states and phases, questions are asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuestionSettings {
    /// Data states in which questions are asked, drained by default. Sizes are measured in both states in any
    /// case.
    pub states: Vec<DataState>,
    /// Minimum number of hot trials per round; 3 by default.
    pub hot_trials: u32,
    /// Maximum number of hot trials per round; 20 by default.
    pub max_hot_trials: u32,
    /// Seconds that hot trials of one question should take per round, within both limits; 0.3 by default.
    /// Fast questions get more trials, because their single times vary more.
    pub hot_duration_s: f64,
    /// Whether questions are asked cold, with an engine restart before each. On by default.
    pub cold: bool,
    /// Number of rounds with cold trials, from the first; `None` for all rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold_rounds: Option<u32>,
    /// Whether to also measure the published definition of cold: page cache dropped, engine still running.
    pub cold_os: bool,
}

impl QuestionSettings {
    /// Number of hot trials for a question that takes `seconds`.
    #[must_use]
    pub fn hot_trials_for(&self, seconds: f64) -> u32 {
        let fitting = (self.hot_duration_s / seconds.max(1e-9)).ceil();
        // A float beyond `u32` is converted to the largest `u32`, which the maximum then limits.
        (fitting as u32).min(self.max_hot_trials).max(self.hot_trials)
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
            max_hot_trials: 20,
            hot_duration_s: 0.3,
            cold: true,
            cold_rounds: None,
            cold_os: false,
        }
    }
}

/// Settings of the questions workload and its questions, complete for a report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct QuestionsSettings {
    /// How often, and in which data states and phases, questions are asked.
    #[serde(flatten)]
    pub asking: QuestionSettings,
    /// Absolute path of the folder of questions.
    pub folder: PathBuf,
    /// Title of the set of questions.
    pub title: String,
    /// System and variant whose answers are the expected ones; `None` if the majority decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<(String, Option<String>)>,
    /// Questions in the order in which they are asked.
    pub questions: Vec<UserQuestion>,
    /// Expected answers given by the user, by question.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub expected: BTreeMap<String, ExpectedRows>,
}

/// Rows of an expected answer, as in `expected.json`.
pub type ExpectedRows = Vec<Vec<serde_json::Value>>;

/// A question, independent of the systems that are asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserQuestion {
    /// Name of the question, and of its statement files.
    pub name: String,
    /// Heading of the question in reports.
    pub title: String,
    /// Description of what is asked; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub asks: String,
    /// Columns of the answer, in order.
    pub columns: Vec<AnswerColumn>,
    /// Columns by which rows are ordered: index, and whether the order descends. Empty if rows have no order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<(usize, bool)>,
    /// Maximum number of rows. `None` if the answer has no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// A column of a question's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerColumn {
    /// Column name, unique within the question; `order`, `approximate` and `scale` refer to it.
    pub name: String,
    /// Declared type of the cells.
    #[serde(rename = "type")]
    pub column_type: ColumnType,
    /// Whether numbers of this column may deviate from the expected ones. Only columns of numbers may be
    /// approximate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub approximate: bool,
    /// Columns with the magnitude of the numbers that were added up in this column. `None` if not stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<ScaleColumns>,
}

/// Declared type of a column; decides how its cells are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnType {
    /// A truth value: `true` or `false`.
    Boolean,
    /// A number, whole or not.
    Number,
    /// A string of characters.
    String,
    /// Any JSON value, objects and arrays included.
    Json,
    /// A point in time.
    Time,
}

/// Magnitude of the addends of a column: another column, or the quotient of two, by their indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScaleColumns {
    /// Index of the column with the sum of the absolute values of all addends.
    pub magnitude: usize,
    /// Index of the column by which that sum is divided. `None`: it is not divided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divisor: Option<usize>,
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
            assert_eq!(settings.hot_trials_for(seconds), trials, "{seconds}");
        }
        let fixed = QuestionSettings { hot_trials: 7, max_hot_trials: 7, ..settings };
        assert_eq!((fixed.hot_trials_for(1e-6), fixed.hot_trials_for(100.0)), (7, 7));
    }
}
