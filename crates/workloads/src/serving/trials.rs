//! Plans the trials of a serving run.

use std::collections::BTreeSet;

use jsonathlon_dataset::records::{Kind, Values};
use jsonathlon_loadgen::mix::Mix;
use jsonathlon_loadgen::operation::Operation;
use jsonathlon_loadgen::paths::Projection;
use jsonathlon_schema::id::DataState;
use jsonathlon_schema::record::{
    ARRIVAL, CLIENTS, CLOSED, Cell, DURABILITY, OPERATION, Phase, RATE_PER_S, RATE_SHARE, SLO,
};

use super::settings::{Rate, ServedRecords, ServingSettings};
use crate::cells::Cells;

/// What distinguishes the cells of a configuration: mix, number of clients, and what is measured.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TrialConditions {
    /// Index of the mix in the settings.
    pub(super) mix: usize,
    pub(super) clients: u32,
    pub(super) kind: ConditionKind,
}

/// Quantity that a trial measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ConditionKind {
    /// Throughput of clients in a closed loop.
    Capacity,
    /// Response times of operations that arrive at a fixed rate.
    AtRate(Rate),
    /// Highest rate that meets the service-level objective.
    Slo,
    /// Throughput as in [`Self::Capacity`], over a long time.
    Soak,
    /// Stored size of one of the documents in the settings, by index.
    Encoded(usize),
}

/// Step of the stored sizes of documents.
const ENCODING: &str = "encoding";
/// Parameter with the name of the document in such a cell.
const DOCUMENT: &str = "document";

/// All conditions of one configuration in one round, in execution order. Rates come after all closed loops of
/// their mix, because they may be shares of the closed loops' throughput.
pub(super) fn conditions(settings: &ServingSettings, round: u32) -> Vec<TrialConditions> {
    let encoded =
        |index| TrialConditions { mix: usize::MAX, clients: 0, kind: ConditionKind::Encoded(index) };
    let mut planned: Vec<TrialConditions> = (0..settings.stored_size_samples.len()).map(encoded).collect();
    let most_clients = settings.clients.iter().copied().max().unwrap_or(1);
    // Mixes that only read come first, because they leave the data unchanged.
    let mut mixes: Vec<usize> = (0..settings.mixes.len()).collect();
    mixes.sort_by_key(|index| settings.mixes.get(*index).is_none_or(|mix| !only_reads(mix)));
    for mix in mixes {
        let trial = |clients, kind| TrialConditions { mix, clients, kind };
        // Rotated, so that no number of clients always runs first on fresh data.
        let shift = round.saturating_sub(1) as usize;
        let count = settings.clients.len();
        planned.extend(
            (0..count)
                .filter_map(|position| settings.clients.get((position + shift) % count))
                .map(|clients| trial(*clients, ConditionKind::Capacity)),
        );
        planned.extend(settings.rates.iter().map(|rate| trial(most_clients, ConditionKind::AtRate(*rate))));
        if settings.slo.is_some() {
            planned.push(trial(most_clients, ConditionKind::Slo));
        }
        if settings.soak_s.is_some() && round == 1 {
            planned.push(trial(most_clients, ConditionKind::Soak));
        }
    }
    planned
}

/// Cell of the given conditions.
pub(super) fn cell(cells: Cells<'_>, settings: &ServingSettings, conditions: &TrialConditions) -> Cell {
    if let ConditionKind::Encoded(index) = conditions.kind {
        let mut cell = cells.cell(ENCODING, Phase::Steady, Some(DataState::Drained));
        let document = settings.stored_size_samples.get(index).map_or("", |sample| sample.name.as_str());
        cell.parameters.insert(DOCUMENT.to_owned(), document.into());
        return cell;
    }
    let mix = settings.mixes.get(conditions.mix);
    let name = mix.map_or("", |mix| mix.name.as_str());
    let mut cell = cells.cell(name, Phase::Measured, Some(DataState::Drained));
    let mut set = |name: &str, value: serde_json::Value| cell.parameters.insert(name.to_owned(), value);
    set(CLIENTS, conditions.clients.into());
    match &settings.records {
        ServedRecords::Generated(records) => {
            set("documents", kind_word(&records.kind).into());
            set("values", values_word(records.values).into());
        }
        ServedRecords::Own { .. } => {
            set("documents", "own".into());
        }
    }
    set(DURABILITY, settings.durability.word().into());
    let has_read_paths = mix.is_some_and(|mix| mix.has(Operation::ReadPaths));
    if settings.projection != Projection::default() && has_read_paths {
        set("paths", settings.projection.count.into());
        set("position", settings.projection.position.word().into());
    }
    if !settings.prepare {
        set("prepared", false.into());
    }
    if let Some(operations) = settings.operation_count {
        set("operations", operations.into());
    }
    match conditions.kind {
        ConditionKind::Capacity | ConditionKind::Encoded(_) => set(ARRIVAL, CLOSED.into()),
        ConditionKind::Soak => {
            set("long_s", settings.soak_s.into());
            set(ARRIVAL, CLOSED.into())
        }
        ConditionKind::AtRate(Rate::PerSecond(rate)) => {
            set(RATE_PER_S, rate.into());
            set(ARRIVAL, settings.arrival.word().into())
        }
        ConditionKind::AtRate(Rate::OfCapacity(share)) => {
            set(RATE_SHARE, share.into());
            set(ARRIVAL, settings.arrival.word().into())
        }
        ConditionKind::Slo => {
            set(SLO, settings.slo.map(|slo| slo.to_string()).into());
            set(ARRIVAL, settings.arrival.word().into())
        }
    };
    cell
}

/// Conditions without the mix, as part of a file name.
pub(super) fn file_name_part(conditions: &TrialConditions) -> String {
    let kind = match conditions.kind {
        ConditionKind::Capacity => "closed".to_owned(),
        ConditionKind::Soak => "long".to_owned(),
        ConditionKind::AtRate(Rate::PerSecond(rate)) => format!("{rate}-per-s"),
        ConditionKind::AtRate(Rate::OfCapacity(share)) => format!("{}-percent", (share * 100.0).round()),
        ConditionKind::Slo => "slo".to_owned(),
        ConditionKind::Encoded(index) => format!("encoded-{index}"),
    };
    format!("{}-{kind}", conditions.clients)
}

/// Cell of a single operation within the cell of its mix.
pub(super) fn cell_of_operation(cell: &Cell, operation: Operation) -> Cell {
    let mut operation_cell = cell.clone();
    operation_cell.parameters.insert(OPERATION.to_owned(), operation.word().into());
    operation_cell
}

/// Keys of all planned trials of a configuration.
pub(super) fn keys(
    cells: Cells<'_>,
    settings: &ServingSettings,
    rounds: u32,
    load_rounds: u32,
) -> Vec<String> {
    let mut keys: Vec<String> = (1..=load_rounds).flat_map(|round| cells.load_keys(round)).collect();
    for round in 1..=rounds {
        let planned = conditions(settings, round);
        keys.extend(planned.iter().map(|trial| cell(cells, settings, trial).trial_key(round, 0)));
    }
    keys
}

/// Planned seconds of the trials of one configuration in one round.
pub(super) fn planned_seconds(settings: &ServingSettings, round: u32) -> f64 {
    let trial_s = settings.warmup_s + settings.duration_s;
    let seconds_of = |trial: &TrialConditions| match trial.kind {
        ConditionKind::Capacity | ConditionKind::AtRate(_) => trial_s,
        ConditionKind::Slo => trial_s * f64::from(super::slo_search::STEPS),
        ConditionKind::Soak => settings.warmup_s + settings.soak_s.unwrap_or_default(),
        ConditionKind::Encoded(_) => 0.0,
    };
    conditions(settings, round).iter().map(seconds_of).sum()
}

/// Number of starts of a configuration in one round: one, and one more with restored data for each mix that
/// follows a mix that writes.
pub(super) fn start_count(settings: &ServingSettings, round: u32) -> usize {
    let mut starts = 1;
    let mut changed_by = None;
    let planned = conditions(settings, round);
    for trial in planned.iter().filter(|trial| !matches!(trial.kind, ConditionKind::Encoded(_))) {
        let Some(mix) = settings.mixes.get(trial.mix) else { continue };
        if changed_by.is_some_and(|index| index != trial.mix) {
            starts += 1;
            changed_by = None;
        }
        if !only_reads(mix) {
            changed_by = Some(trial.mix);
        }
    }
    starts
}

/// Rejects a mix whose writes set different values of a document, because expected values would be ambiguous.
///
/// # Errors
/// If the mix has such writes; the text names the mix.
pub(super) fn check_mix(mix: &Mix) -> Result<(), String> {
    let written_value = |operation: &Operation| match operation {
        Operation::ReadModifyWrite => Some(Operation::Update),
        Operation::Update | Operation::UpdatePath | Operation::UpdateElement | Operation::UpdateAll => {
            Some(*operation)
        }
        _ => None,
    };
    let written: BTreeSet<Operation> =
        mix.shares.iter().filter_map(|(operation, _)| written_value(operation)).collect();
    if written.len() > 1 {
        return Err(format!(
            "the mix {} sets different values of a document, and answers could not be checked: use one of \
             update, update-path, update-element and update-all",
            mix.name
        ));
    }
    Ok(())
}

/// Returns `true` if a mix leaves the documents unchanged.
pub(super) fn only_reads(mix: &Mix) -> bool {
    mix.shares.iter().all(|(operation, _)| !operation.writes())
}

fn kind_word(kind: &Kind) -> String {
    match kind {
        Kind::Small => "small".to_owned(),
        Kind::Flat => "flat".to_owned(),
        Kind::Large => "large".to_owned(),
        Kind::Nested => "nested".to_owned(),
        Kind::Size { bytes } => format!("{bytes} B"),
        Kind::Items { members } => format!("{members} items"),
    }
}

fn values_word(values: Values) -> &'static str {
    match values {
        Values::Text => "text",
        Values::Random => "random",
    }
}
