//! Multiple testing: how confident a comparison may be in each of dozens of tests made together.
//!
//! A comparison of two runs tests dozens of cells. At 5 % each, two of forty differ by chance alone. [`holm`]
//! answers whether anything is wrong at all, [`benjamini_hochberg`] which cells to look at. [`moderated`]
//! pools the variances of similar cells, because few rounds say little about how much a cell scatters.

use std::collections::BTreeMap;

use statrs::function::gamma::digamma;

use crate::statistics::{BootstrapEstimate, LogScatter};

/// Smaller groups are not moderated: they add too little to the variance of the cell itself.
const LEAST_IN_GROUP: usize = 3;
/// Minimum number of variances beyond one per group. Fewer say too little about how alike the variances are.
const LEAST_TO_POOL: usize = 5;
/// Most degrees of freedom that a group may lend, even if its variances look equal, because a handful of them
/// often look so by chance.
const MOST_LENT: f64 = 8.0;

/// Adjusts p-values by Holm's procedure; the result has the order of `p_values`.
///
/// Rejecting all adjusted values up to α keeps the probability of any false rejection in the whole family
/// below α, however the tests depend on each other (Holm, "A Simple Sequentially Rejective Multiple Test
/// Procedure", *Scandinavian Journal of Statistics* 6, 1979).
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let count = p_values.len();
    let mut adjusted = vec![1.0; count];
    let mut least = 0.0_f64;
    for (rank, index) in ascending(p_values).into_iter().enumerate() {
        least = least.max(p_values[index] * (count - rank) as f64).min(1.0);
        adjusted[index] = least;
    }
    adjusted
}

/// Adjusts p-values by the procedure of Benjamini and Hochberg; the result has the order of `p_values`.
///
/// Among all adjusted values up to α, the expected share of false findings is at most α ("Controlling the
/// False Discovery Rate", *Journal of the Royal Statistical Society B* 57, 1995).
#[must_use]
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let count = p_values.len();
    let mut adjusted = vec![1.0; count];
    let mut most = 1.0_f64;
    for (rank, index) in ascending(p_values).into_iter().enumerate().rev() {
        most = most.min(p_values[index] * count as f64 / (rank + 1) as f64);
        adjusted[index] = most;
    }
    adjusted
}

fn ascending(p_values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    order
}

/// Draws each variance towards that of its group; `cells` are pairs of a group and a statistic.
///
/// A family's level asks for the far tail, where few rounds cost most: Student's quantile at 0.001 is 7.2
/// with four degrees of freedom and 3.9 with twelve. Cells of a group therefore share information. The more
/// alike the variances of a group are, the further each is drawn towards the group's (Smyth, "Linear Models
/// and Empirical Bayes Methods for Assessing Differential Expression in Microarray Experiments", *Statistical
/// Applications in Genetics and Molecular Biology* 3, 2004, §6.2).
///
/// Statistics without a spread, with a spread of zero, and those in groups of one or two are returned
/// unchanged. All are, if there are too few to say how alike the variances of a group are.
#[must_use]
pub fn moderated(cells: &[(usize, BootstrapEstimate)]) -> Vec<BootstrapEstimate> {
    let mut groups: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    let mut sampling = Vec::new();
    for (group, cell) in cells {
        if let Some(spread) = cell.spread.filter(|spread| spread.standard_error > 0.0) {
            groups.entry(*group).or_default().push(logarithm(&spread));
            sampling.push((*group, trigamma(spread.degrees_of_freedom / 2.0)));
        }
    }
    groups.retain(|_, members| members.len() >= LEAST_IN_GROUP);
    sampling.retain(|(group, _)| groups.contains_key(group));
    let within_freedom = sampling.len() - groups.len();
    if within_freedom < LEAST_TO_POOL {
        return cells.iter().map(|(_, cell)| *cell).collect();
    }
    // Variance of the logarithms within groups, minus the part that sampling alone explains.
    let mean = |members: &[f64]| members.iter().sum::<f64>() / members.len() as f64;
    let squares: f64 = groups
        .values()
        .map(|members| members.iter().map(|value| (value - mean(members)).powi(2)).sum::<f64>())
        .sum();
    let sampling_variance = sampling.iter().map(|(_, part)| part).sum::<f64>() / sampling.len() as f64;
    let excess = squares / within_freedom as f64 - sampling_variance;
    let lent_freedom = if excess > 0.0 { (2.0 * inverse_trigamma(excess)).min(MOST_LENT) } else { MOST_LENT };
    let half = lent_freedom / 2.0;
    let group_variance = |members: &[f64]| (mean(members) + digamma(half) - half.ln()).exp();
    cells
        .iter()
        .map(|(group, cell)| {
            let (Some(spread), Some(members)) = (cell.spread, groups.get(group)) else { return *cell };
            if spread.standard_error == 0.0 {
                return *cell;
            }
            let freedom = spread.degrees_of_freedom + lent_freedom;
            let weighted_variance = spread.degrees_of_freedom * spread.standard_error.powi(2);
            let variance = (lent_freedom * group_variance(members) + weighted_variance) / freedom;
            BootstrapEstimate {
                spread: Some(LogScatter { standard_error: variance.sqrt(), degrees_of_freedom: freedom }),
                ..*cell
            }
        })
        .collect()
}

/// Logarithm of the variance, corrected for its sampling bias.
fn logarithm(spread: &LogScatter) -> f64 {
    let half = spread.degrees_of_freedom / 2.0;
    2.0 * spread.standard_error.ln() - digamma(half) + half.ln()
}

/// The trigamma function ψ₁ for x > 0: shifted up by recurrence to where its asymptotic series holds
/// (Abramowitz & Stegun, 6.4.6 and 6.4.12).
fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 12.0 {
        sum += x.powi(-2);
        x += 1.0;
    }
    let square = x.powi(-2);
    let series = 1.0 / 6.0 - square * (1.0 / 30.0 - square * (1.0 / 42.0 - square / 30.0));
    sum + 1.0 / x + square / 2.0 + series * square / x
}

/// Inverse of [`trigamma`], by bisection on the logarithm; the function decreases monotonically.
fn inverse_trigamma(value: f64) -> f64 {
    let (mut low, mut high) = (1e-6_f64.ln(), 1e6_f64.ln());
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if trigamma(middle.exp()) > value { low = middle } else { high = middle }
    }
    f64::midpoint(low, high).exp()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all_close(got: &[f64], want: &[f64]) {
        assert_eq!(got.len(), want.len());
        for (got, want) in got.iter().zip(want) {
            assert!((got - want).abs() < 1e-9, "{got} is not {want}");
        }
    }

    /// By hand: of 0.01, 0.02, 0.03, 0.04 the smallest is multiplied by 4, the next by 3 and so on: 0.04,
    /// 0.06, 0.06, 0.04, and no value may be below the one before it.
    #[test]
    fn holm_by_hand() {
        all_close(&holm(&[0.03, 0.01, 0.04, 0.02]), &[0.06, 0.04, 0.06, 0.06]);
        all_close(&holm(&[0.6, 0.7]), &[1.0, 1.0]);
        all_close(&holm(&[]), &[]);
    }

    /// The example of the paper of 1995: fifteen tests of a treatment after heart attacks. At 5 % Holm finds
    /// three, as Bonferroni does, and Benjamini and Hochberg find four.
    #[test]
    fn the_published_example() {
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
            0.6528, 0.7590, 1.0000,
        ];
        let found = |adjusted: Vec<f64>| adjusted.iter().filter(|p| **p <= 0.05).count();
        assert_eq!(found(holm(&p)), 3);
        assert_eq!(found(benjamini_hochberg(&p)), 4);
        // By hand: 0.0095 · 15 / 4.
        assert!((benjamini_hochberg(&p)[3] - 0.035_625).abs() < 1e-12);
    }

    /// Known values: ψ₁(1) = π²/6, ψ₁(½) = π²/2, ψ₁(2) = π²/6 − 1.
    #[test]
    fn trigamma_by_its_known_values() {
        let sixth = std::f64::consts::PI.powi(2) / 6.0;
        for (x, want) in [(1.0, sixth), (0.5, 3.0 * sixth), (2.0, sixth - 1.0)] {
            assert!((trigamma(x) - want).abs() < 1e-10, "{x}");
            assert!((inverse_trigamma(want) - x).abs() < 1e-8, "{x}");
        }
    }

    fn cells(errors: &[f64], freedom: f64) -> Vec<(usize, BootstrapEstimate)> {
        let spread = |error: &f64| Some(LogScatter { standard_error: *error, degrees_of_freedom: freedom });
        errors.iter().map(|error| (0, BootstrapEstimate { value: 1.0, spread: spread(error) })).collect()
    }

    /// By hand: equal variances are closer than sampling explains, so the maximum is lent. The sampling bias
    /// of 4 degrees of freedom is removed from the logarithm, that of the 8 lent ones is added: the variance
    /// of the group is s² · exp(ln 2 − ψ(2) + ψ(4) − ln 4) = s² · exp(5/6) / 2 = 1.1505 s².
    #[test]
    fn equal_variances_lend_all_they_may() {
        for cell in moderated(&cells(&[0.1; 6], 4.0)) {
            let spread = cell.spread.unwrap();
            assert_eq!(spread.degrees_of_freedom, 12.0);
            let want = (8.0 * 1.150_49 + 4.0) / 12.0 * 0.01;
            assert!((spread.standard_error.powi(2) / want - 1.0).abs() < 1e-4, "{spread:?}");
        }
    }

    #[test]
    fn few_still_and_lone_cells_stay_as_they_are() {
        let few = cells(&[0.1, 0.2, 0.3, 0.1, 0.2], 4.0);
        assert_eq!(moderated(&few), few.iter().map(|(_, cell)| *cell).collect::<Vec<_>>());
        let mut mixed = cells(&[0.1, 0.1, 0.2, 0.2, 0.3, 0.3, 0.0], 4.0);
        mixed.push((1, mixed[0].1));
        mixed.push((0, BootstrapEstimate { value: 1.0, spread: None }));
        let got = moderated(&mixed);
        assert!(got[0].spread.unwrap().standard_error > 0.1 && got[5].spread.unwrap().standard_error < 0.3);
        for index in 6..9 {
            assert_eq!(got[index], mixed[index].1);
        }
    }

    proptest! {
        #[test]
        fn adjusted_values_are_in_order_and_never_smaller(p in prop::collection::vec(0.0_f64..=1.0, 1..40)) {
            let (holm, hochberg) = (holm(&p), benjamini_hochberg(&p));
            for first in 0..p.len() {
                let near = 1e-12;
                prop_assert!(p[first] <= hochberg[first] + near && hochberg[first] <= holm[first] + near);
                prop_assert!(holm[first] <= 1.0);
                for second in 0..p.len() {
                    if p[first] < p[second] {
                        prop_assert!(holm[first] <= holm[second] && hochberg[first] <= hochberg[second]);
                    }
                }
            }
            // At least as many rejections as Bonferroni's procedure.
            let count = p.len() as f64;
            prop_assert!(p.iter().zip(&holm).all(|(p, holm)| (p * count > 0.05) || *holm <= 0.05));
        }

        #[test]
        fn variances_stay_between_themselves_and_their_group(
            errors in prop::collection::vec(0.001_f64..1.0, 6..20),
        ) {
            let cells = cells(&errors, 4.0);
            let got = moderated(&cells);
            let spreads: Vec<LogScatter> = got.iter().filter_map(|cell| cell.spread).collect();
            // In the same order as before, and closer together.
            for (first, a) in spreads.iter().zip(&errors) {
                for (second, b) in spreads.iter().zip(&errors) {
                    prop_assert!(a >= b || first.standard_error <= second.standard_error);
                }
                prop_assert!(first.degrees_of_freedom > 4.0 && first.degrees_of_freedom <= 4.0 + MOST_LENT);
            }
        }
    }
}
