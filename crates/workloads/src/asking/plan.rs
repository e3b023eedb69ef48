//! Plans the trials of workloads that ask questions.

use jsonathlon_schema::id::DataState;
use jsonathlon_schema::record::{Cell, Phase};
use jsonathlon_schema::settings::{RunSettings, questions::QuestionSettings};

use crate::cells::Cells;

/// Cell of a question in `state` and `phase`.
#[must_use]
pub(crate) fn question_cell(cells: Cells<'_>, question: &str, phase: Phase, state: DataState) -> Cell {
    cells.cell(question, phase, Some(state))
}

/// Keys of all trials that a target needs to be complete: the planned loads with their sizes (at least one),
/// the compacted size, and per state, round and question the planned cold and hot trials.
///
/// A run may have more: short loads are repeated, fast questions get more hot trials, and a time budget or a
/// target precision adds rounds.
#[must_use]
pub(crate) fn keys<'q>(
    cells: Cells<'_>,
    questions: impl Iterator<Item = &'q str> + Clone,
    settings: &RunSettings,
    question_settings: &QuestionSettings,
) -> Vec<String> {
    let loads = settings.load_rounds.unwrap_or(1).max(1);
    let mut keys: Vec<String> = (1..=loads).flat_map(|round| cells.load_keys(round)).collect();
    keys.push(cells.size(DataState::Compacted).trial_key(1, 0));
    for state in &question_settings.states {
        for round in 1..=settings.rounds {
            for question in questions.clone() {
                keys.extend(question_keys(cells, question, *state, round, question_settings));
            }
        }
    }
    keys
}

/// Keys of one question's planned trials in one round.
#[must_use]
pub(crate) fn question_keys(
    cells: Cells<'_>,
    question_name: &str,
    state: DataState,
    round: u32,
    question_settings: &QuestionSettings,
) -> Vec<String> {
    let key = |(phase, order)| question_cell(cells, question_name, phase, state).trial_key(round, order);
    planned_trials(cells, round, question_settings).into_iter().map(key).collect()
}

/// Phases and orders of one question's planned trials in one round.
#[must_use]
pub(crate) fn planned_trials(
    cells: Cells<'_>,
    round: u32,
    question_settings: &QuestionSettings,
) -> Vec<(Phase, u32)> {
    let mut trials = Vec::new();
    if has_cold_trials(cells, round, question_settings) {
        trials.push((Phase::Cold, 0));
        // Pages of a remote server can only be dropped on its own machine.
        if question_settings.cold_os && cells.target.remote.is_none() {
            trials.push((Phase::ColdOs, 0));
        }
    }
    trials.extend((0..question_settings.hot_trials).map(|order| (Phase::Hot, order)));
    trials
}

/// Returns `true` if a round has cold trials for this target; `false` if the target cannot be cold.
#[must_use]
pub(crate) fn has_cold_trials(cells: Cells<'_>, round: u32, question_settings: &QuestionSettings) -> bool {
    question_settings.is_cold(round) && cells.target.can_be_cold()
}
