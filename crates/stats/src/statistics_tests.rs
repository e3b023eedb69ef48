use proptest::prelude::*;

use super::*;

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
    // A wide interval is kept if it lies far from 1.
    let far = paired_ratio(&[vec![1e6], vec![1.6e6]], &[vec![1.0], vec![1.0]]).unwrap();
    assert_eq!(far.if_meaningful_ratio(), far);
    assert!(far.high.unwrap() / far.low.unwrap() > MAX_MEANINGFUL_RATIO && far.excludes_one(), "{far:?}");
}

#[test]
fn trials_fall_into_two_groups_or_do_not() {
    let by_rotation = [2480.0, 281.0, 2330.0, 293.0, 2620.0, 282.0];
    let [low, high] = two_groups(&by_rotation).unwrap();
    assert_eq!((low.trials, low.median, high.trials, high.median), (3, 282.0, 3, 2480.0));
    let [zeros, positives] = two_groups(&[0.0, 2200.0, 0.0, 2100.0]).unwrap();
    assert_eq!((zeros.median, positives.median), (0.0, 2150.0));
    for samples in [
        &[281.0, 293.0, 282.0, 300.0][..],
        // Samples that are scattered evenly, or that have an outlier, form no groups.
        &[100.0, 190.0, 400.0, 900.0, 1700.0],
        &[281.0, 293.0, 282.0, 300.0, 280.0, 290.0, 2480.0],
        &[281.0, 2480.0],
        &[0.0, 0.0, 0.0, 0.0],
        &[],
    ] {
        assert_eq!(two_groups(samples), None, "{samples:?}");
    }
}

#[test]
fn identical_rounds_have_an_interval_of_no_width() {
    let got = estimate(&vec![vec![2.0, 2.0]; 5]).unwrap();
    assert_eq!((got.low, got.high), (Some(2.0), Some(2.0)));
    assert!(got.excludes_one(), "a ratio of exactly two is not one");
    assert!(!estimate(&vec![vec![1.0]; 5]).unwrap().excludes_one());
}

/// By hand: resamples of two rounds {1}, {e²} have the medians 1, (1+e²)/2, e² with probabilities ¼, ½,
/// ¼. Their logarithms are 0, 1.4338, 2: mean 1.2169, standard deviation 0.7401. Multiplied by √2 and by
/// t(0.975, 1) = 12.706 this gives a reach of 13.30 on the logarithm.
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
    // A round that only one side finished is not a pair.
    let with_a_gap = paired_ratio(&[vec![2.0], vec![], vec![200.0]], &b).unwrap();
    assert_eq!((with_a_gap.low, with_a_gap.high), (Some(2.0), Some(2.0)));
}

/// By hand: both sides scatter as in `three_rounds_by_hand`, so the variance is twice 14/27 · 3/2, the
/// standard error 1.2472, the degrees of freedom 2 + 2, t(0.975, 4) = 2.776, the reach 3.463. If one side
/// does not scatter, the reach is that of the other.
#[test]
fn an_unpaired_ratio_by_hand() {
    let e = 1.0_f64.exp();
    let scattered = [vec![1.0 / e], vec![1.0], vec![e]];
    let doubled = scattered.clone().map(|round| vec![2.0 * round[0]]);
    let got = unpaired_ratio(&doubled, &scattered).unwrap();
    assert_eq!(got.median, 2.0);
    close(got.high.map(|high| (high / 2.0).ln()), 3.463);
    close(got.low.map(|low| (2.0 / low).ln()), 3.463);
    let against_constant = unpaired_ratio(&scattered, &vec![vec![1.0]; 7]).unwrap();
    close(against_constant.high.map(f64::ln), 3.795);
    let constant = unpaired_ratio(&vec![vec![3.0]; 2], &vec![vec![1.5]; 2]).unwrap();
    assert_eq!((constant.median, constant.low, constant.high), (2.0, Some(2.0), Some(2.0)));
}

/// By hand: variance 0.7401² · 2 = 1.0955 of two rounds (see `two_rounds_by_hand`) and 14/27 · 3/2 =
/// 0.7778 of three; standard error √1.8733 = 1.3687; degrees of freedom 1.8733² / (1.0955² / 1 + 0.7778²
/// / 2) = 2.335; t(0.975, 2.335) = 3.761; the reach 5.15.
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

/// t(0.995, 2) = 9.925 and t(0.95, 2) = 2.920 from Student's table, with the standard error of
/// `three_rounds_by_hand`.
#[test]
fn intervals_and_tests_at_other_levels_by_hand() {
    let e = 1.0_f64.exp();
    let rounds = [vec![1.0 / e], vec![1.0], vec![e]];
    close(estimate_at(&rounds, 0.01).unwrap().high.map(f64::ln), 9.925 * 0.8819);
    let constant = vec![vec![1.0]; 3];
    close(paired_ratio_at(&rounds, &constant, 0.1).unwrap().high.map(f64::ln), 2.920 * 0.8819);
    let spread = LogScatter { standard_error: 0.1, degrees_of_freedom: 2.0 };
    let ratio = BootstrapEstimate { value: (0.292_f64).exp(), spread: Some(spread) };
    close(ratio.p_above(1.0), 0.05);
    close(ratio.p_differs(), 0.10);
    close(ratio.p_above(ratio.value), 0.5);
    let turned = BootstrapEstimate { value: 1.0 / ratio.value, ..ratio };
    close(turned.p_above(1.0), 0.95);
    close(turned.p_differs(), 0.10);
    assert_eq!(BootstrapEstimate { value: 2.0, spread: None }.p_above(1.0), None);
    let certain = |value| BootstrapEstimate {
        value,
        spread: Some(LogScatter { standard_error: 0.0, degrees_of_freedom: 4.0 }),
    };
    assert_eq!((certain(2.0).p_above(1.0), certain(0.5).p_above(1.0)), (Some(0.0), Some(1.0)));
    assert_eq!((certain(1.0).p_above(1.0), certain(1.0).p_differs()), (Some(0.5), Some(1.0)));
}

/// By hand: a series as in `three_rounds_by_hand` and one that does not scatter; half of the first one's
/// scatter is left on the logarithm. A round that one series lacks is left out of both.
#[test]
fn a_mean_of_two_series_by_hand() {
    let e = 1.0_f64.exp();
    let (varying, constant) = (vec![vec![1.0 / e], vec![1.0], vec![e], vec![9.0]], vec![vec![4.0]; 3]);
    let got = bootstrap_geometric_mean(&[&varying, &constant]).unwrap();
    assert_eq!(got.value, 2.0);
    close(got.interval_at(ALPHA).high.map(|high| (high / 2.0).ln()), 3.795 / 2.0);
    // Effects of a round on both series cancel out.
    let quotient = bootstrap_quotient(&constant, &[&constant, &varying[..3]]).unwrap();
    assert_eq!(quotient.value, 2.0);
    close(quotient.interval_at(ALPHA).high.map(|high| (high / 2.0).ln()), 3.795 / 2.0);
    let twice = varying.iter().map(|round| vec![2.0 * round[0]]).collect::<Vec<_>>();
    assert_eq!(bootstrap_quotient(&twice, &[&varying]).unwrap().spread.unwrap().standard_error, 0.0);
    assert_eq!(bootstrap_geometric_mean(&[]), None);
    assert_eq!(bootstrap_geometric_mean(&[&varying, &[]]), None);
}

/// By hand: the ratios of two questions are 2 and 8, without scatter 4 on average. With a question that
/// scatters as in `three_rounds_by_hand`, half of that scatter is left; a disturbance of a whole round is
/// not, because it affects both systems.
#[test]
fn a_mean_of_two_ratios_by_hand() {
    let e = 1.0_f64.exp();
    let constant = |value: f64| vec![vec![value]; 3];
    let (two, one, eight) = (constant(2.0), constant(1.0), constant(8.0));
    let exact = bootstrap_mean_ratio(&[(&two, &one), (&eight, &one)]).unwrap();
    assert!((exact.value - 4.0).abs() < 1e-12 && exact.spread.unwrap().standard_error < 1e-12);
    let varying = [vec![2.0 / e], vec![2.0], vec![2.0 * e]];
    let got = bootstrap_mean_ratio(&[(&varying, &one), (&eight, &one)]).unwrap();
    close(got.interval_at(ALPHA).high.map(|high| (high / 4.0).ln()), 3.795 / 2.0);
    let disturbed = [vec![1.0 / e], vec![1.0], vec![e]];
    let paired = bootstrap_mean_ratio(&[(&varying, &disturbed), (&eight, &one)]).unwrap();
    assert!(paired.spread.unwrap().standard_error < 1e-12, "{paired:?}");
    // A round that one question lacks is left out of all.
    let short = bootstrap_mean_ratio(&[(&varying, &one), (&eight[..1], &one)]).unwrap();
    assert!((short.value - (8.0 * 2.0 / e).sqrt()).abs() < 1e-12 && short.spread.is_none());
    assert_eq!(bootstrap_mean_ratio(&[]), None);
}

#[test]
fn tails_of_the_binomial_by_hand() {
    // Two coins: at least one head with ¾, two heads with ¼.
    assert!((binomial_tail(1, 2, 0.5) - 0.75).abs() < 1e-9 && (binomial_tail(2, 2, 0.5) - 0.25).abs() < 1e-9);
    assert_eq!(binomial_tail(0, 2, 0.5), 1.0);
}

/// The limits enclose the true median about as often as they claim: five rounds around 1.
#[test]
fn limits_hold_what_they_are_to_hold() {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let covering = (0..1_000).filter(|_| {
        let got = estimate(&noisy(&mut random, &[0.0; 5], 1.0)).unwrap();
        got.low.unwrap() <= 1.0 && 1.0 <= got.high.unwrap()
    });
    let covering = covering.count();
    assert!(covering >= 950, "{covering} of 1,000");
}

#[test]
fn growth_is_told_by_its_exponent() {
    assert!((exponent(&[(1e5, 0.1), (1e6, 1.0), (1e7, 10.0)]).unwrap() - 1.0).abs() < 1e-12);
    assert!((exponent(&[(10.0, 5.0), (1000.0, 5e4)]).unwrap() - 2.0).abs() < 1e-12);
    assert_eq!(exponent(&[(10.0, 5.0)]), None);
    assert_eq!(exponent(&[(10.0, 5.0), (20.0, 0.0)]), None);
}

/// Rounds of a machine with good and bad rounds, and trials that scatter within them.
fn noisy(random: &mut ChaCha8Rng, shared: &[f64], factor: f64) -> Vec<Vec<f64>> {
    let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
    shared
        .iter()
        .map(|shared| {
            let round_effect = shared + 0.03 * normal();
            (0..3).map(|_| factor * (round_effect + 0.02 * normal()).exp()).collect()
        })
        .collect()
}

/// 2,000 comparisons of a system with itself, and of systems 20 % apart. The share of false alarms must
/// be within what a 95 % interval allows, and the real difference must be found nearly always.
#[test]
fn five_rounds_raise_few_false_alarms_and_find_a_fifth() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let (mut false_alarms, mut found) = (0, 0);
    for _ in 0..2_000 {
        let shared: Vec<f64> = (0..5).map(|_| 0.2 * random.random::<f64>()).collect();
        let baseline = noisy(&mut random, &shared, 1.0);
        let same = noisy(&mut random, &shared, 1.0);
        let slower = noisy(&mut random, &shared, 1.2);
        false_alarms += usize::from(paired_ratio(&baseline, &same).unwrap().excludes_one());
        found += usize::from(paired_ratio(&slower, &baseline).unwrap().excludes_one());
    }
    println!("{false_alarms} false alarms, {found} found, of 2,000");
    assert!(false_alarms <= 40, "{false_alarms} of 2,000");
    assert!(found >= 1_900, "{found} of 2,000");
}

/// 2,000 pairs of runs of the same system, on a quiet machine and on one whose rounds are up to 20 %
/// apart. There are no more false alarms than 95 % intervals allow. The exception is two rounds on one
/// side and more on the other: Welch's degrees of freedom are an approximation, which adds about half a
/// per cent there. On the quiet machine, five rounds per side find a slow-down by a fifth nearly always.
#[test]
fn runs_made_apart_raise_few_false_alarms_and_find_a_fifth() {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    for (rounds, others, noise, limit) in [
        (5, 5, 0.0, 100),
        (5, 5, 0.2, 100),
        (2, 2, 0.0, 100),
        (3, 3, 0.2, 100),
        (5, 2, 0.2, 130),
        (10, 5, 0.2, 100),
    ] {
        let finds_slowdown = (rounds, others, noise) == (5, 5, 0.0);
        let (mut false_alarms, mut found) = (0, 0);
        for _ in 0..2_000 {
            let mut run = |rounds: usize, factor: f64| {
                let shared: Vec<f64> = (0..rounds).map(|_| noise * random.random::<f64>()).collect();
                noisy(&mut random, &shared, factor)
            };
            let (baseline, equal, slower) = (run(rounds, 1.0), run(others, 1.0), run(others, 1.2));
            false_alarms += usize::from(unpaired_ratio(&equal, &baseline).unwrap().excludes_one());
            if finds_slowdown {
                found += usize::from(unpaired_ratio(&slower, &baseline).unwrap().excludes_one());
            }
        }
        println!("{rounds} and {others} rounds, {noise}: {false_alarms} false alarms of 2,000");
        assert!(false_alarms <= limit, "{false_alarms} of 2,000: {rounds} and {others} rounds, {noise}");
        assert!(!finds_slowdown || found >= 1_960, "{found} of 2,000");
    }
}

proptest! {
    #[test]
    fn an_unpaired_ratio_turned_round_is_its_inverse_and_holds_itself(
        a in prop::collection::vec(prop::collection::vec(0.1_f64..10.0, 1..4), 2..6),
        b in prop::collection::vec(prop::collection::vec(0.1_f64..10.0, 1..4), 2..6),
        factor in 0.01_f64..100.0,
    ) {
        let (ratio, inverse) = (unpaired_ratio(&a, &b).unwrap(), unpaired_ratio(&b, &a).unwrap());
        prop_assert!((ratio.median * inverse.median - 1.0).abs() < 1e-9);
        let (low, high) = (ratio.low.unwrap(), ratio.high.unwrap());
        prop_assert!((low * inverse.high.unwrap() - 1.0).abs() < 1e-6);
        prop_assert!(low <= ratio.median && ratio.median <= high);
        // A change of the unit does not change the result.
        let scale = |rounds: &[Vec<f64>]| -> Vec<Vec<f64>> {
            rounds.iter().map(|round| round.iter().map(|seconds| seconds * factor).collect()).collect()
        };
        let scaled = unpaired_ratio(&scale(&a), &scale(&b)).unwrap();
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
        let (ratio, inverse) = (paired_ratio(&a, &b).unwrap(), paired_ratio(&b, &a).unwrap());
        prop_assert!((ratio.median * inverse.median - 1.0).abs() < 1e-9);
        prop_assert!((ratio.low.unwrap_or(1.0) * inverse.high.unwrap_or(1.0) - 1.0).abs() < 1e-6);
    }
}
