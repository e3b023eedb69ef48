//! Statistics of trials: medians, ratios of medians, and their intervals.
//!
//! Trials within one round share whatever the machine did in that round, so they are not independent;
//! the bootstrap therefore resamples whole rounds (Davison & Hinkley, *Bootstrap Methods and their
//! Application*, 1997, §3.8 "hierarchical data", with resampling at the highest level only).
//!
//! Rounds are few, five by default. The percentile limits of a median over so few rounds are their
//! extremes: two equal systems would be called different whenever one of them was faster in all five
//! rounds, which chance does in 6.25 % of all comparisons. The interval is therefore Student's, with the
//! bootstrap's standard error (Hesterberg, "What Teachers Should Know About the Bootstrap", *The American
//! Statistician* 69, 2015, §3 and its table of "t with bootstrap standard error"): the standard error is
//! widened by √(n / (n − 1)), because resampling draws from a spread that is too narrow by that factor (for
//! a mean exactly, for a median nearly), and the quantile is Student's with n − 1 degrees of freedom, n being the number of rounds.
//! All of it happens on logarithms, since times and their ratios are positive and skewed.
//!
//! Two runs made apart have no rounds in common. Their ratio's standard error is made of both sides' own, as
//! variances of independent things add up on the logarithm, and the degrees of freedom are those of Welch and
//! Satterthwaite (Welch, "The Generalization of 'Student's' Problem when Several Different Population Variances
//! are Involved", *Biometrika* 34, 1947; Satterthwaite, "An Approximate Distribution of Estimates of Variance
//! Components", *Biometrics Bulletin* 2, 1946), so that the side that scatters more, or has fewer rounds, counts.

use std::cmp::Ordering;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, StudentsT};
use statrs::statistics::{Data, Median, Statistics};

use crate::pooled::Pooled;

/// Resamples taken for a standard error. 2,000 put its Monte Carlo error at 1/√(2 · 2000) = 1.6 %
/// (Efron & Tibshirani, *An Introduction to the Bootstrap*, 1993, §6.4).
pub const RESAMPLES: usize = 2_000;

/// Fixed, so that the same journal gives the same interval wherever it is read. The generator's stream is
/// the same on every machine (ChaCha with 8 rounds).
const SEED: u64 = 0x6a73_6f6e_6174_686c;

/// A median, or a ratio of medians, with the limits of its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The median, in the unit of the samples; or the ratio.
    pub median: f64,
    /// Lower limit; `None` when fewer than two rounds were seen, which cannot show how rounds differ.
    pub low: Option<f64>,
    /// Upper limit, under the same condition.
    pub high: Option<f64>,
}

/// Upper ÷ lower limit from which on an interval says nothing but that there were too few rounds: with two of them
/// Student's quantile is 12.7, so that rounds which differ by half reach over several orders of magnitude.
pub const MEANINGLESS: f64 = 100.0;

impl Estimate {
    /// The same without limits that say nothing.
    #[must_use]
    pub fn if_meaningful(self) -> Self {
        let (Some(low), Some(high)) = (self.low, self.high) else { return self };
        // Asked this way round, a limit of nought or of no number says nothing either.
        let says_something = high / low <= MEANINGLESS;
        if says_something { self } else { Self { low: None, high: None, ..self } }
    }

    /// The same of a ratio, where even a wide interval says something if it excludes one.
    #[must_use]
    pub fn if_meaningful_ratio(self) -> Self {
        if self.excludes_one() { self } else { self.if_meaningful() }
    }

    /// How far the interval reaches from the median, as a share of it, to the farther side: what "within ± 5 %" is
    /// about. None without an interval.
    #[must_use]
    pub fn reach(&self) -> Option<f64> {
        reach(self.median, self.high?)
    }

    /// Whether a ratio's interval excludes one: the only ground on which two systems are called different.
    #[must_use]
    pub fn excludes_one(&self) -> bool {
        matches!((self.low, self.high), (Some(low), Some(high)) if low > 1.0 || high < 1.0)
    }
}

/// The same of limits that are known: intervals are symmetrical on the logarithm, so the upper one is farther away.
#[must_use]
pub fn reach(median: f64, high: f64) -> Option<f64> {
    Some(high / median - 1.0).filter(|reach| reach.is_finite())
}

/// The median: the middle value, or the mean of the two middle ones. `None` of no samples.
#[must_use]
pub fn median(samples: &[f64]) -> Option<f64> {
    (!samples.is_empty()).then(|| Data::new(samples.to_vec()).median())
}

/// Some of several samples that lie near each other and away from the others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// How many samples.
    pub trials: u64,
    /// Their median.
    pub median: f64,
}

/// How many times as much the least of the upper group is as the most of the lower one, at least.
const APART: f64 = 2.0;
/// The smaller group's share of the samples, at least: an outlier is no group.
const SMALLER_GROUP: f64 = 0.25;

/// The two groups into which samples fall, the lower one first: a median over both would be of neither. The groups are
/// further from each other than each is wide, on the logarithm. `None` where samples are one group, or many.
#[must_use]
pub fn two_groups(samples: &[f64]) -> Option<[Group; 2]> {
    let mut sorted: Vec<f64> = samples.iter().copied().filter(|sample| *sample >= 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    // Of nought to anything it is infinitely far, and of nought to nought no way.
    let times = |low: f64, high: f64| if low == high { 1.0 } else { high / low };
    let gap = |at: &usize| Some(times(*sorted.get(at - 1)?, *sorted.get(*at)?));
    let widest = (1..sorted.len()).max_by(|a, b| gap(a).partial_cmp(&gap(b)).unwrap_or(Ordering::Equal))?;
    let (low, high) = sorted.split_at(widest);
    let width = |group: &[f64]| Some(times(*group.first()?, *group.last()?));
    let between = gap(&widest)?;
    let is_clear = between >= APART && between > width(low)?.max(width(high)?);
    let smaller = low.len().min(high.len());
    let is_of_several = smaller >= 2 && smaller as f64 >= SMALLER_GROUP * sorted.len() as f64;
    let group = |of: &[f64]| Some(Group { trials: of.len() as u64, median: median(of)? });
    (is_clear && is_of_several).then_some([group(low)?, group(high)?])
}

/// Two-sided error probability of an interval where nobody asks for another: 95 % intervals.
pub const ALPHA: f64 = 0.05;

/// Median over all samples of all rounds, with an interval over rounds. `None` when there is no sample at
/// all. There is no interval where a median is not positive: a logarithm has nothing to say about it.
#[must_use]
pub fn estimate(rounds: &[Vec<f64>]) -> Option<Estimate> {
    estimate_at(rounds, ALPHA)
}

/// The same with limits of another two-sided error probability.
#[must_use]
pub fn estimate_at(rounds: &[Vec<f64>], alpha: f64) -> Option<Estimate> {
    Some(scattered(rounds)?.at(alpha))
}

/// Ratio of the medians of two series whose rounds ran next to each other (`a[i]` and `b[i]` in round i),
/// with an interval over rounds: both sides of a round are drawn together, so that what the machine did
/// in it cancels. Rounds in which either side has no sample are left out. `None` when no round is left.
#[must_use]
pub fn paired_ratio(a: &[Vec<f64>], b: &[Vec<f64>]) -> Option<Estimate> {
    paired_ratio_at(a, b, ALPHA)
}

/// The same with limits of another two-sided error probability.
#[must_use]
pub fn paired_ratio_at(a: &[Vec<f64>], b: &[Vec<f64>], alpha: f64) -> Option<Estimate> {
    Some(scattered_pairs(a, b)?.at(alpha))
}

/// Ratio of the medians of two series whose rounds have nothing to do with each other, such as those of two
/// runs, with an interval over rounds: each side's rounds are drawn on their own. Rounds without a sample are
/// left out. `None` when either side has none left; no interval when either side has a single one.
#[must_use]
pub fn unpaired_ratio(a: &[Vec<f64>], b: &[Vec<f64>]) -> Option<Estimate> {
    Some(scattered(a)?.divided_by(&scattered(b)?)?.at(ALPHA))
}

/// The median of [`estimate`], and how it scatters.
#[must_use]
pub fn scattered(rounds: &[Vec<f64>]) -> Option<Scattered> {
    let rounds: Vec<&[f64]> = rounds.iter().filter(|round| !round.is_empty()).map(Vec::as_slice).collect();
    let mut pooled = Pooled::of(&rounds);
    Scattered::of(rounds.len(), |drawn| pooled.median(drawn))
}

/// The ratio of [`paired_ratio`], and how it scatters.
#[must_use]
pub fn scattered_pairs(a: &[Vec<f64>], b: &[Vec<f64>]) -> Option<Scattered> {
    scattered_quotient(a, &[b])
}

/// The median of a series ÷ the geometric mean of the medians of others, whose rounds ran next to its own: what a
/// round did to all of them cancels. Rounds in which one of them has no sample are left out.
#[must_use]
pub fn scattered_quotient(a: &[Vec<f64>], by: &[&[Vec<f64>]]) -> Option<Scattered> {
    let all: Vec<&[Vec<f64>]> = std::iter::once(a).chain(by.iter().copied()).collect();
    let rounds = full_rounds(&all);
    let count = rounds.first()?.len();
    let mut pooled: Vec<Pooled> = rounds.iter().map(|rounds| Pooled::of(rounds)).collect();
    let (a, by) = pooled.split_first_mut()?;
    Scattered::of(count, |drawn| Some(a.median(drawn)? / mean_of_medians(by, drawn)?))
}

/// Geometric mean of the medians of several series of the same rounds, which are drawn together.
#[must_use]
pub fn scattered_mean(series: &[&[Vec<f64>]]) -> Option<Scattered> {
    let series = full_rounds(series);
    let mut pooled: Vec<Pooled> = series.iter().map(|rounds| Pooled::of(rounds)).collect();
    Scattered::of(series.first()?.len(), |drawn| mean_of_medians(&mut pooled, drawn))
}

/// The rounds in which every series has a sample.
fn full_rounds<'a>(series: &[&'a [Vec<f64>]]) -> Vec<Vec<&'a [f64]>> {
    let count = series.iter().map(|rounds| rounds.len()).min().unwrap_or(0);
    let is_full = |round: &usize| series.iter().all(|rounds| !rounds[*round].is_empty());
    let full: Vec<usize> = (0..count).filter(is_full).collect();
    series.iter().map(|rounds| full.iter().map(|round| rounds[*round].as_slice()).collect()).collect()
}

fn mean_of_medians(series: &mut [Pooled], drawn: &[usize]) -> Option<f64> {
    let mut product = 1.0;
    for rounds in series.iter_mut() {
        product *= rounds.median(drawn)?;
    }
    Some(product.powf(1.0 / series.len() as f64))
}

/// Exponent of a power law through points (x, y): the slope of the least-squares line through their
/// logarithms, 1 for linear growth. `None` with fewer than two different x, or anything not positive.
#[must_use]
pub fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    if points.iter().any(|(x, y)| *x <= 0.0 || *y <= 0.0) {
        return None;
    }
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().map(|(x, y)| (x.ln(), y.ln())).unzip();
    let slope = x.as_slice().population_covariance(y.as_slice()) / x.as_slice().population_variance();
    slope.is_finite().then_some(slope)
}

/// The probability of `count` successes or more in `trials` independent trials of a given probability each.
#[must_use]
pub fn at_least(count: u64, trials: u64, probability: f64) -> f64 {
    match (count.checked_sub(1), Binomial::new(probability, trials)) {
        (Some(below), Ok(binomial)) => binomial.sf(below),
        _ => 1.0,
    }
}

/// A positive statistic over rounds, and how its logarithm scatters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scattered {
    /// The statistic: a median, or a ratio.
    pub value: f64,
    /// Its scatter; `None` with fewer than two rounds, and for what has no logarithm.
    pub spread: Option<Spread>,
}

/// How the logarithm of a statistic scatters over rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The bootstrap's standard error, widened for few rounds.
    pub standard_error: f64,
    /// Degrees of freedom of Student's quantile.
    pub freedom: f64,
}

impl Scattered {
    /// What `statistic` makes of `rounds` rounds, each given by its index, and of resamples of them. `None`
    /// where it makes nothing of all of them, or nothing finite.
    pub fn of(rounds: usize, mut statistic: impl FnMut(&[usize]) -> Option<f64>) -> Option<Self> {
        let all: Vec<usize> = (0..rounds).collect();
        let value = statistic(&all).filter(|value| value.is_finite())?;
        Some(Self { value, spread: Spread::of(value, rounds, statistic) })
    }

    /// The statistic with the limits of its interval at a two-sided error probability.
    #[must_use]
    pub fn at(&self, alpha: f64) -> Estimate {
        let limits = self.spread.and_then(|spread| {
            let reach = spread.reach(alpha)?;
            Some((self.value * (-reach).exp(), self.value * reach.exp()))
        });
        Estimate { median: self.value, low: limits.map(|(low, _)| low), high: limits.map(|(_, high)| high) }
    }

    /// This ÷ another one that is independent of it: variances add up on the logarithm, and the degrees of
    /// freedom are Welch's and Satterthwaite's. `None` when the ratio is not finite; no spread unless both have
    /// one.
    #[must_use]
    pub fn divided_by(&self, other: &Self) -> Option<Self> {
        let value = Some(self.value / other.value).filter(|ratio| ratio.is_finite())?;
        let spread = self.spread.zip(other.spread).map(|(one, other)| one.with(&other));
        Some(Self { value, spread })
    }

    /// Probability of a ratio as high as this or higher if the true one were `bound`: the p-value of "it is not
    /// above `bound`", which is 0.5 where both are equal.
    #[must_use]
    pub fn p_above(&self, bound: f64) -> Option<f64> {
        self.spread?.tail((self.value / bound).ln())
    }

    /// Probability of a ratio as far from one as this or further, to either side, if the true one were one.
    #[must_use]
    pub fn p_differs(&self) -> Option<f64> {
        Some(2.0 * self.spread?.tail(self.value.ln().abs())?)
    }
}

impl Spread {
    /// By `statistic` of resampled rounds. `None` with fewer than two of them, and for what has no logarithm.
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
        Some(Self { standard_error, freedom: n - 1.0 })
    }

    /// That of the sum or difference of two independent logarithms.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        let (one_square, other_square) = (self.standard_error.powi(2), other.standard_error.powi(2));
        let variance = one_square + other_square;
        // Nothing scatters on either side: whatever the degrees of freedom, the reach is none.
        let freedom = if variance > 0.0 {
            variance.powi(2) / (one_square.powi(2) / self.freedom + other_square.powi(2) / other.freedom)
        } else {
            self.freedom + other.freedom
        };
        Self { standard_error: variance.sqrt(), freedom }
    }

    /// How far an interval reaches to either side on the logarithm.
    fn reach(&self, alpha: f64) -> Option<f64> {
        let student = StudentsT::new(0.0, 1.0, self.freedom).ok()?;
        Some(student.inverse_cdf(1.0 - alpha / 2.0) * self.standard_error)
    }

    /// Probability of a logarithm `distance` above the true one, or further.
    fn tail(&self, distance: f64) -> Option<f64> {
        if self.standard_error == 0.0 {
            // Nothing scatters: what is above is above for certain.
            return Some(if distance > 0.0 {
                0.0
            } else if distance < 0.0 {
                1.0
            } else {
                0.5
            });
        }
        let student = StudentsT::new(0.0, 1.0, self.freedom).ok()?;
        Some(student.sf(distance / self.standard_error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(got: Option<f64>, want: f64) {
        let got = got.unwrap();
        assert!((got / want - 1.0).abs() < 0.03, "{got} is not {want}");
    }

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
        assert_eq!(estimate(&[vec![], vec![]]), None);
        assert_eq!(paired_ratio(&[vec![1.0]], &[vec![]]), None);
    }

    #[test]
    fn two_rounds_that_differ_are_too_few_for_an_interval() {
        let got = estimate(&[vec![0.01], vec![10.0]]).unwrap();
        assert!(got.low.unwrap() < 1e-12 && got.high.unwrap() > 1e6, "{got:?}");
        assert_eq!((got.if_meaningful().low, got.if_meaningful().high), (None, None));
        let near = estimate(&[vec![1.0], vec![1.01]]).unwrap();
        assert_eq!(near.if_meaningful(), near);
        let ratio = paired_ratio(&[vec![1.0], vec![9.0]], &[vec![1.0], vec![1.0]]).unwrap();
        assert_eq!(ratio.if_meaningful_ratio().low, None);
        // A ratio may be as far away from one as that.
        let far = paired_ratio(&[vec![1e6], vec![1.6e6]], &[vec![1.0], vec![1.0]]).unwrap();
        assert_eq!(far.if_meaningful_ratio(), far);
        assert!(far.high.unwrap() / far.low.unwrap() > MEANINGLESS && far.excludes_one(), "{far:?}");
    }

    #[test]
    fn trials_fall_into_two_groups_or_do_not() {
        let by_rotation = [2480.0, 281.0, 2330.0, 293.0, 2620.0, 282.0];
        let [low, high] = two_groups(&by_rotation).unwrap();
        assert_eq!((low.trials, low.median, high.trials, high.median), (3, 282.0, 3, 2480.0));
        let [none, some] = two_groups(&[0.0, 2200.0, 0.0, 2100.0]).unwrap();
        assert_eq!((none.median, some.median), (0.0, 2150.0));
        for one in [
            &[281.0, 293.0, 282.0, 300.0][..],
            // Scattered all over, and an outlier, are no groups.
            &[100.0, 190.0, 400.0, 900.0, 1700.0],
            &[281.0, 293.0, 282.0, 300.0, 280.0, 290.0, 2480.0],
            &[281.0, 2480.0],
            &[0.0, 0.0, 0.0, 0.0],
            &[],
        ] {
            assert_eq!(two_groups(one), None, "{one:?}");
        }
    }

    #[test]
    fn identical_rounds_have_an_interval_of_no_width() {
        let got = estimate(&vec![vec![2.0, 2.0]; 5]).unwrap();
        assert_eq!((got.low, got.high), (Some(2.0), Some(2.0)));
        assert!(got.excludes_one(), "a ratio of exactly two is not one");
        assert!(!estimate(&vec![vec![1.0]; 5]).unwrap().excludes_one());
    }

    /// By hand: resamples of two rounds {1}, {e²} are medians 1, (1+e²)/2, e² with probabilities ¼, ½, ¼,
    /// logarithms 0, 1.4338, 2: mean 1.2169, standard deviation 0.7401; widened by √2 and reached out with
    /// t(0.975, 1) = 12.706 that is a reach of 13.30 on the logarithm.
    #[test]
    fn two_rounds_by_hand() {
        let e2 = 1.0_f64.exp().powi(2);
        let got = estimate(&[vec![1.0], vec![e2]]).unwrap();
        close(Some(got.median), f64::midpoint(1.0, e2));
        close(got.high.map(|high| (high / got.median).ln()), 13.30);
        close(got.low.map(|low| (got.median / low).ln()), 13.30);
    }

    /// By hand: with three rounds of one sample each the bootstrap median is the smallest, the middle, the
    /// largest with probabilities 7/27, 13/27, 7/27; for logarithms −1, 0, 1 its variance is 14/27, the
    /// standard error √(14/27 · 3/2) = 0.8819, t(0.975, 2) = 4.303, the reach 3.795.
    #[test]
    fn three_rounds_by_hand() {
        let e = 1.0_f64.exp();
        let got = estimate(&[vec![1.0 / e], vec![1.0], vec![e]]).unwrap();
        assert_eq!(got.median, 1.0);
        close(got.high.map(f64::ln), 3.795);
        close(got.low.map(|low| -low.ln()), 3.795);
    }

    #[test]
    fn a_paired_ratio_takes_out_what_both_share() {
        let a = [vec![2.0], vec![20.0], vec![200.0]];
        let b = [vec![1.0], vec![10.0], vec![100.0]];
        let got = paired_ratio(&a, &b).unwrap();
        assert_eq!((got.median, got.low, got.high), (2.0, Some(2.0), Some(2.0)));
        assert!(got.excludes_one());
        // A round that only one side finished is no pair.
        let with_a_gap = paired_ratio(&[vec![2.0], vec![], vec![200.0]], &b).unwrap();
        assert_eq!((with_a_gap.low, with_a_gap.high), (Some(2.0), Some(2.0)));
    }

    /// By hand: both sides scatter as in `three_rounds_by_hand`, so the variance is twice 14/27 · 3/2, the
    /// standard error 1.2472, the degrees of freedom 2 + 2, t(0.975, 4) = 2.776, the reach 3.463. A side that
    /// does not scatter leaves the other's own reach.
    #[test]
    fn an_unpaired_ratio_by_hand() {
        let e = 1.0_f64.exp();
        let scattered = [vec![1.0 / e], vec![1.0], vec![e]];
        let doubled = scattered.clone().map(|round| vec![2.0 * round[0]]);
        let got = unpaired_ratio(&doubled, &scattered).unwrap();
        assert_eq!(got.median, 2.0);
        close(got.high.map(|high| (high / 2.0).ln()), 3.463);
        close(got.low.map(|low| (2.0 / low).ln()), 3.463);
        let beside_still = unpaired_ratio(&scattered, &vec![vec![1.0]; 7]).unwrap();
        close(beside_still.high.map(f64::ln), 3.795);
        let still = unpaired_ratio(&vec![vec![3.0]; 2], &vec![vec![1.5]; 2]).unwrap();
        assert_eq!((still.median, still.low, still.high), (2.0, Some(2.0), Some(2.0)));
    }

    /// By hand: variance 0.7401² · 2 = 1.0955 of two rounds (see `two_rounds_by_hand`) and 14/27 · 3/2 = 0.7778
    /// of three; standard error √1.8733 = 1.3687; degrees of freedom 1.8733² / (1.0955² / 1 + 0.7778² / 2) =
    /// 2.335; t(0.975, 2.335) = 3.761; the reach 5.15.
    #[test]
    fn sides_of_different_scatter_and_number_by_hand() {
        let e = 1.0_f64.exp();
        let (two, three) = ([vec![1.0], vec![e * e]], [vec![1.0 / e], vec![1.0], vec![e]]);
        let got = unpaired_ratio(&two, &three).unwrap();
        close(got.high.map(|high| (high / got.median).ln()), 5.15);
    }

    #[test]
    fn one_round_on_either_side_has_a_ratio_and_no_interval() {
        let got = unpaired_ratio(&[vec![3.0]], &[vec![1.0], vec![2.0]]).unwrap();
        assert_eq!((got.median, got.low, got.high), (2.0, None, None));
        assert!(!got.excludes_one());
        assert_eq!(unpaired_ratio(&[vec![]], &[vec![1.0]]), None);
        assert_eq!(unpaired_ratio(&[vec![1.0]], &[vec![0.0]]), None, "no ratio to nothing");
    }

    /// t(0.995, 2) = 9.925 and t(0.95, 2) = 2.920 of Student's table, with the standard error of
    /// `three_rounds_by_hand`.
    #[test]
    fn intervals_and_tests_at_other_levels_by_hand() {
        let e = 1.0_f64.exp();
        let rounds = [vec![1.0 / e], vec![1.0], vec![e]];
        close(estimate_at(&rounds, 0.01).unwrap().high.map(f64::ln), 9.925 * 0.8819);
        let still = vec![vec![1.0]; 3];
        close(paired_ratio_at(&rounds, &still, 0.1).unwrap().high.map(f64::ln), 2.920 * 0.8819);
        let spread = Spread { standard_error: 0.1, freedom: 2.0 };
        let ratio = Scattered { value: (0.292_f64).exp(), spread: Some(spread) };
        close(ratio.p_above(1.0), 0.05);
        close(ratio.p_differs(), 0.10);
        close(ratio.p_above(ratio.value), 0.5);
        let turned = Scattered { value: 1.0 / ratio.value, ..ratio };
        close(turned.p_above(1.0), 0.95);
        close(turned.p_differs(), 0.10);
        assert_eq!(Scattered { value: 2.0, spread: None }.p_above(1.0), None);
        let still = |value| Scattered { value, spread: Some(Spread { standard_error: 0.0, freedom: 4.0 }) };
        assert_eq!((still(2.0).p_above(1.0), still(0.5).p_above(1.0)), (Some(0.0), Some(1.0)));
        assert_eq!((still(1.0).p_above(1.0), still(1.0).p_differs()), (Some(0.5), Some(1.0)));
    }

    /// By hand: a series as in `three_rounds_by_hand` and one that does not scatter; half of the first's scatter is
    /// left on the logarithm. A round that one of them lacks is left out of both.
    #[test]
    fn a_mean_of_two_series_by_hand() {
        let e = 1.0_f64.exp();
        let (one, other) = (vec![vec![1.0 / e], vec![1.0], vec![e], vec![9.0]], vec![vec![4.0]; 3]);
        let got = scattered_mean(&[&one, &other]).unwrap();
        assert_eq!(got.value, 2.0);
        close(got.at(ALPHA).high.map(|high| (high / 2.0).ln()), 3.795 / 2.0);
        // What both did in a round cancels.
        let quotient = scattered_quotient(&other, &[&other, &one[..3]]).unwrap();
        assert_eq!(quotient.value, 2.0);
        close(quotient.at(ALPHA).high.map(|high| (high / 2.0).ln()), 3.795 / 2.0);
        let twice = one.iter().map(|round| vec![2.0 * round[0]]).collect::<Vec<_>>();
        assert_eq!(scattered_quotient(&twice, &[&one]).unwrap().spread.unwrap().standard_error, 0.0);
        assert_eq!(scattered_mean(&[]), None);
        assert_eq!(scattered_mean(&[&one, &[]]), None);
    }

    #[test]
    fn tails_of_the_binomial_by_hand() {
        // Of two coins: one head or more with ¾, two with ¼.
        assert!((at_least(1, 2, 0.5) - 0.75).abs() < 1e-9 && (at_least(2, 2, 0.5) - 0.25).abs() < 1e-9);
        assert_eq!(at_least(0, 2, 0.5), 1.0);
    }

    /// The limits hold the true median about as often as they say: five rounds around 1.
    #[test]
    fn limits_hold_what_they_are_to_hold() {
        let mut random = ChaCha8Rng::seed_from_u64(9);
        let held = (0..1_000).filter(|_| {
            let got = estimate(&noisy(&mut random, &[0.0; 5], 1.0)).unwrap();
            got.low.unwrap() <= 1.0 && 1.0 <= got.high.unwrap()
        });
        let held = held.count();
        assert!(held >= 950, "{held} of 1,000");
    }

    #[test]
    fn growth_is_told_by_its_exponent() {
        assert!((exponent(&[(1e5, 0.1), (1e6, 1.0), (1e7, 10.0)]).unwrap() - 1.0).abs() < 1e-12);
        assert!((exponent(&[(10.0, 5.0), (1000.0, 5e4)]).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(exponent(&[(10.0, 5.0)]), None);
        assert_eq!(exponent(&[(10.0, 5.0), (20.0, 0.0)]), None);
    }

    /// Rounds of a machine that has good and bad ones, with trials that scatter inside them.
    fn noisy(random: &mut ChaCha8Rng, shared: &[f64], factor: f64) -> Vec<Vec<f64>> {
        let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        shared
            .iter()
            .map(|shared| {
                let own = shared + 0.03 * normal();
                (0..3).map(|_| factor * (own + 0.02 * normal()).exp()).collect()
            })
            .collect()
    }

    /// 2,000 comparisons of a system with itself and of systems 20 % apart. The share of false alarms must
    /// be what a 95 % interval allows, and the real difference must be found nearly always.
    #[test]
    fn five_rounds_raise_few_false_alarms_and_find_a_fifth() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let (mut false_alarms, mut found) = (0, 0);
        for _ in 0..2_000 {
            let shared: Vec<f64> = (0..5).map(|_| 0.2 * random.random::<f64>()).collect();
            let one = noisy(&mut random, &shared, 1.0);
            let same = noisy(&mut random, &shared, 1.0);
            let slower = noisy(&mut random, &shared, 1.2);
            false_alarms += usize::from(paired_ratio(&one, &same).unwrap().excludes_one());
            found += usize::from(paired_ratio(&slower, &one).unwrap().excludes_one());
        }
        println!("{false_alarms} false alarms, {found} found, of 2,000");
        assert!(false_alarms <= 40, "{false_alarms} of 2,000");
        assert!(found >= 1_900, "{found} of 2,000");
    }

    /// Two runs of the same system, 2,000 times, on a machine that is quiet and on one whose rounds are up to
    /// 20 % apart. No more false alarms than 95 % intervals allow, but where one side has two rounds and the
    /// other more: Welch's degrees of freedom are an approximation, and there it shows by about half a per
    /// cent. On the quiet machine, five rounds a side find a slow-down by a fifth nearly always.
    #[test]
    fn runs_made_apart_raise_few_false_alarms_and_find_a_fifth() {
        let mut random = ChaCha8Rng::seed_from_u64(11);
        for (rounds, others, unrest, most) in [
            (5, 5, 0.0, 100),
            (5, 5, 0.2, 100),
            (2, 2, 0.0, 100),
            (3, 3, 0.2, 100),
            (5, 2, 0.2, 130),
            (10, 5, 0.2, 100),
        ] {
            let is_told = (rounds, others, unrest) == (5, 5, 0.0);
            let (mut false_alarms, mut found) = (0, 0);
            for _ in 0..2_000 {
                let mut side = |rounds: usize, factor: f64| {
                    let shared: Vec<f64> = (0..rounds).map(|_| unrest * random.random::<f64>()).collect();
                    noisy(&mut random, &shared, factor)
                };
                let (one, same, slower) = (side(rounds, 1.0), side(others, 1.0), side(others, 1.2));
                false_alarms += usize::from(unpaired_ratio(&same, &one).unwrap().excludes_one());
                if is_told {
                    found += usize::from(unpaired_ratio(&slower, &one).unwrap().excludes_one());
                }
            }
            println!("{rounds} and {others} rounds, {unrest}: {false_alarms} false alarms of 2,000");
            assert!(false_alarms <= most, "{false_alarms} of 2,000: {rounds} and {others} rounds, {unrest}");
            assert!(!is_told || found >= 1_960, "{found} of 2,000");
        }
    }

    proptest! {
        #[test]
        fn an_unpaired_ratio_turned_round_is_its_inverse_and_holds_itself(
            a in prop::collection::vec(prop::collection::vec(0.1_f64..10.0, 1..4), 2..6),
            b in prop::collection::vec(prop::collection::vec(0.1_f64..10.0, 1..4), 2..6),
            factor in 0.01_f64..100.0,
        ) {
            let (one, other) = (unpaired_ratio(&a, &b).unwrap(), unpaired_ratio(&b, &a).unwrap());
            prop_assert!((one.median * other.median - 1.0).abs() < 1e-9);
            let (low, high) = (one.low.unwrap(), one.high.unwrap());
            prop_assert!((low * other.high.unwrap() - 1.0).abs() < 1e-6);
            prop_assert!(low <= one.median && one.median <= high);
            // In another unit, the same.
            let times = |rounds: &[Vec<f64>]| -> Vec<Vec<f64>> {
                rounds.iter().map(|round| round.iter().map(|seconds| seconds * factor).collect()).collect()
            };
            let scaled = unpaired_ratio(&times(&a), &times(&b)).unwrap();
            prop_assert!((scaled.high.unwrap() / high - 1.0).abs() < 1e-6);
        }

        #[test]
        fn an_interval_holds_its_median(
            rounds in prop::collection::vec(prop::collection::vec(0.001_f64..1e3, 1..6), 2..7)
        ) {
            let got = estimate(&rounds).unwrap();
            let (low, high) = (got.low.unwrap(), got.high.unwrap());
            prop_assert!(low <= got.median && got.median <= high);
            let least = rounds.iter().flatten().copied().fold(f64::MAX, f64::min);
            let most = rounds.iter().flatten().copied().fold(0.0, f64::max);
            prop_assert!(got.median >= least && got.median <= most);
        }

        #[test]
        fn a_ratio_turned_round_is_its_inverse(
            a in prop::collection::vec(prop::collection::vec(0.1_f64..10.0, 1..4), 2..6),
            b in prop::collection::vec(prop::collection::vec(0.1_f64..10.0, 1..4), 2..6),
        ) {
            let (one, other) = (paired_ratio(&a, &b).unwrap(), paired_ratio(&b, &a).unwrap());
            prop_assert!((one.median * other.median - 1.0).abs() < 1e-9);
            prop_assert!((one.low.unwrap_or(1.0) * other.high.unwrap_or(1.0) - 1.0).abs() < 1e-6);
        }
    }
}
