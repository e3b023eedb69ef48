//! How prominently a result, row or sentence is shown: colours and icons follow this value, never words,
//! because names of folders, variants and documents are words too.

use serde::{Deserialize, Serialize};

use crate::entry::Entry;
use crate::manifest::Tested;
use crate::promise::BrokenPromise;
use crate::record::{Phase, Verdict};

/// Severity of a result, from normal to failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The result is as expected and needs no attention.
    #[default]
    Good,
    /// The result means less than it appears to.
    Warning,
    /// The result is wrong, missing or breaks a promise.
    Failed,
}

impl Severity {
    /// Returns `true` for [`Severity::Good`], which needs no attention.
    #[must_use]
    pub fn is_good(&self) -> bool {
        *self == Self::Good
    }
}

impl Verdict {
    /// Severity of the verdict. A missing feature, or a missing expected answer, is not an error.
    #[must_use]
    pub fn severity(self) -> Severity {
        match self {
            Self::Exact | Self::Approximate | Self::Unverified | Self::NotApplicable => Severity::Good,
            Self::Disputed | Self::Partial => Severity::Warning,
            Self::Wrong | Self::Timeout | Self::Failed => Severity::Failed,
        }
    }
}

impl Tested {
    /// Severity by whether the tier's promise was kept.
    #[must_use]
    pub fn severity(&self) -> Severity {
        if self.as_promised < self.stops { Severity::Failed } else { Severity::Good }
    }
}

impl Entry {
    /// Severity by the verdict, by whether a cold trial was verified, and by broken durability promises.
    #[must_use]
    pub fn severity(&self) -> Severity {
        let phase = match self.cell.phase {
            Phase::ColdUnverified => Severity::Warning,
            _ => Severity::Good,
        };
        let promise = match BrokenPromise::of(self) {
            Some(_) => Severity::Failed,
            None => Severity::Good,
        };
        self.verdict.severity().max(phase).max(promise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{STOPS, STOPS_AS_PROMISED};
    use crate::id::{Id, Step};
    use crate::record::{Cell, DURABILITY};

    fn entry(phase: Phase, verdict: Verdict) -> Entry {
        let mut entry = Entry::blank(Cell {
            workload: "durability".into(),
            id: Id::new("failed-logins", "1", "json-key-partial", "wrong"),
            profile: None,
            step: Step::from("timeout"),
            phase,
            state: None,
            parameters: [(DURABILITY.to_owned(), "window".into())].into(),
        });
        entry.verdict = verdict;
        entry
    }

    #[test]
    fn names_decide_nothing() {
        assert_eq!(entry(Phase::Hot, Verdict::Exact).severity(), Severity::Good);
        assert_eq!(entry(Phase::ColdUnverified, Verdict::Exact).severity(), Severity::Warning);
        assert_eq!(entry(Phase::Hot, Verdict::Disputed).severity(), Severity::Warning);
        assert_eq!(entry(Phase::ColdUnverified, Verdict::Timeout).severity(), Severity::Failed);
    }

    #[test]
    fn a_broken_promise_is_a_failure_though_every_stop_was_made() {
        let mut stopped = entry(Phase::Steady, Verdict::Exact);
        stopped.metrics = [STOPS, STOPS_AS_PROMISED].map(|figure| (figure.name.to_owned(), 3.0)).into();
        assert_eq!(stopped.severity(), Severity::Good);
        stopped.metrics.insert(STOPS_AS_PROMISED.name.to_owned(), 1.0);
        assert_eq!(stopped.severity(), Severity::Failed);
    }
}
