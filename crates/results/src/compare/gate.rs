//! Regression gate: decides whether B passes as a replacement for A, for automated comparisons.

use jsonathlon_schema::id::ConfigurationId;
use jsonathlon_schema::metric::BetterDirection;
use jsonathlon_schema::record::{OPERATION, Phase};
use jsonathlon_stats::multiple_testing::holm;
use jsonathlon_stats::statistics::ALPHA;
use serde::Serialize;

use super::{CellComparison, Counts, Outcome, RunComparison, SizeChange, is_correct};
use crate::ratio_to_best::Significance;

/// Maximum number of cells whose names are listed in the text of a reason.
const MAX_LISTED_CELLS: usize = 6;

/// Limits that the user set for the regression gate, and its result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RegressionGate {
    /// Largest relative slow-down or growth that is not a regression, for example 0.05 for 5 %.
    pub allowed_share: f64,
    /// Whether cells that were right in A may be missing or not comparable in B.
    pub allow_missing: bool,
    /// Whether the gate passes, that is, whether there are no reasons against it.
    pub passed: bool,
    /// Significance level: probability, over all tested cells together, that a cell is reported as slower or
    /// larger although none is.
    pub level: f64,
    /// Number of cells with a significance test: loads, hot questions, throughput and p99 with an interval,
    /// and sizes that vary between loads.
    pub tested: usize,
    /// Number of throughputs and p99s of measurement windows among `tested`.
    pub measured_tested: usize,
    /// Number of sizes among `tested`.
    pub sizes_tested: usize,
    /// Number of sizes compared without a test, because they do not vary or were measured in one load only.
    pub sizes_counted: usize,
    /// Number of cells with an interval that were not tested: cold ones, hot ones that read from the disk,
    /// and single operations of a mix.
    pub not_tested: usize,
    /// Number of cells with a ratio but without an interval, which cannot be tested.
    pub without_interval: usize,
    /// Number of cells that were right in A and are missing or not comparable in B.
    pub not_compared: usize,
    /// Reasons why the gate does not pass. Empty if it passes.
    pub reasons: Vec<Reason>,
}

/// Reason why the gate does not pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// Category of the reason, for programs.
    pub kind: ReasonKind,
    /// Description for the user, with the cells and values concerned.
    pub text: String,
}

/// Kinds of reasons why the gate does not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasonKind {
    /// A cell is significantly slower, and by more than is allowed.
    Slower,
    /// A size is larger by more than is allowed, and significantly so if it varies between loads.
    Larger,
    /// A cell was right in A and is not right in B.
    NowFails,
    /// Cells of a configuration were right in A and are missing or not comparable in B.
    Missing,
    /// Planned trials of B have no record.
    Incomplete,
    /// No time, load or throughput could be tested.
    Untested,
}

impl RunComparison {
    /// Applies the regression gate and stores its result in the comparison.
    ///
    /// A cell is a regression if it is significantly slower, by Holm's procedure over all tested cells, and
    /// its ratio is above 1 + `allowed_share`; or if it now fails. A size that does not vary between loads,
    /// or was measured in one load only, is a regression if its ratio is above the same limit. The gate also
    /// fails if parts are unverified: if cells that were right in A are missing or not comparable in B
    /// (unless `allow_missing` is set), if B is incomplete, or if no time could be tested.
    ///
    /// The null hypothesis is a ratio of at most 1, not of at most 1 + `allowed_share`. With the latter, a
    /// slow-down of 25 % would be no more significant than one of 19 % is now, and a fifth of the regressions
    /// found now would be missed. Drift between two equal runs does not fail the gate, because the error of
    /// a ratio includes the variation between whole runs ([`super::BETWEEN_RUNS_ERROR`]).
    #[must_use]
    pub fn with_gate(mut self, allowed_share: f64, allow_missing: bool) -> Self {
        let family: Vec<(&mut CellComparison, f64)> = self
            .cells
            .iter_mut()
            .filter(|cell| cell.is_in_family())
            .filter_map(|cell| cell.p_slower.map(|p| (cell, p)))
            .collect();
        let tested = family.len();
        let sizes_tested =
            family.iter().filter(|(cell, _)| matches!(cell.outcome, Outcome::Sized(_))).count();
        let measured_tested = family.iter().filter(|(cell, _)| cell.phase.is_window()).count();
        let mut reasons = tested_regressions(family, allowed_share);
        let mut add = |kind: ReasonKind, text: String| reasons.push(Reason { kind, text });
        let untested_sizes = || self.cells.iter().filter(|cell| !cell.reference && cell.is_counted());
        for cell in untested_sizes().filter(|cell| cell.is_worse_by(allowed_share)) {
            add(ReasonKind::Larger, format!("{} ({})", describe_larger(cell), why_size_untested(cell)));
        }
        let sizes_counted = untested_sizes().count();
        for cell in self.cells.iter().filter(|cell| cell.outcome == Outcome::NowFails) {
            add(ReasonKind::NowFails, describe_failure(cell));
        }
        let unchecked = self.unchecked_cells();
        let not_compared = unchecked.iter().map(|group| group.cells.len()).sum();
        for group in unchecked.iter().filter(|_| !allow_missing) {
            add(ReasonKind::Missing, group.describe());
        }
        if self.b.open_trials > 0 {
            add(ReasonKind::Incomplete, describe_open_trials(self.b.open_trials));
        }
        self.counts = Counts::new(&self.cells);
        let times_tested = tested - sizes_tested;
        if times_tested == 0 {
            add(ReasonKind::Untested, describe_untested(&self.cells).to_owned());
        }
        self.gate = Some(RegressionGate {
            allowed_share,
            allow_missing,
            passed: reasons.is_empty(),
            level: ALPHA,
            tested,
            measured_tested,
            sizes_tested,
            sizes_counted,
            not_tested: self.counts.with_interval - times_tested,
            without_interval: self.counts.compared() - self.counts.with_interval,
            not_compared,
            reasons,
        });
        self
    }

    /// Cells that were right in A and are missing or not comparable in B, by configuration. Reference rows
    /// are left out, because they are not systems under test.
    fn unchecked_cells(&self) -> Vec<UncheckedCells<'_>> {
        let unmatched =
            self.only_in_a.iter().filter(|entry| !entry.reference && !entry.correct_cells.is_empty());
        let unmatched = unmatched.map(|entry| (&entry.id, entry.correct_cells.clone()));
        let not_compared = self.cells.iter().filter(|cell| {
            cell.outcome == Outcome::NotCompared && !cell.reference && is_correct(cell.a.verdict)
        });
        let not_compared = not_compared.map(|cell| (&cell.a.id, vec![cell.name()]));
        let mut groups: Vec<UncheckedCells<'_>> = Vec::new();
        for (configuration, cells) in unmatched.chain(not_compared) {
            match groups.iter_mut().find(|group| group.configuration == configuration) {
                Some(group) => group.cells.extend(cells),
                None => groups.push(UncheckedCells { configuration, cells, none_compared: false }),
            }
        }
        for group in &mut groups {
            let mut matched = self.cells.iter().filter(|cell| cell.a.id == *group.configuration);
            group.none_compared = matched.all(|cell| cell.outcome == Outcome::NotCompared);
        }
        groups
    }
}

impl CellComparison {
    /// Returns `true` if the gate tests the cell: loads, hot questions, throughput and p99 of whole mixes,
    /// phases of mixed loads, and sizes that vary between loads.
    ///
    /// Sizes that do not vary need no test; leaving them out keeps the correction of the other tests smaller
    /// and their error rate unchanged. Cold questions, and hot ones that read from the disk, depend on the
    /// disk, which no control covers, and vary most; including them would make other regressions harder to
    /// detect.
    fn is_in_family(&self) -> bool {
        let is_tested_time = self.has_interval()
            && (matches!(self.phase, Phase::Load | Phase::Hot) || self.phase.is_window())
            && !self.parameters.contains_key(OPERATION);
        let is_varying_size = matches!(self.outcome, Outcome::Sized(_)) && !self.is_counted();
        !self.reference && (is_tested_time || is_varying_size)
    }
}

/// Cells of one configuration that were right in A and are missing or not comparable in B.
struct UncheckedCells<'a> {
    /// Configuration in A; its version may differ in B.
    configuration: &'a ConfigurationId,
    /// Names of the cells, without the configuration.
    cells: Vec<String>,
    /// Whether no cell of the configuration could be compared.
    none_compared: bool,
}

impl UncheckedCells<'_> {
    fn describe(&self) -> String {
        let configuration = self.configuration;
        let count = self.cells.len();
        let (cells, verb) = match count {
            1 => ("cell that was right in A", "is"),
            _ => ("cells that were right in A", "are"),
        };
        let predicate = format!("{verb} missing or not comparable in B");
        if self.none_compared {
            let all = if count == 1 { "the only".to_owned() } else { format!("all {count}") };
            return format!("{configuration}: {all} {cells} {predicate}");
        }
        let mut listed: Vec<&str> = self.cells.iter().take(MAX_LISTED_CELLS).map(String::as_str).collect();
        let more = format!("{} more", count.saturating_sub(MAX_LISTED_CELLS));
        if count > MAX_LISTED_CELLS {
            listed.push(&more);
        }
        format!("{configuration}: {count} {cells} {predicate} ({})", listed.join("; "))
    }
}

/// Returns a reason for each tested cell that is significantly worse, and by more than is allowed. Sets the
/// outcomes of these cells to slower or larger.
fn tested_regressions(family: Vec<(&mut CellComparison, f64)>, allowed_share: f64) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let adjusted_p_values = holm(&family.iter().map(|(_, p)| *p).collect::<Vec<f64>>());
    for ((cell, _), adjusted_p) in family.into_iter().zip(&adjusted_p_values) {
        if *adjusted_p > ALPHA || !cell.is_worse_by(allowed_share) {
            continue;
        }
        // The gate tests fewer cells than the table, and one-sided, so it may find differences that the table
        // does not. The table must show the same outcome for a cell that fails the gate.
        if matches!(cell.outcome, Outcome::Sized(_)) {
            cell.outcome = Outcome::Sized(SizeChange::Larger);
            reasons.push(Reason { kind: ReasonKind::Larger, text: describe_larger(cell) });
            continue;
        }
        cell.outcome = Outcome::Timed(Significance::Slower);
        reasons.push(Reason { kind: ReasonKind::Slower, text: describe_slower(cell) });
    }
    reasons
}

/// Describes a cell that is slower, or whose throughput is lower.
fn describe_slower(cell: &CellComparison) -> String {
    let label = cell_label(cell);
    let ratio = cell.tested_ratio().unwrap_or(f64::NAN);
    let mut text = match cell.metric.better {
        BetterDirection::Higher => format!("{label} is {ratio:.2} times as high"),
        _ if cell.phase.is_window() => format!("{label} is {ratio:.2} times as long"),
        _ => format!("{label} takes {ratio:.2} times as long"),
    };
    if let (Some(_), Some(raw_ratio)) = (cell.divided_by_control, cell.ratio) {
        text.push_str(&format!(" after correction by the control ({raw_ratio:.2} without)"));
    }
    text
}

/// Describes a cell that now fails, with its note or its verdicts.
fn describe_failure(cell: &CellComparison) -> String {
    let cause = match &cell.note {
        Some(note) if is_correct(cell.b.verdict) => note.clone(),
        _ => format!("{} in A, {} in B", cell.a.verdict.word(), cell.b.verdict.word()),
    };
    format!("{} now fails ({cause})", cell_label(cell))
}

fn describe_open_trials(count: usize) -> String {
    let trials = if count == 1 { "trial has" } else { "trials have" };
    format!("B is not complete: {count} planned {trials} no record")
}

/// Explains why no time could be tested.
fn describe_untested(cells: &[CellComparison]) -> &'static str {
    match cells.iter().any(|cell| cell.phase.is_window()) {
        true => {
            "nothing could be tested: no load and no throughput has an interval, which needs at least two \
             rounds on each side"
        }
        false => {
            "no time could be tested: no load and no hot question has an interval, which needs at least two \
             rounds on each side"
        }
    }
}

fn describe_larger(cell: &CellComparison) -> String {
    format!("{} is {:.3} times as large", cell_label(cell), cell.ratio.unwrap_or(f64::NAN))
}

/// Explains why a size is compared without a test.
fn why_size_untested(cell: &CellComparison) -> &'static str {
    if cell.a.rounds.min(cell.b.rounds) < 2 { "counted once" } else { "no variation between loads" }
}

/// Configuration in B and name of a cell.
fn cell_label(cell: &CellComparison) -> String {
    format!("{}: {}", cell.b.id, cell.name())
}
