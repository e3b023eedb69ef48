//! Events that a run reports while it is in progress.

use jsonathlon_schema::record::{PlanCheck, Rejects, RoundTripReport, Trial};

/// Kinds of work that take long enough for a progress display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// Waiting until other programs leave the processors alone.
    Waiting,
    /// Staging documents before the first trial.
    Staging,
    /// Loading documents into a system.
    Loading,
    /// One target's turn: its part of a round, or untimed work such as asking it before the first round.
    TargetTurn,
}

/// Event that an observer receives during a run: progress, a result as it is recorded, or a warning.
#[derive(Debug)]
pub enum RunEvent<'a> {
    /// A named piece of work began: staging documents, loading a system, a round.
    Began {
        /// Kind of the work that began.
        activity: Activity,
        /// Description of the work in a few words.
        description: &'a str,
    },
    /// Number of planned rounds, or why further rounds follow, as a sentence.
    Schedule(&'a str),
    /// Estimated time until the last trial, with everything between trials: loads, starts, settling,
    /// compaction, verification.
    RemainingTime {
        /// Remaining time, counted from now.
        seconds: f64,
        /// Whether the run may end earlier, because it waits for precise results.
        is_maximum: bool,
    },
    /// Progress of the current piece of work.
    Progress {
        /// Units completed so far, see `unit`.
        done: u64,
        /// Total number of units; `None` if unknown.
        total: Option<u64>,
        /// Unit of `done` and `total`, e.g. `documents`.
        unit: &'a str,
    },
    /// Number of planned trials that have a terminal record.
    Trials {
        /// Trials recorded so far.
        done: u64,
        /// Trials planned in all.
        planned: u64,
    },
    /// A trial ended, successfully or not.
    Trial(&'a Trial),
    /// A query plan was read and checked against the declared access path.
    Plan(&'a PlanCheck),
    /// A system rejected documents while loading.
    Rejects(&'a Rejects),
    /// Documents were read back and compared with the originals.
    Structure(&'a RoundTripReport),
    /// How the documents were read, as a sentence.
    Note(&'a str),
    /// A message that matters for the interpretation of the results.
    Warning(&'a str),
}

/// Receives run events in order, on the coordinator's thread; implementations must return quickly.
pub trait Observer {
    /// Called once for every event, in order; must return quickly.
    fn event(&mut self, event: &RunEvent<'_>);
}

/// Observer that ignores all events.
#[derive(Debug, Default, Clone, Copy)]
pub struct NoopObserver;

impl Observer for NoopObserver {
    fn event(&mut self, _: &RunEvent<'_>) {}
}
