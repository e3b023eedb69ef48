//! The highest rate that keeps an objective, by bisection.

/// Trials of one search.
pub(super) const STEPS: u32 = 7;

/// A search between nothing and a rate that is known to be too much, or to be all there is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Search {
    kept: f64,
    broken: f64,
    steps: u32,
}

impl Search {
    /// Below `capacity`, in operations per second.
    pub(super) fn below(capacity: f64) -> Self {
        Self { kept: 0.0, broken: capacity, steps: 0 }
    }

    /// The next rate to try; none when it has been narrowed down.
    pub(super) fn next(&self) -> Option<f64> {
        let rate = f64::midpoint(self.kept, self.broken);
        (self.steps < STEPS && rate >= 1.0).then_some(rate)
    }

    /// What came of that rate.
    pub(super) fn learn(&mut self, is_kept: bool) {
        let rate = f64::midpoint(self.kept, self.broken);
        if is_kept {
            self.kept = rate;
        } else {
            self.broken = rate;
        }
        self.steps += 1;
    }

    /// The highest rate that kept it and the lowest that did not.
    pub(super) fn found(&self) -> (f64, f64) {
        (self.kept, self.broken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_narrows_down_to_the_edge() {
        let mut search = Search::below(10_000.0);
        let mut tried = 0;
        while let Some(rate) = search.next() {
            search.learn(rate <= 6_400.0);
            tried += 1;
        }
        let (kept, broken) = search.found();
        assert!(kept <= 6_400.0 && broken > 6_400.0 && broken - kept < 100.0, "{kept} {broken}");
        assert_eq!(tried, STEPS);
    }

    #[test]
    fn what_no_rate_keeps_is_nothing() {
        let mut search = Search::below(100.0);
        while search.next().is_some() {
            search.learn(false);
        }
        assert_eq!(search.found().0, 0.0);
        assert_eq!(Search::below(0.0).next(), None);
    }
}
