//! A run with its summary, and the figures of its cells.

use std::collections::BTreeMap;

use jsonathlon_results::cell_summary::CellSummary;
use jsonathlon_results::ratio_to_best::TrialsByRound;
use jsonathlon_results::run::Run;
use jsonathlon_results::summary::Summary;
use jsonathlon_schema::id::Step;
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric::{DOCUMENTS_OFFERED, DOCUMENTS_REJECTED, KEPT_SHARE, MetricDef, Unit};
use jsonathlon_schema::record::{Cell, FAULTY_LOAD, FailureKind, TOO_SHORT, Verdict};
use jsonathlon_stats::batch_schedule::KEPT_LIMIT;

use super::{Measured, Measurement, Part};
use crate::figures::shortened;

/// A run in which a system takes part, with the configuration that stands for the system there.
pub(super) type Participation<'s> = (&'s SummarisedRun<'s>, &'s Configuration);

/// One run of a choice, summarised once.
pub(super) struct SummarisedRun<'a> {
    pub(super) part: Part,
    pub(super) run: &'a Run,
    pub(super) summary: Summary,
    trials: TrialsByRound<'a>,
    /// Share of the documents that the user allows systems to reject.
    rejectable: f64,
}

/// Whether a failure says nothing about the system.
pub(super) fn is_of_machine(kind: FailureKind) -> bool {
    matches!(kind, FailureKind::Environment | FailureKind::Protocol)
}

impl<'a> SummarisedRun<'a> {
    /// Summarises a run. Systems may reject the share `rejectable` of the documents.
    pub(super) fn new(part: Part, run: &'a Run, rejectable: f64) -> Self {
        Self { part, run, summary: run.summary(), trials: TrialsByRound::new(run), rejectable }
    }

    /// Cells of a configuration, in the order of the journal.
    pub(super) fn cells<'s>(
        &'s self,
        configuration: &'s Configuration,
    ) -> impl Iterator<Item = &'s CellSummary> {
        self.summary.results.iter().filter(|entry| configuration.contains_cell(&entry.cell))
    }

    /// Figure of a cell by a metric. Times are converted to seconds.
    pub(super) fn measure(&self, entry: &CellSummary, metric: &MetricDef) -> Measured {
        if let Some(nothing) = self.nothing(entry) {
            return nothing;
        }
        let Some(value) = entry.value(metric) else {
            return Measured::Absent(format!("{} has no {}", entry.cell.name(), metric.title));
        };
        let (factor, unit) = match metric.unit {
            Unit::Microseconds => (1e-6, Unit::Seconds),
            Unit::Milliseconds => (1e-3, Unit::Seconds),
            unit => (1.0, unit),
        };
        let mut by_round = self.trials.values(entry, metric);
        by_round.values_mut().flatten().for_each(|value| *value *= factor);
        Measured::Value(Measurement {
            value: value * factor,
            interval: entry.limits(metric).map(|limits| limits.map(|limit| limit * factor)),
            unit,
            by_round,
            doubt: self.doubt(entry),
            lacks_documents: self.lacks_documents(entry),
            part: self.part,
            cell: entry.cell.clone(),
        })
    }

    /// Makes a figure of values that are computed from several metrics of each trial.
    pub(super) fn computed(
        &self,
        entry: &CellSummary,
        unit: Unit,
        by_round: BTreeMap<u32, Vec<f64>>,
    ) -> Measured {
        if let Some(nothing) = self.nothing(entry) {
            return nothing;
        }
        let rounds: Vec<Vec<f64>> = by_round.values().cloned().collect();
        let Some(estimate) = jsonathlon_stats::statistics::estimate(&rounds) else {
            return Measured::Absent(format!("{} has no values", entry.cell.name()));
        };
        let estimate = estimate.if_meaningful();
        Measured::Value(Measurement {
            value: estimate.median,
            interval: estimate.low.zip(estimate.high).map(|(low, high)| [low, high]),
            unit,
            by_round,
            doubt: self.doubt(entry),
            lacks_documents: self.lacks_documents(entry),
            part: self.part,
            cell: entry.cell.clone(),
        })
    }

    /// Why a cell has no figure at all; `None` if it may have one.
    fn nothing(&self, entry: &CellSummary) -> Option<Measured> {
        let failure = || self.failure(&entry.cell);
        match entry.verdict {
            Verdict::Wrong | Verdict::Timeout | Verdict::Failed => Some(match failure() {
                Some((kind, error)) if is_of_machine(kind) => Measured::Absent(error),
                Some((_, error)) => Measured::Failed(error),
                None => Measured::Failed(entry.verdict.word().to_owned()),
            }),
            Verdict::NotApplicable => {
                let reason = self.trial_failure(&entry.cell).map(|(_, error)| error);
                Some(Measured::Absent(reason.unwrap_or_else(|| "not applicable".to_owned())))
            }
            // What a system did before it died or after it came back is no figure of it.
            Verdict::Partial => match failure() {
                Some((FailureKind::Crash, error)) => Some(Measured::Failed(error)),
                _ => None,
            },
            Verdict::Exact | Verdict::Approximate | Verdict::Unverified | Verdict::Disputed => None,
        }
    }

    /// Kind and first line of a cell's gravest failure, with the message of its cause: a crash comes before other
    /// failures of the system, and these before failures of the machine.
    pub(super) fn failure(&self, cell: &Cell) -> Option<(FailureKind, String)> {
        let failures = self.summary.failures.iter();
        let of_cell = failures.filter(|failure| failure.kind != FailureKind::Plan && failure.cell == *cell);
        let failure = of_cell.min_by_key(|failure| match failure.kind {
            FailureKind::Crash => 0,
            kind if is_of_machine(kind) => 2,
            _ => 1,
        })?;
        Some((failure.kind, shortened(&failure.error)))
    }

    /// Like [`Self::failure`], from the trials themselves: not applicable ones are no failures of a run.
    fn trial_failure(&self, cell: &Cell) -> Option<(FailureKind, String)> {
        let mut failures =
            self.run.trials().filter(|trial| trial.cell == *cell).filter_map(|trial| trial.failure.as_ref());
        failures.next().map(|failure| (failure.kind, shortened(&failure.error)))
    }

    /// Why crash tests could not be made, from the trials that say so.
    pub(super) fn obstacle(&self, cell: &Cell) -> Option<String> {
        self.trial_failure(cell).map(|(_, error)| error)
    }

    /// Worst verdict of a cell's own trials, whatever the load before them was.
    fn own_verdict(&self, entry: &CellSummary) -> Verdict {
        let trials = self.run.trials().filter(|trial| trial.cell == entry.cell);
        trials.map(|trial| trial.verdict).max().unwrap_or(entry.verdict)
    }

    /// Why the figure of a cell does not count, although there is one.
    fn doubt(&self, entry: &CellSummary) -> Option<String> {
        let own = self.own_verdict(entry);
        let words = match own {
            Verdict::Unverified => "answers were not verified",
            Verdict::Disputed => "systems disagree about the answer",
            Verdict::Partial => {
                let failure = self.failure(&entry.cell).map(|(_, error)| error);
                return Some(
                    failure.unwrap_or_else(|| "more than 0.1 % of the operations failed".to_owned()),
                );
            }
            _ if entry.verdict == Verdict::Partial && self.rejected_share(entry) > self.rejectable => {
                "measured on a part of the documents"
            }
            _ if entry.finding(TOO_SHORT).is_some() => "too short to be compared",
            _ if entry.finding(FAULTY_LOAD).is_some() => "operations of the load beside it failed",
            _ if entry.metric(&KEPT_SHARE).is_some_and(|share| share < KEPT_LIMIT) => {
                "the rate was not held meanwhile"
            }
            _ => return None,
        };
        Some(words.to_owned())
    }

    /// Whether a cell was measured over fewer documents than others, because the system rejected some.
    fn lacks_documents(&self, entry: &CellSummary) -> bool {
        entry.verdict == Verdict::Partial && self.own_verdict(entry) != Verdict::Partial
    }

    /// Share of the documents that were rejected before a cell was measured. 1 if it is not known.
    fn rejected_share(&self, entry: &CellSummary) -> f64 {
        let is_load =
            |load: &&CellSummary| load.cell.step == Step::Load && entry.cell.belongs_to_load(&load.cell);
        let share = self.summary.results.iter().find(is_load).and_then(|load| {
            Some(
                load.metric(&DOCUMENTS_REJECTED)?
                    / load.metric(&DOCUMENTS_OFFERED).filter(|all| *all > 0.0)?,
            )
        });
        share.unwrap_or(1.0)
    }
}
