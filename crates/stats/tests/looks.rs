//! Tests how often repeated interim analyses call equal systems different, and how many rounds they take.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use jsonathlon_stats::sequential::{SequentialPlan, Spending};
use jsonathlon_stats::statistics::{Estimate, estimate_at, paired_ratio_at};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Approximately normal numbers with mean 0 and standard deviation 1.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

/// Rounds of two equal systems. Times vary by round, by system within the round, and by trial.
fn sides(random: &mut ChaCha8Rng, rounds: u32, scatter: f64) -> [Vec<Vec<f64>>; 2] {
    let mut sides = [vec![], vec![]];
    for _ in 0..rounds {
        let shared = 0.5 * scatter * normal(random);
        for side in &mut sides {
            let own = shared + scatter * normal(random);
            side.push((0..3).map(|_| (own + 0.5 * scatter * normal(random)).exp()).collect());
        }
    }
    sides
}

fn is_within(estimate: Estimate, share: f64) -> bool {
    let (low, high) = (estimate.low.unwrap(), estimate.high.unwrap());
    high <= estimate.median * (1.0 + share) && low >= estimate.median * (1.0 - share)
}

/// Analyses the planned rounds until both intervals are within 5 %. Returns the rounds taken, and whether the
/// systems are called different.
fn run(random: &mut ChaCha8Rng, scatter: f64, most: u32, looks: &dyn Fn(u32) -> Option<f64>) -> (u32, bool) {
    let [one, other] = sides(random, most, scatter);
    for round in 5..=most {
        let Some(alpha) = looks(round) else { continue };
        let (one, other) = (&one[..round as usize], &other[..round as usize]);
        let narrow = [one, other].iter().all(|side| is_within(estimate_at(side, alpha).unwrap(), 0.05));
        if narrow || round == most {
            return (round, paired_ratio_at(one, other, alpha).unwrap().excludes_one());
        }
    }
    unreachable!()
}

/// Simulates 400 runs of two equal systems that end when both are within 5 %, at most after 40 rounds. Prints
/// the share of runs that call them different and the rounds taken, for planned analyses and for an analysis
/// after every round at 95 %.
fn look(scatter: f64) {
    const RUNS: u32 = 400;
    const MOST: u32 = 40;
    let of = |alpha: &dyn Fn(u32) -> Option<f64>| {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let runs: Vec<(u32, bool)> = (0..RUNS).map(|_| run(&mut random, scatter, MOST, alpha)).collect();
        let alarms = runs.iter().filter(|(_, alarm)| *alarm).count() as f64;
        let rounds: u32 = runs.iter().map(|(rounds, _)| rounds).sum();
        (alarms / f64::from(RUNS), f64::from(rounds) / f64::from(RUNS))
    };
    let planned = |spending| {
        let looks = SequentialPlan::with_spending(5, MOST, spending);
        of(&|round| looks.rounds().contains(&round).then(|| looks.alpha_at(round)))
    };
    let naive = of(&|_| Some(0.05));
    let (even, late) = (planned(Spending::Pocock), planned(Spending::OBrienFleming));
    for (name, (alarms, rounds)) in [("every round", naive), ("Pocock", even), ("O'Brien-Fleming", late)] {
        let alarms = 100.0 * alarms;
        println!("scatter {scatter}, {name}: {alarms:.1} % false alarms, {rounds:.1} rounds");
    }
    assert!(even.0 <= 0.05 && late.0 <= 0.05, "{even:?} {late:?}");
    assert!(scatter < 0.05 || naive.0 > even.0, "{naive:?} {even:?}");
}

#[test]
fn planned_looks_at_what_scatters_little_raise_no_more_false_alarms_than_one() {
    look(0.02);
}

#[test]
fn planned_looks_at_what_scatters_much_raise_no_more_false_alarms_than_one() {
    look(0.06);
}
