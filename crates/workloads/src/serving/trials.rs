//! Plans the trials of a serving run.

use std::collections::BTreeSet;

use jsonathlon_dataset::records::{Kind, Values};
use jsonathlon_loadgen::mix::Mix;
use jsonathlon_loadgen::operation::Operation;
use jsonathlon_loadgen::paths::Projection;
use jsonathlon_schema::id::DataState;
use jsonathlon_schema::record::{
    ALL_QUESTIONS, ARRIVAL, CLIENTS, CLOSED, Cell, DURABILITY, MIX, OPERATION, Parameters, Phase, RATE_PER_S,
    RATE_SHARE, SLO, STREAMS,
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
    /// Whether reports are asked beside the clients.
    pub(super) beside_reports: bool,
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
    /// Times of reports without clients beside them.
    ReportsAtRest,
}

/// Step of the stored sizes of documents.
const ENCODING: &str = "encoding";
/// Parameter with the name of the document in such a cell.
const DOCUMENT: &str = "document";

/// All conditions of one configuration in one round, in execution order. Rates come after all closed loops of
/// their mix, because they may be shares of the closed loops' throughput. Reports are asked at rest before
/// anything has changed the data.
pub(super) fn conditions(settings: &ServingSettings, round: u32) -> Vec<TrialConditions> {
    let without_clients = |kind| TrialConditions { mix: usize::MAX, clients: 0, kind, beside_reports: false };
    let encoded = (0..settings.stored_size_samples.len()).map(ConditionKind::Encoded);
    let at_rest = settings.reports.iter().map(|_| ConditionKind::ReportsAtRest);
    let mut planned: Vec<TrialConditions> = encoded.chain(at_rest).map(without_clients).collect();
    let most_clients = settings.clients.iter().copied().max().unwrap_or(1);
    // Mixes that only read come first, because they leave the data unchanged.
    let mut mixes: Vec<usize> = (0..settings.mixes.len()).collect();
    mixes.sort_by_key(|index| settings.mixes.get(*index).is_none_or(|mix| !only_reads(mix)));
    for mix in mixes {
        let trial = |clients, kind| TrialConditions { mix, clients, kind, beside_reports: false };
        // A load alone and the same load beside reports follow each other, and each comes first in every other
        // round: a trial that writes leaves other data to the next one.
        let pair = |conditions: TrialConditions| {
            let beside = TrialConditions { beside_reports: true, ..conditions.clone() };
            let pair = if round % 2 == 1 { [conditions, beside] } else { [beside, conditions] };
            pair.into_iter().filter(|trial| !trial.beside_reports || settings.reports.is_some())
        };
        // Rotated, so that no number of clients always runs first on fresh data.
        let shift = round.saturating_sub(1) as usize;
        let count = settings.clients.len();
        planned.extend(
            (0..count)
                .filter_map(|position| settings.clients.get((position + shift) % count))
                .flat_map(|clients| pair(trial(*clients, ConditionKind::Capacity))),
        );
        let at_rate = |rate: &Rate| trial(most_clients, ConditionKind::AtRate(*rate));
        planned.extend(settings.rates.iter().flat_map(|rate| pair(at_rate(rate))));
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
    if conditions.kind == ConditionKind::ReportsAtRest {
        return report_cell(cells, settings, conditions, ALL_QUESTIONS);
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
    if let Some(reports) = settings.reports.as_ref().filter(|_| conditions.beside_reports) {
        set(STREAMS, reports.streams.into());
    }
    cell.parameters.extend(arrival_parameters(settings, conditions.kind));
    cell
}

/// Cell of a question, or of all, that is asked at rest or beside the load under the given conditions.
pub(super) fn report_cell(
    cells: Cells<'_>,
    settings: &ServingSettings,
    conditions: &TrialConditions,
    question: &str,
) -> Cell {
    let phase = if conditions.beside_reports { Phase::Both } else { Phase::Still };
    let mut cell = cells.cell(question, phase, Some(DataState::Drained));
    let mut set = |name: &str, value: serde_json::Value| cell.parameters.insert(name.to_owned(), value);
    set("documents", "own".into());
    set(DURABILITY, settings.durability.word().into());
    if let Some(reports) = &settings.reports {
        set(STREAMS, reports.streams.into());
    }
    if conditions.beside_reports {
        let mix = settings.mixes.get(conditions.mix).map_or("", |mix| mix.name.as_str());
        set(MIX, mix.into());
        set(CLIENTS, conditions.clients.into());
        cell.parameters.extend(arrival_parameters(settings, conditions.kind));
    }
    cell
}

/// All planned cells of a trial: those of its reports, if it has any, and last the one of [`cell`].
pub(super) fn all_cells(
    cells: Cells<'_>,
    settings: &ServingSettings,
    conditions: &TrialConditions,
) -> Vec<Cell> {
    let mut all = Vec::new();
    let has_reports = conditions.beside_reports || conditions.kind == ConditionKind::ReportsAtRest;
    if let Some(reports) = settings.reports.as_ref().filter(|_| has_reports) {
        let names = reports.questions.questions.iter().map(|question| question.name.as_str());
        all.extend(names.map(|name| report_cell(cells, settings, conditions, name)));
        if conditions.beside_reports {
            all.push(report_cell(cells, settings, conditions, ALL_QUESTIONS));
        }
    }
    all.push(cell(cells, settings, conditions));
    all
}

/// Parameters that say when operations begin.
pub(super) fn arrival_parameters(settings: &ServingSettings, kind: ConditionKind) -> Parameters {
    let (arrival, rate) = match kind {
        ConditionKind::Capacity | ConditionKind::Encoded(_) | ConditionKind::ReportsAtRest => (CLOSED, None),
        ConditionKind::Soak => (CLOSED, Some(("long_s", settings.soak_s.into()))),
        ConditionKind::AtRate(Rate::PerSecond(rate)) => {
            (settings.arrival.word(), Some((RATE_PER_S, rate.into())))
        }
        ConditionKind::AtRate(Rate::OfCapacity(share)) => {
            (settings.arrival.word(), Some((RATE_SHARE, share.into())))
        }
        ConditionKind::Slo => {
            (settings.arrival.word(), Some((SLO, settings.slo.map(|slo| slo.to_string()).into())))
        }
    };
    let parameters = [(ARRIVAL, arrival.into())].into_iter().chain(rate);
    parameters.map(|(name, value): (&str, serde_json::Value)| (name.to_owned(), value)).collect()
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
        ConditionKind::ReportsAtRest => "reports".to_owned(),
    };
    let beside = if conditions.beside_reports { "-beside-reports" } else { "" };
    format!("{}-{kind}{beside}", conditions.clients)
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
        for trial in conditions(settings, round) {
            keys.extend(all_cells(cells, settings, &trial).iter().map(|cell| cell.trial_key(round, 0)));
        }
    }
    keys
}

/// Planned seconds of the trials of one configuration in one round.
pub(super) fn planned_seconds(settings: &ServingSettings, round: u32) -> f64 {
    let trial_s = settings.warmup_s + settings.duration_s;
    let seconds_of = |trial: &TrialConditions| match trial.kind {
        ConditionKind::Capacity | ConditionKind::AtRate(_) | ConditionKind::ReportsAtRest => trial_s,
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
    for trial in &planned {
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

#[cfg(test)]
mod tests {
    use jsonathlon_schema::durability::DurabilityTier;
    use jsonathlon_schema::settings::questions::QuestionsSettings;

    use super::*;
    use crate::serving::mixes::built_in;
    use crate::serving::settings::{ArrivalPattern, OwnDocuments, ReportSettings};

    fn settings(reports: bool) -> ServingSettings {
        ServingSettings {
            records: ServedRecords::Own { own: OwnDocuments::default() },
            mixes: ["a", "c"].map(|name| built_in(name).unwrap()).to_vec(),
            clients: vec![1, 8],
            rates: vec![Rate::PerSecond(500.0)],
            arrival: ArrivalPattern::Poisson,
            slo: None,
            warmup_s: 0.75,
            duration_s: 2.0,
            soak_s: Some(60.0),
            operation_count: None,
            stored_size_samples: Vec::new(),
            durability: DurabilityTier::Synced,
            prepare: true,
            batch_size: 100,
            max_scan_length: 100,
            find_limit: 10,
            projection: Projection::default(),
            server_cpus: None,
            timeout_s: 10.0,
            retries: 10,
            reports: reports.then(|| ReportSettings { streams: 2, questions: QuestionsSettings::default() }),
        }
    }

    #[test]
    fn each_load_is_planned_alone_and_beside_reports_in_turn() {
        let planned = |round| conditions(&settings(true), round);
        let (first, second) = (planned(1), planned(2));
        assert_eq!(first[0].kind, ConditionKind::ReportsAtRest, "before anything has changed the data");
        let beside = |planned: &[TrialConditions]| -> Vec<bool> {
            planned.iter().skip(1).map(|trial| trial.beside_reports).collect()
        };
        // Two mixes with two numbers of clients and a rate; the soak of the first round is alone.
        let pairs = [[false, true]; 3].concat();
        assert_eq!(beside(&first), [&pairs[..], &[false], &pairs, &[false]].concat());
        let swapped = [[true, false]; 6].concat();
        assert_eq!(beside(&second), swapped);
        for pair in second[1..].chunks(2) {
            let alone = TrialConditions { beside_reports: false, ..pair[0].clone() };
            assert_eq!(alone, pair[1], "a pair differs in nothing else");
            assert_ne!(file_name_part(&pair[0]), file_name_part(&pair[1]));
        }
        let without = conditions(&settings(false), 1);
        assert!(without.iter().all(|trial| !trial.beside_reports));
        assert_eq!(without.len(), 8);
        assert_eq!(start_count(&settings(true), 1), start_count(&settings(false), 1));
    }
}
