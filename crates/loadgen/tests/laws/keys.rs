//! Tests of request distributions against their definitions, by the chi-square test with fixed seeds.

use jsonathlon_loadgen::keys::{KeyChooser, KeyPermutation, OperationChooser, Zipf};
use jsonathlon_loadgen::mix::RequestDistribution;
use jsonathlon_loadgen::operation::Operation;
use jsonathlon_loadgen::random::Random;
use proptest::prelude::*;

/// Returns `true` if counts follow probabilities. With many classes the statistic is normally distributed;
/// all but three in ten million samples stay within five standard deviations. A constant of twenty is added
/// for the longer tails of small samples.
fn follows(counts: &[u64], probabilities: &[f64]) -> bool {
    let draws: u64 = counts.iter().sum();
    let total: f64 = probabilities.iter().sum();
    let statistic: f64 = counts
        .iter()
        .zip(probabilities)
        .map(|(count, probability)| {
            let expected = draws as f64 * probability / total;
            assert!(expected >= 5.0, "too few draws for the test");
            (*count as f64 - expected).powi(2) / expected
        })
        .sum();
    let freedom = (counts.len() - 1) as f64;
    statistic < freedom + 5.0 * (2.0 * freedom).sqrt() + 20.0
}

/// Unnormalised probability of the ranks `from` to `to`: exact for few ranks, otherwise by the
/// Euler–Maclaurin formula.
fn weight(from: u64, to: u64) -> f64 {
    let hat = |x: f64| x.powf(-0.99);
    if to - from < 10_000 {
        return (from..=to).map(|rank| hat(rank as f64)).sum();
    }
    let integral = |x: f64| 100.0 * x.powf(0.01);
    let (a, b) = (from as f64, to as f64);
    integral(b) - integral(a) + f64::midpoint(hat(a), hat(b)) + 0.99 / 12.0 * (a.powf(-1.99) - b.powf(-1.99))
}

#[test]
fn zipf_keeps_its_law_rank_by_rank() {
    for (ranks, draws) in [(1, 100), (2, 100_000), (3, 100_000), (10, 200_000), (1_000, 2_000_000)] {
        for seed in 0..3 {
            let (zipf, mut random) = (Zipf::new(ranks), Random::new(seed, 0));
            let mut counts = vec![0; ranks as usize];
            for _ in 0..draws {
                counts[zipf.draw(&mut random) as usize - 1] += 1;
            }
            let law: Vec<f64> = (1..=ranks).map(|rank| weight(rank, rank)).collect();
            assert!(follows(&counts, &law), "{ranks} ranks, seed {seed}: {counts:?}");
        }
    }
}

#[test]
fn zipf_keeps_its_law_over_many_ranks() {
    for ranks in [100_000, 1_000_003, (1 << 30) - 1, 10_000_000_000] {
        let (zipf, mut random) = (Zipf::new(ranks), Random::new(11, ranks));
        // Classes of ranks 1, 2 to 3, 4 to 7, 8 to 15 and so on.
        let starts: Vec<u64> = (0..64).map(|power| 1 << power).take_while(|start| *start <= ranks).collect();
        let mut counts = vec![0; starts.len()];
        for _ in 0..1_000_000 {
            let rank = zipf.draw(&mut random);
            assert!((1..=ranks).contains(&rank));
            counts[rank.ilog2() as usize] += 1;
        }
        let law: Vec<f64> = starts.iter().map(|start| weight(*start, (2 * start - 1).min(ranks))).collect();
        assert!(follows(&counts, &law), "{ranks} ranks: {counts:?}");
    }
}

#[test]
fn uniform_draws_from_all_that_are_there() {
    let keys = KeyChooser::new(RequestDistribution::Uniform, 500);
    let mut random = Random::new(3, 1);
    let mut counts = vec![0; 700];
    for _ in 0..700_000 {
        counts[keys.draw(700, &mut random) as usize] += 1;
    }
    assert!(follows(&counts, &vec![1.0; 700]));
}

#[test]
fn zipfian_keeps_to_the_records_of_the_start_and_scatters_them() {
    let (records, mut random) = (1_000, Random::new(4, 0));
    let keys = KeyChooser::new(RequestDistribution::Zipfian, records);
    let scatter = KeyPermutation::new(records);
    let mut counts = vec![0; records as usize];
    for draw in 0..1_000_000 {
        // Growth of the set must not move the hot keys.
        counts[keys.draw(records + draw, &mut random) as usize] += 1;
    }
    let mut law = vec![0.0; records as usize];
    for rank in 1..=records {
        law[scatter.position(rank - 1) as usize] = weight(rank, rank);
    }
    assert!(follows(&counts, &law));
    // The ten hottest keys are not adjacent.
    let mut hottest: Vec<u64> = (0..10).map(|rank| scatter.position(rank)).collect();
    hottest.sort_unstable();
    assert!(hottest.windows(2).filter(|pair| pair[1] - pair[0] > 5).count() >= 6, "{hottest:?}");
}

#[test]
fn latest_counts_back_from_the_newest() {
    let (start, mut random) = (1_000, Random::new(5, 0));
    let keys = KeyChooser::new(RequestDistribution::Latest, start);
    for records in [1_000, 5_000] {
        let mut counts = vec![0; start as usize];
        for _ in 0..1_000_000 {
            let number = keys.draw(records, &mut random);
            assert!(number < records && number >= records - start);
            counts[(records - 1 - number) as usize] += 1;
        }
        let law: Vec<f64> = (1..=start).map(|rank| weight(rank, rank)).collect();
        assert!(follows(&counts, &law), "{records}");
    }
}

#[test]
fn scatter_is_a_bijection() {
    for count in (1..=600).chain([1_000, 4_095, 4_096, 4_097, 100_000]) {
        let scatter = KeyPermutation::new(count);
        let mut reached = vec![false; count as usize];
        for number in 0..count {
            let place = scatter.position(number) as usize;
            assert!(!reached[place], "{count}: {place} twice");
            reached[place] = true;
        }
    }
}

proptest! {
    #[test]
    fn scatter_is_a_bijection_on_any_count(count in 1_u64..20_000) {
        let scatter = KeyPermutation::new(count);
        let mut places: Vec<u64> = (0..count).map(|number| scatter.position(number)).collect();
        places.sort_unstable();
        prop_assert!(places.into_iter().eq(0..count));
    }

    #[test]
    fn large_counts_stay_in_range_and_apart(count in 1_u64.., number in any::<u64>()) {
        let scatter = KeyPermutation::new(count);
        let number = number % count;
        prop_assert!(scatter.position(number) < count);
        let other = (number + 1) % count;
        prop_assert_eq!(scatter.position(number) == scatter.position(other), number == other);
    }

    #[test]
    fn operations_keep_their_shares(parts in prop::collection::vec(1_u32..50, 1..8), seed in any::<u64>()) {
        let sum: u32 = parts.iter().sum();
        let shares: Vec<(Operation, f64)> = Operation::ALL
            .into_iter()
            .zip(&parts)
            .map(|(operation, part)| (operation, f64::from(*part) / f64::from(sum)))
            .collect();
        let drawn = OperationChooser::new(&shares).unwrap();
        let mut random = Random::new(seed, 0);
        let mut counts = vec![0; parts.len()];
        for _ in 0..40_000 {
            let operation = drawn.draw(&mut random);
            counts[shares.iter().position(|(known, _)| *known == operation).unwrap()] += 1;
        }
        let law: Vec<f64> = shares.iter().map(|(_, share)| *share).collect();
        prop_assert!(follows(&counts, &law));
    }
}

#[test]
fn shares_that_make_no_mix_are_refused() {
    let refused = |shares: &[(Operation, f64)]| OperationChooser::new(shares).unwrap_err();
    assert_eq!(refused(&[]), "a mix without operations");
    let most = refused(&[(Operation::Read, 0.5), (Operation::Update, 0.4)]);
    assert_eq!(most, "the shares of operations add up to 0.9; they must add up to 1");
    for share in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let message = refused(&[(Operation::Read, share), (Operation::Update, 1.0)]);
        assert!(message.starts_with("the share of read is "), "{message}");
    }
    let only = OperationChooser::new(&[(Operation::Scan, 1.0)]).unwrap();
    assert_eq!(only.draw(&mut Random::new(1, 1)), Operation::Scan);
}
