//! Percentiles of cells, read from the merged histograms of trials because the median of p99s is not a p99.

use std::collections::BTreeMap;

use jsonathlon_schema::metric::{MetricDef, Reduction};
use jsonathlon_schema::record::Trial;
use jsonathlon_stats::histogram::Histogram;
use jsonathlon_stats::statistics::{BootstrapEstimate, bootstrap_median};

/// Samples beyond a percentile that each round must have; with fewer, its value is too random for an
/// interval.
const MIN_TAIL_SAMPLES: f64 = 10.0;
/// The same for metrics whose trials have few samples: the largest of n is as often above the quantile q as below it if
/// n (1 − q) = ln 2, so that it stands for q without a bias. How uncertain it is shows in the scatter of the rounds, which
/// are independent.
const FEW_TAIL_SAMPLES: f64 = std::f64::consts::LN_2;
/// Samples that each round of such a metric must have at least, whatever the quantile.
const FEW_SAMPLES: u64 = 5;
/// Samples that may be missing because quantiles are no exact numbers.
const TOLERANCE: f64 = 1e-6;

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
                has_enough_samples(histogram.count(), metric)
                    .then(|| (*round, vec![histogram.quantile_us(quantile)]))
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

/// Number of samples that each round must have so that a percentile has an interval. `None` if the metric is none.
#[must_use]
pub fn samples_for_interval(metric: &MetricDef) -> Option<u64> {
    let (_, quantile) = metric.quantile()?;
    let (beyond, least) = match metric.has_few_samples {
        true => (FEW_TAIL_SAMPLES, FEW_SAMPLES),
        false => (MIN_TAIL_SAMPLES, 1),
    };
    Some(((beyond - TOLERANCE) / (1.0 - quantile)).ceil().max(least as f64) as u64)
}

/// Whether a round with `count` samples can say where the quantile of a metric is.
fn has_enough_samples(count: u64, metric: &MetricDef) -> bool {
    samples_for_interval(metric).is_some_and(|least| count >= least)
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

#[cfg(test)]
mod tests {
    use jsonathlon_schema::metric::{
        INSERT_RESPONSE_P50_US, INSERT_RESPONSE_P95_US, SERVICE_P99_US, SERVICE_P999_US,
    };
    use jsonathlon_stats::statistics::ALPHA;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    const REPETITIONS: u32 = 150;

    /// Response times with the distribution of a logarithm that is nearly normal: most near 1 ms, a few far longer.
    fn responses(random: &mut ChaCha8Rng, count: usize) -> Histogram {
        let mut histogram = Histogram::new();
        for _ in 0..count {
            let normal = (0..12).map(|_| random.random_range(0.0..1.0)).sum::<f64>() - 6.0;
            histogram.record_ns((1e6 * (0.6 * normal).exp()) as u64);
        }
        histogram
    }

    #[test]
    fn intervals_of_a_few_batches_a_round_contain_the_true_percentile() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let true_p95 = responses(&mut random, 200_000).quantile_us(0.95);
        for count in [14, 18] {
            let mut inside = 0;
            for _ in 0..REPETITIONS {
                let rounds = (1..=3).map(|round| (round, responses(&mut random, count))).collect();
                let histograms = Histograms(BTreeMap::from([("insert_response".to_owned(), rounds)]));
                let value = histograms.percentiles()[INSERT_RESPONSE_P95_US.name];
                let [low, high] = histograms.interval(&INSERT_RESPONSE_P95_US, value, ALPHA).unwrap();
                inside += u32::from((low..=high).contains(&true_p95));
            }
            // 95 % are meant; 90 % are out of reach of chance.
            assert!(inside * 10 >= REPETITIONS * 9, "{inside} of {REPETITIONS} with {count} batches a round");
        }
    }

    #[test]
    fn a_percentile_beyond_the_samples_has_no_interval() {
        assert!(!has_enough_samples(13, &INSERT_RESPONSE_P95_US));
        assert!(has_enough_samples(14, &INSERT_RESPONSE_P95_US));
        assert!(!has_enough_samples(4, &INSERT_RESPONSE_P50_US));
        assert!(has_enough_samples(5, &INSERT_RESPONSE_P50_US));
        assert!(!has_enough_samples(999, &SERVICE_P99_US));
        assert!(has_enough_samples(1_000, &SERVICE_P99_US));
        for metric in [INSERT_RESPONSE_P50_US, INSERT_RESPONSE_P95_US, SERVICE_P99_US, SERVICE_P999_US] {
            let samples = samples_for_interval(&metric).unwrap();
            assert!(has_enough_samples(samples, &metric), "{}: {samples}", metric.name);
            assert!(!has_enough_samples(samples - 1, &metric), "{}: {samples}", metric.name);
        }
    }
}
