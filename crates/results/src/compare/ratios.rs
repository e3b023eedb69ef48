//! Computes the ratio of each cell with its scatter, which is moderated across cells of a configuration.

use std::collections::BTreeMap;

use jsonathlon_schema::metric::{BetterDirection, MetricDef};
use jsonathlon_schema::record::Phase;
use jsonathlon_stats::multiple_testing::moderated;
use jsonathlon_stats::statistics::{
    ALPHA, BootstrapEstimate, LogScatter, bootstrap_median, bootstrap_paired_ratio,
};

use super::control::Kernels;

/// Standard error, on the logarithm, of the difference between two equal runs as wholes, after dividing by
/// the control.
///
/// It covers what no number of rounds shows: where files are on the disk, how a process is laid out in
/// memory, and neighbours that slow only what the control does not use. It is judged, not measured in these
/// runs (a type B evaluation in the terms of the *Guide to the Expression of Uncertainty in Measurement*,
/// JCGM 100:2008, 4.3): five equal runs had drifted by 4 to 12 % before the division. `docs/comparing.md`
/// describes costs and benefits.
pub const BETWEEN_RUNS_ERROR: f64 = 0.03;

/// Standard error, on the logarithm, of one run's loads compared with those of equal runs, beyond the scatter
/// of its own rounds. It replaces [`BETWEEN_RUNS_ERROR`] for loads, and applies to each side.
///
/// Loads of one run share the state of the disk and its caches at the start. `docs/comparing.md` describes
/// the runs behind this value, and which slow-down of a load two runs can still show.
pub const BETWEEN_LOADS_ERROR: f64 = 0.18;

/// Degrees of freedom of a standard error that is given, not estimated: any large number.
const GIVEN_FREEDOM: f64 = 1e4;

/// Origin of the two sides of all cells.
pub(super) enum SampleOrigin<'a> {
    /// Two runs. Contains their controls if both have one.
    TwoRuns(Option<[&'a Kernels; 2]>),
    /// Two sides of one run, which are paired by round.
    OneRun,
}

/// Values of a metric by round.
pub(super) type ValuesByRound = BTreeMap<u32, Vec<f64>>;

/// Values of a cell on both sides, from which its ratio is computed.
pub(super) struct SideValues {
    /// Metric of the values.
    pub(super) metric: &'static MetricDef,
    pub(super) phase: Phase,
    /// Index of the configuration, which groups cells for moderation.
    pub(super) configuration: usize,
    pub(super) a: ValuesByRound,
    pub(super) b: ValuesByRound,
}

/// Ratio B ÷ A of a cell, with its scatter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SideRatio {
    pub(super) raw: BootstrapEstimate,
    /// Ratio divided by the control's ratio. `None` if it is not divided.
    pub(super) divided_by_control: Option<BootstrapEstimate>,
    /// Whether the interval of the cell's own rounds alone excludes 1.
    pub(super) rounds_exclude_one: bool,
}

impl SideRatio {
    /// Returns `true` if the ratio scatters over rounds. Sizes are often equal in every round.
    pub(super) fn varies(&self) -> bool {
        self.raw.spread.is_some_and(|spread| spread.standard_error > 0.0)
    }

    /// One-sided p-value of the null hypothesis "not worse". `None` without scatter.
    pub(super) fn p_worse(&self, better: BetterDirection) -> Option<f64> {
        let tested = self.tested_estimate();
        match better {
            BetterDirection::Higher => inverse(*tested).p_above(1.0),
            BetterDirection::Lower | BetterDirection::Neither => tested.p_above(1.0),
        }
    }

    /// Ratio that is tested: the divided one if there is one, otherwise the raw one.
    pub(super) fn tested_estimate(&self) -> &BootstrapEstimate {
        self.divided_by_control.as_ref().unwrap_or(&self.raw)
    }
}

/// Independent estimates of a cell: B and A for two runs, their ratio for one run.
type Sides = Vec<BootstrapEstimate>;

/// Computes the ratios of all cells. `None` for cells without values.
pub(super) fn ratios(cells: &[Option<SideValues>], origin: &SampleOrigin<'_>) -> Vec<Option<SideRatio>> {
    let per_cell = |sides: &dyn Fn(&SideValues) -> Option<Sides>| -> Vec<Option<Sides>> {
        cells.iter().map(|cell| sides(cell.as_ref()?)).collect()
    };
    let own_sides = per_cell(&|cell| match origin {
        SampleOrigin::TwoRuns(_) => {
            Some(vec![bootstrap_median(&values(&cell.b))?, bootstrap_median(&values(&cell.a))?])
        }
        SampleOrigin::OneRun => {
            let (a, b) = shared(&cell.a, &cell.b);
            Some(vec![bootstrap_paired_ratio(&b, &a)?])
        }
    });
    let divided = per_cell(&|cell| match origin {
        // The control measures time; a slow machine writes as many bytes.
        SampleOrigin::TwoRuns(Some([a, b])) => match cell.metric.unit {
            unit if unit.is_duration() => Some(vec![b.divide(&cell.b)?, a.divide(&cell.a)?]),
            // Rates are converted to the time of an operation, divided, and converted back.
            unit if unit.is_rate() => {
                Some(vec![inverse(b.divide(&inverted(&cell.b))?), inverse(a.divide(&inverted(&cell.a))?)])
            }
            _ => None,
        },
        _ => None,
    });
    let moderated_raw = moderated_sides(cells, &own_sides);
    let moderated_divided = moderated_sides(cells, &divided);
    let between_runs = |cell: &SideValues| match origin {
        SampleOrigin::TwoRuns(_) => match (cell.phase, cell.metric.unit) {
            (Phase::Load, _) => BETWEEN_LOADS_ERROR * std::f64::consts::SQRT_2,
            (_, unit) if unit.is_duration() || unit.is_rate() => BETWEEN_RUNS_ERROR,
            _ => 0.0,
        },
        SampleOrigin::OneRun => 0.0,
    };
    own_sides
        .iter()
        .zip(moderated_raw.iter().zip(&moderated_divided))
        .zip(cells)
        .map(|((own_sides, (moderated_raw, divided)), cell)| {
            let between_runs = between_runs(cell.as_ref()?);
            Some(SideRatio {
                raw: ratio(moderated_raw, between_runs)?,
                divided_by_control: ratio(divided, between_runs),
                rounds_exclude_one: ratio(own_sides.as_ref()?, 0.0)?.interval_at(ALPHA).excludes_one(),
            })
        })
        .collect()
}

fn ratio(sides: &[BootstrapEstimate], between_runs: f64) -> Option<BootstrapEstimate> {
    let ratio = match sides {
        [b, a] => b.divided_by(a)?,
        [ratio] => *ratio,
        _ => return None,
    };
    let run_scatter = LogScatter { standard_error: between_runs, degrees_of_freedom: GIVEN_FREEDOM };
    let spread = ratio
        .spread
        .map(|spread| if between_runs > 0.0 { spread.combined_with(&run_scatter) } else { spread });
    Some(BootstrapEstimate { spread, ..ratio })
}

/// Inverse of an estimate; its scatter on the logarithm stays the same.
fn inverse(estimate: BootstrapEstimate) -> BootstrapEstimate {
    BootstrapEstimate { value: 1.0 / estimate.value, ..estimate }
}

fn inverted(rounds: &ValuesByRound) -> ValuesByRound {
    let invert = |values: &Vec<f64>| values.iter().map(|value| 1.0 / value).collect();
    rounds.iter().map(|(round, values)| (*round, invert(values))).collect()
}

fn values(rounds: &ValuesByRound) -> Vec<Vec<f64>> {
    rounds.values().cloned().collect()
}

/// Values of the rounds that both sides have.
fn shared(a: &ValuesByRound, b: &ValuesByRound) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    a.iter().filter_map(|(round, a)| Some((a.clone(), b.get(round)?.clone()))).unzip()
}

/// Index of a cell, its group, and one of its sides.
type Member = (usize, usize, BootstrapEstimate);

/// Moderates the variances of similar cells; empty for a cell without sides. All loads form one group,
/// because a configuration has only one. Other cells are grouped by configuration, with cold and hot ones
/// apart, and percentiles apart from throughput.
fn moderated_sides(cells: &[Option<SideValues>], sides: &[Option<Sides>]) -> Vec<Sides> {
    let mut kinds: BTreeMap<(Phase, bool), Vec<Member>> = BTreeMap::new();
    for (index, (cell, sides)) in cells.iter().zip(sides).enumerate() {
        let (Some(cell), Some(sides)) = (cell, sides) else { continue };
        let kind = cell.phase.planned();
        let group = if kind == Phase::Load { 0 } else { cell.configuration };
        kinds
            .entry((kind, cell.metric.quantile().is_some()))
            .or_default()
            .extend(sides.iter().map(|side| (index, group, *side)));
    }
    let mut moderated_cells = vec![Vec::new(); cells.len()];
    for members in kinds.values() {
        let spreads: Vec<(usize, BootstrapEstimate)> =
            members.iter().map(|(_, group, side)| (*group, *side)).collect();
        for ((index, ..), side) in members.iter().zip(moderated(&spreads)) {
            moderated_cells[*index].push(side);
        }
    }
    moderated_cells
}
