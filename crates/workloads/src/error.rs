//! Errors that end a whole run. A failed trial does not: it is recorded, and the run continues.

use jsonathlon_dataset::DataError;
use jsonathlon_results::ResultsError;

/// Why a run could not start or could not be completed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The documents could not be read or generated.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The run folder could not be written or read.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// The machine lacks something that the run needs, e.g. disk space or memory.
    #[error("{0}")]
    Environment(String),
    /// A system's folder declares something that this workload does not support.
    #[error("{0}")]
    Catalogue(String),
    /// One of the systems cannot run the workload, or cannot hold the documents.
    #[error("{workload} cannot run: {reason}")]
    Unsupported {
        /// Name of the workload.
        workload: &'static str,
        /// Name of the system.
        system: String,
        /// Why it cannot; names the system.
        reason: String,
    },
    /// Plan, artifacts or documents of a resumed run differ from those of the original run.
    #[error("cannot resume: {0}")]
    Changed(String),
    /// The user's time budget is too short for the minimum number of rounds.
    #[error(
        "{rounds} rounds do not fit into a budget of {seconds:.0} s: they need about {needed_s:.0} s; give \
         --budget that much, choose fewer systems or a smaller --scale, or say how many --rounds there shall be"
    )]
    Budget {
        /// Time budget given by the user.
        seconds: f64,
        /// Time that the minimum number of rounds needs, extrapolated from the first round.
        needed_s: f64,
        /// Minimum number of rounds of the run.
        rounds: u32,
    },
    /// The user interrupted the run; the journal is complete up to that moment.
    #[error("interrupted")]
    Interrupted,
    /// An operating system call failed that does not belong to a single trial.
    #[error("failed to {action}: {source}")]
    Io {
        /// Action that failed, e.g. `empty /path`; completes "failed to …".
        action: String,
        /// Error reported by the operating system.
        source: std::io::Error,
    },
}

impl RunError {
    pub(crate) fn io(action: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let action = action.into();
        move |source| Self::Io { action, source }
    }
}
