//! Searches the highest rate that meets an objective, by bisection.

/// Number of trials of one search.
pub(super) const STEPS: u32 = 7;

/// Bisection between zero and a rate that is known to be too high or to be the capacity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SloSearch {
    kept: f64,
    broken: f64,
    steps: u32,
}

impl SloSearch {
    /// Starts a search below `capacity`, in operations per second.
    pub(super) fn below(capacity: f64) -> Self {
        Self { kept: 0.0, broken: capacity, steps: 0 }
    }

    /// Next rate to try; `None` when the search is complete.
    pub(super) fn next(&self) -> Option<f64> {
        let rate = f64::midpoint(self.kept, self.broken);
        (self.steps < STEPS && rate >= 1.0).then_some(rate)
    }

    /// Reports whether the rate from [`SloSearch::next`] met the objective.
    pub(super) fn learn(&mut self, is_kept: bool) {
        let rate = f64::midpoint(self.kept, self.broken);
        if is_kept {
            self.kept = rate;
        } else {
            self.broken = rate;
        }
        self.steps += 1;
    }

    /// Highest rate that met the objective and lowest rate that did not.
    pub(super) fn found(&self) -> (f64, f64) {
        (self.kept, self.broken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_narrows_down_to_the_edge() {
        let mut search = SloSearch::below(10_000.0);
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
        let mut search = SloSearch::below(100.0);
        while search.next().is_some() {
            search.learn(false);
        }
        assert_eq!(search.found().0, 0.0);
        assert_eq!(SloSearch::below(0.0).next(), None);
    }
}
