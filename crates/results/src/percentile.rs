//! Percentiles of cells, read from the merged histograms of trials because the median of p99s is not a p99.

use std::collections::BTreeMap;

use jsonathlon_schema::metric::{MetricDef, Reduction};
use jsonathlon_schema::record::Trial;
use jsonathlon_stats::histogram::Histogram;
use jsonathlon_stats::statistics::{BootstrapEstimate, bootstrap_median};

/// Samples beyond a percentile that each round must have; with fewer, its value is too random for an
/// interval.
const MIN_TAIL_SAMPLES: f64 = 10.0;

/// Histograms of a cell's trials, by name and round.
pub struct Histograms(BTreeMap<String, BTreeMap<u32, Histogram>>);

impl Histograms {
    /// Reads the histograms of all trials of a cell. A name that is missing or invalid in one trial is left
    /// out, because merged histograms must cover all trials.
    #[must_use]
    pub fn from_trials(trials: &[&Trial]) -> Self {
        let mut histograms: BTreeMap<String, BTreeMap<u32, Histogram>> = BTreeMap::new();
        let Some(first) = trials.first() else { return Self(histograms) };
        for name in first.histograms.keys() {
            if let Some(rounds) = by_round(trials, name) {
                histograms.insert(name.clone(), rounds);
            }
        }
        Self(histograms)
    }

    /// Returns `true` if no histogram is available in all trials.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Names of the histograms that all trials have.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Merges the histograms of all rounds with this name. `None` if there is none.
    #[must_use]
    pub fn merge_rounds(&self, name: &str) -> Option<Histogram> {
        let mut rounds = self.0.get(name)?.values();
        let first = rounds.next()?.clone();
        Some(rounds.fold(first, |mut sum, round| {
            sum.merge(round);
            sum
        }))
    }

    /// Value of a percentile in each round. Empty if a round has too few samples beyond it.
    #[must_use]
    pub fn percentile_by_round(&self, metric: &MetricDef) -> BTreeMap<u32, Vec<f64>> {
        let values = || {
            let (name, quantile) = metric.quantile()?;
            let percentiles = self.0.get(name)?.iter().map(|(round, histogram)| {
                let has_enough = histogram.count() as f64 * (1.0 - quantile) >= MIN_TAIL_SAMPLES - 1e-6;
                has_enough.then(|| (*round, vec![histogram.quantile_us(quantile)]))
            });
            percentiles.collect::<Option<BTreeMap<u32, Vec<f64>>>>()
        };
        values().unwrap_or_default()
    }

    /// Percentiles over all rounds, by metric name.
    pub(crate) fn percentiles(&self) -> BTreeMap<&'static str, f64> {
        let mut percentiles = BTreeMap::new();
        for name in self.0.keys() {
            let Some(merged) = self.merge_rounds(name).filter(|merged| merged.count() > 0) else { continue };
            for metric in jsonathlon_schema::metric::ALL
                .iter()
                .filter(|metric| metric.reduction == Reduction::MergedHistogram)
            {
                if let Some((_, quantile)) = metric.quantile().filter(|(histogram, _)| histogram == name) {
                    percentiles.insert(metric.name, merged.quantile_us(quantile));
                }
            }
        }
        percentiles
    }

    /// Interval of a percentile around `value`, its value over all rounds, with the width of the rounds'
    /// scatter. `None` with too few rounds or samples.
    pub(crate) fn interval(&self, metric: &MetricDef, value: f64, alpha: f64) -> Option<[f64; 2]> {
        let rounds: Vec<Vec<f64>> = self.percentile_by_round(metric).into_values().collect();
        let estimate = BootstrapEstimate { value, ..bootstrap_median(&rounds)? }.interval_at(alpha);
        Some([estimate.low?, estimate.high?])
    }
}

/// Histograms with this name, merged by round. `None` if a trial has none.
fn by_round(trials: &[&Trial], name: &str) -> Option<BTreeMap<u32, Histogram>> {
    let mut rounds: BTreeMap<u32, Histogram> = BTreeMap::new();
    for trial in trials {
        let histogram = Histogram::from_text(trial.histograms.get(name)?).ok()?;
        match rounds.get_mut(&trial.round) {
            Some(merged) => merged.merge(&histogram),
            None => {
                rounds.insert(trial.round, histogram);
            }
        }
    }
    Some(rounds)
}
