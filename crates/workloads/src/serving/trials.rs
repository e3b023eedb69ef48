//! Plans the trials of a serving run.

use std::collections::BTreeSet;

use jsonathlon_dataset::records::{Kind, Values};
use jsonathlon_loadgen::mix::Mix;
use jsonathlon_loadgen::operation::Operation;
use jsonathlon_loadgen::paths::Projection;
use jsonathlon_schema::id::DataState;
use jsonathlon_schema::record::{Cell, Phase};

use super::settings::{Rate, ServingSettings};
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
    /// Highest rate that meets the objective.
    Objective,
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
pub(super) fn conditions(own: &ServingSettings, round: u32) -> Vec<TrialConditions> {
    let encoded =
        |place| TrialConditions { mix: usize::MAX, clients: 0, kind: ConditionKind::Encoded(place) };
    let mut all: Vec<TrialConditions> = (0..own.encode.len()).map(encoded).collect();
    let most = own.clients.iter().copied().max().unwrap_or(1);
    // Mixes that only read come first, because they leave the data unchanged.
    let mut mixes: Vec<usize> = (0..own.mixes.len()).collect();
    mixes.sort_by_key(|mix| own.mixes.get(*mix).is_none_or(|mix| !only_reads(mix)));
    for mix in mixes {
        let with = |clients, kind| TrialConditions { mix, clients, kind };
        // Rotated, so that no number of clients always runs first on fresh data.
        let shift = round.saturating_sub(1) as usize;
        let count = own.clients.len();
        all.extend(
            (0..count)
                .filter_map(|place| own.clients.get((place + shift) % count))
                .map(|clients| with(*clients, ConditionKind::Capacity)),
        );
        all.extend(own.rates.iter().map(|rate| with(most, ConditionKind::AtRate(*rate))));
        if own.objective.is_some() {
            all.push(with(most, ConditionKind::Objective));
        }
        if own.long_s.is_some() && round == 1 {
            all.push(with(most, ConditionKind::Soak));
        }
    }
    all
}

/// Cell of the given conditions.
pub(super) fn cell(cells: Cells<'_>, own: &ServingSettings, at: &TrialConditions) -> Cell {
    if let ConditionKind::Encoded(place) = at.kind {
        let mut cell = cells.cell(ENCODING, Phase::Steady, Some(DataState::Drained));
        let document = own.encode.get(place).map_or("", |sample| sample.name.as_str());
        cell.parameters.insert(DOCUMENT.to_owned(), document.into());
        return cell;
    }
    let name = own.mixes.get(at.mix).map_or("", |mix| mix.name.as_str());
    let mut cell = cells.cell(name, Phase::Measured, Some(DataState::Drained));
    let mut set = |name: &str, value: serde_json::Value| cell.parameters.insert(name.to_owned(), value);
    set("clients", at.clients.into());
    set("documents", documents(&own.records.kind).into());
    set("values", values(own.records.values).into());
    set("durability", own.durability.clone().into());
    let asks = |mix: &Mix| mix.shares.iter().any(|(operation, _)| *operation == Operation::ReadPaths);
    if own.projection != Projection::default() && own.mixes.get(at.mix).is_some_and(asks) {
        set("paths", own.projection.count.into());
        set("position", own.projection.position.word().into());
    }
    if !own.prepare {
        set("prepared", false.into());
    }
    if let Some(operations) = own.operations {
        set("operations", operations.into());
    }
    match at.kind {
        ConditionKind::Capacity | ConditionKind::Encoded(_) => set("arrival", "closed".into()),
        ConditionKind::Soak => {
            set("long_s", own.long_s.into());
            set("arrival", "closed".into())
        }
        ConditionKind::AtRate(Rate::PerSecond(rate)) => {
            set("rate_per_s", rate.into());
            set("arrival", own.spread.word().into())
        }
        ConditionKind::AtRate(Rate::OfCapacity(share)) => {
            set("rate_share", share.into());
            set("arrival", own.spread.word().into())
        }
        ConditionKind::Objective => {
            set("objective", own.objective.map(|one| one.to_string()).into());
            set("arrival", own.spread.word().into())
        }
    };
    cell
}

/// Conditions without the mix, as part of a file name.
pub(super) fn word(at: &TrialConditions) -> String {
    let kind = match at.kind {
        ConditionKind::Capacity => "closed".to_owned(),
        ConditionKind::Soak => "long".to_owned(),
        ConditionKind::AtRate(Rate::PerSecond(rate)) => format!("{rate}-per-s"),
        ConditionKind::AtRate(Rate::OfCapacity(share)) => format!("{}-percent", (share * 100.0).round()),
        ConditionKind::Objective => "objective".to_owned(),
        ConditionKind::Encoded(place) => format!("encoded-{place}"),
    };
    format!("{}-{kind}", at.clients)
}

/// Cell of a single operation within the cell of its mix.
pub(super) fn of_operation(cell: &Cell, operation: Operation) -> Cell {
    let mut of = cell.clone();
    of.parameters.insert("operation".into(), operation.word().into());
    of
}

/// Keys of all planned trials of a configuration.
pub(super) fn keys(cells: Cells<'_>, own: &ServingSettings, rounds: u32, load_rounds: u32) -> Vec<String> {
    let mut keys: Vec<String> = (1..=load_rounds).flat_map(|round| cells.load_keys(round)).collect();
    for round in 1..=rounds {
        keys.extend(conditions(own, round).iter().map(|at| cell(cells, own, at).trial_key(round, 0)));
    }
    keys
}

/// Planned seconds of the trials of one configuration in one round.
pub(super) fn seconds(own: &ServingSettings, round: u32) -> f64 {
    let one = own.ramp_s + own.measured_s;
    let of = |at: &TrialConditions| match at.kind {
        ConditionKind::Capacity | ConditionKind::AtRate(_) => one,
        ConditionKind::Objective => one * f64::from(super::slo_search::STEPS),
        ConditionKind::Soak => own.ramp_s + own.long_s.unwrap_or_default(),
        ConditionKind::Encoded(_) => 0.0,
    };
    conditions(own, round).iter().map(of).sum()
}

/// Number of starts of a configuration in one round: one, and one more with restored data for each mix that
/// follows a mix that writes.
pub(super) fn starts(own: &ServingSettings, round: u32) -> usize {
    let mut starts = 1;
    let mut changed_by = None;
    for at in conditions(own, round).iter().filter(|at| !matches!(at.kind, ConditionKind::Encoded(_))) {
        let Some(mix) = own.mixes.get(at.mix) else { continue };
        if changed_by.is_some_and(|by| by != at.mix) {
            starts += 1;
            changed_by = None;
        }
        if !only_reads(mix) {
            changed_by = Some(at.mix);
        }
    }
    starts
}

/// Rejects a mix whose writes set different values of a document, because expected values would be ambiguous.
///
/// # Errors
/// If the mix has such writes; the text names the mix.
pub(super) fn check(mix: &Mix) -> Result<(), String> {
    let sets = |operation: &Operation| match operation {
        Operation::ReadModifyWrite => Some(Operation::Update),
        Operation::Update | Operation::UpdatePath | Operation::UpdateElement | Operation::UpdateAll => {
            Some(*operation)
        }
        _ => None,
    };
    let found: BTreeSet<Operation> = mix.shares.iter().filter_map(|(operation, _)| sets(operation)).collect();
    if found.len() > 1 {
        return Err(format!(
            "the mix {} sets different values of a document, and answers could not be checked: use one of update, \
             update-path, update-element and update-all",
            mix.name
        ));
    }
    Ok(())
}

/// Returns `true` if a mix leaves the documents unchanged.
pub(super) fn only_reads(mix: &Mix) -> bool {
    mix.shares.iter().all(|(operation, _)| !operation.writes())
}

fn documents(kind: &Kind) -> String {
    match kind {
        Kind::Small => "small".to_owned(),
        Kind::Flat => "flat".to_owned(),
        Kind::Large => "large".to_owned(),
        Kind::Nested => "nested".to_owned(),
        Kind::Size { bytes } => format!("{bytes} B"),
        Kind::Items { members } => format!("{members} items"),
    }
}

fn values(values: Values) -> &'static str {
    match values {
        Values::Text => "text",
        Values::Random => "random",
    }
}
