//! The control of two runs: the same work in both, so its ratio is that of the machines.

use std::collections::{BTreeMap, BTreeSet};

use jsonathlon_measure::statistics::{ALPHA, Scattered, scattered, scattered_mean, scattered_quotient};
use serde::Serialize;

use super::Limits;
use crate::control::CONTROL;
use crate::figure::{CONTROL_COMPUTE_S, CONTROL_MEMORY_S, Figure};
use crate::run::Run;

/// What the control took in B ÷ what it took in A.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Control {
    /// Geometric mean of both kernels. A cell's ratio is divided by that of the cell's own rounds, which are all of
    /// them but for loads.
    pub both: Limits,
    /// The memory-bound kernel alone.
    pub memory: Limits,
    /// The compute-bound kernel alone.
    pub compute: Limits,
    /// How often it was timed in A.
    pub slices_a: usize,
    /// How often it was timed in B.
    pub slices_b: usize,
}

/// One run's control: what each kernel took in each round.
pub(super) struct Kernels {
    /// Which work they did: a debug build's is shorter.
    works: BTreeSet<String>,
    rounds: BTreeMap<u32, [Vec<f64>; 2]>,
    memory: Vec<Vec<f64>>,
    compute: Vec<Vec<f64>>,
}

impl Control {
    /// Of two runs; none where either has none, or where they did not do the same work.
    pub(super) fn of(a: &Kernels, b: &Kernels) -> Option<Self> {
        if a.works != b.works {
            return None;
        }
        let ratio = |a: Option<Scattered>, b: Option<Scattered>| b?.divided_by(&a?);
        let both = ratio(a.both(), b.both())?;
        let limits = |ratio: Scattered| Limits::from(ratio.at(ALPHA));
        let slices = |kernels: &Kernels| kernels.memory.iter().map(Vec::len).sum();
        Some(Self {
            both: limits(both),
            memory: limits(ratio(scattered(&a.memory), scattered(&b.memory))?),
            compute: limits(ratio(scattered(&a.compute), scattered(&b.compute))?),
            slices_a: slices(a),
            slices_b: slices(b),
        })
    }
}

impl Kernels {
    pub(super) fn of(run: &Run) -> Self {
        let mut works = BTreeSet::new();
        let mut rounds: BTreeMap<u32, [Vec<f64>; 2]> = BTreeMap::new();
        for trial in run.trials().filter(|trial| trial.cell.id.system == CONTROL) {
            let of = |figure: &Figure| figure.value(trial).filter(|seconds| *seconds > 0.0);
            if let (Some(memory), Some(compute)) = (of(&CONTROL_MEMORY_S), of(&CONTROL_COMPUTE_S)) {
                works.insert(trial.cell.id.version.clone());
                let round = rounds.entry(trial.round).or_default();
                round[0].push(memory);
                round[1].push(compute);
            }
        }
        let (memory, compute) = rounds.values().cloned().map(|[memory, compute]| (memory, compute)).unzip();
        Self { works, rounds, memory, compute }
    }

    /// What a cell took ÷ what the control took in the same rounds. What a round did to both cancels, what either
    /// did alone is in the scatter.
    pub(super) fn divide(&self, cell: &BTreeMap<u32, Vec<f64>>) -> Option<Scattered> {
        let both =
            cell.iter().filter_map(|(round, seconds)| Some((seconds.clone(), self.rounds.get(round)?)));
        let (cell, control): (Vec<Vec<f64>>, Vec<&[Vec<f64>; 2]>) = both.unzip();
        let kernel = |index: usize| control.iter().map(|kernels| kernels[index].clone()).collect::<Vec<_>>();
        scattered_quotient(&cell, &[&kernel(0), &kernel(1)])
    }

    fn both(&self) -> Option<Scattered> {
        scattered_mean(&[&self.memory, &self.compute])
    }
}
