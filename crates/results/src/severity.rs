//! Severity of the entries of a summary.

use jsonathlon_schema::record::Phase;
use jsonathlon_schema::severity::Severity;

use crate::cell_summary::CellSummary;
use crate::promise::BrokenPromise;

impl CellSummary {
    /// Severity by the verdict, by whether a cold trial was verified, and by broken durability promises.
    #[must_use]
    pub fn severity(&self) -> Severity {
        let phase = match self.cell.phase {
            Phase::ColdUnverified => Severity::Warning,
            _ => Severity::Good,
        };
        let promise = match BrokenPromise::from_entry(self) {
            Some(_) => Severity::Failed,
            None => Severity::Good,
        };
        self.verdict.severity().max(phase).max(promise)
    }
}

#[cfg(test)]
mod tests {
    use jsonathlon_schema::durability::CrashKind;
    use jsonathlon_schema::id::{ConfigurationId, Step};
    use jsonathlon_schema::metric::{CRASHES, CRASHES_AS_PROMISED};
    use jsonathlon_schema::record::{Cell, DURABILITY, Verdict};

    use super::*;

    fn entry(phase: Phase, verdict: Verdict) -> CellSummary {
        let mut entry = CellSummary::blank(Cell {
            workload: "durability".into(),
            id: ConfigurationId::new("failed-logins", "1", "json-key-partial", "wrong"),
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
    fn a_broken_promise_is_a_failure_though_every_crash_was_made() {
        let mut crashed = entry(Phase::Steady, Verdict::Exact);
        crashed.cell.step = Step::from(CrashKind::Power.word());
        crashed.metrics = [CRASHES, CRASHES_AS_PROMISED].map(|metric| (metric.name.to_owned(), 3.0)).into();
        assert_eq!(crashed.severity(), Severity::Good);
        crashed.metrics.insert(CRASHES_AS_PROMISED.name.to_owned(), 1.0);
        assert_eq!(crashed.severity(), Severity::Failed);
    }
}
