//! Tests how often a factor of a phase shows an effect of writers that there is not, with a run's default of three
//! rounds.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use jsonathlon_stats::phase_factors::{PhaseFactors, PhaseRates};
use jsonathlon_stats::statistics::{estimate, paired_ratio};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const ROUNDS: usize = 3;
const RUNS: u32 = 1_000;
/// Share of false alarms that 95 % intervals allow.
const ALLOWED: f64 = 0.05;
/// Scatter of a phase's rate on its logarithm, and that of a round, which all of its phases share.
const NOISE: [(f64, f64); 3] = [(0.01, 0.0), (0.05, 0.2), (0.15, 0.1)];

const NAMES: [&str; 3] = ["interference", "debt", "disorder"];

fn values(factors: PhaseFactors) -> [f64; 3] {
    let PhaseFactors { interference, debt, disorder } = factors;
    [interference, debt, disorder]
}

/// Approximately normal numbers with mean 0 and standard deviation 1.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

/// One round of a configuration. `both` is what writers leave of the rate of questions while they work.
fn round(random: &mut ChaCha8Rng, scatter: f64, shared: f64, both: f64, has_stalls: bool) -> PhaseRates {
    let mut rate = || {
        // Something else on the machine takes a third of the time of every tenth phase.
        let is_stalled = has_stalls && random.random::<f64>() < 0.1;
        let stall = if is_stalled { 2.0 / 3.0 } else { 1.0 };
        100.0 * stall * (shared + scatter * normal(random)).exp()
    };
    PhaseRates { still: rate(), both: both * rate(), left: rate(), drained: rate() }
}

/// All rounds of a configuration in one run. `shared` is the state of the machine in each of them.
fn run(
    random: &mut ChaCha8Rng,
    scatter: f64,
    shared: &[f64],
    both: f64,
    has_stalls: bool,
) -> Vec<PhaseRates> {
    shared.iter().map(|shared| round(random, scatter, *shared, both, has_stalls)).collect()
}

fn shared(random: &mut ChaCha8Rng, scatter: f64) -> Vec<f64> {
    (0..ROUNDS).map(|_| scatter * normal(random)).collect()
}

/// One value of each round, as intervals of a metric are made of.
fn series(rounds: &[PhaseRates], value: impl Fn(&PhaseRates) -> f64) -> Vec<Vec<f64>> {
    rounds.iter().map(|round| vec![value(round)]).collect()
}

fn factor(rounds: &[PhaseRates], index: usize) -> Vec<Vec<f64>> {
    series(rounds, |round| values(round.factors().unwrap())[index])
}

fn share(count: u32) -> f64 {
    f64::from(count) / f64::from(RUNS)
}

#[test]
fn no_factor_of_a_system_that_writers_do_not_touch_excludes_one_too_often() {
    let mut random = ChaCha8Rng::seed_from_u64(13);
    for (scatter, of_round) in NOISE {
        for has_stalls in [false, true] {
            let mut alarms = [0; NAMES.len()];
            for _ in 0..RUNS {
                let shared = shared(&mut random, of_round);
                let rounds = run(&mut random, scatter, &shared, 1.0, has_stalls);
                for (index, alarms) in alarms.iter_mut().enumerate() {
                    let estimate = estimate(&factor(&rounds, index)).unwrap();
                    *alarms += u32::from(estimate.excludes_one());
                }
            }
            for (name, alarms) in NAMES.into_iter().zip(alarms) {
                let alarms = share(alarms);
                println!("{name}, scatter {scatter}, stalls {has_stalls}: {:.1} %", 100.0 * alarms);
                assert!(alarms <= ALLOWED, "{name}: {alarms}, scatter {scatter}, stalls {has_stalls}");
            }
        }
    }
}

/// The ratio of two configurations is paired by round, and so must not see what a round does to both of them.
#[test]
fn two_equal_configurations_are_not_called_different_too_often() {
    let mut random = ChaCha8Rng::seed_from_u64(17);
    for (scatter, of_round) in NOISE {
        let mut alarms = [0; NAMES.len() + 1];
        for _ in 0..RUNS {
            let shared = shared(&mut random, of_round);
            let [one, other] = [(); 2].map(|()| run(&mut random, scatter, &shared, 0.6, true));
            for (index, alarms) in alarms.iter_mut().enumerate() {
                let value = |rounds: &[PhaseRates]| match index {
                    index if index < NAMES.len() => factor(rounds, index),
                    _ => series(rounds, |round| round.both),
                };
                let ratio = paired_ratio(&value(&one), &value(&other)).unwrap();
                *alarms += u32::from(ratio.excludes_one());
            }
        }
        for (name, alarms) in NAMES.into_iter().chain(["questions beside writers"]).zip(alarms) {
            let alarms = share(alarms);
            println!("{name} of two, scatter {scatter}: {:.1} %", 100.0 * alarms);
            assert!(alarms <= ALLOWED, "{name}: {alarms}, scatter {scatter}");
        }
    }
}

/// Rounds that scatter by a hundredth show a loss of a fifth nearly always; what it does not touch stays.
#[test]
fn interference_of_a_fifth_is_found() {
    let mut random = ChaCha8Rng::seed_from_u64(19);
    let mut found = [0; NAMES.len()];
    for _ in 0..RUNS {
        let shared = shared(&mut random, 0.2);
        let rounds = run(&mut random, 0.01, &shared, 0.8, false);
        for (index, found) in found.iter_mut().enumerate() {
            *found += u32::from(estimate(&factor(&rounds, index)).unwrap().excludes_one());
        }
    }
    let [interference, debt, disorder] = found.map(share);
    println!("{interference} {debt} {disorder}");
    assert!(interference >= 0.9, "{interference}");
    assert!(debt <= ALLOWED && disorder <= ALLOWED, "{debt} {disorder}");
}
