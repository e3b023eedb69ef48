//! Matches the cells of two runs, or of two sides of one run.

use jsonathlon_schema::id::{ConfigurationId, DataState, Step};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::record::{Cell, Phase, Verdict};
use serde::Serialize;

use super::is_correct;
use crate::cell_summary::CellSummary;
use crate::ratio_to_best::dimensions;

/// Configuration, or some of its cells, that only one side of a comparison has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnmatchedConfiguration {
    /// Configuration that the other side lacks, entirely or in part.
    #[serde(flatten)]
    pub id: ConfigurationId,
    /// Ranking of the configuration: preparation class, memory profile and further rules.
    pub class: String,
    /// Whether the configuration is a reference row.
    pub reference: bool,
    /// Whether the other side lacks the whole configuration. Otherwise it lacks only `cells`.
    pub whole_configuration: bool,
    /// Names of the cells that the other side lacks: step, phase, and data state if there is one.
    pub cells: Vec<String>,
    /// Names of those of `cells` that are right and that the other side lacks in every phase.
    pub correct_cells: Vec<String>,
}

/// Cell that both sides have.
pub(super) struct CellPair<'a> {
    pub(super) a: &'a CellSummary,
    pub(super) b: &'a CellSummary,
    /// Worst verdict of all entries of the planned cell in A.
    pub(super) verdict_a: Verdict,
    /// Worst verdict of all entries of the planned cell in B.
    pub(super) verdict_b: Verdict,
    /// Configurations in A and B.
    pub(super) configurations: [&'a Configuration; 2],
    /// Index of the pair of configurations in [`MatchedSides::configurations`].
    pub(super) configuration_index: usize,
}

/// Matched configurations and cells of two sides, and those that only one side has.
pub(super) struct MatchedSides<'a> {
    /// Pairs of a configuration in A and one in B.
    pub(super) configurations: Vec<[&'a Configuration; 2]>,
    pub(super) cells: Vec<CellPair<'a>>,
    pub(super) only_in_a: Vec<UnmatchedConfiguration>,
    pub(super) only_in_b: Vec<UnmatchedConfiguration>,
}

/// Configurations of one side, and the summaries of the cells of its run.
pub(super) type SideCells<'a> = (Vec<&'a Configuration>, &'a [CellSummary]);

/// Matches the cells of `configurations`, which are pairs of a configuration in A and one in B.
pub(super) fn match_cells<'a>(
    a: SideCells<'a>,
    b: SideCells<'a>,
    configurations: Vec<[&'a Configuration; 2]>,
) -> MatchedSides<'a> {
    let mut cells = Vec::new();
    let (mut only_in_a, mut only_in_b) = (Vec::new(), Vec::new());
    for (configuration_index, pair) in configurations.iter().enumerate() {
        let [configuration_a, configuration_b] = pair;
        let (mut cells_a, mut cells_b) =
            (planned_cells(configuration_a, a.1), planned_cells(configuration_b, b.1));
        for cell_a in &mut cells_a {
            if let Some(cell_b) = cells_b.iter_mut().find(|cell_b| cell_b.key == cell_a.key) {
                cells.extend(pair_entries(cell_a, cell_b, *pair, configuration_index));
            }
        }
        only_in_a.extend(unmatched(configuration_a, &cells_a, false));
        only_in_b.extend(unmatched(configuration_b, &cells_b, false));
    }
    for (side, only_in_side, side_index) in [(&a, &mut only_in_a, 0), (&b, &mut only_in_b, 1)] {
        let is_matched = |configuration: &Configuration| {
            configurations
                .iter()
                .any(|pair| pair.get(side_index).is_some_and(|matched| std::ptr::eq(*matched, configuration)))
        };
        for configuration in side.0.iter().filter(|configuration| !is_matched(configuration)) {
            only_in_side.extend(unmatched(configuration, &planned_cells(configuration, side.1), true));
        }
    }
    MatchedSides { configurations, cells, only_in_a, only_in_b }
}

/// Lists configurations in error messages, with system, version and ranking.
pub(super) fn describe_configurations(configurations: &[Configuration]) -> String {
    let name = |configuration: &Configuration| {
        let ConfigurationId { system, version, variant, storage } = &configuration.id;
        format!("{system} {version} {variant}, {storage} ({})", configuration.ranking())
    };
    configurations.iter().map(name).collect::<Vec<_>>().join("; ")
}

/// Matches the configurations of two runs, which must be equal except in the version. Different versions are
/// matched only if each run has a single version.
///
/// Preparation class and memory profile must be equal too; remote servers have no profile.
pub(super) fn match_configurations<'a>(
    a: &'a [Configuration],
    b: &'a [Configuration],
) -> Vec<[&'a Configuration; 2]> {
    let equal_except_version = |x: &Configuration, y: &Configuration| {
        x.id.same_except_version(&y.id) && (x.preparation, x.profile) == (y.preparation, y.profile)
    };
    let count_versions = |run: &[Configuration], wanted: &Configuration| {
        run.iter().filter(|configuration| equal_except_version(configuration, wanted)).count()
    };
    a.iter()
        .filter_map(|in_a| {
            let same_version =
                b.iter().find(|in_b| equal_except_version(in_a, in_b) && in_a.id.version == in_b.id.version);
            let only_version = || {
                let is_unambiguous = count_versions(a, in_a) == 1 && count_versions(b, in_a) == 1;
                b.iter().find(|in_b| is_unambiguous && equal_except_version(in_a, in_b))
            };
            Some([in_a, same_version.or_else(only_version)?])
        })
        .collect()
}

/// Cell as it was planned, with one entry per phase in which its trials were recorded: cold or
/// `cold-unverified`, hot or `hot-not-in-memory`. Failed trials keep the planned phase.
struct PlannedCell<'a> {
    /// Workload, step, planned phase and further dimensions. Dimensions of the configuration are excluded;
    /// different memory budgets are listed as differences.
    key: (&'a str, &'a Step, Phase, (Option<DataState>, String)),
    /// Entries that are not paired yet.
    entries: Vec<&'a CellSummary>,
    /// Worst verdict of all entries.
    verdict: Verdict,
    /// Whether the other side has the planned cell too.
    is_in_both: bool,
}

/// Groups the entries of a configuration by planned cell.
fn planned_cells<'a>(configuration: &Configuration, entries: &'a [CellSummary]) -> Vec<PlannedCell<'a>> {
    let mut planned_cells: Vec<PlannedCell<'a>> = Vec::new();
    for entry in entries.iter().filter(|entry| configuration.contains_cell(&entry.cell)) {
        let cell = &entry.cell;
        let key = (cell.workload.as_str(), &cell.step, cell.phase.planned(), dimensions(cell));
        match planned_cells.iter_mut().find(|planned| planned.key == key) {
            Some(planned) => {
                planned.entries.push(entry);
                planned.verdict = planned.verdict.max(entry.verdict);
            }
            None => planned_cells.push(PlannedCell {
                key,
                entries: vec![entry],
                verdict: entry.verdict,
                is_in_both: false,
            }),
        }
    }
    planned_cells
}

/// Moves matching entries of a planned cell from both sides into pairs. If both sides are right, entries of
/// equal phases are paired. Otherwise there is exactly one pair, of equal phases if possible, and the other
/// entries are discarded.
fn pair_entries<'a>(
    a: &mut PlannedCell<'a>,
    b: &mut PlannedCell<'a>,
    configurations: [&'a Configuration; 2],
    configuration_index: usize,
) -> Vec<CellPair<'a>> {
    (a.is_in_both, b.is_in_both) = (true, true);
    let (verdict_a, verdict_b) = (a.verdict, b.verdict);
    let both_right = is_correct(verdict_a) && is_correct(verdict_b);
    let mut pairs = Vec::new();
    let mut pair_up = |a: &mut Vec<&'a CellSummary>, b: &mut Vec<&'a CellSummary>, x: usize, y: usize| {
        let (a, b) = (a.remove(x), b.remove(y));
        pairs.push(CellPair { a, b, verdict_a, verdict_b, configurations, configuration_index });
    };
    let mut has_pair = false;
    while let Some((x, y)) = find_same_phase(&a.entries, &b.entries).filter(|_| both_right || !has_pair) {
        pair_up(&mut a.entries, &mut b.entries, x, y);
        has_pair = true;
    }
    if !has_pair && !a.entries.is_empty() && !b.entries.is_empty() {
        pair_up(&mut a.entries, &mut b.entries, 0, 0);
    }
    if !both_right {
        a.entries.clear();
        b.entries.clear();
    }
    pairs
}

/// Returns the indices of the first two entries of the same phase.
fn find_same_phase(a: &[&CellSummary], b: &[&CellSummary]) -> Option<(usize, usize)> {
    a.iter().enumerate().find_map(|(x, entry_a)| {
        let y = b.iter().position(|entry_b| entry_b.cell.phase == entry_a.cell.phase)?;
        Some((x, y))
    })
}

/// Describes the entries that are left without a pair. `None` if there are none, unless the other side lacks
/// the whole configuration.
fn unmatched(
    configuration: &Configuration,
    planned_cells: &[PlannedCell<'_>],
    whole_configuration: bool,
) -> Option<UnmatchedConfiguration> {
    let names = |is_selected: &dyn Fn(&PlannedCell<'_>) -> bool| -> Vec<String> {
        let selected = planned_cells.iter().filter(|planned| is_selected(planned));
        selected.flat_map(|planned| &planned.entries).map(|entry| entry.cell.name()).collect()
    };
    let cells = names(&|_| true);
    (whole_configuration || !cells.is_empty()).then(|| UnmatchedConfiguration {
        id: configuration.id.clone(),
        class: configuration.ranking(),
        reference: configuration.reference,
        whole_configuration,
        cells,
        correct_cells: names(&|planned| !planned.is_in_both && is_correct(planned.verdict)),
    })
}

impl super::CellComparison {
    /// Name of the cell within its configuration, as shown in reports: `load`, `q1 hot`, `q1 hot, compacted`,
    /// `size, drained`. For measurement windows it is followed by the metric that is compared.
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
            phase if phase.is_window() => format!("{}: {}", cell.name(), self.metric.title),
            _ => cell.name(),
        }
    }
}
