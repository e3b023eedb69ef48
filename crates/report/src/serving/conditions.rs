//! Groups cells of one mix under the same conditions, over all numbers of clients and rates, and describes
//! these conditions.

use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::manifest::{DurabilityEvidence, POWER, PROCESS};
use jsonathlon_schema::record::{
    CLIENTS, Cell, DURABILITY, OBJECTIVE, Parameters, Phase, RATE_PER_S, RATE_SHARE,
};
use jsonathlon_schema::severity::Severity;
use jsonathlon_schema::workload::WorkloadKind;

use crate::format;
use crate::section::printable;

/// Parameters that do not separate groups: a row or a column shows them, or the configuration does.
const INSIDE: [&str; 6] = [CLIENTS, RATE_PER_S, RATE_SHARE, "scale", "preparation", "memory"];

/// Cells that are shown in one table.
pub(super) struct Group<'a> {
    /// A cell of the group, from which the title is made.
    like: &'a Cell,
    parameters: Parameters,
    pub(super) entries: Vec<&'a CellSummary>,
}

impl<'a> Group<'a> {
    /// All groups of a run, in the order in which they were measured. Cells of single operations are left
    /// out.
    pub(super) fn all(summary: &'a Summary) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        let of_mixes = summary.results.iter().filter(|entry| {
            let cell = &entry.cell;
            cell.workload == WorkloadKind::Serving
                && cell.phase == Phase::Measured
                && !cell.is_of_one_operation()
        });
        for entry in of_mixes {
            let mut parameters = entry.cell.parameters.clone();
            parameters.retain(|name, _| !INSIDE.contains(&name.as_str()));
            let is_same =
                |group: &&mut Self| group.like.step == entry.cell.step && group.parameters == parameters;
            match groups.iter_mut().find(is_same) {
                Some(group) => group.entries.push(entry),
                None => groups.push(Self { like: &entry.cell, parameters, entries: vec![entry] }),
            }
        }
        groups
    }

    /// Returns `true` if the cells were measured in a closed loop.
    pub(super) fn is_closed(&self) -> bool {
        !self.like.is_open_loop()
    }

    /// Returns `true` if the cells searched for the highest rate that keeps an objective.
    pub(super) fn has_objective(&self) -> bool {
        self.parameters.contains_key(OBJECTIVE)
    }

    /// Title of the group, i.e. the mix and its conditions: `mix a, synced`.
    pub(super) fn title(&self) -> String {
        let cell = Cell { parameters: self.parameters.clone(), ..self.like.clone() };
        printable(&format!("mix {}", cell.name()))
    }

    /// Numbers of clients that occur in the group, ascending.
    pub(super) fn clients(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self.entries.iter().map(|entry| clients(&entry.cell)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Entries of a configuration, sorted by clients and rate.
    pub(super) fn of(&self, configuration: &Configuration) -> Vec<&'a CellSummary> {
        let mut own: Vec<&CellSummary> =
            self.entries.iter().copied().filter(|entry| configuration.has(&entry.cell)).collect();
        own.sort_by(|a, b| {
            let place = |entry: &CellSummary| (clients(&entry.cell), rate_of(&entry.cell).unwrap_or(0.0));
            let ((a_clients, a_rate), (b_clients, b_rate)) = (place(a), place(b));
            a_clients.cmp(&b_clients).then(a_rate.total_cmp(&b_rate))
        });
        own
    }
}

/// Number of clients of a cell; 0 if it states none.
pub(super) fn clients(cell: &Cell) -> u64 {
    cell.parameters.get(CLIENTS).and_then(serde_json::Value::as_u64).unwrap_or(0)
}

fn rate_of(cell: &Cell) -> Option<f64> {
    [RATE_PER_S, RATE_SHARE].iter().find_map(|name| cell.parameters.get(*name)?.as_f64())
}

/// Arrival rate as text, per second or as a share of capacity; `None` for a closed loop.
pub(super) fn rate(cell: &Cell) -> Option<String> {
    let number = |name: &str| cell.parameters.get(name).and_then(serde_json::Value::as_f64);
    let per_s = number(RATE_PER_S).map(|rate| format!("{}/s", format::count(rate)));
    per_s.or_else(|| number(RATE_SHARE).map(|share| format!("{} of capacity", format::percent(share))))
}

/// Note on the number of trials in which each system wrote a checkpoint while it was measured, as far as the
/// system reports that. The variants of a system are added up.
pub(super) fn checkpoints(run: &Run) -> String {
    let (mut told, mut silent): (Vec<(&str, u64, u64)>, Vec<&str>) = (Vec::new(), Vec::new());
    for one in &run.manifest.configurations {
        // Cells of single operations have no seconds of their own.
        let (mut trials, mut known, mut with) = (0, 0, 0);
        for trial in run.trials().filter(|trial| trial.cell.phase == Phase::Measured && one.has(&trial.cell))
        {
            let measured = || trial.per_second.iter().filter(|second| !second.ramp);
            trials += u64::from(measured().next().is_some());
            known += u64::from(measured().any(|second| second.in_checkpoint.is_some()));
            with += u64::from(measured().any(|second| second.in_checkpoint == Some(true)));
        }
        match (trials, known) {
            (0, _) => {}
            (_, 0) => silent.push(&one.title),
            _ => match told.iter_mut().find(|(title, ..)| *title == one.title) {
                Some(variants) => {
                    variants.1 += known;
                    variants.2 += with;
                }
                None => told.push((&one.title, known, with)),
            },
        }
    }
    let told: Vec<String> = told
        .into_iter()
        .map(|(title, known, with)| {
            let with = if with == 0 { "none".to_owned() } else { with.to_string() };
            format!("{with} of {known} {} of {title}", if known == 1 { "trial" } else { "trials" })
        })
        .collect();
    silent.dedup();
    let silent = match silent.is_empty() {
        true => String::new(),
        false => format!("not told by {}", silent.join(", ")),
    };
    let told = if told.is_empty() { String::new() } else { format!("inside {}", told.join(", ")) };
    let words: Vec<String> = [told, silent].into_iter().filter(|words| !words.is_empty()).collect();
    let words = if words.is_empty() { "not known".to_owned() } else { words.join("; ") };
    printable(&format!("checkpoints: {words}"))
}

/// Note on whether the memory limit of systems included the page cache; `None` if that was not asked for.
pub(super) fn page_cache(run: &Run) -> Option<String> {
    let asked = run.manifest.settings.get("page_cache")?;
    let words = match (asked.get("capped").and_then(serde_json::Value::as_u64), asked.get("uncapped")) {
        (Some(bytes), _) => format!(
            "page cache: it and what its processes hold were capped at {} for each system (a control group)",
            format::bytes(bytes as f64)
        ),
        (None, why) => format!(
            "page cache: not capped, so that what a system does not hold itself may have come from the machine's memory ({})",
            why.and_then(serde_json::Value::as_str).unwrap_or("unknown why")
        ),
    };
    Some(printable(&words))
}

/// Notes on what the durability tiers may lose and what crash tests have shown, one per distinct text.
pub(super) fn durability(run: &Run, summary: &Summary) -> Vec<(Severity, String)> {
    let mut lines: Vec<(String, Severity, Vec<&str>)> = Vec::new();
    for one in &run.manifest.configurations {
        let Some(tier) = &one.durability else { continue };
        let [crash, loss] = [PROCESS, POWER].map(|kind| {
            let shown = tier.tested.iter().find(|one| one.kind == kind);
            shown.map_or_else(|| "as documented, not tested".to_owned(), DurabilityEvidence::to_string)
        });
        let line = match tier.tested.is_empty() {
            true => format!(
                "{}, {crash}: a process crash loses {}, a power loss {}",
                tier.tier, tier.process_crash, tier.power_loss
            ),
            false => format!(
                "{}: a process crash loses {} ({crash}), a power loss {} ({loss})",
                tier.tier, tier.process_crash, tier.power_loss
            ),
        };
        let severity = tier.tested.iter().map(DurabilityEvidence::severity).max().unwrap_or_default();
        match lines.iter_mut().find(|(known, ..)| *known == line) {
            Some((.., titles)) => titles.push(&one.title),
            None => lines.push((line, severity, vec![&one.title])),
        }
    }
    if lines.is_empty() {
        let mut tiers: Vec<&str> = summary
            .results
            .iter()
            .filter_map(|entry| entry.cell.parameters.get(DURABILITY)?.as_str())
            .collect();
        tiers.sort_unstable();
        tiers.dedup();
        return tiers
            .into_iter()
            .map(|tier| (Severity::Good, format!("{}: as documented, not tested", printable(tier))))
            .collect();
    }
    lines
        .into_iter()
        .map(|(line, severity, mut titles)| {
            titles.dedup();
            (severity, printable(&format!("{line} ({})", titles.join(", "))))
        })
        .collect()
}
