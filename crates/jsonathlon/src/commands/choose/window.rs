//! How long clients work in each window: long enough for an interval of the response times that are judged, if the
//! rate allows it.

use jsonathlon_choose::Dimension;
use jsonathlon_choose::judgement::ANSWERED;
use jsonathlon_choose::needs::{Criterion, Quantile};
use jsonathlon_results::percentile::samples_for_interval;

use super::extent::Extent;
use super::saved::Choice;

/// Windows of clients in seconds unless the user states it or a quantile needs longer ones.
pub(super) const DURATION_S: f64 = 2.0;
/// Longest windows in seconds that are chosen for a quantile. What needs longer ones is told instead.
const MAX_WINDOW_S: f64 = 30.0;
/// How many times as many operations are expected as are needed, because not all of them end in time.
const MARGIN: f64 = 1.3;

impl Choice {
    /// Rate in operations per second that counts: the user's, or what was derived from the capacity. `None` as long as
    /// neither is known.
    pub(super) fn known_rate(&self) -> Option<f64> {
        self.saved.load.rate.or(self.saved.derived_rate)
    }

    /// Windows at rates in seconds.
    pub(super) fn window_s(&self, extent: Extent) -> f64 {
        let usual_s = self.saved.load.duration_s;
        match self.long_window_s().filter(|_| extent.long_windows) {
            Some(long_s) => long_s.max(usual_s),
            None => usual_s,
        }
    }

    /// Windows in seconds that response times need, if they are longer than usual ones and may be chosen.
    pub(super) fn long_window_s(&self) -> Option<f64> {
        let is_chosen = |seconds: &f64| {
            !self.saved.load.is_duration_stated
                && *seconds > self.saved.load.duration_s
                && *seconds <= MAX_WINDOW_S
        };
        self.needed_window_s().filter(is_chosen)
    }

    /// Windows in seconds in which the rarest operation whose response times count arrives as often as the quantile
    /// needs. `None` without a known rate, and without such operations.
    fn needed_window_s(&self) -> Option<f64> {
        let shares = &self.saved.load.shares;
        let counting = shares.iter().filter(|(operation, _)| ANSWERED.contains(&operation.as_str()));
        let share = match shares.as_slice() {
            [_] => 1.0,
            _ => counting.map(|(_, share)| *share).min_by(f64::total_cmp)?,
        };
        let samples = samples_for_interval(self.needs.highest_quantile().metric())?;
        let seconds = expected_samples(samples) / (self.known_rate()? * share);
        Some((seconds * 10.0).ceil() / 10.0)
    }

    /// Plans windows as long as response times need at the rate that is known now. What is said of it: their length, or
    /// that they would be too long.
    pub(super) fn settle_windows(&mut self) -> Option<String> {
        let long_s = self.long_window_s();
        self.saved.whole.long_windows = long_s.is_some();
        self.saved.extent.long_windows = long_s.is_some();
        let quantile = self.needs.highest_quantile().word();
        if let Some(long_s) = long_s {
            return Some(format!("windows of {long_s} s, so that {quantile} has an interval"));
        }
        let needed_s = self.needed_window_s().filter(|needed_s| *needed_s > self.saved.load.duration_s)?;
        self.counts_responses().then(|| {
            format!(
                "{quantile} has no interval, and a need that is about it is not shown to be met: at {} operations/s that \
                 takes --duration {needed_s}s",
                self.known_rate().unwrap_or_default()
            )
        })
    }

    /// Whether the user asks for response times.
    fn counts_responses(&self) -> bool {
        let is_response = |criterion: &Criterion| matches!(criterion, Criterion::Response(_));
        self.needs.need(Dimension::Response).is_some() || self.needs.prefer.iter().any(is_response)
    }

    /// What windows that are longer than usual ones are for, in a few words for readers. Empty if they are not.
    pub(super) fn describe_windows(&self, extent: Extent) -> String {
        let quantile: Quantile = self.needs.highest_quantile();
        match self.long_window_s().filter(|_| extent.long_windows) {
            Some(long_s) => format!(", in windows of {long_s} s for {}", quantile.word()),
            None => String::new(),
        }
    }
}

/// Number of operations to expect so that hardly any window has fewer than `samples`: arrivals scatter by the square root
/// of their number.
fn expected_samples(samples: u64) -> f64 {
    let samples = samples as f64;
    let scattered = (2.0 + (4.0 + samples).sqrt()).powi(2);
    scattered.max(MARGIN * samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hardly_any_window_has_too_few_arrivals() {
        for samples in [20, 100, 1_000, 10_000] {
            let expected = expected_samples(samples);
            let fewest = expected - 4.0 * expected.sqrt();
            assert!(fewest >= samples as f64 - 1e-6, "{samples}: {expected}");
        }
        assert!((expected_samples(1_000) - 1_300.0).abs() < 1e-9);
    }
}
