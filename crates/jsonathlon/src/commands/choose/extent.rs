//! How much is measured: everything that is wanted, or what fits into the time budget.

use serde::{Deserialize, Serialize};

use crate::exit::Failure;

/// Fewest rounds that results should have, since intervals over fewer say little.
pub(super) const ROUNDS: u32 = 3;
/// Most rounds in the default budget, so that small documents do not take all of it.
pub(super) const DEFAULT_MAX_ROUNDS: u32 = 5;
/// Most rounds in a budget that the user states.
pub(super) const MAX_ROUNDS: u32 = 20;

/// How much of each part is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Extent {
    /// Number of rounds in which clients work and questions are asked.
    pub(super) rounds: u32,
    /// Number of rounds of clients that begin with a load.
    pub(super) loads: u32,
    /// Whether questions are also asked after a restart.
    pub(super) cold: bool,
    /// Whether clients also work at half and at twice the rate.
    pub(super) further_rates: bool,
    /// Whether a quarter and half of the documents are loaded, too.
    pub(super) smaller_loads: bool,
    /// Whether windows are longer than usual, because an interval of response times needs that.
    #[serde(default)]
    pub(super) long_windows: bool,
}

/// Extent that was found for a budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FittedExtent {
    pub(super) extent: Extent,
    /// Expected seconds of all parts.
    pub(super) seconds: f64,
    /// Whether these are within the budget.
    pub(super) fits: bool,
}

impl Extent {
    /// Extent with everything that is wanted, in [`ROUNDS`] rounds.
    pub(super) fn whole(has_questions: bool, has_clients: bool, estimates_sizes: bool) -> Self {
        Self {
            rounds: ROUNDS,
            loads: ROUNDS,
            cold: has_questions,
            further_rates: has_clients,
            smaller_loads: estimates_sizes,
            long_windows: false,
        }
    }

    /// Finds the largest extent that fits into the budget. `seconds` returns the expected duration of one. What
    /// matters least for a decision is left out first. More than [`ROUNDS`] rounds, `max_rounds` at most, are planned
    /// only if nothing is left out.
    ///
    /// # Errors
    /// Those of `seconds`.
    pub(super) fn fitted(
        self,
        budget_s: f64,
        max_rounds: u32,
        mut seconds: impl FnMut(Self) -> Result<f64, Failure>,
    ) -> Result<FittedExtent, Failure> {
        for extent in self.enlargements(max_rounds).into_iter().chain(self.reductions()) {
            let expected_s = seconds(extent)?;
            if expected_s <= budget_s {
                return Ok(FittedExtent { extent, seconds: expected_s, fits: true });
            }
        }
        let extent = self.reductions().pop().unwrap_or(self);
        Ok(FittedExtent { extent, seconds: seconds(extent)?, fits: false })
    }

    /// The extent with more rounds, the most first.
    fn enlargements(self, max_rounds: u32) -> Vec<Self> {
        (self.rounds + 1..=max_rounds).rev().map(|rounds| Self { rounds, ..self }).collect()
    }

    /// The extent itself, and what remains of it as more and more is left out. Long windows are left out if there is no
    /// room for two rounds of them, because one round gives no interval however long it is.
    fn reductions(self) -> Vec<Self> {
        let mut reductions = self.reductions_with_such_windows();
        if self.long_windows {
            reductions.retain(|extent| extent.rounds > 1);
            let short = Self { long_windows: false, ..self };
            reductions.extend(short.reductions_with_such_windows());
        }
        reductions
    }

    fn reductions_with_such_windows(self) -> Vec<Self> {
        let without_rates = Self { further_rates: false, ..self };
        let without_smaller = Self { smaller_loads: false, ..without_rates };
        let without_cold = Self { cold: false, ..without_smaller };
        let mut reductions = vec![self, without_rates, without_smaller, without_cold];
        let of_loads = |loads| Self { loads, ..without_cold };
        reductions.extend((1..self.loads).rev().map(of_loads));
        let of_rounds = |rounds| Self { rounds, ..of_loads(1) };
        reductions.extend((1..self.rounds).rev().map(of_rounds));
        reductions.dedup();
        reductions
    }

    /// What this extent leaves out of `whole`, each in words that follow "left out: ".
    pub(super) fn left_out(self, whole: Self) -> Vec<String> {
        let mut left_out = Vec::new();
        if whole.further_rates && !self.further_rates {
            left_out.push("half and twice the rate".to_owned());
        }
        if whole.smaller_loads && !self.smaller_loads {
            left_out.push(
                "loads of a quarter and half of the documents, so that no size is estimated".to_owned(),
            );
        }
        if whole.cold && !self.cold {
            left_out.push("questions after a restart".to_owned());
        }
        if self.loads < whole.loads.min(self.rounds) {
            let effect = if self.loads < 2 {
                "so that sizes have no interval"
            } else {
                "so that intervals of sizes are wide"
            };
            left_out.push(format!("loads beyond {}, {effect}", self.loads));
        }
        if whole.long_windows && !self.long_windows {
            left_out.push(
                "windows that are long enough for intervals of response times, so that none is shown to be short"
                    .to_owned(),
            );
        }
        if self.rounds < whole.rounds {
            let effect = match self.rounds {
                1 => "so that times have no intervals, and no need that is about one can be met",
                _ => "so that intervals are wide",
            };
            left_out.push(format!("rounds beyond {}, {effect}", self.rounds));
        }
        left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Extent = Extent {
        rounds: 3,
        loads: 3,
        cold: true,
        further_rates: true,
        smaller_loads: true,
        long_windows: false,
    };

    /// Seconds that everything takes in these tests.
    fn seconds(extent: Extent) -> f64 {
        let round_s = 20.0
            + 10.0 * f64::from(u8::from(extent.cold))
            + 10.0 * f64::from(u8::from(extent.further_rates))
            + 30.0 * f64::from(u8::from(extent.long_windows));
        f64::from(extent.rounds) * round_s
            + 15.0 * f64::from(extent.loads)
            + 25.0 * f64::from(u8::from(extent.smaller_loads))
    }

    fn fitted(whole: Extent, budget_s: f64) -> FittedExtent {
        whole.fitted(budget_s, DEFAULT_MAX_ROUNDS, |extent| Ok(seconds(extent))).unwrap()
    }

    #[test]
    fn what_matters_least_is_left_out_first() {
        let at = |budget_s| fitted(WHOLE, budget_s).extent;
        assert_eq!(at(1e6), Extent { rounds: 5, ..WHOLE });
        assert_eq!(at(235.0), Extent { rounds: 4, ..WHOLE });
        assert_eq!(at(190.0), WHOLE);
        let without_rates = Extent { further_rates: false, ..WHOLE };
        assert_eq!(at(165.0), without_rates);
        let without_smaller = Extent { smaller_loads: false, ..without_rates };
        assert_eq!(at(140.0), without_smaller);
        let without_cold = Extent { cold: false, ..without_smaller };
        assert_eq!(at(105.0), without_cold);
        assert_eq!(at(90.0), Extent { loads: 2, ..without_cold });
        assert_eq!(at(55.0), Extent { loads: 1, rounds: 2, ..without_cold });
        let least = fitted(WHOLE, 1.0);
        assert_eq!(least.extent, Extent { loads: 1, rounds: 1, ..without_cold });
        assert!(!least.fits && (least.seconds - 35.0).abs() < 1e-9, "{least:?}");
    }

    #[test]
    fn long_windows_stay_as_long_as_two_rounds_of_them_fit() {
        let long = Extent { long_windows: true, ..WHOLE };
        let at = |budget_s| fitted(long, budget_s).extent;
        assert_eq!(at(280.0), long);
        // Two rounds of 50 s and one load.
        let two =
            Extent { rounds: 2, loads: 1, cold: false, further_rates: false, smaller_loads: false, ..long };
        assert_eq!(at(115.0), two);
        // Without them, what had to be left out for them has room again.
        let short = Extent { cold: false, further_rates: false, smaller_loads: false, ..WHOLE };
        assert_eq!(at(110.0), short);
        let said = at(110.0).left_out(long).join("; ");
        assert!(said.contains("windows that are long enough"), "{said}");
        assert_eq!(fitted(long, 1.0).extent.rounds, 1);
    }

    #[test]
    fn only_what_was_wanted_is_said_to_be_left_out() {
        let least = fitted(WHOLE, 1.0).extent;
        let said = least.left_out(WHOLE).join("; ");
        for words in ["half and twice the rate", "quarter", "after a restart", "rounds beyond 1", "no need"] {
            assert!(said.contains(words), "{words}: {said}");
        }
        let whole = Extent::whole(false, true, false);
        let said = fitted(whole, 1.0).extent.left_out(whole).join("; ");
        assert!(!said.contains("restart") && !said.contains("quarter"), "{said}");
        assert!(WHOLE.left_out(WHOLE).is_empty());
        assert!(fitted(WHOLE, 1e6).extent.left_out(WHOLE).is_empty());
    }
}
