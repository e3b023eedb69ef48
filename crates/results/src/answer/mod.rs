//! Answers of a run: who leads in what, by how much, and how certain that is, each with one sentence.
//!
//! Terminal, page, JSON and exports show these answers, so that all of them name the same leader. Only
//! configurations of one ranking are compared. A configuration leads only if its ratio to every other one has
//! an interval that excludes 1; see [`crate::leader`].

mod caveats;
mod contest;
mod context;
mod correctness;
mod documents;
mod draft;
mod durability;
mod fidelity;
mod mixed;
mod questions;
mod sentence;
mod serving;
mod step_names;

use jsonathlon_schema::severity::Severity;
use jsonathlon_schema::workload::{WorkloadKind, WorkloadName};
use serde::{Deserialize, Serialize};

use crate::run::Run;
use context::Context;

pub(crate) use context::SummaryParts;

/// One comparison of a run and its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Answer {
    /// Workload in which the comparison was measured.
    pub workload: WorkloadName,
    /// Ranking whose members are compared, as `Configuration::ranking` names it.
    pub ranking: String,
    /// Subject of the comparison: what is fastest, smallest or safest.
    pub subject: AnswerSubject,
    /// Conditions that separate comparisons of one subject: `mix a, 8 clients`, `1 MiB`. Empty if
    /// there is one comparison only.
    pub conditions: String,
    /// Who leads, or why nobody does.
    pub outcome: AnswerOutcome,
    /// Reasons to be careful with this outcome, those that touch the leader or the runner-up.
    pub caveats: Vec<AnswerCaveat>,
    /// Words of these caveats in their order, without a full stop. They name the systems: `MongoDB 6.0.5 is no
    /// longer supported by its vendor`.
    pub caveat_texts: Vec<String>,
    /// The same caveats in as few words as a terminal has room for: `MongoDB 6.0.5: end of life`.
    pub caveat_labels: Vec<String>,
    /// The outcome in one sentence for readers, the same in terminal, page, JSON and exports.
    pub sentence: String,
    /// Severity of the outcome: failed if data were lost or answers wrong.
    pub severity: Severity,
}

/// Subject of a comparison, in the order in which answers are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AnswerSubject {
    /// Time of questions with the data in memory.
    Hot,
    /// Time of questions after a restart without cached files.
    Cold,
    /// Time of loading all documents.
    Load,
    /// Size of the loaded data on disk.
    Size,
    /// Operations per second in closed loops, or the highest rate that meets an objective.
    Throughput,
    /// Response time of operations that arrive by a schedule: p99 of operations, p95 of inserted batches.
    ResponseTime,
    /// Age of the oldest acknowledged documents that questions beside writers do not see.
    Freshness,
    /// Configurations whose writers did not insert as many documents per second as they should have.
    KeptRate,
    /// Operations on large documents in which each system is the fastest.
    Operations,
    /// Size of large documents on disk.
    StoredSize,
    /// Time to import large documents.
    Import,
    /// Time to export large documents as text.
    Export,
    /// Time to copy large documents with a small change.
    Copy,
    /// Time to read a number of each large document without an index.
    Extract,
    /// Time to find large documents by a number without an index.
    Filter,
    /// Time to order large documents by a number without an index.
    Order,
    /// Time to build an index on large documents.
    IndexBuild,
    /// Time to change numbers inside a large document, near its top and deep inside.
    Update,
    /// Time to write one of many successive versions of a large document.
    Version,
    /// Documents that come back with the same value.
    RoundTrip,
    /// Crashes after which everything that the durability tier promises was present.
    Durability,
    /// Answers that were verified, wrong or missing.
    Correctness,
}

impl AnswerSubject {
    /// Title of the subject in tables and headings.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Hot => "Fastest hot",
            Self::Cold => "Fastest cold",
            Self::Load => "Fastest to load",
            Self::Size => "Smallest",
            Self::Throughput => "Throughput",
            Self::ResponseTime => "Response time",
            Self::Freshness => "Freshness",
            Self::KeptRate => "Rate kept",
            Self::Operations => "Fastest by operation",
            Self::Import => "Import",
            Self::Export => "Export",
            Self::Copy => "Copy",
            Self::Extract => "Extract",
            Self::Filter => "Filter",
            Self::Order => "Order",
            Self::IndexBuild => "Index build",
            Self::Update => "Update",
            Self::Version => "Version",
            Self::StoredSize => "Stored size",
            Self::RoundTrip => "Round trip",
            Self::Durability => "Durability",
            Self::Correctness => "Correctness",
        }
    }
}

/// Outcome of a comparison. Configurations are indexes into those of the manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AnswerOutcome {
    /// The first one is shown to be better than all others.
    Leader {
        /// Configuration that leads its ranking.
        first: usize,
        /// Configuration that comes closest to the first one.
        runner_up: usize,
        /// How many times better the first one is than the runner-up; at least 1.
        ratio: f64,
        /// Lower limit of the ratio's interval.
        low: f64,
        /// Upper limit of the ratio's interval.
        high: f64,
    },
    /// No leader: intervals contain 1, or a busy machine made them too wide.
    NoDifferenceShown {
        /// Configurations that may be equally good, the best median first.
        tied: Vec<usize>,
        /// Limits of how many times better the first of them is than the others; of several others and of several
        /// comparisons the lowest and the highest one. `None` if the busy machine made intervals too wide, or if the
        /// median contradicts them.
        interval: Option<[f64; 2]>,
    },
    /// No leader: too few rounds for intervals.
    TooFewRounds {
        /// Configurations that may be the best one, the best median first.
        candidates: Vec<usize>,
    },
    /// Counted, not timed: sizes, cases preserved, crashes survived.
    Counted {
        /// Configurations with the best count. Empty if none is good.
        first: Vec<usize>,
        /// Count of these configurations in words.
        value: String,
    },
    /// Only one configuration can be compared.
    OnlyOne {
        /// Configuration that has nothing to be compared with.
        only: usize,
    },
    /// No configuration can be compared.
    Nobody {
        /// Reason in words, without a full stop.
        reason: String,
    },
}

impl AnswerOutcome {
    /// Configurations that the outcome names, the first one first.
    #[must_use]
    pub fn configurations(&self) -> Vec<usize> {
        match self {
            Self::Leader { first, runner_up, .. } => vec![*first, *runner_up],
            Self::NoDifferenceShown { tied: several, .. }
            | Self::TooFewRounds { candidates: several }
            | Self::Counted { first: several, .. } => several.clone(),
            Self::OnlyOne { only } => vec![*only],
            Self::Nobody { .. } => Vec::new(),
        }
    }
}

/// Reason to be careful with an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AnswerCaveat {
    /// The vendor no longer supports a version that the outcome names.
    EndOfLife,
    /// The first one runs in the client's process, the second one is a server.
    Embedded,
    /// There was one round only, which shows no difference.
    OneRound,
    /// No difference is shown, and there were so few rounds that more of them may show one.
    FewRounds,
    /// Other processes or virtual machines were running; see [`crate::busy_machine`].
    BusyMachine,
    /// A configuration that the outcome names answers approximately.
    Approximate,
    /// The run is not complete, or not all questions could be compared.
    Partial,
}

impl AnswerCaveat {
    /// Text of the caveat for readers, without names of systems and without a full stop. Those with names are
    /// [`Answer::caveat_texts`].
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::EndOfLife => "a version is no longer supported by its vendor",
            Self::Embedded => "an engine inside its client is compared with a server",
            Self::OneRound => "one round only: repeat with more",
            Self::FewRounds => "few rounds, whose intervals include 1: more rounds may show a difference",
            Self::BusyMachine => "other programs or virtual machines were running: repeat on a quiet machine",
            Self::Approximate => "answers are approximate",
            Self::Partial => "only a part of the results could be compared",
        }
    }

    /// The caveat in as few words as a parenthesis has room for, without names of systems. Those with names are
    /// [`Answer::caveat_labels`].
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::EndOfLife => "a version: end of life",
            Self::Embedded => "an engine in-process",
            Self::OneRound => "one round",
            Self::FewRounds => "few rounds",
            Self::BusyMachine => "busy machine",
            Self::Approximate => "approximate answers",
            Self::Partial => "a part of the results",
        }
    }
}

/// Computes all answers of a run, the most important ones first: what went wrong, then the first ranking with
/// more than one member, then the others.
pub(crate) fn answers(run: &Run, parts: &SummaryParts<'_>) -> Vec<Answer> {
    let context = Context::new(run, parts);
    let mut answers = Vec::new();
    for workload in &run.manifest.workloads {
        let WorkloadName::Known(workload) = workload else { continue };
        answers.extend(match workload {
            WorkloadKind::Analytics | WorkloadKind::Questions => questions::answers(&context, *workload),
            WorkloadKind::Serving => serving::answers(&context),
            WorkloadKind::Mixed => mixed::answers(&context),
            WorkloadKind::Documents => documents::answers(&context),
            WorkloadKind::Fidelity => fidelity::answers(&context),
            WorkloadKind::Durability => durability::answers(&context),
        });
        answers.extend(durability::earlier_answers(&context, *workload));
    }
    sort(&context, &mut answers);
    answers
}

fn sort(context: &Context<'_>, answers: &mut [Answer]) {
    let rankings = &context.rankings;
    let headline = rankings.iter().find(|ranking| ranking.members.len() > 1);
    answers.sort_by_key(|answer| {
        let place = rankings.iter().position(|ranking| ranking.name == answer.ranking);
        let is_headline = headline.is_some_and(|ranking| ranking.name == answer.ranking);
        let is_failed = answer.severity == Severity::Failed;
        (!is_failed, !is_headline, place.unwrap_or(rankings.len()), answer.subject)
    });
}
