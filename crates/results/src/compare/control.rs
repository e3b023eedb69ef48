//! Control of two runs: fixed work whose ratio is that of the machines.

use std::collections::{BTreeMap, BTreeSet};

use jsonathlon_schema::metric::{CONTROL_COMPUTE_S, CONTROL_MEMORY_S, MetricDef};
use jsonathlon_stats::statistics::{
    ALPHA, BootstrapEstimate, bootstrap_geometric_mean, bootstrap_median, bootstrap_quotient,
};
use serde::Serialize;

use super::RatioInterval;
use crate::control::CONTROL;
use crate::run::Run;

/// Time of the control in B ÷ its time in A.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Control {
    /// Geometric mean of both kernels. A cell's ratio is divided by the control of the cell's own rounds: all
    /// rounds, except for loads.
    pub both: RatioInterval,
    /// Ratio of the memory-bound kernel alone.
    pub memory: RatioInterval,
    /// Ratio of the compute-bound kernel alone.
    pub compute: RatioInterval,
    /// Number of times that the control was measured in A.
    pub measurements_a: usize,
    /// Number of times that the control was measured in B.
    pub measurements_b: usize,
}

/// Times of the control's kernels in one run, by round.
pub(super) struct Kernels {
    /// Versions of the control's work; a debug build does less.
    work_versions: BTreeSet<String>,
    rounds: BTreeMap<u32, [Vec<f64>; 2]>,
    memory: Vec<Vec<f64>>,
    compute: Vec<Vec<f64>>,
}

impl Control {
    /// Ratio of the control between two runs. `None` if a run has no control or they did different work.
    pub(super) fn from_kernels(a: &Kernels, b: &Kernels) -> Option<Self> {
        if a.work_versions != b.work_versions {
            return None;
        }
        let ratio = |a: Option<BootstrapEstimate>, b: Option<BootstrapEstimate>| b?.divided_by(&a?);
        let both = ratio(a.both(), b.both())?;
        let interval = |ratio: BootstrapEstimate| RatioInterval::from(ratio.interval_at(ALPHA));
        let measurements = |kernels: &Kernels| kernels.memory.iter().map(Vec::len).sum();
        Some(Self {
            both: interval(both),
            memory: interval(ratio(bootstrap_median(&a.memory), bootstrap_median(&b.memory))?),
            compute: interval(ratio(bootstrap_median(&a.compute), bootstrap_median(&b.compute))?),
            measurements_a: measurements(a),
            measurements_b: measurements(b),
        })
    }
}

impl Kernels {
    pub(super) fn from_run(run: &Run) -> Self {
        let mut work_versions = BTreeSet::new();
        let mut rounds: BTreeMap<u32, [Vec<f64>; 2]> = BTreeMap::new();
        for trial in run.trials().filter(|trial| trial.cell.id.system == CONTROL) {
            let seconds = |metric: &MetricDef| metric.value(trial).filter(|value| *value > 0.0);
            if let (Some(memory), Some(compute)) = (seconds(&CONTROL_MEMORY_S), seconds(&CONTROL_COMPUTE_S)) {
                work_versions.insert(trial.cell.id.version.clone());
                let round = rounds.entry(trial.round).or_default();
                round[0].push(memory);
                round[1].push(compute);
            }
        }
        let (memory, compute) = rounds.values().cloned().map(|[memory, compute]| (memory, compute)).unzip();
        Self { work_versions, rounds, memory, compute }
    }

    /// Median of a cell ÷ control of the same rounds. Disturbances of both cancel out; a disturbance of only
    /// one adds to the scatter.
    pub(super) fn divide(&self, cell: &BTreeMap<u32, Vec<f64>>) -> Option<BootstrapEstimate> {
        let shared =
            cell.iter().filter_map(|(round, seconds)| Some((seconds.clone(), self.rounds.get(round)?)));
        let (cell, control): (Vec<Vec<f64>>, Vec<&[Vec<f64>; 2]>) = shared.unzip();
        let kernel = |index: usize| control.iter().map(|kernels| kernels[index].clone()).collect::<Vec<_>>();
        bootstrap_quotient(&cell, &[&kernel(0), &kernel(1)])
    }

    fn both(&self) -> Option<BootstrapEstimate> {
        bootstrap_geometric_mean(&[&self.memory, &self.compute])
    }
}
