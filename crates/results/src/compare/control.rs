//! The control of two runs: the same work in both, so its ratio is that of the machines.

use std::collections::BTreeMap;

use jsonathlon_measure::statistics::{ALPHA, Scattered, scattered, scattered_mean};
use serde::Serialize;

use super::Limits;
use crate::summary::Run;

/// What the control's trials are of.
pub(super) const CONTROL: &str = "control";

/// What the control took in B ÷ what it took in A.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Control {
    /// Geometric mean of both kernels. Ratios are divided by it.
    pub both: Limits,
    /// The memory-bound kernel alone.
    pub memory: Limits,
    /// The compute-bound kernel alone.
    pub compute: Limits,
    /// How often it was timed in A.
    pub slices_a: usize,
    /// How often it was timed in B.
    pub slices_b: usize,
    #[serde(skip)]
    pub(super) scattered: Scattered,
}

/// One run's, round by round.
struct Kernels {
    memory: Vec<Vec<f64>>,
    compute: Vec<Vec<f64>>,
}

impl Control {
    /// Of two runs; none where either has none.
    pub(super) fn of(a: &Run, b: &Run) -> Option<Self> {
        let (a, b) = (Kernels::of(a), Kernels::of(b));
        let ratio = |a: Option<Scattered>, b: Option<Scattered>| b?.divided_by(&a?);
        let both = ratio(a.both(), b.both())?;
        let limits = |ratio: Scattered| Limits::from(ratio.at(ALPHA));
        let slices = |kernels: &Kernels| kernels.memory.iter().map(Vec::len).sum();
        Some(Self {
            both: limits(both),
            memory: limits(ratio(scattered(&a.memory), scattered(&b.memory))?),
            compute: limits(ratio(scattered(&a.compute), scattered(&b.compute))?),
            slices_a: slices(&a),
            slices_b: slices(&b),
            scattered: both,
        })
    }
}

impl Kernels {
    fn of(run: &Run) -> Self {
        let mut rounds: BTreeMap<u32, [Vec<f64>; 2]> = BTreeMap::new();
        for trial in run.trials().filter(|trial| trial.cell.system == CONTROL) {
            let metric = |name: &str| trial.metrics.get(name).copied().filter(|seconds| *seconds > 0.0);
            if let (Some(memory), Some(compute)) = (metric("control_memory_s"), metric("control_compute_s")) {
                let round = rounds.entry(trial.round).or_default();
                round[0].push(memory);
                round[1].push(compute);
            }
        }
        let (memory, compute) = rounds.into_values().map(|[memory, compute]| (memory, compute)).unzip();
        Self { memory, compute }
    }

    fn both(&self) -> Option<Scattered> {
        scattered_mean(&[&self.memory, &self.compute])
    }
}
