//! Results of a mixed job: what was sent, acknowledged, asked and answered, and when.

use std::collections::BTreeMap;

use jsonathlon_dataset::questions::Question;
use jsonathlon_mixed::SeenCount;
use jsonathlon_schema::value::Row;
use jsonathlon_worker::protocol::OpUsage;
use serde::{Deserialize, Serialize};

/// What the writers and streams of one phase did. Times are in nanoseconds since [`Self::start_ns`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MixedReport {
    /// Beginning of the phase, when the first batch is due, by the machine's monotonic clock.
    pub start_ns: u64,
    /// End of the window: from here on nothing new was begun.
    pub end_ns: u64,
    /// Why the window ended.
    pub ended_by: WindowEnd,
    /// Writers in the order of their numbers.
    pub writers: Vec<WriterLog>,
    /// Streams in the order of their numbers.
    pub streams: Vec<StreamLog>,
    /// Different answers, each with its rows in the order that its question states.
    pub answers: Vec<Vec<Row>>,
    /// CPU and memory of the processes during the phase.
    pub usage: OpUsage,
}

/// Why nothing new was begun in a phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowEnd {
    /// The time of the job was over, or all streams had asked their sets.
    #[default]
    Planned,
    /// The time was over before each stream had finished a set.
    NoWholeSet,
    /// Writers had no documents left, or had ended by an error.
    WritersEnded,
    /// Answers took more memory than a job may use.
    TooManyAnswers,
}

/// Batches of one writer, in the order in which they were sent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WriterLog {
    /// Batches that were sent, whatever became of them.
    pub batches: Vec<BatchLog>,
    /// Why the writer ended before its time. `None` if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// One batch of a writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchLog {
    /// Number of its first document within the writer's, from 0.
    pub first: u64,
    /// Number of its documents, or of those that were found to be there.
    pub count: u32,
    /// Number of documents that were sent. More than [`Self::count`] if a part of them was not found, and was sent
    /// again as another batch.
    pub sent_count: u32,
    /// Time at which it was to be sent. `None` at full speed.
    pub due_ns: Option<u64>,
    /// Time at which it was sent first.
    pub sent_ns: u64,
    /// Time of the acknowledgement. `None` if there was none.
    pub acknowledged_ns: Option<u64>,
    /// Number of times it was sent again.
    pub retries: u32,
    /// Whether its outcome was unknown, and it was found to be there.
    pub was_recovered: bool,
}

impl BatchLog {
    /// Number of the document behind its last one.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.first + u64::from(self.count)
    }

    /// Number of the document behind the last one that was sent.
    #[must_use]
    pub fn sent_end(&self) -> u64 {
        self.first + u64::from(self.sent_count)
    }
}

/// Questions of one stream, in the order in which they were asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamLog {
    /// Questions that were answered.
    pub questions: Vec<QuestionLog>,
    /// Error messages, each with its number of occurrences.
    pub errors: BTreeMap<String, u64>,
    /// Floors after the last question, by writer.
    pub floors: Vec<u64>,
    /// Why the stream ended before its time. `None` if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// One question of a stream, with its answer and what it saw of the writers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionLog {
    /// Question of the challenge.
    pub question: Question,
    /// Number of the set that it belongs to, from 0.
    pub set: u32,
    /// Time before the first byte was sent.
    pub start_ns: u64,
    /// Time at which the last row was decoded.
    pub end_ns: u64,
    /// Floors that it was asked with, by writer.
    pub floors: Vec<u64>,
    /// What it saw of each writer at or above the floor.
    pub seen: Vec<SeenCount>,
    /// Why the answer does not tell what it saw, or contradicts itself in it. Then it is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
    /// Index of its rows in [`MixedReport::answers`].
    pub answer: u32,
}
