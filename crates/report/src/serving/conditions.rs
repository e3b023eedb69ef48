//! Groups cells of one mix under the same conditions, over all numbers of clients and rates, and describes
//! these conditions.

use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::durability::{CrashKind, DurabilityEvidence, DurabilityTier};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::record::{CLIENTS, Cell, DURABILITY, Parameters, Phase, RATE_PER_S, RATE_SHARE, SLO};
use jsonathlon_schema::settings::PageCachePolicy;
use jsonathlon_schema::severity::Severity;
use jsonathlon_schema::workload::WorkloadKind;

use crate::format;
use crate::section::printable;

/// Parameters that do not separate groups: a row or a column shows them, or the configuration does.
const UNGROUPED: [&str; 6] = [CLIENTS, RATE_PER_S, RATE_SHARE, "scale", "preparation", "memory"];

/// Cells that are shown in one table.
pub(super) struct Group<'a> {
    /// First cell of the group, from which the title is made.
    first_cell: &'a Cell,
    parameters: Parameters,
    pub(super) entries: Vec<&'a CellSummary>,
}

impl<'a> Group<'a> {
    /// All groups of a run, in the order in which they were measured. Cells of single operations are left
    /// out.
    pub(super) fn find_all(summary: &'a Summary) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        let mix_entries = summary.results.iter().filter(|entry| {
            let cell = &entry.cell;
            cell.workload == WorkloadKind::Serving
                && cell.phase == Phase::Measured
                && !cell.is_single_operation()
        });
        for entry in mix_entries {
            let mut parameters = entry.cell.parameters.clone();
            parameters.retain(|name, _| !UNGROUPED.contains(&name.as_str()));
            let is_same = |group: &&mut Self| {
                group.first_cell.step == entry.cell.step && group.parameters == parameters
            };
            match groups.iter_mut().find(is_same) {
                Some(group) => group.entries.push(entry),
                None => groups.push(Self { first_cell: &entry.cell, parameters, entries: vec![entry] }),
            }
        }
        groups
    }

    /// Returns `true` if the cells were measured in a closed loop.
    pub(super) fn is_closed(&self) -> bool {
        !self.first_cell.is_open_loop()
    }

    /// Returns `true` if the cells searched for the highest rate that meets a service-level objective.
    pub(super) fn has_slo(&self) -> bool {
        self.parameters.contains_key(SLO)
    }

    /// Title of the group, i.e. the mix and its conditions: `mix a, synced`.
    pub(super) fn title(&self) -> String {
        let cell = Cell { parameters: self.parameters.clone(), ..self.first_cell.clone() };
        printable(&format!("mix {}", cell.name()))
    }

    /// Numbers of clients that occur in the group, ascending.
    pub(super) fn clients(&self) -> Vec<u64> {
        let mut counts: Vec<u64> = self.entries.iter().map(|entry| clients(&entry.cell)).collect();
        counts.sort_unstable();
        counts.dedup();
        counts
    }

    /// Entries of a configuration, sorted by clients and rate.
    pub(super) fn entries_of(&self, configuration: &Configuration) -> Vec<&'a CellSummary> {
        let mut entries: Vec<&CellSummary> =
            self.entries.iter().copied().filter(|entry| configuration.contains_cell(&entry.cell)).collect();
        entries.sort_by(|a, b| {
            let sort_key = |entry: &CellSummary| (clients(&entry.cell), rate_of(&entry.cell).unwrap_or(0.0));
            let ((a_clients, a_rate), (b_clients, b_rate)) = (sort_key(a), sort_key(b));
            a_clients.cmp(&b_clients).then(a_rate.total_cmp(&b_rate))
        });
        entries
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
    let (mut reported, mut unreported): (Vec<(&str, u64, u64)>, Vec<&str>) = (Vec::new(), Vec::new());
    for configuration in &run.manifest.configurations {
        // Cells of single operations have no seconds of their own.
        let (mut trials, mut reporting, mut with_checkpoint) = (0, 0, 0);
        for trial in run
            .trials()
            .filter(|trial| trial.cell.phase == Phase::Measured && configuration.contains_cell(&trial.cell))
        {
            let measured = || trial.per_second.iter().filter(|second| !second.ramp);
            trials += u64::from(measured().next().is_some());
            reporting += u64::from(measured().any(|second| second.in_checkpoint.is_some()));
            with_checkpoint += u64::from(measured().any(|second| second.in_checkpoint == Some(true)));
        }
        match (trials, reporting) {
            (0, _) => {}
            (_, 0) => unreported.push(&configuration.title),
            _ => match reported.iter_mut().find(|(title, ..)| *title == configuration.title) {
                Some(variants) => {
                    variants.1 += reporting;
                    variants.2 += with_checkpoint;
                }
                None => reported.push((&configuration.title, reporting, with_checkpoint)),
            },
        }
    }
    let reported: Vec<String> = reported
        .into_iter()
        .map(|(title, reporting, with_checkpoint)| {
            let count = if with_checkpoint == 0 { "none".to_owned() } else { with_checkpoint.to_string() };
            let trials = if reporting == 1 { "trial" } else { "trials" };
            format!("{count} of {reporting} {trials} of {title}")
        })
        .collect();
    unreported.dedup();
    let unreported = match unreported.is_empty() {
        true => String::new(),
        false => format!("not reported by {}", unreported.join(", ")),
    };
    let reported = match reported.is_empty() {
        true => String::new(),
        false => format!("inside {}", reported.join(", ")),
    };
    let notes: Vec<String> = [reported, unreported].into_iter().filter(|note| !note.is_empty()).collect();
    let text = if notes.is_empty() { "not known".to_owned() } else { notes.join("; ") };
    printable(&format!("checkpoints: {text}"))
}

/// Note on whether the memory limit of systems included the page cache; `None` without that setting.
pub(super) fn page_cache(run: &Run) -> Option<String> {
    let text = match &run.manifest.settings.run.page_cache {
        PageCachePolicy::Free => return None,
        PageCachePolicy::Capped(bytes) => format!(
            "page cache: it and what its processes hold were capped at {} for each system (a control group)",
            format::bytes(*bytes as f64)
        ),
        PageCachePolicy::Uncapped(reason) => format!(
            "page cache: not capped, so that what a system does not hold itself may have come from the machine's memory ({reason})"
        ),
    };
    Some(printable(&text))
}

/// Notes on what the durability tiers may lose and what crash tests have shown, one per distinct text.
pub(super) fn durability(run: &Run, summary: &Summary) -> Vec<(Severity, String)> {
    let mut lines: Vec<(String, Severity, Vec<&str>)> = Vec::new();
    for configuration in &run.manifest.configurations {
        let Some(tier) = &configuration.durability else { continue };
        let [crash, loss] = CrashKind::ALL.map(|kind| {
            let evidence = tier.tested.iter().find(|evidence| evidence.kind == kind);
            evidence.map_or_else(|| "as documented, not tested".to_owned(), DurabilityEvidence::to_string)
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
            Some((.., titles)) => titles.push(&configuration.title),
            None => lines.push((line, severity, vec![&configuration.title])),
        }
    }
    if lines.is_empty() {
        let mut tiers: Vec<DurabilityTier> = summary
            .results
            .iter()
            .filter_map(|entry| DurabilityTier::from_word(entry.cell.parameters.get(DURABILITY)?.as_str()?))
            .collect();
        tiers.sort_unstable();
        tiers.dedup();
        return tiers
            .into_iter()
            .map(|tier| (Severity::Good, format!("{tier}: as documented, not tested")))
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
