//! Searches the highest rate that meets an objective, by bisection.

/// Number of trials of one search.
pub(super) const STEPS: u32 = 7;

/// Bisection between zero and a rate that is known to be too high or to be the capacity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SloSearch {
    /// Highest rate so far that met the objective.
    met: f64,
    /// Lowest rate so far that missed it, or the initial upper bound.
    missed: f64,
    steps: u32,
}

impl SloSearch {
    /// Starts a search below `capacity`, in operations per second.
    pub(super) fn new(capacity: f64) -> Self {
        Self { met: 0.0, missed: capacity, steps: 0 }
    }

    /// Next rate to try; `None` when the search is complete.
    pub(super) fn next_rate(&self) -> Option<f64> {
        let rate = f64::midpoint(self.met, self.missed);
        (self.steps < STEPS && rate >= 1.0).then_some(rate)
    }

    /// Reports whether the rate from [`SloSearch::next_rate`] met the objective.
    pub(super) fn record(&mut self, is_met: bool) {
        let rate = f64::midpoint(self.met, self.missed);
        if is_met {
            self.met = rate;
        } else {
            self.missed = rate;
        }
        self.steps += 1;
    }

    /// Highest rate that met the objective and lowest rate that did not.
    pub(super) fn bounds(&self) -> (f64, f64) {
        (self.met, self.missed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_narrows_down_to_the_edge() {
        let mut search = SloSearch::new(10_000.0);
        let mut steps = 0;
        while let Some(rate) = search.next_rate() {
            search.record(rate <= 6_400.0);
            steps += 1;
        }
        let (met, missed) = search.bounds();
        assert!(met <= 6_400.0 && missed > 6_400.0 && missed - met < 100.0, "{met} {missed}");
        assert_eq!(steps, STEPS);
    }

    #[test]
    fn what_no_rate_keeps_is_nothing() {
        let mut search = SloSearch::new(100.0);
        while search.next_rate().is_some() {
            search.record(false);
        }
        assert_eq!(search.bounds().0, 0.0);
        assert_eq!(SloSearch::new(0.0).next_rate(), None);
    }
}
