//! Which trials an analytics run consists of, and in what order.

use jsonathlon_dataset::questions::Question;
use jsonathlon_results::control::CONTROL;
use jsonathlon_results::id::{Id, State, Step};
use jsonathlon_results::record::{Cell, Parameters, Phase};

use crate::settings::Settings;
use crate::target::Target;

/// The workload's name in records.
pub const WORKLOAD: &str = "analytics";

/// Builds the cells of one target over a given number of documents.
#[derive(Debug, Clone, Copy)]
pub struct Cells<'a> {
    /// The target.
    pub target: &'a Target,
    /// Documents offered.
    pub documents: u64,
}

impl Cells<'_> {
    fn cell(&self, step: impl Into<Step>, phase: Phase, state: Option<State>) -> Cell {
        let configuration = &self.target.configuration;
        let mut parameters = Parameters::new();
        parameters.insert("scale".into(), self.documents.into());
        // What others are read by was told everything and is given what it needs: neither sets it apart.
        if !configuration.reference {
            parameters.insert("preparation".into(), configuration.preparation.word().into());
        }
        if let Some(bytes) = configuration.memory_bytes {
            parameters.insert("memory".into(), bytes.into());
        }
        Cell {
            workload: WORKLOAD.into(),
            id: self.target.id(),
            profile: self.target.profile(),
            step: step.into(),
            phase,
            state,
            parameters,
        }
    }

    /// Loading.
    #[must_use]
    pub fn load(&self) -> Cell {
        self.cell(Step::Load, Phase::Load, None)
    }

    /// What the documents take in `state`.
    #[must_use]
    pub fn size(&self, state: State) -> Cell {
        self.cell(Step::Size, Phase::Steady, Some(state))
    }

    /// The keys of the load and of the size after it in a round that begins with a load.
    #[must_use]
    pub fn load_keys(&self, round: u32) -> [String; 2] {
        [self.load().trial_key(round, 0), self.size(State::Drained).trial_key(round, 0)]
    }

    /// Reading documents back.
    #[must_use]
    pub fn structure(&self) -> Cell {
        self.cell(Step::Structure, Phase::Steady, None)
    }

    /// A question in `state` and `phase`.
    #[must_use]
    pub fn question(&self, question: Question, phase: Phase, state: State) -> Cell {
        self.cell(question.id(), phase, Some(state))
    }

    /// The keys of all trials that must end for this target to be complete: one load with its size, or as many as
    /// were asked for; the compacted size; and per state, round and question one cold trial and the least number of
    /// hot ones. A load that turns out to be short is repeated, a question that turns out to be fast gets more hot
    /// trials, and a run that stops by time or precision has more rounds than planned, never fewer.
    #[must_use]
    pub fn keys(&self, settings: &Settings) -> Vec<String> {
        let loads = settings.load_rounds.unwrap_or(1).max(1);
        let mut keys: Vec<String> = (1..=loads).flat_map(|round| self.load_keys(round)).collect();
        keys.push(self.size(State::Compacted).trial_key(1, 0));
        for state in &settings.states {
            for round in 1..=settings.rounds {
                for question in Question::ALL {
                    keys.extend(self.question_keys(question, *state, round, settings));
                }
            }
        }
        keys
    }

    /// The keys of one question in one round.
    #[must_use]
    pub fn question_keys(
        &self,
        question: Question,
        state: State,
        round: u32,
        settings: &Settings,
    ) -> Vec<String> {
        let key = |(phase, order)| self.question(question, phase, state).trial_key(round, order);
        self.trials(settings).into_iter().map(key).collect()
    }

    /// Phases and orders of the trials of one question in one round.
    #[must_use]
    pub fn trials(&self, settings: &Settings) -> Vec<(Phase, u32)> {
        let mut trials = Vec::new();
        if self.is_cold(settings) {
            trials.push((Phase::Cold, 0));
            // Only the machine that a server runs on can drop its pages.
            if settings.cold_os && self.target.guest.is_none() {
                trials.push((Phase::ColdOs, 0));
            }
        }
        trials.extend((0..settings.hot_trials).map(|order| (Phase::Hot, order)));
        trials
    }

    /// Whether there are cold trials: not of a target that cannot be cold.
    #[must_use]
    pub fn is_cold(&self, settings: &Settings) -> bool {
        settings.cold && self.target.can_be_cold()
    }
}

/// The control, which belongs to no system: what it takes tells how fast the machine was.
#[must_use]
pub fn control_cell() -> Cell {
    Cell {
        workload: WORKLOAD.into(),
        id: Id::new(CONTROL, "1", "kernels", ""),
        profile: None,
        step: Step::Control,
        phase: Phase::Steady,
        state: None,
        parameters: Parameters::new(),
    }
}

/// The order of `count` targets in a round, rotated so that none always runs first, or always after the
/// same neighbour's heat and dirty pages at the same time of the round.
#[must_use]
pub fn rotation(count: usize, round: u32) -> Vec<usize> {
    let shift = round.saturating_sub(1) as usize;
    (0..count).map(|index| (index + shift) % count.max(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_takes_every_place_over_as_many_rounds() {
        for count in 1..6 {
            for place in 0..count {
                let mut seen: Vec<usize> =
                    (1..=count as u32).map(|round| rotation(count, round)[place]).collect();
                seen.sort_unstable();
                assert_eq!(seen, (0..count).collect::<Vec<_>>());
            }
        }
        assert!(rotation(0, 1).is_empty());
    }
}
