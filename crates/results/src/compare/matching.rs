//! Matches the cells of two runs.

use jsonathlon_schema::id::{ConfigurationId, DataState, Step};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::record::{Cell, Phase, Verdict};
use serde::Serialize;

use super::is_right;
use crate::cell_summary::CellSummary;
use crate::ratio_to_best::dimensions;

/// Configuration, or cells of it, that only one of the runs has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnmatchedConfiguration {
    /// Configuration that the other run lacks, entirely or in part.
    #[serde(flatten)]
    pub id: ConfigurationId,
    /// Ranking of the configuration: preparation class, memory profile and further rules.
    pub class: String,
    /// Whether the configuration is a reference row.
    pub reference: bool,
    /// Whether the other run lacks the whole configuration.
    pub whole: bool,
    /// Names of the cells: step, phase, and data state if there is one.
    pub cells: Vec<String>,
    /// Names of those cells that were right and that the other run has in no other phase either.
    pub right: Vec<String>,
}

/// Cell that both runs have.
pub(super) struct CellPair<'a> {
    pub(super) a: &'a CellSummary,
    pub(super) b: &'a CellSummary,
    /// Worst verdict of all entries in A that were planned as this cell.
    pub(super) verdict_a: Verdict,
    pub(super) verdict_b: Verdict,
    pub(super) configurations: [&'a Configuration; 2],
    /// Index of the pair of configurations in [`Matched::configurations`].
    pub(super) place: usize,
}

/// Matched configurations and cells, and what only one side has.
pub(super) struct Matched<'a> {
    pub(super) configurations: Vec<[&'a Configuration; 2]>,
    pub(super) cells: Vec<CellPair<'a>>,
    pub(super) only_in_a: Vec<UnmatchedConfiguration>,
    pub(super) only_in_b: Vec<UnmatchedConfiguration>,
}

/// Configurations and entries of one side.
pub(super) type SideCells<'a> = (Vec<&'a Configuration>, &'a [CellSummary]);

/// Matches the cells of the given pairs of configurations.
pub(super) fn matched<'a>(
    a: SideCells<'a>,
    b: SideCells<'a>,
    configurations: Vec<[&'a Configuration; 2]>,
) -> Matched<'a> {
    let mut cells = Vec::new();
    let (mut only_in_a, mut only_in_b) = (Vec::new(), Vec::new());
    for (place, pair) in configurations.iter().enumerate() {
        let [one, other] = pair;
        let (mut slots_a, mut slots_b) = (slots(one, a.1), slots(other, b.1));
        for of_a in &mut slots_a {
            if let Some(of_b) = slots_b.iter_mut().find(|known| known.planned == of_a.planned) {
                cells.extend(pairs(of_a, of_b, *pair, place));
            }
        }
        only_in_a.extend(left(one, &slots_a, false));
        only_in_b.extend(left(other, &slots_b, false));
    }
    for (side, found, at) in [(&a, &mut only_in_a, 0), (&b, &mut only_in_b, 1)] {
        let known = |one: &Configuration| {
            configurations.iter().any(|pair| pair.get(at).is_some_and(|known| std::ptr::eq(*known, one)))
        };
        for lone in side.0.iter().filter(|one| !known(one)) {
            found.extend(left(lone, &slots(lone, side.1), true));
        }
    }
    Matched { configurations, cells, only_in_a, only_in_b }
}

/// Systems, versions and rankings of a run for error messages.
pub(super) fn names(configurations: &[Configuration]) -> String {
    let name = |one: &Configuration| {
        let ConfigurationId { system, version, variant, storage } = &one.id;
        format!("{system} {version} {variant}, {storage} ({})", one.ranking())
    };
    configurations.iter().map(name).collect::<Vec<_>>().join("; ")
}

/// Matches the configurations of two runs. Equal versions are matched; different versions only if each run
/// has a single candidate. Preparation class and memory profile must be equal; one that is not stated is only
/// equal to another that is not stated.
pub(super) fn configurations<'a>(
    a: &'a [Configuration],
    b: &'a [Configuration],
) -> Vec<[&'a Configuration; 2]> {
    let alike = |x: &Configuration, y: &Configuration| {
        x.id.same_except_version(&y.id) && (x.preparation, x.profile) == (y.preparation, y.profile)
    };
    let versions = |all: &[Configuration], one: &Configuration| all.iter().filter(|x| alike(x, one)).count();
    a.iter()
        .filter_map(|one| {
            let exact = b.iter().find(|other| alike(one, other) && one.id.version == other.id.version);
            let unambiguous = || {
                let alone = versions(a, one) == 1 && versions(b, one) == 1;
                b.iter().find(|other| alone && alike(one, other))
            };
            Some([one, exact.or_else(unambiguous)?])
        })
        .collect()
}

/// Planned cell with the entries that it became. Trials of one planned cell may be in several phases: cold or
/// `cold-unverified`, hot or `hot-not-in-memory`. Failed trials keep the planned phase.
struct PlannedCell<'a> {
    /// Workload, step, planned phase and further dimensions. Dimensions of the configuration are excluded;
    /// different memory budgets are listed as differences.
    planned: (&'a str, &'a Step, Phase, (Option<DataState>, String)),
    entries: Vec<&'a CellSummary>,
    /// Worst verdict of all entries.
    verdict: Verdict,
    /// Whether the other run has the planned cell too.
    shared: bool,
}

fn slots<'a>(configuration: &Configuration, entries: &'a [CellSummary]) -> Vec<PlannedCell<'a>> {
    let mut slots: Vec<PlannedCell<'a>> = Vec::new();
    for entry in entries.iter().filter(|entry| configuration.has(&entry.cell)) {
        let cell = &entry.cell;
        let planned = (cell.workload.as_str(), &cell.step, cell.phase.planned(), dimensions(cell));
        match slots.iter_mut().find(|known| known.planned == planned) {
            Some(known) => {
                known.entries.push(entry);
                known.verdict = known.verdict.max(entry.verdict);
            }
            None => slots.push(PlannedCell {
                planned,
                entries: vec![entry],
                verdict: entry.verdict,
                shared: false,
            }),
        }
    }
    slots
}

/// Removes matching entries from two slots and returns them as pairs. Times are paired with times of the same
/// phase. If a side is not right, there is one pair whatever the phases are.
fn pairs<'a>(
    a: &mut PlannedCell<'a>,
    b: &mut PlannedCell<'a>,
    configurations: [&'a Configuration; 2],
    place: usize,
) -> Vec<CellPair<'a>> {
    (a.shared, b.shared) = (true, true);
    let (verdict_a, verdict_b) = (a.verdict, b.verdict);
    let both_right = is_right(verdict_a) && is_right(verdict_b);
    let mut found = Vec::new();
    let mut take = |a: &mut Vec<&'a CellSummary>, b: &mut Vec<&'a CellSummary>, x: usize, y: usize| {
        let (a, b) = (a.remove(x), b.remove(y));
        found.push(CellPair { a, b, verdict_a, verdict_b, configurations, place });
    };
    let mut any = false;
    while let Some((x, y)) = same_phase(&a.entries, &b.entries).filter(|_| both_right || !any) {
        take(&mut a.entries, &mut b.entries, x, y);
        any = true;
    }
    if !any && !a.entries.is_empty() && !b.entries.is_empty() {
        take(&mut a.entries, &mut b.entries, 0, 0);
    }
    if !both_right {
        a.entries.clear();
        b.entries.clear();
    }
    found
}

fn same_phase(a: &[&CellSummary], b: &[&CellSummary]) -> Option<(usize, usize)> {
    a.iter().enumerate().find_map(|(x, one)| {
        let y = b.iter().position(|other| other.cell.phase == one.cell.phase)?;
        Some((x, y))
    })
}

/// Describes the entries that the other run does not have. `None` if there are none and only a part of the
/// configuration is concerned.
fn left(
    configuration: &Configuration,
    slots: &[PlannedCell<'_>],
    whole: bool,
) -> Option<UnmatchedConfiguration> {
    let named = |entry: &&CellSummary| entry.cell.name();
    let names = |wanted: &dyn Fn(&PlannedCell<'_>) -> bool| -> Vec<String> {
        slots.iter().filter(|slot| wanted(slot)).flat_map(|slot| slot.entries.iter().map(named)).collect()
    };
    let cells = names(&|_| true);
    (whole || !cells.is_empty()).then(|| UnmatchedConfiguration {
        id: configuration.id.clone(),
        class: configuration.ranking(),
        reference: configuration.reference,
        whole,
        cells,
        right: names(&|slot| !slot.shared && is_right(slot.verdict)),
    })
}

impl super::CellComparison {
    /// Name of the cell within its configuration, for readers: `load`, `q1 hot`, `q1 hot, compacted`,
    /// `size, drained`. Cells of measurement windows also name the metric that is compared.
    #[must_use]
    pub fn name(&self) -> String {
        let cell = Cell {
            workload: self.workload.clone(),
            id: self.id.clone(),
            profile: None,
            step: self.step.clone(),
            phase: self.phase,
            state: self.state,
            parameters: self.parameters.clone(),
        };
        match self.phase {
            Phase::Measured => format!("{}: {}", cell.name(), self.figure.title),
            _ => cell.name(),
        }
    }
}
