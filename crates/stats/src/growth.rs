//! Figures of questions on a table that grows while they are asked.

/// Takes growth out of latencies and rates. It is known for each question how many documents it has seen, and
/// all of the workload's questions read a fixed share of them, so that their cost grows in proportion.
///
/// A table that takes documents in has no steady state. Without this, a system that takes in more would look
/// slower at questions (Funke et al., "Metrics for Measuring the Performance of the Mixed Workload
/// CH-benCHmark", TPCTC 2011).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    base: f64,
}

impl Growth {
    /// Growth over `base`, the number of documents before the writers began. At least one is assumed.
    #[must_use]
    pub fn new(base: u64) -> Self {
        Self { base: base.max(1) as f64 }
    }

    /// (base + seen) ÷ base, where `seen` is the number of documents of the writers that a question has seen.
    #[must_use]
    pub fn factor(self, seen: u64) -> f64 {
        1.0 + seen as f64 / self.base
    }

    /// Latency as if the table had not grown, in the unit of `measured`: measured ÷ factor.
    #[must_use]
    pub fn latency(self, measured: f64, seen: u64) -> f64 {
        measured / self.factor(seen)
    }

    /// Throughput as if the table had not grown, in the unit of `measured`: measured × factor.
    #[must_use]
    pub fn throughput(self, measured: f64, seen: u64) -> f64 {
        measured * self.factor(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_taken_out_of_both_figures() {
        let growth = Growth::new(100_000);
        assert_eq!((growth.factor(0), growth.factor(20_000)), (1.0, 1.2));
        assert_eq!((growth.latency(120.0, 20_000), growth.throughput(50.0, 20_000)), (100.0, 60.0));
        assert_eq!(Growth::new(0).factor(0), 1.0);
    }
}
