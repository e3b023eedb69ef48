//! Whether a run may pass: for whoever compares where nobody is looking.

use serde::Serialize;

use super::{CellComparison, Outcome, RunComparison};
use crate::comparison::Difference;

/// What was asked of the run, and whether it kept it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gate {
    /// A slow-down beyond this share is a regression, where it is shown at all.
    pub allowed_share: f64,
    /// Whether there is none, and nothing that was right fails.
    pub passed: bool,
    /// Why not, one reason a line.
    pub reasons: Vec<String>,
}

impl RunComparison {
    /// The same, held against `allowed_share`: a cell is a regression when it is called slower and its ratio is
    /// above 1 + `allowed_share`, or when it now fails. A run that is not complete does not pass: what is
    /// missing might be what is slower.
    #[must_use]
    pub fn gated(mut self, allowed_share: f64) -> Self {
        let slower = |cell: &&CellComparison| {
            cell.outcome == Outcome::Timed(Difference::Slower)
                && !cell.reference
                && cell.ratio.is_some_and(|ratio| ratio > 1.0 + allowed_share)
        };
        let mut reasons = Vec::new();
        for cell in self.cells.iter().filter(slower) {
            let ratio = cell.ratio.unwrap_or(f64::NAN);
            reasons.push(format!("{} takes {ratio:.2} times as long", place(cell)));
        }
        for cell in self.cells.iter().filter(|cell| cell.outcome == Outcome::NowFails) {
            let why = cell
                .note
                .clone()
                .unwrap_or_else(|| format!("{} in A, {} in B", cell.a.verdict.word(), cell.b.verdict.word()));
            reasons.push(format!("{} now fails ({why})", place(cell)));
        }
        if self.b.open_trials > 0 {
            reasons.push(format!(
                "B is not complete: {} planned trials have no record, and what is missing does not pass",
                self.b.open_trials
            ));
        }
        self.gate = Some(Gate { allowed_share, passed: reasons.is_empty(), reasons });
        self
    }
}

fn place(cell: &CellComparison) -> String {
    let CellComparison { system, variant, storage, .. } = cell;
    format!("{system} {} {variant} {storage}: {}", cell.b.version, cell.name())
}
