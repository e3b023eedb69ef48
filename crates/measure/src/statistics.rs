//! Statistics of trials: medians and their intervals.
//!
//! Trials within one round share whatever the machine did in that round, so they are not independent;
//! the bootstrap therefore resamples whole rounds (Davison & Hinkley, *Bootstrap Methods and their
//! Application*, 1997, §3.8 "hierarchical data", with resampling at the highest level only).

use serde::{Deserialize, Serialize};

/// Resamples taken for an interval. 2,000 put the Monte Carlo error of a 95 % percentile limit well
/// below the interval's own width (Efron & Tibshirani, *An Introduction to the Bootstrap*, 1993, §14.5).
pub const RESAMPLES: usize = 2_000;

/// A median with the limits of its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The median, in the unit of the samples.
    pub median: f64,
    /// Lower limit; `None` when fewer than two rounds were seen, which cannot show how rounds differ.
    pub low: Option<f64>,
    /// Upper limit, under the same condition.
    pub high: Option<f64>,
}

/// The median: the middle value, or the mean of the two middle ones. `None` of no samples.
#[must_use]
pub fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    median_sorted(&sorted)
}

fn median_sorted(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    Some(f64::midpoint(*sorted.get(middle - 1)?, upper))
}

/// Median over all samples of all rounds with a percentile bootstrap interval over rounds.
/// `None` when there is no sample at all.
#[must_use]
pub fn estimate(rounds: &[Vec<f64>]) -> Option<Estimate> {
    let rounds: Vec<&Vec<f64>> = rounds.iter().filter(|round| !round.is_empty()).collect();
    let all: Vec<f64> = rounds.iter().flat_map(|round| round.iter().copied()).collect();
    let median = median(&all)?;
    if rounds.len() < 2 {
        return Some(Estimate { median, low: None, high: None });
    }
    let (low, high) = percentile_interval(&rounds, median_sorted);
    Some(Estimate { median, low, high })
}

/// Ratio of the medians of two paired series of rounds (`a[i]` and `b[i]` ran next to each other), with
/// an interval over rounds. `None` unless both have the same number of non-empty rounds.
#[must_use]
pub fn paired_ratio(a: &[Vec<f64>], b: &[Vec<f64>]) -> Option<Estimate> {
    if a.len() != b.len() {
        return None;
    }
    let ratios: Vec<Vec<f64>> = a
        .iter()
        .zip(b)
        .map(|(left, right)| Some(vec![self::median(left)? / self::median(right)?]))
        .collect::<Option<_>>()?;
    estimate(&ratios)
}

fn percentile_interval(
    rounds: &[&Vec<f64>],
    statistic: impl Fn(&[f64]) -> Option<f64>,
) -> (Option<f64>, Option<f64>) {
    // A fixed seed: the same journal gives the same interval wherever it is read.
    let mut random = SplitMix(0x6a73_6f6e_6174_686c);
    let mut values: Vec<f64> = Vec::with_capacity(RESAMPLES);
    let mut pooled: Vec<f64> = Vec::new();
    for _ in 0..RESAMPLES {
        pooled.clear();
        for _ in 0..rounds.len() {
            pooled.extend_from_slice(rounds[random.below(rounds.len())]);
        }
        pooled.sort_by(f64::total_cmp);
        values.extend(statistic(&pooled));
    }
    values.sort_by(f64::total_cmp);
    (quantile_sorted(&values, 0.025), quantile_sorted(&values, 0.975))
}

/// Linear interpolation between order statistics (Hyndman & Fan 1996, type 7).
fn quantile_sorted(sorted: &[f64], q: f64) -> Option<f64> {
    let position = q * sorted.len().checked_sub(1)? as f64;
    let below = position.floor() as usize;
    let lower = *sorted.get(below)?;
    let upper = *sorted.get(below + 1).unwrap_or(&lower);
    Some(lower + (upper - lower) * (position - below as f64))
}

/// SplitMix64 (Steele, Lea & Flood 2014), enough for choosing rounds.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound` by the high half of a product (Lemire 2019, without the rejection step:
    /// the bias for a few dozen rounds is below 2⁻⁵⁸).
    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn medians_of_odd_and_even_counts() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
    }

    #[test]
    fn one_round_has_no_interval() {
        let got = estimate(&[vec![1.0, 2.0, 9.0]]).unwrap();
        assert_eq!((got.median, got.low, got.high), (2.0, None, None));
    }

    #[test]
    fn identical_rounds_have_an_interval_of_no_width() {
        let got = estimate(&vec![vec![2.0, 2.0]; 5]).unwrap();
        assert_eq!((got.low, got.high), (Some(2.0), Some(2.0)));
    }

    #[test]
    fn two_rounds_reach_from_one_to_the_other() {
        // Resamples are {1,1}, {1,3}, {3,3} with probabilities 1/4, 1/2, 1/4.
        let got = estimate(&[vec![1.0], vec![3.0]]).unwrap();
        assert_eq!((got.median, got.low, got.high), (2.0, Some(1.0), Some(3.0)));
    }

    #[test]
    fn a_paired_ratio_takes_out_what_both_share() {
        let a = [vec![2.0], vec![20.0], vec![200.0]];
        let b = [vec![1.0], vec![10.0], vec![100.0]];
        let got = paired_ratio(&a, &b).unwrap();
        assert_eq!((got.median, got.low, got.high), (2.0, Some(2.0), Some(2.0)));
        assert_eq!(paired_ratio(&a, &b[..2]), None);
    }

    proptest! {
        #[test]
        fn an_interval_holds_its_median_and_stays_within_the_samples(
            rounds in prop::collection::vec(prop::collection::vec(0.001_f64..1e3, 1..6), 2..7)
        ) {
            let got = estimate(&rounds).unwrap();
            let (low, high) = (got.low.unwrap(), got.high.unwrap());
            prop_assert!(low <= high);
            let least = rounds.iter().flatten().copied().fold(f64::MAX, f64::min);
            let most = rounds.iter().flatten().copied().fold(0.0, f64::max);
            prop_assert!(low >= least && high <= most && got.median >= least && got.median <= most);
        }
    }
}
