//! Stopping rules: a fixed number of rounds, a time budget, or a target precision.

use std::collections::BTreeMap;

use jsonathlon_schema::settings::StoppingRule;
use jsonathlon_stats::sequential::{PRECISION_ROUNDS, SequentialPlan};
use jsonathlon_stats::statistics::estimate_at;

use crate::RunError;
use crate::observer::{Observer, RunEvent};

/// Maximum number of rounds under a time budget.
pub const MAX_ROUNDS: u32 = 200;
/// Share of a budget available to rounds. The rest is for compacting, tables and the report page.
pub(crate) const ROUNDS_SHARE: f64 = 0.92;

/// Decision after a round: run another one or stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoundDecision {
    RunAnother,
    Stop,
}

/// Number of rounds that a stopping rule plans after a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlannedRounds {
    pub(crate) rounds: u32,
    /// Whether the run may end with fewer rounds.
    pub(crate) is_maximum: bool,
}

/// Times in seconds of one cell's trials, one vector per round.
pub(crate) type CellRounds = Vec<Vec<f64>>;

/// A shorter remaining time, in seconds, gets no line of its own.
pub(crate) const MIN_REPORTED_S: f64 = 10.0;

/// Decides after each round whether another one follows, and plans the number of rounds.
#[derive(Debug)]
pub(crate) struct RoundController {
    rule: StoppingRule,
    min_rounds: u32,
    analyses: SequentialPlan,
    /// Seconds that each round had taken before the run was resumed.
    done_s: BTreeMap<u32, f64>,
    /// Seconds since the run began, at the end of the previous round.
    last_end_s: f64,
    /// Duration of the last round in seconds.
    last_s: f64,
    message: Option<String>,
    planned: Option<PlannedRounds>,
}

impl RoundController {
    /// Creates the counter of a run with at least `min_rounds` rounds, `elapsed_s` seconds after its start.
    /// `done_s` has the seconds of each round that was started before the run was resumed.
    pub(crate) fn new(
        rule: StoppingRule,
        min_rounds: u32,
        elapsed_s: f64,
        done_s: BTreeMap<u32, f64>,
    ) -> Self {
        Self {
            rule,
            min_rounds,
            analyses: SequentialPlan::new(min_rounds, PRECISION_ROUNDS),
            done_s,
            last_end_s: elapsed_s,
            last_s: 0.0,
            message: None,
            planned: None,
        }
    }

    /// Decides what follows `round`, which ended `elapsed_s` seconds after the run began. `ranked` returns
    /// the ranked cells; only the precision rule calls it.
    ///
    /// # Errors
    /// [`RunError::Budget`] if the planned rounds do not fit into a strict budget. A resumed run does not
    /// fail: it runs the planned rounds, and further ones only if they fit.
    pub(crate) fn decide_after(
        &mut self,
        round: u32,
        elapsed_s: f64,
        ranked: impl FnOnce() -> Vec<CellRounds>,
    ) -> Result<RoundDecision, RunError> {
        self.message = None;
        self.planned = None;
        self.last_s = elapsed_s - self.last_end_s + self.done_s.get(&round).copied().unwrap_or_default();
        self.last_end_s = elapsed_s;
        // Earlier decisions stand: rounds that have records are part of the run.
        if round < self.first_open() {
            return Ok(RoundDecision::RunAnother);
        }
        match self.rule {
            StoppingRule::Rounds => {
                let remaining_s = f64::from(self.min_rounds.saturating_sub(round)) * self.last_s;
                if round == self.first_open() && remaining_s >= MIN_REPORTED_S {
                    self.message = Some(format!(
                        "round {round} took {:.0} s, loads and starts included: about {remaining_s:.0} s for \
                         the {} that follow",
                        self.last_s,
                        self.min_rounds - round
                    ));
                }
                self.planned = Some(PlannedRounds { rounds: self.min_rounds, is_maximum: false });
                Ok(self.decide_planned(round))
            }
            StoppingRule::Budget { seconds, strict } => {
                self.decide_in_budget(round, elapsed_s, seconds, strict)
            }
            StoppingRule::Precision { share, seconds } => {
                let decision = match self.decide_planned(round) {
                    RoundDecision::RunAnother => RoundDecision::RunAnother,
                    RoundDecision::Stop => self.decide_by_precision(round, elapsed_s, share, seconds, ranked),
                };
                self.planned = Some(match decision {
                    RoundDecision::RunAnother => self.most_rounds(round, elapsed_s, seconds),
                    RoundDecision::Stop => PlannedRounds { rounds: round, is_maximum: false },
                });
                Ok(decision)
            }
        }
    }

    /// Message for the user after the last round; `None` if there is nothing to report.
    pub(crate) fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// Reports the message after the last round to the observer.
    pub(crate) fn report(&self, observer: &mut dyn Observer) {
        if let Some(message) = self.message() {
            observer.event(&RunEvent::Schedule(message));
        }
    }

    /// Number of rounds planned after the last one; `None` if nothing was decided after it.
    pub(crate) fn planned_rounds(&self) -> Option<PlannedRounds> {
        self.planned
    }

    /// First round that may have open trials.
    fn first_open(&self) -> u32 {
        self.done_s.keys().next_back().copied().unwrap_or(1)
    }

    fn decide_planned(&self, round: u32) -> RoundDecision {
        if round < self.min_rounds { RoundDecision::RunAnother } else { RoundDecision::Stop }
    }

    fn decide_in_budget(
        &mut self,
        round: u32,
        elapsed_s: f64,
        seconds: f64,
        strict: bool,
    ) -> Result<RoundDecision, RunError> {
        let remaining_s = ROUNDS_SHARE * seconds - elapsed_s;
        let fitting = if self.last_s > 0.0 { (remaining_s / self.last_s).max(0.0).floor() } else { 0.0 };
        let fitting = (fitting.min(f64::from(MAX_ROUNDS)) as u32).saturating_add(round).min(MAX_ROUNDS);
        let rounds = fitting.max(self.min_rounds);
        self.planned = Some(PlannedRounds { rounds, is_maximum: false });
        if round == self.first_open() {
            let is_resumed = !self.done_s.is_empty();
            if strict && !is_resumed && fitting < self.min_rounds {
                return Err(RunError::Budget {
                    seconds,
                    needed_s: (elapsed_s + self.last_s * f64::from(self.min_rounds - 1)) / ROUNDS_SHARE,
                    rounds: self.min_rounds,
                });
            }
            let spent_text = match is_resumed {
                true => format!(", of which {elapsed_s:.0} s are spent"),
                false => String::new(),
            };
            self.message = Some(format!(
                "round {round} took {:.1} s: {rounds} rounds are planned for the budget of \
                 {seconds:.0} s{spent_text}",
                self.last_s
            ));
        }
        let is_another = round < self.min_rounds || fitting > round;
        Ok(if is_another { RoundDecision::RunAnother } else { RoundDecision::Stop })
    }

    /// Largest number of rounds for which the time for a precision, `seconds`, is enough.
    fn most_rounds(&self, round: u32, elapsed_s: f64, seconds: f64) -> PlannedRounds {
        let left_s = (ROUNDS_SHARE * seconds - elapsed_s).max(0.0);
        let fitting = if self.last_s > 0.0 { (left_s / self.last_s).floor() } else { 0.0 };
        let fitting = fitting.min(f64::from(PRECISION_ROUNDS)) as u32;
        let rounds = round.saturating_add(fitting).min(PRECISION_ROUNDS).max(self.min_rounds);
        PlannedRounds { rounds, is_maximum: true }
    }

    fn decide_by_precision(
        &mut self,
        round: u32,
        elapsed_s: f64,
        share: f64,
        seconds: f64,
        ranked: impl FnOnce() -> Vec<CellRounds>,
    ) -> RoundDecision {
        if elapsed_s + self.last_s > ROUNDS_SHARE * seconds || self.analyses.next(round).is_none() {
            self.message = Some("the time for --precision is spent".to_owned());
            return RoundDecision::Stop;
        }
        // Only at the planned interim analyses: stopping at the first narrow interval would favour a lucky
        // round.
        if !self.analyses.rounds().contains(&round) {
            return RoundDecision::RunAnother;
        }
        let alpha = self.analyses.alpha_at(round);
        let ranked = ranked();
        let open_count = ranked.iter().filter(|cell| !is_precise(cell, alpha, share)).count();
        if open_count == 0 {
            return RoundDecision::Stop;
        }
        self.message = Some(format!(
            "{open_count} of {} cells are not within ± {:.2} % yet",
            ranked.len(),
            share * 100.0
        ));
        RoundDecision::RunAnother
    }
}

/// Whether the farther limit of a cell's interval at `alpha` lies within `share` of the median.
pub(crate) fn is_precise(cell: &CellRounds, alpha: f64, share: f64) -> bool {
    estimate_at(cell, alpha)
        .and_then(|estimate| estimate.relative_half_width())
        .is_some_and(|half_width| half_width <= share)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(rounds: u32) -> Option<PlannedRounds> {
        Some(PlannedRounds { rounds, is_maximum: false })
    }

    fn count_rounds(
        mut controller: RoundController,
        each_s: f64,
        first_s: f64,
        ranked: &[CellRounds],
    ) -> Result<u32, RunError> {
        let mut elapsed = first_s;
        let mut round = 1;
        while controller.decide_after(round, elapsed, || ranked.to_vec())? == RoundDecision::RunAnother {
            round += 1;
            elapsed += each_s;
        }
        Ok(round)
    }

    #[test]
    fn a_budget_holds_as_many_rounds_as_fit_and_the_planned_ones_at_least() {
        let budget = |seconds, strict| {
            RoundController::new(StoppingRule::Budget { seconds, strict }, 5, 0.0, BTreeMap::new())
        };
        // The first round takes 20 s, the others 10 s each: 92 s hold eight rounds.
        assert_eq!(count_rounds(budget(100.0, false), 10.0, 20.0, &[]).unwrap(), 8);
        assert_eq!(count_rounds(budget(30.0, false), 10.0, 20.0, &[]).unwrap(), 5, "never fewer");
        assert_eq!(count_rounds(budget(1e9, false), 10.0, 20.0, &[]).unwrap(), MAX_ROUNDS);
        assert_eq!(
            count_rounds(
                RoundController::new(StoppingRule::Rounds, 3, 0.0, BTreeMap::new()),
                10.0,
                20.0,
                &[]
            )
            .unwrap(),
            3
        );
    }

    #[test]
    fn a_strict_budget_that_is_too_small_is_refused_after_the_first_round() {
        let controller = RoundController::new(
            StoppingRule::Budget { seconds: 30.0, strict: true },
            5,
            0.0,
            BTreeMap::new(),
        );
        let error = count_rounds(controller, 10.0, 20.0, &[]).unwrap_err();
        assert!(matches!(error, RunError::Budget { rounds: 5, needed_s, .. } if needed_s > 90.0), "{error}");
    }

    #[test]
    fn a_run_that_goes_on_counts_what_it_has_spent_and_what_its_rounds_took() {
        let rule = StoppingRule::Budget { seconds: 100.0, strict: true };
        // Two rounds of 20 s were completed, and half of a third: 50 s of the budget of 100 s are spent.
        let mut controller =
            RoundController::new(rule, 3, 50.0, BTreeMap::from([(1, 20.0), (2, 20.0), (3, 10.0)]));
        for round in [1, 2] {
            assert_eq!(controller.decide_after(round, 50.0, Vec::new).unwrap(), RoundDecision::RunAnother);
            assert_eq!((controller.message(), controller.planned_rounds()), (None, None), "nothing was done");
        }
        // The other half takes 10 s. One more round of 20 s fits, not 200 rounds.
        assert_eq!(controller.decide_after(3, 60.0, Vec::new).unwrap(), RoundDecision::RunAnother);
        assert_eq!(
            controller.message(),
            Some(
                "round 3 took 20.0 s: 4 rounds are planned for the budget of 100 s, of which 60 s are spent"
            )
        );
        assert_eq!(controller.planned_rounds(), planned(4));
        assert_eq!(controller.decide_after(4, 80.0, Vec::new).unwrap(), RoundDecision::Stop);
    }

    #[test]
    fn whoever_goes_on_with_a_budget_that_was_too_small_gets_the_planned_rounds_and_no_more() {
        let rule = StoppingRule::Budget { seconds: 30.0, strict: true };
        let mut controller = RoundController::new(rule, 3, 40.0, BTreeMap::from([(1, 40.0)]));
        assert_eq!(controller.decide_after(1, 40.0, Vec::new).unwrap(), RoundDecision::RunAnother);
        assert_eq!(controller.decide_after(2, 60.0, Vec::new).unwrap(), RoundDecision::RunAnother);
        assert_eq!(controller.decide_after(3, 80.0, Vec::new).unwrap(), RoundDecision::Stop);
    }

    #[test]
    fn what_the_planned_rounds_take_is_said_once_the_first_is_known() {
        let mut controller = RoundController::new(StoppingRule::Rounds, 4, 0.0, BTreeMap::new());
        assert_eq!(controller.decide_after(1, 95.0, Vec::new).unwrap(), RoundDecision::RunAnother);
        let message = "round 1 took 95 s, loads and starts included: about 285 s for the 3 that follow";
        assert_eq!((controller.message(), controller.planned_rounds()), (Some(message), planned(4)));
        assert_eq!(controller.decide_after(2, 100.0, Vec::new).unwrap(), RoundDecision::RunAnother);
        assert_eq!((controller.message(), controller.planned_rounds()), (None, planned(4)));
    }

    #[test]
    fn the_time_for_a_precision_limits_the_rounds() {
        let rule = StoppingRule::Precision { share: 0.05, seconds: 100.0 };
        let mut controller = RoundController::new(rule, 5, 0.0, BTreeMap::new());
        assert_eq!(controller.decide_after(1, 4.0, Vec::new).unwrap(), RoundDecision::RunAnother);
        // 92 s are for rounds; 88 s are left, and a round takes 4 s.
        let most = PlannedRounds { rounds: 23, is_maximum: true };
        assert_eq!(controller.planned_rounds(), Some(most));
        let steady: CellRounds = vec![vec![1.0, 1.001]; 300];
        assert_eq!(controller.decide_after(5, 20.0, || vec![steady]).unwrap(), RoundDecision::Stop);
        assert_eq!(controller.planned_rounds(), planned(5));
    }

    #[test]
    fn precision_goes_on_until_every_cell_is_precise() {
        let precision = |seconds| {
            RoundController::new(StoppingRule::Precision { share: 0.05, seconds }, 5, 0.0, BTreeMap::new())
        };
        let steady: CellRounds = vec![vec![1.0, 1.001]; 300];
        let noisy: CellRounds = (0..300).map(|round| vec![1.0 + f64::from(round % 7)]).collect();
        assert_eq!(count_rounds(precision(1e6), 1.0, 1.0, std::slice::from_ref(&steady)).unwrap(), 5);
        assert_eq!(count_rounds(precision(1e6), 1.0, 1.0, &[steady.clone(), noisy.clone()]).unwrap(), 40);
        let controller = RoundController::new(
            StoppingRule::Precision { share: 0.05, seconds: 30.0 },
            5,
            0.0,
            BTreeMap::new(),
        );
        assert_eq!(count_rounds(controller, 1.0, 1.0, &[steady, noisy]).unwrap(), 27, "the time is spent");
    }
}
