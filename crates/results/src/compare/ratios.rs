//! The ratio of each cell with its scatter, in which cells of a configuration lend each other strength.

use std::collections::BTreeMap;

use jsonathlon_measure::families::moderated;
use jsonathlon_measure::statistics::{ALPHA, Scattered, Spread, scattered, scattered_pairs};

use crate::record::Phase;

/// What two equal runs differ by as wholes when the control has been divided out: the standard error on the
/// logarithm. It holds what no number of rounds shows, such as where files lie on the disk, how a process was laid
/// out in memory, and what a neighbour slowed that the control does not use. It is judged, not measured in the runs
/// at hand (a type B evaluation in the terms of the *Guide to the Expression of Uncertainty in Measurement*, JCGM
/// 100:2008, 4.3): five equal runs had drifted by 4 to 12 % before the division. `docs/comparing.md` says what it
/// costs and saves.
pub const APART: f64 = 0.03;

/// Its degrees of freedom: it is a given figure, so any large number.
const GIVEN: f64 = 1e4;

/// Where the two sides of all cells are from.
pub(super) enum From<'a> {
    /// Two runs, with the control's ratio where both have one.
    TwoRuns(Option<&'a Scattered>),
    /// One run: rounds go with rounds.
    OneRun,
}

/// The seconds of a cell that has a ratio.
pub(super) struct Seconds {
    pub(super) phase: Phase,
    /// The configuration, by its place.
    pub(super) configuration: usize,
    /// Round by round; of one run, the rounds that both sides have.
    pub(super) a: Vec<Vec<f64>>,
    pub(super) b: Vec<Vec<f64>>,
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
    /// What is tested.
    pub(super) fn tested(&self) -> &Scattered {
        self.divided.as_ref().unwrap_or(&self.raw)
    }
}

/// The ratios of all cells, `None` of those without seconds.
pub(super) fn ratios(cells: &[Option<Seconds>], from: &From<'_>) -> Vec<Option<Ratio>> {
    // Sides of two runs scatter on their own; of one run it is the ratio that does.
    let sides: Vec<Option<Vec<Scattered>>> = cells
        .iter()
        .map(|cell| {
            let cell = cell.as_ref()?;
            match from {
                From::TwoRuns(_) => Some(vec![scattered(&cell.b)?, scattered(&cell.a)?]),
                From::OneRun => Some(vec![scattered_pairs(&cell.b, &cell.a)?]),
            }
        })
        .collect();
    let lent = lent(cells, &sides);
    let ratio = |sides: &[Scattered]| match sides {
        [b, a] => b.divided_by(a),
        [ratio] => Some(*ratio),
        _ => None,
    };
    let apart = Scattered { value: 1.0, spread: Some(Spread { standard_error: APART, freedom: GIVEN }) };
    sides
        .iter()
        .zip(&lent)
        .map(|(own, lent)| {
            let (own, lent) = (ratio(own.as_ref()?)?, ratio(lent)?);
            let beyond_rounds = own.at(ALPHA).excludes_one();
            Some(match from {
                From::OneRun => Ratio { raw: lent, divided: None, beyond_rounds },
                From::TwoRuns(control) => {
                    let raw = lent.divided_by(&apart)?;
                    Ratio { raw, divided: control.and_then(|control| raw.divided_by(control)), beyond_rounds }
                }
            })
        })
        .collect()
}

/// The same sides with what cells of a kind lend each other. Loads are one group, since a configuration has only
/// one; questions are a group for each configuration, cold ones apart from hot ones.
fn lent(cells: &[Option<Seconds>], sides: &[Option<Vec<Scattered>>]) -> Vec<Vec<Scattered>> {
    let mut kinds: BTreeMap<Phase, Vec<(usize, usize, Scattered)>> = BTreeMap::new();
    for (index, (cell, sides)) in cells.iter().zip(sides).enumerate() {
        let (Some(cell), Some(sides)) = (cell, sides) else { continue };
        let kind = cell.phase.planned();
        let group = if kind == Phase::Load { 0 } else { cell.configuration };
        kinds.entry(kind).or_default().extend(sides.iter().map(|side| (index, group, *side)));
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
