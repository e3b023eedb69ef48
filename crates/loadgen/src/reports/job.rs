//! Work of the streams, as sent to a worker.

use serde::{Deserialize, Serialize};

/// JSON member that holds a [`ReportsAlone`] instead of a job of the serving workload.
pub const REPORTS: &str = "reports_alone";

/// Work of streams that ask a user's questions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportsJob {
    /// Number of streams, each with one connection; at least 1.
    pub streams: u32,
    /// Questions of a set; at least one. Each stream asks them in an order of its own.
    pub questions: Vec<ReportQuestion>,
    /// Statements for each connection before it asks, such as one that makes it refuse changes.
    pub session: Vec<String>,
    /// Seed of the streams' orders.
    pub seed: u64,
    /// Seconds of the measurement window after which it ends, although a stream has not finished a set in it.
    pub max_seconds: f64,
    /// Seconds after the end of the window for which an answer is still waited for.
    pub patience_s: f64,
}

/// A question of a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportQuestion {
    /// Name of the question.
    pub name: String,
    /// Complete statement of the system.
    pub statement: String,
}

/// Streams without clients beside them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportsAlone {
    /// Work of the streams.
    pub reports: ReportsJob,
    /// Length of the warm-up in seconds, 0 or more.
    pub ramp_s: f64,
    /// Length of the measurement window in seconds; longer if a stream has not finished a set by then.
    pub seconds: f64,
}

impl ReportsJob {
    /// Why the job cannot be run. `None` if it can.
    pub(crate) fn problem(&self) -> Option<String> {
        let is_time = |seconds: f64| seconds.is_finite() && seconds >= 0.0;
        if self.streams == 0 || self.questions.is_empty() {
            return Some("reports need a stream and a question".to_owned());
        }
        let times = [self.max_seconds, self.patience_s];
        times.into_iter().find(|seconds| !is_time(*seconds)).map(|seconds| format!("{seconds} s is no time"))
    }
}
