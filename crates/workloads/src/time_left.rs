//! Time that a run still needs: its expected turns, corrected by what finished turns took.

use std::collections::BTreeMap;

use crate::expected_time::{ExpectedTime, RunPart};

/// Part, round and target's position of a turn.
type TurnKey = (RunPart, u32, usize);

/// Follows a run turn by turn and estimates what is left of it.
#[derive(Debug)]
pub(crate) struct TimeLeft {
    expected: ExpectedTime,
    /// Seconds that finished turns took. `None` for a turn without work, because its trials were recorded
    /// before the run was resumed.
    finished: BTreeMap<TurnKey, Option<f64>>,
    /// Time of the end of the last turn, in seconds since any fixed moment.
    last_end_s: f64,
}

impl TimeLeft {
    /// Begins to follow a run at the time `now_s`, in seconds since any fixed moment.
    pub(crate) fn new(expected: ExpectedTime, now_s: f64) -> Self {
        Self { expected, finished: BTreeMap::new(), last_end_s: now_s }
    }

    /// Notes the end of a turn and returns how long it took. `has_worked` is `false` if nothing was left to
    /// do in it.
    pub(crate) fn end_turn(
        &mut self,
        part: RunPart,
        round: u32,
        target: usize,
        now_s: f64,
        has_worked: bool,
    ) -> f64 {
        let seconds = now_s - self.last_end_s;
        self.last_end_s = now_s;
        self.finished.insert((part, round, target), has_worked.then_some(seconds));
        seconds
    }

    /// Sets the number of rounds that the stopping rule plans now.
    pub(crate) fn set_rounds(&mut self, rounds: u32) {
        self.expected.set_rounds(rounds);
    }

    /// Number of finished turns in which there was work to do.
    pub(crate) fn worked_turns(&self) -> usize {
        self.finished.values().flatten().count()
    }

    /// Estimated seconds of all turns that are not finished.
    pub(crate) fn seconds(&self) -> f64 {
        // Many rounds have turns of the same expected duration.
        let mut factors: BTreeMap<(RunPart, usize, u64), f64> = BTreeMap::new();
        let mut total_s = 0.0;
        for part in self.expected.parts() {
            for round in 1..=part.rounds() {
                for (target, expected_s) in part.turns(round).iter().enumerate() {
                    if self.finished.contains_key(&(part.part, round, target)) {
                        continue;
                    }
                    let factor = factors
                        .entry((part.part, target, expected_s.to_bits()))
                        .or_insert_with(|| self.factor(part.part, target, *expected_s));
                    total_s += expected_s * *factor;
                }
            }
        }
        total_s
    }

    /// Factor between expected and real durations: of the target's turns in this part with the same expected
    /// duration if there are any, otherwise of all its turns, otherwise of the turns of all targets.
    fn factor(&self, part: RunPart, target: usize, expected_s: f64) -> f64 {
        let is_alike = |key: &TurnKey, seconds: f64| {
            (key.0, key.2) == (part, target) && seconds.total_cmp(&expected_s).is_eq()
        };
        self.factor_of(is_alike)
            .or_else(|| self.factor_of(|key, _| key.2 == target))
            .or_else(|| self.factor_of(|_, _| true))
            .unwrap_or(1.0)
    }

    /// Real by expected duration of the finished turns that `pick` chooses by their keys and expected
    /// durations. `None` if there are none.
    fn factor_of(&self, pick: impl Fn(&TurnKey, f64) -> bool) -> Option<f64> {
        let (mut real_s, mut expected_s) = (0.0, 0.0);
        for (key, seconds) in &self.finished {
            let (Some(seconds), Some(expected)) = (seconds, self.expected_seconds(key)) else { continue };
            if pick(key, expected) {
                real_s += seconds;
                expected_s += expected;
            }
        }
        (expected_s > 0.0).then(|| real_s / expected_s)
    }

    /// Expected seconds of a turn; `None` if the run was not expected to have it.
    fn expected_seconds(&self, (part, round, target): &TurnKey) -> Option<f64> {
        let part = self.expected.parts().iter().find(|expected| expected.part == *part)?;
        part.turns(*round).get(*target).copied()
    }
}

#[cfg(test)]
mod tests {
    use jsonathlon_schema::id::DataState;
    use jsonathlon_schema::settings::RunSettings;

    use super::*;
    use crate::expected_time::{ExpectedPart, RoundCount};

    const ROUNDS: RunPart = RunPart::Rounds(DataState::Drained);

    /// Three rounds of two targets, the first with loads, and their compaction.
    fn run_of_two() -> TimeLeft {
        let turns = vec![vec![4.0, 20.0], vec![2.0, 10.0]];
        let settings = RunSettings { rounds: 3, ..RunSettings::default() };
        let rounds = ExpectedPart::new(ROUNDS, turns, 1, RoundCount::ByStoppingRule);
        let compaction = ExpectedPart::once(RunPart::Compaction, vec![1.0, 5.0]);
        TimeLeft::new(ExpectedTime::new(vec![rounds, compaction], &settings), 100.0)
    }

    fn assert_left(left: &TimeLeft, seconds: f64) {
        assert!((left.seconds() - seconds).abs() < 1e-9, "{} instead of {seconds}", left.seconds());
    }

    #[test]
    fn what_turns_took_corrects_what_is_left_and_what_is_no_trial_counts() {
        let mut left = run_of_two();
        assert_left(&left, 4.0 + 20.0 + 2.0 * 12.0 + 6.0);
        // The first target takes half of what was expected, and so may the other.
        assert!((left.end_turn(ROUNDS, 1, 0, 102.0, true) - 2.0).abs() < 1e-9);
        assert_left(&left, 0.5 * (20.0 + 2.0 * 12.0 + 6.0));
        // The second one takes three times as long, and keeps to it.
        left.end_turn(ROUNDS, 1, 1, 162.0, true);
        assert_left(&left, 2.0 * (0.5 * 2.0 + 3.0 * 10.0) + 0.5 * 1.0 + 3.0 * 5.0);
        // A turn without a load is the measure of the others without one, and not of the compaction alone.
        left.end_turn(ROUNDS, 2, 0, 166.0, true);
        let mean = (2.0 + 4.0) / (4.0 + 2.0);
        assert_left(&left, 2.0 * 3.0 * 10.0 + 2.0 * 2.0 + mean * 1.0 + 3.0 * 5.0);
        assert_eq!(left.worked_turns(), 3);
    }

    #[test]
    fn a_turn_without_work_is_no_measure() {
        let mut left = run_of_two();
        left.end_turn(ROUNDS, 1, 0, 100.0, false);
        assert_left(&left, 20.0 + 2.0 * 12.0 + 6.0);
        assert_eq!(left.worked_turns(), 0);
    }

    #[test]
    fn the_stopping_rule_changes_the_number_of_rounds() {
        let mut left = run_of_two();
        left.set_rounds(5);
        assert_left(&left, 24.0 + 4.0 * 12.0 + 6.0);
        left.end_turn(ROUNDS, 1, 0, 104.0, true);
        left.end_turn(ROUNDS, 1, 1, 124.0, true);
        left.set_rounds(1);
        assert_left(&left, 6.0);
    }
}
