//! Everything that answers are computed from: cells that may be compared, rankings, and names.

use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::record::Cell;
use jsonathlon_schema::workload::WorkloadKind;

use crate::busy_machine::machine_was_busy;
use crate::cell_summary::CellSummary;
use crate::peaks::PeakThroughput;
use crate::ratio_to_best::{RankedCell, TrialsByRound, standings};
use crate::run::Run;

/// Parts of a summary from which its answers are computed.
#[derive(Clone, Copy)]
pub(crate) struct SummaryParts<'a> {
    pub(crate) entries: &'a [CellSummary],
    pub(crate) peaks: &'a [PeakThroughput],
    /// Two-sided error probability of intervals.
    pub(crate) alpha: f64,
    pub(crate) is_complete: bool,
}

/// Ranking with the configurations that are ranked in it.
pub(super) struct Ranking {
    pub(super) name: String,
    /// Indexes of its configurations in the manifest.
    pub(super) members: Vec<usize>,
}

/// A run as answers see it.
pub(super) struct Context<'a> {
    pub(super) run: &'a Run,
    pub(super) parts: SummaryParts<'a>,
    pub(super) is_busy: bool,
    pub(super) rounds: TrialsByRound<'a>,
    /// Timed cells that may be compared with the best and may be the best.
    pub(super) cells: Vec<RankedCell<'a>>,
    /// Rankings with at least one ranked configuration, in the order of tables.
    pub(super) rankings: Vec<Ranking>,
}

impl<'a> Context<'a> {
    pub(super) fn new(run: &'a Run, parts: &SummaryParts<'a>) -> Self {
        let is_eligible = |cell: &RankedCell<'_>| cell.comparable && cell.can_be_best;
        Self {
            run,
            parts: *parts,
            is_busy: machine_was_busy(run),
            rounds: TrialsByRound::new(run),
            cells: standings(run, parts.entries).into_iter().filter(is_eligible).collect(),
            rankings: rankings(&run.manifest.configurations, Configuration::is_ranked),
        }
    }

    /// Rankings of all configurations, those that are not ranked and reference rows included.
    pub(super) fn all_rankings(&self) -> Vec<Ranking> {
        rankings(&self.run.manifest.configurations, |_| true)
    }

    /// Index of the configuration that a cell belongs to. `None` for the control and plain files.
    pub(super) fn index_of(&self, cell: &Cell) -> Option<usize> {
        self.run.manifest.configurations.iter().position(|configuration| configuration.contains_cell(cell))
    }

    pub(super) fn configuration(&self, index: usize) -> Option<&'a Configuration> {
        self.run.manifest.configurations.get(index)
    }

    /// Entries of a workload that belong to a configuration, in the order in which they were measured.
    pub(super) fn entries_of(&self, index: usize, workload: WorkloadKind) -> Vec<&'a CellSummary> {
        let Some(configuration) = self.configuration(index) else { return Vec::new() };
        let is_included = |entry: &&CellSummary| {
            entry.cell.workload == workload && configuration.contains_cell(&entry.cell)
        };
        self.parts.entries.iter().filter(is_included).collect()
    }

    /// Comparable cells of a workload that belong to members of a ranking.
    pub(super) fn cells_of(&self, ranking: &Ranking, workload: WorkloadKind) -> Vec<&RankedCell<'a>> {
        let is_included = |cell: &&RankedCell<'_>| {
            cell.entry.cell.workload == workload
                && self.index_of(&cell.entry.cell).is_some_and(|index| ranking.members.contains(&index))
        };
        self.cells.iter().filter(is_included).collect()
    }

    /// Name of a configuration in sentences: its title. Version, variant and storage are added if they
    /// distinguish it from another configuration of the same system in its ranking.
    pub(super) fn name(&self, index: usize) -> String {
        let Some(configuration) = self.configuration(index) else { return String::new() };
        let namesakes = || {
            self.run.manifest.configurations.iter().filter(|other| {
                other.title == configuration.title && other.ranking() == configuration.ranking()
            })
        };
        let parts = |of: &'a Configuration| [&of.id.version, &of.id.variant, &of.id.storage];
        let mut words = vec![configuration.title.as_str()];
        for (position, own) in parts(configuration).into_iter().enumerate() {
            let is_other = |other: &'a Configuration| parts(other).get(position) != Some(&own);
            if namesakes().any(is_other) {
                words.push(own);
            }
        }
        words.join(" ")
    }

    /// Names of several configurations, in their order.
    pub(super) fn names(&self, indexes: &[usize]) -> Vec<String> {
        indexes.iter().map(|index| self.name(*index)).collect()
    }
}

/// Rankings of the selected configurations, in the order of tables.
fn rankings(configurations: &[Configuration], is_selected: impl Fn(&Configuration) -> bool) -> Vec<Ranking> {
    let mut selected: Vec<(usize, &Configuration)> =
        configurations.iter().enumerate().filter(|(_, configuration)| is_selected(configuration)).collect();
    selected.sort_by_key(|(_, configuration)| configuration.ranking_place());
    let mut rankings: Vec<Ranking> = Vec::new();
    for (index, configuration) in selected {
        let name = configuration.ranking();
        match rankings.iter_mut().find(|ranking| ranking.name == name) {
            Some(ranking) => ranking.members.push(index),
            None => rankings.push(Ranking { name, members: vec![index] }),
        }
    }
    rankings
}
