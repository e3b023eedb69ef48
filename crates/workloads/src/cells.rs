//! What the trials of one configuration are of.

use jsonathlon_measure::control::WORK;
use jsonathlon_results::control::CONTROL;
use jsonathlon_results::id::{Id, State, Step};
use jsonathlon_results::record::{Cell, Parameters, Phase};

use crate::target::Target;

/// Builds the cells of one target over a given number of documents.
#[derive(Debug, Clone, Copy)]
pub struct Cells<'a> {
    /// The workload's name.
    pub workload: &'static str,
    /// The target.
    pub target: &'a Target,
    /// Documents offered.
    pub documents: u64,
}

impl Cells<'_> {
    /// A step in `phase`, and in `state` where there is one.
    #[must_use]
    pub fn cell(&self, step: impl Into<Step>, phase: Phase, state: Option<State>) -> Cell {
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
            workload: self.workload.into(),
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
}

/// The control, which belongs to no system: what it takes tells how fast the machine was.
#[must_use]
pub(crate) fn control_cell(workload: &str) -> Cell {
    Cell {
        workload: workload.into(),
        id: Id::new(CONTROL, WORK, "kernels", ""),
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
