//! When to look whether there are enough rounds, and how wide intervals must be for having looked.
//!
//! A run that goes on until its intervals are narrow looks at them again and again. Each look at 95 % is another
//! chance to be wrong, and a look whose rounds happen to agree ends the run: naive looking after every round
//! raises false alarms beyond 5 %. So the looks are planned before the first round, and the error probability of
//! 5 % is spent on them in portions (Lan & DeMets, "Discrete Sequential Boundaries for Clinical Trials",
//! *Biometrika* 70, 1983). The interval of a look has the probability of its own portion, and all of them
//! together hold the truth with 95 % (repeated confidence intervals: Jennison & Turnbull, "Repeated Confidence
//! Intervals for Group Sequential Clinical Trials", *Controlled Clinical Trials* 5, 1984).
//!
//! The portions are added up as if no two looks could be wrong together (Bonferroni's inequality). Exact
//! boundaries would make use of how looks depend on each other, which for bootstraps of medians nobody knows;
//! the sum always holds, and is a little too careful.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::statistics::ALPHA;

/// Each look has this many times the rounds of the one before, at least. More looks make each interval wider,
/// fewer make a run go on after it has enough.
const GROWTH: f64 = 1.4;

/// Rounds of a run that goes on until it is precise, at most.
pub const PRECISION_ROUNDS: u32 = 40;

/// How the error probability is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spending {
    /// Nearly nothing early, nearly all at the end: α*(t) = 2 − 2 Φ(z ÷ √t) with z the normal quantile at 1 − α/2.
    OBrienFleming,
    /// Nearly even: α*(t) = α ln(1 + (e − 1) t).
    Pocock,
}

impl Spending {
    /// Probability that may have been spent when a share `t` of all rounds has been seen.
    #[must_use]
    pub fn spent(self, t: f64) -> f64 {
        let t = t.clamp(0.0, 1.0);
        match self {
            _ if t == 0.0 => 0.0,
            Self::OBrienFleming => {
                let normal = Normal::standard();
                2.0 * normal.sf(normal.inverse_cdf(1.0 - ALPHA / 2.0) / t.sqrt())
            }
            Self::Pocock => ALPHA * (1.0 + (std::f64::consts::E - 1.0) * t).ln(),
        }
    }
}

/// The planned looks of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looks {
    /// Rounds after which is looked, ascending; the last one is the most that there can be.
    rounds: Vec<u32>,
    spending: Spending,
}

impl Looks {
    /// Looks from `least` rounds on, up to `most`, spending nearly evenly: quiet systems are done after few
    /// rounds. O'Brien and Fleming's way, made for trials that nobody wants to stop early, leaves next to nothing
    /// for the first looks (where 40 rounds may be, 3 in 100 million for that after 5): simulated, it takes 14
    /// rounds where this takes 9, and saves one in thirty where systems scatter so much that all are needed
    /// (`tests/looks.rs`).
    #[must_use]
    pub fn new(least: u32, most: u32) -> Self {
        Self::spending(least, most, Spending::Pocock)
    }

    /// The same with a chosen way to spend.
    #[must_use]
    pub fn spending(least: u32, most: u32, spending: Spending) -> Self {
        let most = most.max(least).max(1);
        let mut rounds = Vec::new();
        let mut round = least.max(1);
        while round < most {
            rounds.push(round);
            round = ((f64::from(round) * GROWTH).ceil() as u32).max(round + 1);
        }
        // A last look right after another one would be of no use, and its portion lost.
        if rounds.last().is_some_and(|last| f64::from(most) < f64::from(*last) * GROWTH.sqrt())
            && rounds.len() > 1
        {
            rounds.pop();
        }
        rounds.push(most);
        Self { rounds, spending }
    }

    /// Rounds after which is looked, ascending.
    #[must_use]
    pub fn rounds(&self) -> &[u32] {
        &self.rounds
    }

    /// The first look after more than `after` rounds; none when that was the last.
    #[must_use]
    pub fn next(&self, after: u32) -> Option<u32> {
        self.rounds.iter().copied().find(|round| *round > after)
    }

    /// The two-sided error probability of an interval that is looked at after `round` rounds, as planned.
    #[must_use]
    pub fn alpha_at(&self, round: u32) -> f64 {
        self.spent(round) - self.spent_before(round)
    }

    /// That of an interval after the run's last round, where the run ends whatever the interval is: all that is
    /// left. For a run whose budget ends before its most rounds, or that is interrupted.
    #[must_use]
    pub fn alpha_at_end(&self, round: u32) -> f64 {
        ALPHA - self.spent_before(round)
    }

    fn spent(&self, round: u32) -> f64 {
        let most = self.rounds.last().copied().unwrap_or(1);
        self.spending.spent(f64::from(round) / f64::from(most))
    }

    /// Spent on the planned looks before this one.
    fn spent_before(&self, round: u32) -> f64 {
        self.rounds.iter().rev().find(|look| **look < round).map_or(0.0, |look| self.spent(*look))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn looks_by_hand() {
        let looks = Looks::new(5, 40);
        assert_eq!(looks.rounds(), [5, 7, 10, 14, 20, 28, 40]);
        assert_eq!(
            (looks.next(0), looks.next(5), looks.next(6), looks.next(40)),
            (Some(5), Some(7), Some(7), None)
        );
        assert_eq!(Looks::new(5, 5).rounds(), [5]);
        assert_eq!(Looks::new(5, 6).rounds(), [5, 6]);
        assert_eq!(Looks::new(5, 8).rounds(), [5, 8], "7 and 8 would be too close");
        assert_eq!(Looks::new(5, 3).rounds(), [5], "at least as many as are needed");
        // One look has all of it.
        assert!((Looks::new(5, 5).alpha_at(5) - ALPHA).abs() < 1e-9);
    }

    /// Of the tables of Lan & DeMets for 5 % two-sided: after half of it 0.0056 has been spent in the manner of
    /// O'Brien and Fleming (a bound of 2.77 to both sides); 0.05 ln(1 + 1.71828 / 2) = 0.0310 in Pocock's.
    #[test]
    fn spending_by_hand() {
        assert!((Spending::OBrienFleming.spent(0.5) - 0.005_57).abs() < 1e-4);
        assert!((Spending::Pocock.spent(0.5) - 0.031_0).abs() < 1e-4);
        for spending in [Spending::OBrienFleming, Spending::Pocock] {
            assert!(spending.spent(0.0).abs() < 1e-12 && (spending.spent(1.0) - ALPHA).abs() < 1e-9);
        }
    }

    #[test]
    fn a_run_that_ends_early_spends_what_is_left() {
        let looks = Looks::new(5, 40);
        let left = ALPHA - Spending::Pocock.spent(5.0 / 40.0);
        assert!((looks.alpha_at_end(6) - left).abs() < 1e-12, "one look has been taken");
        assert!((looks.alpha_at_end(5) - ALPHA).abs() < 1e-12, "none has");
        assert!((looks.alpha_at_end(40) - looks.alpha_at(40)).abs() < 1e-9, "the last was planned so");
    }

    proptest! {
        #[test]
        fn all_portions_together_are_five_per_cent(least in 1_u32..10, more in 0_u32..300, even in any::<bool>()) {
            let spending = if even { Spending::Pocock } else { Spending::OBrienFleming };
            let looks = Looks::spending(least, least + more, spending);
            let rounds = looks.rounds();
            prop_assert!(rounds.is_sorted() && rounds[0] == least && rounds[rounds.len() - 1] == least + more);
            let sum: f64 = rounds.iter().map(|round| looks.alpha_at(*round)).sum();
            prop_assert!((sum - ALPHA).abs() < 1e-9);
            prop_assert!(rounds.iter().all(|round| looks.alpha_at(*round) > 0.0));
        }
    }
}
