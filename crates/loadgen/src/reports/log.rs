//! What streams asked and what was answered. Times are in nanoseconds since the job began.

use jsonathlon_schema::value::Row;
use serde::{Deserialize, Serialize};

/// Questions of all streams of a job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ReportsLog {
    /// Beginning of the measurement window.
    pub window_start_ns: u64,
    /// End of the window, from which on nothing was begun.
    pub window_end_ns: u64,
    /// Why the window ended.
    pub ended_by: ReportsEnd,
    /// Streams in the order of their numbers.
    pub streams: Vec<StreamLog>,
    /// Different answers, each with its rows as the system gave them.
    pub answers: Vec<Vec<Row>>,
}

/// Why nothing new was asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportsEnd {
    /// The planned time was over, and each stream had finished a set that began in the window, or had ended.
    #[default]
    Planned,
    /// The longest time was over before each stream had finished a set.
    NoWholeSet,
}

/// Questions of one stream, in the order in which they were asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamLog {
    /// Questions that were answered, or failed.
    pub asked: Vec<AskedReport>,
    /// Index and beginning of the question that was not answered in all the time that was waited for it. `None` if
    /// there is no such question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<(u32, u64)>,
    /// Why the stream ended before its time. `None` if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// One question of a stream that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedReport {
    /// Index of the question in the job.
    pub question: u32,
    /// Time before the first byte was sent.
    pub start_ns: u64,
    /// Time at which the last row was decoded, or the failure was known.
    pub end_ns: u64,
    /// What became of it.
    pub outcome: ReportOutcome,
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportOutcome {
    /// Answered; the index of its rows in [`ReportsLog::answers`].
    Answer(u32),
    /// Answered by rows that were not kept, because answers had taken too much memory.
    AnswerNotKept,
    /// Failed with this message of the system.
    Failed(String),
}
