//! Test for steady throughput.
//!
//! The rule is that of Georges, Buytaert and Eeckhout ("Statistically rigorous Java performance evaluation",
//! OOPSLA 2007): the coefficient of variation of the last k measurements is below a threshold. Here a
//! measurement is one second's throughput, k is ten, and the threshold is 5 %; theirs are iterations of one
//! program on an idle machine, with 1 or 2 %. In addition, the means of the two halves may differ by at most
//! the threshold, so that a slow climb is not taken for a plateau.

/// Number of most recent seconds that the test covers.
const SECONDS: usize = 10;
/// Limit of the coefficient of variation, and of the relative difference of the two halves.
const THRESHOLD: f64 = 0.05;
/// Shortest measurement window, in seconds, for which steadiness is tested.
pub(crate) const MIN_WINDOW_S: f64 = 30.0;
/// Longest extension of the warm-up, in seconds, while throughput is not steady.
pub(crate) const MAX_EXTENSION_S: f64 = 60.0;

/// Sliding window over the throughput of the last seconds.
#[derive(Debug, Default)]
pub(crate) struct SteadyStateDetector {
    recent: Vec<f64>,
}

impl SteadyStateDetector {
    /// Adds one second's number of operations. Returns `true` if the last [`SECONDS`] seconds were steady.
    pub(crate) fn add(&mut self, operations: f64) -> bool {
        if self.recent.len() == SECONDS {
            self.recent.remove(0);
        }
        self.recent.push(operations);
        if self.recent.len() < SECONDS {
            return false;
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let average = mean(&self.recent);
        if average <= 0.0 {
            return false;
        }
        let squares: f64 = self.recent.iter().map(|value| (value - average) * (value - average)).sum();
        let deviation = (squares / (SECONDS - 1) as f64).sqrt();
        let (first, second) = self.recent.split_at(SECONDS / 2);
        deviation / average < THRESHOLD && (mean(first) - mean(second)).abs() / average < THRESHOLD
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds_until(operations: impl Fn(usize) -> f64) -> Option<usize> {
        let mut steady = SteadyStateDetector::default();
        (1..=60).find(|second| steady.add(operations(*second)))
    }

    #[test]
    fn a_plateau_is_steady_and_nothing_else_is() {
        assert_eq!(seconds_until(|_| 1000.0), Some(10));
        assert_eq!(seconds_until(|second| if second % 2 == 0 { 1020.0 } else { 980.0 }), Some(10));
        // The three seconds of warm-up must have left the window of ten.
        assert_eq!(seconds_until(|second| if second <= 3 { 100.0 } else { 1000.0 }), Some(13));
        assert_eq!(seconds_until(|second| if second % 2 == 0 { 1200.0 } else { 800.0 }), None);
        assert_eq!(seconds_until(|_| 0.0), None);
        // A climb of 2 % a second is no plateau.
        assert_eq!(seconds_until(|second| 1000.0 * 1.02_f64.powi(second as i32)), None);
    }
}
