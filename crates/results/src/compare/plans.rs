//! Promises about plans, in two runs.

use std::collections::BTreeSet;

use crate::entry::Entry;
use crate::run::Run;

/// How a violation begins that tells of no promise but of the plan: it goes on with the system's words, which are
/// others each time.
const UNREADABLE: &str = "the plan cannot be read";

/// The promises that the plan of one question breaks.
pub(super) struct Broken<'a> {
    a: BTreeSet<&'a str>,
    b: BTreeSet<&'a str>,
}

impl<'a> Broken<'a> {
    /// Of one cell in each run.
    pub(super) fn of(a: (&'a Run, &Entry), b: (&'a Run, &Entry)) -> Self {
        Self { a: violations(a.0, a.1), b: violations(b.0, b.1) }
    }

    /// Whether B breaks one that A keeps. Of a plan that could not be read in A nothing is known to be kept.
    pub(super) fn anew(&self) -> bool {
        !self.a.contains(UNREADABLE) && self.b.difference(&self.a).next().is_some()
    }

    /// All of them, for a reader.
    pub(super) fn note(&self) -> Option<String> {
        let parts = [
            said("B alone", self.b.difference(&self.a).copied().collect()),
            said("A alone", self.a.difference(&self.b).copied().collect()),
            said("both", self.a.intersection(&self.b).copied().collect()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

fn said(which: &str, promises: Vec<&str>) -> Option<String> {
    (!promises.is_empty()).then(|| format!("plan broken in {which}: {}", promises.join("; ")))
}

/// A plan is read once for all phases in which its question is asked.
fn violations<'a>(run: &'a Run, entry: &Entry) -> BTreeSet<&'a str> {
    run.plans()
        .filter(|plan| plan.cell.is_same_but_for_phase(&entry.cell))
        .flat_map(|plan| &plan.violations)
        .map(|text| if text.starts_with(UNREADABLE) { UNREADABLE } else { text.as_str() })
        .collect()
}
