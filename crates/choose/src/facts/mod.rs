//! What the runs of a choice found out about each system.

mod cells;
mod gather;
mod loads;
mod losses;
mod reports;
mod serving;

use std::collections::BTreeMap;

use jsonathlon_schema::durability::{CrashKind, DurabilityTier};
use jsonathlon_schema::id::ConfigurationId;
use jsonathlon_schema::metric::Unit;
use jsonathlon_schema::ranking::MemoryProfile;
use jsonathlon_schema::record::{Cell, FailureKind};

use crate::dimension::Dimension;

pub use gather::{GatherContext, LeftOut, gather};
pub use serving::ALL_OPERATIONS;

/// A run of a choice, by what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Clients without a rate, to find out which rate all systems can be offered.
    Capacity,
    /// Clients over the user's documents, without and with a rate, and reports beside them.
    Serving,
    /// The user's questions at rest.
    Questions,
    /// A load of every fourth document, for the growth of sizes.
    Quarter,
    /// A load of every second document, for the growth of sizes.
    Half,
    /// Crashes of systems under load, and what was lost in them.
    Durability,
}

impl Part {
    /// All parts, in the order in which they are run.
    pub const ALL: [Self; 6] =
        [Self::Capacity, Self::Serving, Self::Questions, Self::Quarter, Self::Half, Self::Durability];

    /// Name of the part's run folder within the folder of the choice.
    #[must_use]
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Capacity => "capacity",
            Self::Serving => "serving",
            Self::Questions => "questions",
            Self::Quarter => "quarter",
            Self::Half => "half",
            Self::Durability => "durability",
        }
    }
}

/// A figure of one cell of a run, with its interval over rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// Value in `unit`: the median of the trials, or the quantile of all rounds.
    pub value: f64,
    /// 95 % interval over rounds. `None` with fewer than two rounds, or if it says nothing.
    pub interval: Option<[f64; 2]>,
    /// Unit of value and interval; times are in seconds.
    pub unit: Unit,
    /// Values of the trials by round, by which two systems are compared in pairs.
    pub by_round: BTreeMap<u32, Vec<f64>>,
    /// Why the figure can neither meet a need nor be compared, such as `not verified`. `None` for a figure
    /// that counts.
    pub doubt: Option<String>,
    /// Whether the system rejected more documents than figures that are compared may lack, though no more than the
    /// user allows. Such a figure may meet a need, and is never compared.
    pub lacks_documents: bool,
    /// Run that has the cell.
    pub part: Part,
    /// Cell of the figure, to find it on the page of that run.
    pub cell: Cell,
}

impl Measurement {
    /// Number of rounds with a value.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.by_round.len()
    }
}

/// Result of a cell: its figure, or why there is none.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a choice has a few hundred of them, most with a figure")]
pub enum Measured {
    /// The cell has a figure, which may be doubtful.
    Value(Measurement),
    /// The system was at work and failed: wrong answer, timeout, crash or refusal, in words.
    Failed(String),
    /// The cell says nothing about the system: not planned, not applicable, or the machine failed, in words.
    Absent(String),
}

impl Measured {
    /// The figure, if there is one.
    #[must_use]
    pub fn value(&self) -> Option<&Measurement> {
        match self {
            Self::Value(measurement) => Some(measurement),
            Self::Failed(_) | Self::Absent(_) => None,
        }
    }
}

/// Everything that the runs found out about one system.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemFacts {
    /// Configuration in the run that represents the system: serving if it takes part there.
    pub id: ConfigurationId,
    /// Memory profile of this configuration. `None` for remote servers.
    pub profile: Option<MemoryProfile>,
    /// Display name of the system without version, such as `PostgreSQL`.
    pub title: String,
    /// Name that no other system of the choice has: title and version, and the variant where it is needed.
    pub name: String,
    /// Name within a sentence that has named the system already: the title, if it is unique.
    pub short_name: String,
    /// Whether the system is a server and not a library within the program that uses it.
    pub is_server: bool,
    /// Whether the vendor no longer supports the version.
    pub end_of_life: bool,
    /// Documents that were offered, loaded and rejected. `None` if nothing was loaded.
    pub documents: Option<LoadFacts>,
    /// How documents came back. `None` if nothing was compared.
    pub round_trip: Option<RoundTripFacts>,
    /// Operations per second in a closed loop. `None` if no run has one.
    pub capacity: Option<Measured>,
    /// What happened at the rate that counts. `None` if there was no open loop.
    pub at_rate: Option<RateFacts>,
    /// Further rates that were tried, in ascending order.
    pub other_rates: Vec<RateFacts>,
    /// Times of the user's questions, in the order in which they are asked.
    pub reports: Vec<ReportFacts>,
    /// Sizes by number of documents, in ascending order.
    pub sizes: Vec<SizePoint>,
    /// Durability tier, and what crashes lost.
    pub durability: DurabilityFacts,
    /// Why dimensions have no figure, in words, such as `DuckDB has no folder serving/`.
    pub untested: BTreeMap<Dimension, String>,
    /// Wrong answers and crashes, at most one entry for each part, whether a need is about them or not.
    pub faults: Vec<PartFault>,
}

impl SystemFacts {
    /// Size of all documents that the system accepted. `None` if it was not taken; a load of a part of the documents
    /// is no substitute.
    #[must_use]
    pub fn whole_size(&self) -> Option<&SizePoint> {
        self.sizes.iter().rev().find(|point| point.is_whole)
    }

    /// Why the load of all documents failed. `None` if it ended well, or if there was none.
    #[must_use]
    pub fn load_failure(&self) -> Option<&LoadFailure> {
        self.documents.as_ref()?.failure.as_ref()
    }
}

/// Wrong answers and crashes of a system in one part of a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartFault {
    /// Part that has the trials.
    pub part: Part,
    /// Kind of the first one: a wrong answer or a crash.
    pub kind: FailureKind,
    /// Number of trials with a wrong answer or a crash.
    pub trials: usize,
    /// Message of the first of these trials, in one line.
    pub error: String,
}

/// Documents of a load.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadFacts {
    /// Documents that were offered to the system.
    pub offered: u64,
    /// Documents that it holds.
    pub loaded: u64,
    /// Documents that it rejected.
    pub rejected: u64,
    /// Numbers of rejected documents by the reason that the system gave.
    pub reasons: BTreeMap<String, u64>,
    /// Why the load as a whole failed. `None` if it ended well.
    pub failure: Option<LoadFailure>,
    /// Run that has the load.
    pub part: Part,
    /// Cell of the load on the page of that run.
    pub cell: Cell,
}

/// Failure of the load of all documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadFailure {
    /// What happened, in words without a full stop.
    pub reason: String,
    /// Whether the machine or this program failed, which says nothing about the system.
    pub is_of_machine: bool,
}

/// Comparison of documents as they came back with those that were loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundTripFacts {
    /// Documents that were compared by value.
    pub compared: u64,
    /// Documents that came back as another value, or not at all.
    pub changed: u64,
    /// Numbers of documents by kind of change.
    pub changes: BTreeMap<String, u64>,
    /// Whether all documents that the system holds were compared.
    pub is_complete: bool,
    /// Documents that were compared byte by byte, and how many of them came back with other bytes. `None` if
    /// bytes were not compared.
    pub bytes: Option<ComparedBytes>,
    /// Variant in which bytes were compared, if it is another one than that of this comparison, so that they say
    /// nothing about it. `None` otherwise.
    pub bytes_of_variant: Option<String>,
    /// Run that has the comparison.
    pub part: Part,
    /// Cell of the comparison on the page of that run.
    pub cell: Cell,
}

/// Documents that were compared byte by byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparedBytes {
    /// Documents that were compared.
    pub compared: u64,
    /// Documents that came back with other bytes.
    pub different: u64,
    /// Whether all documents that the system holds were compared.
    pub is_complete: bool,
}

/// What happened when operations arrived at a rate.
#[derive(Debug, Clone, PartialEq)]
pub struct RateFacts {
    /// Rate of arrivals in operations per second, as it was asked for.
    pub offered: f64,
    /// Operations per second that ended well.
    pub achieved: Measured,
    /// Share of the arrivals that ended well within the measured time, from 0 to 1.
    pub kept_share: Measured,
    /// Response times of each kind of operation.
    pub response: Vec<OperationResponse>,
}

/// Response times of one kind of operation at a rate.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationResponse {
    /// Kind of operation, such as `read` or `update`.
    pub operation: String,
    /// Response time in seconds by quantile.
    pub quantiles: BTreeMap<crate::needs::Quantile, Measured>,
}

/// Times of one of the user's questions in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportFacts {
    /// Name of the question, which is the step of its cells.
    pub question: String,
    /// Heading of the question for readers.
    pub title: String,
    /// Median time at rest with the data in memory. `None` if it was not asked.
    pub hot: Option<Measured>,
    /// Median time at rest after a restart. `None` if it was not asked.
    pub cold: Option<Measured>,
    /// Median time while the load goes on. `None` if it was not asked.
    pub under_load: Option<Measured>,
}

/// Size of a number of documents on disk.
#[derive(Debug, Clone, PartialEq)]
pub struct SizePoint {
    /// Documents that the system held.
    pub documents: u64,
    /// Whether the system was given all documents, and not only every second or fourth one.
    pub is_whole: bool,
    /// Size in bytes, or why there is none.
    pub bytes: Measured,
}

/// What is known about losses in crashes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DurabilityFacts {
    /// Durability tier in which the system was measured. `None` if no run has chosen one.
    pub tier: Option<DurabilityTier>,
    /// Crash tests, of this choice and of earlier runs with the same settings.
    pub evidence: Vec<CrashEvidence>,
}

/// Crash tests of one kind in one durability tier.
#[derive(Debug, Clone, PartialEq)]
pub struct CrashEvidence {
    /// Durability tier in which the system was crashed.
    pub tier: DurabilityTier,
    /// Kind of crash: of the processes alone, or with the power of the disk.
    pub kind: CrashKind,
    /// Crashes that were made.
    pub crashes: u64,
    /// Crashes after which everything that the tier promises was present.
    pub as_promised: u64,
    /// Crashes after which nothing at all was lost.
    pub without_loss: u64,
    /// Writes that were acknowledged before the crashes. `None` for earlier runs, which do not say it.
    pub acknowledged: Option<u64>,
    /// Acknowledged writes and loaded documents that were lost. `None` for earlier runs.
    pub lost: Option<u64>,
    /// Why no crash could be made or judged, in words. `None` if all planned ones were.
    pub obstacle: Option<String>,
    /// Day of the earlier run, such as `2026-11-23`. `None` if the crashes were made in this choice.
    pub earlier: Option<String>,
    /// Cell on the page of the durability run. `None` for earlier runs.
    pub cell: Option<Cell>,
}
