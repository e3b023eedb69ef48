//! What a run tells while it goes on.

use jsonathlon_results::record::{PlanCheck, Rejects, Structure, Trial};

/// Kinds of work that take a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Making documents ready.
    Staging,
    /// Loading a system.
    Loading,
    /// One of many turns in a round.
    Turn,
}

/// One thing that happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// A stretch of work with a name began: staging documents, loading a system, a round.
    Began {
        /// What kind of work.
        work: Work,
        /// What, in a few words.
        what: &'a str,
    },
    /// How many rounds there will be, or why there are more.
    Pace(&'a str),
    /// How long the rest of the rounds takes, judged by what they have taken so far.
    Left {
        /// Seconds from now.
        seconds: f64,
    },
    /// How far the current stretch is.
    Progress {
        /// Done so far.
        done: u64,
        /// Of how many, where that is known.
        total: Option<u64>,
        /// Of what.
        unit: &'a str,
    },
    /// So many planned trials have a terminal record.
    Trials {
        /// Recorded.
        done: u64,
        /// Planned.
        planned: u64,
    },
    /// A trial ended.
    Trial(&'a Trial),
    /// A plan was read and checked.
    Plan(&'a PlanCheck),
    /// Documents were not taken.
    Rejects(&'a Rejects),
    /// Documents were read back and compared.
    Structure(&'a Structure),
    /// Something that a reader of the figures should know.
    Warning(&'a str),
}

/// Whoever wants to know.
pub trait Observer {
    /// Called for everything that happens, in order; it must not take long.
    fn event(&mut self, event: &Event<'_>);
}

/// Does not want to know.
#[derive(Debug, Default, Clone, Copy)]
pub struct Silent;

impl Observer for Silent {
    fn event(&mut self, _: &Event<'_>) {}
}
