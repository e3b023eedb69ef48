//! Compares broken promises about query plans between two runs.

use std::collections::BTreeSet;

use crate::cell_summary::CellSummary;
use crate::run::Run;

/// Prefix of a violation that is not about a promise: the plan could not be read. The system's message
/// follows, which is different each time.
const UNREADABLE: &str = "the plan cannot be read";

/// Promises that the plan of one question breaks in each run.
pub(super) struct PlanViolations<'a> {
    a: BTreeSet<&'a str>,
    b: BTreeSet<&'a str>,
}

impl<'a> PlanViolations<'a> {
    /// Collects the violations of one cell in both runs.
    pub(super) fn new(a: (&'a Run, &CellSummary), b: (&'a Run, &CellSummary)) -> Self {
        Self { a: violations(a.0, a.1), b: violations(b.0, b.1) }
    }

    /// Returns `true` if B breaks a promise that A keeps. If the plan in A could not be read, no promise is
    /// known to be kept.
    pub(super) fn is_new_violation(&self) -> bool {
        !self.a.contains(UNREADABLE) && self.b.difference(&self.a).next().is_some()
    }

    /// Describes all violations for readers. `None` if there are none.
    pub(super) fn note(&self) -> Option<String> {
        let parts = [
            describe("B alone", self.b.difference(&self.a).copied().collect()),
            describe("A alone", self.a.difference(&self.b).copied().collect()),
            describe("both", self.a.intersection(&self.b).copied().collect()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

fn describe(sides: &str, promises: Vec<&str>) -> Option<String> {
    (!promises.is_empty()).then(|| format!("plan broken in {sides}: {}", promises.join("; ")))
}

/// Violations of the cell's plan. A plan is read once for all phases of its question.
fn violations<'a>(run: &'a Run, entry: &CellSummary) -> BTreeSet<&'a str> {
    run.plans()
        .filter(|plan| plan.cell.equals_except_phase(&entry.cell))
        .flat_map(|plan| &plan.violations)
        .map(|text| if text.starts_with(UNREADABLE) { UNREADABLE } else { text.as_str() })
        .collect()
}
