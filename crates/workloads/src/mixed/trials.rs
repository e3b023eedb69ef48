//! Plans the trials of a mixed run: which cells a round of a configuration has.

use jsonathlon_dataset::questions::Question;
use jsonathlon_schema::record::{
    ALL_QUESTIONS, BATCH, Cell, FULL_SPEED, INGEST, Phase, RATE, RATE_SHARE, STREAMS, WRITERS,
};
use jsonathlon_schema::settings::mixed::{FrontierRate, InsertRate, MixedSettings};

use crate::cells::Cells;

/// Questions of a set, those whose answers over any documents are known.
pub(super) const QUESTIONS: [Question; 5] =
    [Question::Q1, Question::Q2, Question::Q3, Question::Q4, Question::Q5];

/// Phases in which questions are asked, in their order within a round.
pub(super) const ASKING_PHASES: [Phase; 4] = [Phase::Still, Phase::Both, Phase::Left, Phase::Drained];

/// Phases in which the two peaks of the frontier are measured: writers alone and streams alone.
const PEAK_PHASES: [Phase; 2] = [Phase::Alone, Phase::Still];

/// Cell of a step in a phase.
pub(super) fn cell(cells: Cells<'_>, settings: &MixedSettings, phase: Phase, step: &str) -> Cell {
    let mut cell = cells.cell(step, phase, None);
    let mut set = |name: &str, value: serde_json::Value| cell.parameters.insert(name.to_owned(), value);
    if settings.is_still() {
        set(STREAMS, settings.streams.into());
        return cell;
    }
    set(WRITERS, settings.writers.into());
    set(STREAMS, settings.streams.into());
    set(BATCH, settings.batch.into());
    let at_rate = |rate: InsertRate| rate.per_s().map_or_else(|| FULL_SPEED.into(), serde_json::Value::from);
    match (phase, settings.frontier.as_slice()) {
        // Writers alone are always measured at full speed.
        (Phase::Alone, _) => set(RATE, FULL_SPEED.into()),
        (Phase::Both, [FrontierRate::ShareOfPeak(share)]) => set(RATE_SHARE, (*share).into()),
        // The peak of the questions belongs to all points.
        (Phase::Still, [_, ..]) => None,
        _ => set(RATE, at_rate(settings.rate)),
    };
    cell
}

/// Steps that a phase has a cell for.
pub(super) fn steps(phase: Phase) -> Vec<&'static str> {
    let ingest = matches!(phase, Phase::Both | Phase::Alone).then_some(INGEST);
    let asked = ASKING_PHASES.contains(&phase);
    let questions = QUESTIONS.iter().map(|question| question.id()).chain([ALL_QUESTIONS]);
    ingest.into_iter().chain(questions.filter(|_| asked)).collect()
}

/// Cells of one phase of a configuration.
pub(super) fn phase_cells(cells: Cells<'_>, settings: &MixedSettings, phase: Phase) -> Vec<Cell> {
    steps(phase).into_iter().map(|step| cell(cells, settings, phase, step)).collect()
}

/// Cells of one round of a configuration.
fn round_cells(cells: Cells<'_>, settings: &MixedSettings) -> Vec<Cell> {
    if settings.is_still() {
        let loads = settings.still_loads();
        return loads.iter().flat_map(|load| phase_cells(cells, load, Phase::Still)).collect();
    }
    if settings.is_frontier() {
        let alone = PEAK_PHASES.into_iter().flat_map(|phase| phase_cells(cells, settings, phase));
        let points = frontier_points(settings);
        let beside = points.iter().flat_map(|point| phase_cells(cells, point, Phase::Both));
        return alone.chain(beside).collect();
    }
    phases().flat_map(|phase| phase_cells(cells, settings, phase)).collect()
}

/// Settings of the points of the frontier. Their rates are not those of a configuration, whose peak is not known.
pub(super) fn frontier_points(settings: &MixedSettings) -> Vec<MixedSettings> {
    settings.frontier.iter().map(|point| settings.at_point(*point, InsertRate::FullSpeed)).collect()
}

/// All phases of a round with writers, in their order.
fn phases() -> impl Iterator<Item = Phase> {
    ASKING_PHASES.into_iter().chain([Phase::Alone])
}

/// Keys of all planned trials of a configuration.
pub(super) fn keys(cells: Cells<'_>, settings: &MixedSettings, rounds: u32, load_rounds: u32) -> Vec<String> {
    let mut keys: Vec<String> = (1..=load_rounds).flat_map(|round| cells.load_keys(round)).collect();
    for round in 1..=rounds {
        let cells = round_cells(cells, settings);
        keys.extend(cells.iter().map(|cell| cell.trial_key(round, 0)));
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_has_cells_for_what_happens_in_it() {
        assert_eq!(steps(Phase::Still), ["q1", "q2", "q3", "q4", "q5", "all"]);
        assert_eq!(steps(Phase::Both), ["ingest", "q1", "q2", "q3", "q4", "q5", "all"]);
        assert_eq!(steps(Phase::Alone), ["ingest"]);
        let all: usize = phases().map(|phase| steps(phase).len()).sum();
        assert_eq!(all, 4 * 6 + 2);
    }
}
