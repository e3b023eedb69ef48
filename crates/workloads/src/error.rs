//! What ends a whole run. A failed trial does not: it is recorded, and the run goes on.

use jsonathlon_dataset::DataError;
use jsonathlon_results::ResultsError;

/// Why a run could not be begun, or not be finished.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The documents could not be read or made.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The run folder could not be written or read.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// The machine lacks what the run would need.
    #[error("{0}")]
    Environment(String),
    /// A system's folder says something that this workload does not know.
    #[error("{0}")]
    Catalogue(String),
    /// A resumed run that is not the run it was.
    #[error("cannot resume: {0}")]
    Changed(String),
    /// The time that the user gave does not hold the rounds that a run has at least.
    #[error(
        "{rounds} rounds do not fit into a budget of {seconds:.0} s: they need about {needed_s:.0} s; give --budget \
         that much, choose fewer systems or a smaller --scale, or say how many --rounds there shall be"
    )]
    Budget {
        /// What was given.
        seconds: f64,
        /// What is needed, judged by the first round.
        needed_s: f64,
        /// Rounds that there are at least.
        rounds: u32,
    },
    /// Interrupted by the user; the journal is whole.
    #[error("interrupted")]
    Interrupted,
    /// The operating system refused something that no single trial can be blamed for.
    #[error("failed to {action}: {source}")]
    Io {
        /// What was being done.
        action: String,
        /// The operating system's own words.
        source: std::io::Error,
    },
}

impl RunError {
    pub(crate) fn io(action: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let action = action.into();
        move |source| Self::Io { action, source }
    }
}
