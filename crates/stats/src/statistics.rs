//! Statistics of trials: medians, ratios of medians, and their confidence intervals.
//!
//! Trials of one round share the state of the machine and are not independent. The bootstrap therefore
//! resamples whole rounds (Davison & Hinkley, *Bootstrap Methods and their Application*, 1997, §3.8
//! "hierarchical data", with resampling at the highest level only). Limits are value · exp(± t · s) with
//! Student's t and the bootstrap's standard error s of the logarithm, because times and their ratios are
//! positive and skewed: see [`LogScatter`].

use std::cmp::Ordering;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, StudentsT};
use statrs::statistics::{Data, Median, Statistics};

use crate::pooled::PooledSamples;

/// Number of resamples per standard error. 2,000 give it a Monte Carlo error of 1/√(2 · 2000) = 1.6 % (Efron
/// & Tibshirani, *An Introduction to the Bootstrap*, 1993, §6.4).
pub const RESAMPLES: usize = 2_000;

/// Fixed seed, so that a journal gives the same interval on every machine; the generator (ChaCha with 8
/// rounds) is portable.
const SEED: u64 = 0x6a73_6f6e_6174_686c;

/// A median, or a ratio of medians, with the limits of its interval (95 % unless another α is given).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The median in the unit of the samples, or the ratio.
    pub median: f64,
    /// Lower limit; `None` if fewer than two rounds were measured, which cannot show how rounds differ.
    pub low: Option<f64>,
    /// Upper limit; `None` whenever `low` is.
    pub high: Option<f64>,
}

/// Ratio of upper to lower limit above which an interval only shows that there were too few rounds. With two
/// rounds, Student's quantile is 12.7, so rounds that differ by half give limits several orders of magnitude
/// apart.
pub const MAX_MEANINGFUL_RATIO: f64 = 100.0;

impl Estimate {
    /// Removes both limits if their ratio exceeds [`MAX_MEANINGFUL_RATIO`].
    #[must_use]
    pub fn if_meaningful(self) -> Self {
        let (Some(low), Some(high)) = (self.low, self.high) else { return self };
        // With this comparison, a limit of 0 or NaN counts as meaningless, too.
        let is_meaningful = high / low <= MAX_MEANINGFUL_RATIO;
        if is_meaningful { self } else { Self { low: None, high: None, ..self } }
    }

    /// Like [`Estimate::if_meaningful`], but keeps a ratio's wide interval if it excludes 1.
    #[must_use]
    pub fn if_meaningful_ratio(self) -> Self {
        if self.excludes_one() { self } else { self.if_meaningful() }
    }

    /// Distance from the median to the farther limit, as a share of the median, as in "within ± 5 %". `None`
    /// without an interval.
    #[must_use]
    pub fn relative_half_width(&self) -> Option<f64> {
        relative_half_width(self.median, self.high?)
    }

    /// Returns `true` if a ratio's interval excludes 1: the only ground on which two systems are called
    /// different.
    #[must_use]
    pub fn excludes_one(&self) -> bool {
        matches!((self.low, self.high), (Some(low), Some(high)) if low > 1.0 || high < 1.0)
    }
}

/// [`Estimate::relative_half_width`] for a given median and upper limit, which is the farther one: intervals
/// are symmetric on the logarithm. `None` if the result is not finite.
#[must_use]
pub fn relative_half_width(median: f64, high: f64) -> Option<f64> {
    Some(high / median - 1.0).filter(|reach| reach.is_finite())
}

/// Median: the middle value, or the mean of the two middle ones. `None` if there are no samples.
#[must_use]
pub fn median(samples: &[f64]) -> Option<f64> {
    (!samples.is_empty()).then(|| Data::new(samples.to_vec()).median())
}

/// One of two clusters of samples that lie close together and apart from the other cluster.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Number of samples in the group.
    pub trials: u64,
    /// Median of the group's samples.
    pub median: f64,
}

/// Minimum ratio of the upper group's smallest sample to the lower group's largest.
const APART: f64 = 2.0;
/// Minimum share of the samples that the smaller group must have, so that an outlier is not a group.
const SMALLER_GROUP: f64 = 0.25;

/// Splits samples into two groups, the lower one first; a median over both would describe neither. On the
/// logarithm, the gap between the groups must be wider than each group. `None` if the samples form one group
/// or more than two.
#[must_use]
pub fn two_groups(samples: &[f64]) -> Option<[Group; 2]> {
    let mut sorted: Vec<f64> = samples.iter().copied().filter(|sample| *sample >= 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    // From 0 to any other value the ratio is infinite, from 0 to 0 it is 1.
    let ratio = |low: f64, high: f64| if low == high { 1.0 } else { high / low };
    let gap = |index: &usize| Some(ratio(*sorted.get(index - 1)?, *sorted.get(*index)?));
    let widest = (1..sorted.len()).max_by(|a, b| gap(a).partial_cmp(&gap(b)).unwrap_or(Ordering::Equal))?;
    let (low, high) = sorted.split_at(widest);
    let span = |group: &[f64]| Some(ratio(*group.first()?, *group.last()?));
    let separation = gap(&widest)?;
    let is_clear = separation >= APART && separation > span(low)?.max(span(high)?);
    let smaller = low.len().min(high.len());
    let has_enough_samples = smaller >= 2 && smaller as f64 >= SMALLER_GROUP * sorted.len() as f64;
    let group = |members: &[f64]| Some(Group { trials: members.len() as u64, median: median(members)? });
    (is_clear && has_enough_samples).then_some([group(low)?, group(high)?])
}

/// Default two-sided error probability of an interval, which gives 95 % intervals.
pub const ALPHA: f64 = 0.05;

/// Median over all samples of all rounds, with a 95 % interval over rounds.
///
/// `None` if there is no sample. Without an interval if a median is not positive, because it has no
/// logarithm.
#[must_use]
pub fn estimate(rounds: &[Vec<f64>]) -> Option<Estimate> {
    estimate_at(rounds, ALPHA)
}

/// Like [`estimate`], with limits of the two-sided error probability `alpha`.
#[must_use]
pub fn estimate_at(rounds: &[Vec<f64>], alpha: f64) -> Option<Estimate> {
    Some(bootstrap_median(rounds)?.interval_at(alpha))
}

/// Ratio of the medians of two series that were measured side by side (`a[i]` and `b[i]` in round i), with a
/// 95 % interval.
///
/// Both sides of a round are drawn together, so that effects of the machine in that round cancel out. Rounds
/// in which either side has no sample are left out. `None` if no round is left.
#[must_use]
pub fn paired_ratio(a: &[Vec<f64>], b: &[Vec<f64>]) -> Option<Estimate> {
    paired_ratio_at(a, b, ALPHA)
}

/// Like [`paired_ratio`], with limits of the two-sided error probability `alpha`.
#[must_use]
pub fn paired_ratio_at(a: &[Vec<f64>], b: &[Vec<f64>], alpha: f64) -> Option<Estimate> {
    Some(bootstrap_paired_ratio(a, b)?.interval_at(alpha))
}

/// Ratio of the medians of two series with independent rounds, such as those of two runs, with a 95 %
/// interval.
///
/// The rounds of each side are drawn on their own; rounds without a sample are left out. `None` if either
/// side has no round left; without an interval if either side has a single round.
#[must_use]
pub fn unpaired_ratio(a: &[Vec<f64>], b: &[Vec<f64>]) -> Option<Estimate> {
    Some(bootstrap_median(a)?.divided_by(&bootstrap_median(b)?)?.interval_at(ALPHA))
}

/// The median of [`estimate`] with its scatter over rounds.
#[must_use]
pub fn bootstrap_median(rounds: &[Vec<f64>]) -> Option<BootstrapEstimate> {
    let rounds: Vec<&[f64]> = rounds.iter().filter(|round| !round.is_empty()).map(Vec::as_slice).collect();
    let mut pooled = PooledSamples::new(&rounds);
    BootstrapEstimate::resample(rounds.len(), |drawn| pooled.median(drawn))
}

/// The ratio of [`paired_ratio`] with its scatter over rounds.
#[must_use]
pub fn bootstrap_paired_ratio(a: &[Vec<f64>], b: &[Vec<f64>]) -> Option<BootstrapEstimate> {
    bootstrap_quotient(a, &[b])
}

/// Median of the series `a` divided by the geometric mean of the medians of the series `divisors`, measured
/// in the same rounds. Effects of a round on all of them cancel out. Rounds in which any series has no sample
/// are left out.
#[must_use]
pub fn bootstrap_quotient(a: &[Vec<f64>], divisors: &[&[Vec<f64>]]) -> Option<BootstrapEstimate> {
    let series: Vec<&[Vec<f64>]> = std::iter::once(a).chain(divisors.iter().copied()).collect();
    let rounds = full_rounds(&series);
    let count = rounds.first()?.len();
    let mut pooled: Vec<PooledSamples> = rounds.iter().map(|rounds| PooledSamples::new(rounds)).collect();
    let (a, divisors) = pooled.split_first_mut()?;
    BootstrapEstimate::resample(count, |drawn| Some(a.median(drawn)? / mean_of_medians(divisors, drawn)?))
}

/// Samples of one series, a list for each round.
pub type SamplesByRound = [Vec<f64>];

/// Geometric mean of the ratios of several pairs of series (`pairs[i].0` ÷ `pairs[i].1`), such as the times of
/// two systems for several questions (Fleming & Wallace, "How Not to Lie with Statistics: The Correct Way to
/// Summarize Benchmark Results", *Communications of the ACM* 29, 1986).
///
/// All series of a round are drawn together, so that its effects on all of them cancel out or add up as they
/// did in the run. Rounds in which any series has no sample are left out.
#[must_use]
pub fn bootstrap_mean_ratio(pairs: &[(&SamplesByRound, &SamplesByRound)]) -> Option<BootstrapEstimate> {
    let (dividends, divisors): (Vec<&SamplesByRound>, Vec<&SamplesByRound>) = pairs.iter().copied().unzip();
    let rounds = full_rounds(&[dividends, divisors].concat());
    let count = rounds.first()?.len();
    let mut pooled: Vec<PooledSamples> = rounds.iter().map(|rounds| PooledSamples::new(rounds)).collect();
    let (dividends, divisors) = pooled.split_at_mut(pairs.len());
    BootstrapEstimate::resample(count, |drawn| {
        let mut sum = 0.0;
        for (dividend, divisor) in dividends.iter_mut().zip(divisors.iter_mut()) {
            sum += (dividend.median(drawn)? / divisor.median(drawn)?).ln();
        }
        // The mean of logarithms, because the product of hundreds of ratios may leave the range of a float.
        Some((sum / pairs.len() as f64).exp())
    })
}

/// Geometric mean of the medians of several series that were measured in the same rounds, which are drawn
/// together.
#[must_use]
pub fn bootstrap_geometric_mean(series: &[&[Vec<f64>]]) -> Option<BootstrapEstimate> {
    let series = full_rounds(series);
    let mut pooled: Vec<PooledSamples> = series.iter().map(|rounds| PooledSamples::new(rounds)).collect();
    BootstrapEstimate::resample(series.first()?.len(), |drawn| mean_of_medians(&mut pooled, drawn))
}

/// Keeps only the rounds in which every series has a sample.
fn full_rounds<'a>(series: &[&'a [Vec<f64>]]) -> Vec<Vec<&'a [f64]>> {
    let count = series.iter().map(|rounds| rounds.len()).min().unwrap_or(0);
    let is_full = |round: &usize| series.iter().all(|rounds| !rounds[*round].is_empty());
    let full: Vec<usize> = (0..count).filter(is_full).collect();
    series.iter().map(|rounds| full.iter().map(|round| rounds[*round].as_slice()).collect()).collect()
}

fn mean_of_medians(series: &mut [PooledSamples], drawn: &[usize]) -> Option<f64> {
    let mut product = 1.0;
    for rounds in series.iter_mut() {
        product *= rounds.median(drawn)?;
    }
    Some(product.powf(1.0 / series.len() as f64))
}

/// Exponent of a power law through points (x, y): the slope of the least-squares line through their
/// logarithms; 1 for linear growth. `None` with fewer than two distinct x, or if any coordinate is not
/// positive.
#[must_use]
pub fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    if points.iter().any(|(x, y)| *x <= 0.0 || *y <= 0.0) {
        return None;
    }
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().map(|(x, y)| (x.ln(), y.ln())).unzip();
    let slope = x.as_slice().population_covariance(y.as_slice()) / x.as_slice().population_variance();
    slope.is_finite().then_some(slope)
}

/// Probability of at least `count` successes in `trials` independent trials of the given probability each.
#[must_use]
pub fn binomial_tail(count: u64, trials: u64, probability: f64) -> f64 {
    match (count.checked_sub(1), Binomial::new(probability, trials)) {
        (Some(below), Ok(binomial)) => binomial.sf(below),
        _ => 1.0,
    }
}

/// A positive statistic over rounds with the scatter of its logarithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BootstrapEstimate {
    /// Value of the statistic: a median, or a ratio.
    pub value: f64,
    /// Scatter of the logarithm; `None` with fewer than two rounds, or if a value is not positive.
    pub spread: Option<LogScatter>,
}

/// Scatter of the logarithm of a statistic over rounds, from which its interval is calculated.
///
/// Rounds are few, five by default, and percentile limits of a median over so few rounds are their extremes.
/// Two equal systems would be called different whenever one is faster in all five rounds: by chance in 6.25 %
/// of all comparisons. The interval is therefore Student's, with the bootstrap's standard error (Hesterberg,
/// "What Teachers Should Know About the Bootstrap", *The American Statistician* 69, 2015, §3 and its table of
/// "t with bootstrap standard error"). The standard error is multiplied by √(n / (n − 1)), n being the number
/// of rounds, because resampling draws from a spread that is too narrow by that factor (exactly so for a
/// mean, nearly so for a median). The quantile has n − 1 degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogScatter {
    /// Bootstrap standard error of the logarithm, corrected for few rounds.
    pub standard_error: f64,
    /// Degrees of freedom of Student's quantile; need not be an integer.
    pub degrees_of_freedom: f64,
}

impl BootstrapEstimate {
    /// Evaluates `statistic` on all of `rounds` rounds, given by their indices, and on resamples of them.
    /// `None` if the statistic of all rounds is missing or not finite.
    pub fn resample(rounds: usize, mut statistic: impl FnMut(&[usize]) -> Option<f64>) -> Option<Self> {
        let all_rounds: Vec<usize> = (0..rounds).collect();
        let value = statistic(&all_rounds).filter(|value| value.is_finite())?;
        Some(Self { value, spread: LogScatter::of(value, rounds, statistic) })
    }

    /// The statistic with its limits at the two-sided error probability `alpha`.
    #[must_use]
    pub fn interval_at(&self, alpha: f64) -> Estimate {
        let limits = self.spread.and_then(|spread| {
            let reach = spread.log_half_width(alpha)?;
            Some((self.value * (-reach).exp(), self.value * reach.exp()))
        });
        Estimate { median: self.value, low: limits.map(|(low, _)| low), high: limits.map(|(_, high)| high) }
    }

    /// Ratio of this statistic to an independent one, such as that of another run. `None` if the ratio is not
    /// finite; its spread is `None` unless both have one.
    ///
    /// Variances of independent statistics add up on the logarithm. The degrees of freedom are those of Welch
    /// and Satterthwaite (Welch, "The Generalization of 'Student's' Problem when Several Different Population
    /// Variances are Involved", *Biometrika* 34, 1947; Satterthwaite, "An Approximate Distribution of
    /// Estimates of Variance Components", *Biometrics Bulletin* 2, 1946), so that the side that scatters more
    /// or has fewer rounds dominates.
    #[must_use]
    pub fn divided_by(&self, other: &Self) -> Option<Self> {
        let value = Some(self.value / other.value).filter(|ratio| ratio.is_finite())?;
        let spread = self.spread.zip(other.spread).map(|(scatter, other)| scatter.combined_with(&other));
        Some(Self { value, spread })
    }

    /// One-sided p-value of "the true ratio is not above `bound`": the probability of a ratio at least this
    /// high if the true one were `bound`. It is 0.5 if both are equal. `None` without a spread.
    #[must_use]
    pub fn p_above(&self, bound: f64) -> Option<f64> {
        self.spread?.tail((self.value / bound).ln())
    }

    /// Two-sided p-value of "the true ratio is 1": the probability of a ratio at least this far from 1 on
    /// either side. `None` without a spread.
    #[must_use]
    pub fn p_differs(&self) -> Option<f64> {
        Some(2.0 * self.spread?.tail(self.value.ln().abs())?)
    }
}

impl LogScatter {
    /// Scatter of `statistic` over resampled rounds. `None` with fewer than two rounds, or if any value is
    /// not positive.
    fn of(observed: f64, rounds: usize, mut statistic: impl FnMut(&[usize]) -> Option<f64>) -> Option<Self> {
        if rounds < 2 || observed <= 0.0 {
            return None;
        }
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        let mut drawn = vec![0; rounds];
        let mut logarithms = Vec::with_capacity(RESAMPLES);
        for _ in 0..RESAMPLES {
            drawn.fill_with(|| random.random_range(0..rounds));
            let value = statistic(&drawn).filter(|value| *value > 0.0 && value.is_finite())?;
            logarithms.push(value.ln());
        }
        let n = rounds as f64;
        let standard_error = logarithms.as_slice().std_dev() * (n / (n - 1.0)).sqrt();
        Some(Self { standard_error, degrees_of_freedom: n - 1.0 })
    }

    /// Spread of the sum or difference of two independent logarithms.
    #[must_use]
    pub fn combined_with(&self, other: &Self) -> Self {
        let (own_variance, other_variance) = (self.standard_error.powi(2), other.standard_error.powi(2));
        let sum = own_variance + other_variance;
        // Neither side scatters: the width is 0 with any degrees of freedom.
        let degrees_of_freedom = if sum > 0.0 {
            sum.powi(2)
                / (own_variance.powi(2) / self.degrees_of_freedom
                    + other_variance.powi(2) / other.degrees_of_freedom)
        } else {
            self.degrees_of_freedom + other.degrees_of_freedom
        };
        Self { standard_error: sum.sqrt(), degrees_of_freedom }
    }

    /// Distance from the statistic to either limit, on the logarithm.
    fn log_half_width(&self, alpha: f64) -> Option<f64> {
        let student = StudentsT::new(0.0, 1.0, self.degrees_of_freedom).ok()?;
        Some(student.inverse_cdf(1.0 - alpha / 2.0) * self.standard_error)
    }

    /// Probability of a logarithm at least `distance` above the true one.
    fn tail(&self, distance: f64) -> Option<f64> {
        if self.standard_error == 0.0 {
            // Without scatter, a value above the bound is above it with certainty.
            return Some(if distance > 0.0 {
                0.0
            } else if distance < 0.0 {
                1.0
            } else {
                0.5
            });
        }
        let student = StudentsT::new(0.0, 1.0, self.degrees_of_freedom).ok()?;
        Some(student.sf(distance / self.standard_error))
    }
}

#[cfg(test)]
#[path = "statistics_tests.rs"]
mod tests;
