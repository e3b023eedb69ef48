//! Regression gate: decides whether a run passes, for automated comparisons.

use jsonathlon_schema::id::ConfigurationId;
use jsonathlon_schema::metric::BetterDirection;
use jsonathlon_schema::record::{OPERATION, Phase};
use jsonathlon_stats::multiple_testing::holm;
use jsonathlon_stats::statistics::ALPHA;
use serde::Serialize;

use super::{CellComparison, Counts, Outcome, RunComparison, SizeChange, is_right};
use crate::ratio_to_best::Significance;

/// Maximum number of cells that one reason names.
const NAMED: usize = 6;

/// Rules and result of the regression gate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RegressionGate {
    /// Slow-down, as a share, above which a shown difference is a regression.
    pub allowed_share: f64,
    /// Whether cells of A may be missing in B.
    pub allow_missing: bool,
    /// Whether the gate passes, that is, whether there are no reasons against it.
    pub passed: bool,
    /// Probability, over all tested cells together, that the gate calls a cell slower although none is.
    pub level: f64,
    /// Number of tested cells: loads, hot questions, throughput and p99 with an interval, and sizes that vary
    /// between loads.
    pub tested: usize,
    /// Number of metrics of measurement windows among these.
    pub measured_tested: usize,
    /// Number of sizes among these.
    pub sizes_tested: usize,
    /// Number of sizes compared without a test, because they do not vary or were counted once.
    pub sizes_counted: usize,
    /// Number of cells with an interval that were not tested: cold ones, hot ones that read from the disk,
    /// and single operations of a mix.
    pub not_tested: usize,
    /// Number of cells with a ratio but without an interval, which cannot be tested.
    pub without_interval: usize,
    /// Number of cells that were right in A and are missing or not comparable in B.
    pub not_looked_at: usize,
    /// Reasons why the gate does not pass. Empty if it passes.
    pub reasons: Vec<Reason>,
}

/// Reason why the gate does not pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// Category of the reason, for programs.
    pub kind: ReasonKind,
    /// Explanation of the reason for the user.
    pub text: String,
}

/// Kinds of reasons why the gate does not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasonKind {
    /// A cell is slower by more than is allowed, as a test over all tested cells shows.
    Slower,
    /// A size is larger by more than is allowed: tested like times if it varies, otherwise as counted.
    Larger,
    /// A cell was right in A and is not right in B.
    NowFails,
    /// Cells of a configuration were right in A, and B has nothing to compare with them.
    Missing,
    /// Planned trials of B have no record.
    Incomplete,
    /// No time, load or throughput could be tested.
    Untested,
}

impl RunComparison {
    /// Applies the regression gate to the comparison.
    ///
    /// A cell is a regression if it is shown to be slower, by Holm's procedure over all tested cells, and its
    /// ratio is above 1 + `allowed_share`; or if it now fails. A size that does not vary between loads, or
    /// was counted once, is a regression if its ratio is above the same limit. Unverified parts do not pass
    /// either: cells that were right in A and are missing or not comparable in B unless `allow_missing` is
    /// set, an incomplete B, and a comparison without a single tested time.
    ///
    /// The null hypothesis is a ratio of at most 1, not of at most 1 + `allowed_share`. The latter would
    /// require a slow-down by 25 % to be as significant as one by 19 % is, and would miss a fifth of those
    /// that are found. Two equal runs that drifted do not fail, because the error of whole runs is included
    /// ([`super::APART`]).
    #[must_use]
    pub fn gated(mut self, allowed_share: f64, allow_missing: bool) -> Self {
        let family: Vec<(&mut CellComparison, f64)> = self
            .cells
            .iter_mut()
            .filter(|cell| cell.is_in_family())
            .filter_map(|cell| cell.p_slower.map(|p| (cell, p)))
            .collect();
        let tested = family.len();
        let sizes_tested =
            family.iter().filter(|(cell, _)| matches!(cell.outcome, Outcome::Sized(_))).count();
        let measured_tested = family.iter().filter(|(cell, _)| cell.phase == Phase::Measured).count();
        let mut reasons = regressions(family, allowed_share);
        let mut add = |kind: ReasonKind, text: String| reasons.push(Reason { kind, text });
        let counted = || self.cells.iter().filter(|cell| !cell.reference && cell.is_counted());
        for cell in counted().filter(|cell| cell.is_worse_by(allowed_share)) {
            add(ReasonKind::Larger, format!("{}, {}", larger(cell), how_counted(cell)));
        }
        let sizes_counted = counted().count();
        for cell in self.cells.iter().filter(|cell| cell.outcome == Outcome::NowFails) {
            add(ReasonKind::NowFails, now_fails(cell));
        }
        let missing = self.missing();
        let not_looked_at = missing.iter().map(|one| one.cells.len()).sum();
        for one in missing.iter().filter(|_| !allow_missing) {
            add(ReasonKind::Missing, one.words());
        }
        if self.b.open_trials > 0 {
            let text = format!(
                "B is not complete: {} planned trials have no record, and what is missing does not pass",
                self.b.open_trials
            );
            add(ReasonKind::Incomplete, text);
        }
        self.counts = Counts::of(&self.cells);
        let timed = tested - sizes_tested;
        if timed == 0 {
            add(ReasonKind::Untested, untested(&self.cells).to_owned());
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
            not_tested: self.counts.with_interval - timed,
            without_interval: self.counts.compared() - self.counts.with_interval,
            not_looked_at,
            reasons,
        });
        self
    }

    /// Cells that were right in A and have nothing in B to be compared with, by configuration. Reference rows
    /// are left out, because they are not systems under test.
    fn missing(&self) -> Vec<UncheckedCells<'_>> {
        let alone = self.only_in_a.iter().filter(|one| !one.reference && !one.right.is_empty());
        let alone = alone.map(|one| (&one.id, one.right.clone()));
        let not_compared = self.cells.iter().filter(|cell| {
            cell.outcome == Outcome::NotCompared && !cell.reference && is_right(cell.a.verdict)
        });
        let mut found: Vec<UncheckedCells<'_>> = Vec::new();
        for (configuration, cells) in alone.chain(not_compared.map(|cell| (of(cell), vec![cell.name()]))) {
            match found.iter_mut().find(|known| known.configuration == configuration) {
                Some(known) => known.cells.extend(cells),
                None => found.push(UncheckedCells { configuration, cells, all: false }),
            }
        }
        for one in &mut found {
            let mut others = self.cells.iter().filter(|cell| of(cell) == one.configuration);
            one.all = !others.any(|cell| cell.outcome != Outcome::NotCompared);
        }
        found
    }
}

impl CellComparison {
    /// Returns `true` if the gate tests the cell: loads, hot questions, throughput and p99 of whole mixes,
    /// and sizes that vary between loads.
    ///
    /// Sizes that do not vary are certain and need no test, so they make the other tests neither stricter nor
    /// more often wrong. Cold questions, and hot ones that read from the disk, wait for a disk that no
    /// control covers, and scatter most; including them would make other regressions harder to detect.
    fn is_in_family(&self) -> bool {
        let timed = self.has_interval()
            && matches!(self.phase, Phase::Load | Phase::Hot | Phase::Measured)
            && !self.parameters.contains_key(OPERATION);
        let sized = matches!(self.outcome, Outcome::Sized(_)) && !self.is_counted();
        !self.reference && (timed || sized)
    }
}

/// Cells of one configuration that could not be compared.
struct UncheckedCells<'a> {
    /// Configuration as it is in A.
    configuration: &'a ConfigurationId,
    cells: Vec<String>,
    /// Whether no cell of the configuration could be compared.
    all: bool,
}

impl UncheckedCells<'_> {
    fn words(&self) -> String {
        let count = self.cells.len();
        let (cells, verbs) = if count == 1 { ("cell that was", "is") } else { ("cells that were", "are") };
        let what = format!("{cells} right in A {verbs} missing or not comparable in B");
        let name = self.configuration;
        if self.all {
            return format!("{name}: all of it, {count} {what}");
        }
        let mut named: Vec<&str> = self.cells.iter().take(NAMED).map(String::as_str).collect();
        let more = format!("{} more", count.saturating_sub(NAMED));
        if count > NAMED {
            named.push(&more);
        }
        format!("{name}: {count} {what} ({})", named.join("; "))
    }
}

/// Configuration of a cell as it is in A.
fn of(cell: &CellComparison) -> &ConfigurationId {
    &cell.a.id
}

/// Reasons of the tested cells that are shown to be worse by more than is allowed. Their outcomes are set to
/// match.
fn regressions(family: Vec<(&mut CellComparison, f64)>, allowed_share: f64) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let adjusted = holm(&family.iter().map(|(_, p)| *p).collect::<Vec<f64>>());
    for ((cell, _), adjusted) in family.into_iter().zip(&adjusted) {
        if *adjusted > ALPHA || !cell.is_worse_by(allowed_share) {
            continue;
        }
        // The gate tests fewer cells one-sided, so it may show differences that the table does not. A
        // cell on which the gate fails must have the same outcome in the table.
        if matches!(cell.outcome, Outcome::Sized(_)) {
            cell.outcome = Outcome::Sized(SizeChange::Larger);
            reasons.push(Reason { kind: ReasonKind::Larger, text: larger(cell) });
            continue;
        }
        cell.outcome = Outcome::Timed(Significance::Slower);
        reasons.push(Reason { kind: ReasonKind::Slower, text: slower(cell) });
    }
    reasons
}

/// Text on a cell that is slower, or whose throughput is lower.
fn slower(cell: &CellComparison) -> String {
    let ratio = cell.tested_ratio().unwrap_or(f64::NAN);
    let mut text = match cell.figure.better {
        BetterDirection::Higher => format!("{} is {ratio:.2} times as high", place(cell)),
        _ if cell.phase == Phase::Measured => format!("{} is {ratio:.2} times as long", place(cell)),
        _ => format!("{} takes {ratio:.2} times as long", place(cell)),
    };
    if let (Some(_), Some(raw)) = (cell.divided, cell.ratio) {
        text.push_str(&format!(", the control divided out ({raw:.2} raw)"));
    }
    text
}

/// Text on a cell that now fails, with its note or its verdicts.
fn now_fails(cell: &CellComparison) -> String {
    let why = match &cell.note {
        Some(note) if is_right(cell.b.verdict) => note.clone(),
        _ => format!("{} in A, {} in B", cell.a.verdict.word(), cell.b.verdict.word()),
    };
    format!("{} now fails ({why})", place(cell))
}

/// Text that says what a comparison without a single tested time lacks.
fn untested(cells: &[CellComparison]) -> &'static str {
    match cells.iter().any(|cell| cell.phase == Phase::Measured) {
        true => {
            "nothing could be tested: no load and no throughput has an interval, which needs two rounds on \
             either side"
        }
        false => {
            "no time could be tested: no load and no hot question has an interval, which needs two rounds on \
             either side"
        }
    }
}

fn larger(cell: &CellComparison) -> String {
    format!("{} is {:.3} times as large", place(cell), cell.ratio.unwrap_or(f64::NAN))
}

/// Reason why a size is compared without a test.
fn how_counted(cell: &CellComparison) -> &'static str {
    if cell.a.rounds.min(cell.b.rounds) < 2 { "as counted once" } else { "the same in every load" }
}

fn place(cell: &CellComparison) -> String {
    format!("{}: {}", cell.b.id, cell.name())
}
