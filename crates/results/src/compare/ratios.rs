//! The ratio of each cell with its scatter, in which cells of a configuration lend each other strength.

use std::collections::BTreeMap;

use jsonathlon_measure::families::moderated;
use jsonathlon_measure::statistics::{ALPHA, Scattered, Spread, scattered, scattered_pairs};

use super::control::Kernels;
use crate::figure::{Better, Figure, Unit};
use crate::record::Phase;

/// What two equal runs differ by as wholes when the control has been divided out: the standard error on the
/// logarithm. It holds what no number of rounds shows, such as where files lie on the disk, how a process was laid
/// out in memory, and what a neighbour slowed that the control does not use. It is judged, not measured in the runs
/// at hand (a type B evaluation in the terms of the *Guide to the Expression of Uncertainty in Measurement*, JCGM
/// 100:2008, 4.3): five equal runs had drifted by 4 to 12 % before the division. `docs/comparing.md` says what it
/// costs and saves.
pub const APART: f64 = 0.03;

/// What the load of a run differs by from the loads of equal runs, beyond what its own rounds show: a standard error on
/// the logarithm, in place of [`APART`] on either side. Loads of one run share what the disk and its caches were in when
/// it began. `docs/comparing.md` says from which runs it is, and which slow-down of a load two runs can still show.
pub const LOADS_APART: f64 = 0.18;

/// Its degrees of freedom: it is a given figure, so any large number.
const GIVEN: f64 = 1e4;

/// Where the two sides of all cells are from.
pub(super) enum From<'a> {
    /// Two runs, each with its control where both have one.
    TwoRuns(Option<[&'a Kernels; 2]>),
    /// One run: rounds go with rounds.
    OneRun,
}

/// Values by round.
pub(super) type ByRound = BTreeMap<u32, Vec<f64>>;

/// The values of a cell that has a ratio.
pub(super) struct Values {
    /// What they are of.
    pub(super) figure: &'static Figure,
    pub(super) phase: Phase,
    /// The configuration, by its place.
    pub(super) configuration: usize,
    pub(super) a: ByRound,
    pub(super) b: ByRound,
}

/// B ÷ A of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ratio {
    pub(super) raw: Scattered,
    /// Divided by the control's.
    pub(super) divided: Option<Scattered>,
    /// Whether the interval of its own rounds, and of nothing else, excludes one.
    pub(super) beyond_rounds: bool,
}

impl Ratio {
    /// Whether it scatters over rounds at all: sizes often are the same to the byte in each.
    pub(super) fn varies(&self) -> bool {
        self.raw.spread.is_some_and(|spread| spread.standard_error > 0.0)
    }

    /// One-sided p-value against "not worse".
    pub(super) fn p_worse(&self, better: Better) -> Option<f64> {
        let tested = self.tested();
        match better {
            Better::Higher => inverse(*tested).p_above(1.0),
            Better::Lower | Better::Neither => tested.p_above(1.0),
        }
    }

    /// What is tested.
    pub(super) fn tested(&self) -> &Scattered {
        self.divided.as_ref().unwrap_or(&self.raw)
    }
}

/// What scatters on its own: B and A of two runs, or their ratio in one.
type Sides = Vec<Scattered>;

/// The ratios of all cells, `None` of those without values.
pub(super) fn ratios(cells: &[Option<Values>], from: &From<'_>) -> Vec<Option<Ratio>> {
    let of = |sides: &dyn Fn(&Values) -> Option<Sides>| -> Vec<Option<Sides>> {
        cells.iter().map(|cell| sides(cell.as_ref()?)).collect()
    };
    let own = of(&|cell| match from {
        From::TwoRuns(_) => Some(vec![scattered(&values(&cell.b))?, scattered(&values(&cell.a))?]),
        From::OneRun => {
            let (a, b) = shared(&cell.a, &cell.b);
            Some(vec![scattered_pairs(&b, &a)?])
        }
    });
    let divided = of(&|cell| match from {
        // The control is work that takes time: bytes are as many on a slow machine.
        From::TwoRuns(Some([a, b])) => match cell.figure.unit {
            Unit::Seconds | Unit::Microseconds => Some(vec![b.divide(&cell.b)?, a.divide(&cell.a)?]),
            // The time of an operation is divided, and turned round again.
            Unit::PerSecond => {
                Some(vec![inverse(b.divide(&inverted(&cell.b))?), inverse(a.divide(&inverted(&cell.a))?)])
            }
            _ => None,
        },
        _ => None,
    });
    let (lent, lent_divided) = (lent(cells, &own), lent(cells, &divided));
    let apart = |cell: &Values| match from {
        From::TwoRuns(_) => match (cell.phase, cell.figure.unit) {
            (Phase::Load, _) => LOADS_APART * std::f64::consts::SQRT_2,
            (_, Unit::Seconds | Unit::Microseconds | Unit::PerSecond) => APART,
            _ => 0.0,
        },
        From::OneRun => 0.0,
    };
    own.iter()
        .zip(lent.iter().zip(&lent_divided))
        .zip(cells)
        .map(|((own, (lent, divided)), cell)| {
            let apart = apart(cell.as_ref()?);
            Some(Ratio {
                raw: ratio(lent, apart)?,
                divided: ratio(divided, apart),
                beyond_rounds: ratio(own.as_ref()?, 0.0)?.at(ALPHA).excludes_one(),
            })
        })
        .collect()
}

fn ratio(sides: &[Scattered], apart: f64) -> Option<Scattered> {
    let ratio = match sides {
        [b, a] => b.divided_by(a)?,
        [ratio] => *ratio,
        _ => return None,
    };
    let wholes = Spread { standard_error: apart, freedom: GIVEN };
    let spread = ratio.spread.map(|spread| if apart > 0.0 { spread.with(&wholes) } else { spread });
    Some(Scattered { spread, ..ratio })
}

/// One ÷ it, which scatters as much.
fn inverse(one: Scattered) -> Scattered {
    Scattered { value: 1.0 / one.value, ..one }
}

fn inverted(rounds: &ByRound) -> ByRound {
    let each = |values: &Vec<f64>| values.iter().map(|value| 1.0 / value).collect();
    rounds.iter().map(|(round, values)| (*round, each(values))).collect()
}

fn values(rounds: &ByRound) -> Vec<Vec<f64>> {
    rounds.values().cloned().collect()
}

/// The rounds that both have.
fn shared(a: &ByRound, b: &ByRound) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    a.iter().filter_map(|(round, a)| Some((a.clone(), b.get(round)?.clone()))).unzip()
}

/// A cell, its group, and one of its sides.
type Member = (usize, usize, Scattered);

/// The same sides with what cells of a kind lend each other; nothing of a cell without sides. Loads are one group,
/// since a configuration has only one; questions are a group for each configuration, cold ones apart from hot ones, and
/// percentiles apart from throughput.
fn lent(cells: &[Option<Values>], sides: &[Option<Sides>]) -> Vec<Sides> {
    let mut kinds: BTreeMap<(Phase, bool), Vec<Member>> = BTreeMap::new();
    for (index, (cell, sides)) in cells.iter().zip(sides).enumerate() {
        let (Some(cell), Some(sides)) = (cell, sides) else { continue };
        let kind = cell.phase.planned();
        let group = if kind == Phase::Load { 0 } else { cell.configuration };
        kinds
            .entry((kind, cell.figure.quantile().is_some()))
            .or_default()
            .extend(sides.iter().map(|side| (index, group, *side)));
    }
    let mut found = vec![Vec::new(); cells.len()];
    for members in kinds.values() {
        let spreads: Vec<(usize, Scattered)> =
            members.iter().map(|(_, group, side)| (*group, *side)).collect();
        for ((index, ..), side) in members.iter().zip(moderated(&spreads)) {
            found[*index].push(side);
        }
    }
    found
}
