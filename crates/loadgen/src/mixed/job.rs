//! Jobs of mixed loads, as sent to a worker: one phase of a round.

use std::path::PathBuf;

use jsonathlon_dataset::questions::Question;
use jsonathlon_driver_api::batch::BatchForm;
use jsonathlon_driver_api::seen::SeenForm;
use serde::{Deserialize, Serialize};

/// JSON member that holds a [`MixedJob`] instead of a job of the serving workload.
pub const MIXED: &str = "mixed";

/// Work of one phase: writers, streams, or both beside each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MixedJob {
    /// Work of the writers. `None` if nothing is inserted.
    pub writing: Option<WritingJob>,
    /// Work of the streams. `None` if nothing is asked.
    pub asking: Option<AskingJob>,
    /// Seconds from the beginning until nothing new is begun, unless a stream has not finished a set by then.
    pub seconds: f64,
    /// Seconds after which nothing new is begun in any case; at least `seconds`.
    pub max_seconds: f64,
    /// Seconds from the beginning from which on questions are measured: only a set that begins later is one that
    /// a stream must have finished. At most `seconds`.
    pub measured_from_s: f64,
}

/// Work of the writers of a phase, who begin with their first document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WritingJob {
    /// File of the documents, one a line, of which writers take the last ones first; see
    /// [`jsonathlon_mixed::pool_position`].
    pub pool: PathBuf,
    /// Number of documents in the file.
    pub documents: u64,
    /// Number of its last documents, which are dealt to the writers; at least 1, at most all.
    pub dealt: u64,
    /// Number of writers, each with one connection; at least 1.
    pub writers: u32,
    /// Number of documents of one batch; at least 1. The last batch of a writer may be smaller.
    pub batch: u32,
    /// Documents per second of all writers together. `None` for writers that send a batch as soon as the
    /// previous one is acknowledged.
    pub rate: Option<f64>,
    /// How a batch is inserted.
    pub form: BatchForm,
    /// Statement that returns the number of a writer's documents and the highest of their numbers, with
    /// `{{writer}}` in place of the writer's number.
    pub own_prefix: String,
    /// Whether writers insert one after the other, because the engine has room for a single writer.
    pub take_turns: bool,
    /// Seconds after which a batch that the system keeps sending back is given up.
    pub timeout_s: f64,
}

/// Work of the streams of a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskingJob {
    /// Questions of a set. Each stream asks them in an order of its own.
    pub questions: Vec<StreamQuestion>,
    /// How a question is asked together with what it sees of the writers. `None` to ask it alone.
    pub form: Option<SeenForm>,
    /// Floors at the beginning, one list per stream, with one number for each writer: all documents of the
    /// writer below it were seen before. As many streams as lists ask.
    pub floors: Vec<Vec<u64>>,
    /// Number of sets after which a stream ends. `None` if the time ends it.
    pub sets: Option<u32>,
    /// Seed of the streams' orders.
    pub seed: u64,
}

/// A question of a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamQuestion {
    /// Question, which decides how rows are sorted.
    pub question: Question,
    /// Statement of the system, complete but for what it sees of the writers.
    pub statement: String,
}

impl MixedJob {
    /// Why the job cannot be run. `None` if it can.
    pub(super) fn problem(&self) -> Option<String> {
        let is_time = |seconds: f64| seconds.is_finite() && seconds >= 0.0;
        if !is_time(self.seconds) || !is_time(self.max_seconds) || self.max_seconds < self.seconds {
            return Some(format!("{} to {} s is no time", self.seconds, self.max_seconds));
        }
        if !is_time(self.measured_from_s) || self.measured_from_s > self.seconds {
            let (from, seconds) = (self.measured_from_s, self.seconds);
            return Some(format!("nothing is measured from {from} s on within {seconds} s"));
        }
        if self.writing.is_none() && self.asking.is_none() {
            return Some("the job neither inserts nor asks".to_owned());
        }
        if let Some(writing) = &self.writing {
            if writing.writers == 0 || writing.batch == 0 || writing.dealt == 0 {
                return Some("a writer needs documents and batches of at least one".to_owned());
            }
            if writing.dealt > writing.documents {
                return Some(format!("{} of {} documents cannot be dealt", writing.dealt, writing.documents));
            }
            if !(writing.timeout_s.is_finite() && writing.timeout_s > 0.0) {
                return Some(format!("{} s is no timeout of a batch", writing.timeout_s));
            }
        }
        match &self.asking {
            Some(asking) if asking.questions.is_empty() || asking.floors.is_empty() => {
                Some("a stream needs a question, and floors".to_owned())
            }
            _ => None,
        }
    }
}
