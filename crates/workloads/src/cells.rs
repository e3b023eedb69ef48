//! Builds the cells that identify the trials of one configuration.

use jsonathlon_results::control::CONTROL;
use jsonathlon_schema::id::{ConfigurationId, DataState, Step};
use jsonathlon_schema::record::{Cell, Parameters, Phase};
use jsonathlon_telemetry::control::WORK;

use crate::target::Target;

/// Builds the cells of one target for a given number of documents.
#[derive(Debug, Clone, Copy)]
pub struct Cells<'a> {
    /// Name of the workload in the journal.
    pub workload: &'static str,
    /// Configuration that the cells belong to.
    pub target: &'a Target,
    /// Number of documents offered for loading.
    pub documents: u64,
}

impl Cells<'_> {
    /// Cell of `step` in `phase`; `state` is `None` if the step has no data state.
    #[must_use]
    pub fn cell(&self, step: impl Into<Step>, phase: Phase, state: Option<DataState>) -> Cell {
        let configuration = &self.target.configuration;
        let mut parameters = Parameters::new();
        parameters.insert("scale".into(), self.documents.into());
        // References have all settings they need, so neither preparation class nor memory distinguishes them.
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

    /// Cell of loading the documents.
    #[must_use]
    pub fn load(&self) -> Cell {
        self.cell(Step::Load, Phase::Load, None)
    }

    /// Cell of the disk space that the documents occupy in `state`.
    #[must_use]
    pub fn size(&self, state: DataState) -> Cell {
        self.cell(Step::Size, Phase::Steady, Some(state))
    }

    /// Keys of the load trial and the size trial after it, in a round that begins with a load.
    #[must_use]
    pub fn load_keys(&self, round: u32) -> [String; 2] {
        [self.load().trial_key(round, 0), self.size(DataState::Drained).trial_key(round, 0)]
    }

    /// Cell of reading documents back.
    #[must_use]
    pub fn structure(&self) -> Cell {
        self.cell(Step::Structure, Phase::Steady, None)
    }
}

/// Cell of the control kernels, which belongs to no system: their times show how fast the machine was.
#[must_use]
pub(crate) fn control_cell(workload: &str) -> Cell {
    Cell {
        workload: workload.into(),
        id: ConfigurationId::new(CONTROL, WORK, "kernels", ""),
        profile: None,
        step: Step::Control,
        phase: Phase::Steady,
        state: None,
        parameters: Parameters::new(),
    }
}

/// Order of `count` targets in a round, rotated by one position per round. No target always runs first or at
/// the same time of the round.
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
            for position in 0..count {
                let mut indices: Vec<usize> =
                    (1..=count as u32).map(|round| rotation(count, round)[position]).collect();
                indices.sort_unstable();
                assert_eq!(indices, (0..count).collect::<Vec<_>>());
            }
        }
        assert!(rotation(0, 1).is_empty());
    }
}
