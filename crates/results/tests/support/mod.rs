//! Synthetic runs for comparisons.

use jsonathlon_results::compare::{CellComparison, ReasonKind, RegressionGate, RunComparison};
use jsonathlon_results::summary::Run;
use jsonathlon_results::test_fixtures;
use jsonathlon_schema::id::{ConfigurationId, Step};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::record::{
    Cell, Failure, FailureKind, JournalRecord, Phase, RecordBody, Trial, Verdict,
};

pub(crate) use jsonathlon_results::test_fixtures::cell;

pub(crate) fn configuration(system: &str, version: &str) -> Configuration {
    Configuration {
        artifact_digest: Some(format!("sha256:{version}")),
        ..test_fixtures::configuration(system, version)
    }
}

pub(crate) fn trial(cell: Cell, round: u32, seconds: Option<f64>) -> JournalRecord {
    let mut trial = test_fixtures::trial(cell, round, seconds);
    trial.metrics.insert("peak_pss_bytes".to_owned(), 1e6);
    test_fixtures::record(trial)
}

/// A load, a size, and one question cold and hot in five rounds, which differ by 1 % each.
pub(crate) fn records(of: &Configuration) -> Vec<JournalRecord> {
    let mut records = vec![trial(cell(of, "load", Phase::Load), 1, Some(2.0))];
    let mut size = trial(cell(of, "size", Phase::Steady), 1, None);
    if let RecordBody::Trial(size) = &mut size.body {
        size.metrics = [("total_bytes".to_owned(), 5e6)].into();
    }
    records.push(size);
    for round in 1..=5 {
        let seconds = 0.1 * (1.0 + 0.01 * f64::from(round));
        records.push(trial(cell(of, "q1", Phase::Cold), round, Some(3.0 * seconds)));
        records.push(trial(cell(of, "q1", Phase::Hot), round, Some(seconds)));
    }
    records
}

pub(crate) fn run(name: &str, configurations: &[Configuration]) -> Run {
    let records: Vec<JournalRecord> = configurations.iter().flat_map(records).collect();
    test_fixtures::run(name, configurations.to_vec(), records)
}

/// Applies a change to every trial that matches `wanted`.
pub(crate) fn edit(run: &mut Run, wanted: impl Fn(&Trial) -> bool, change: impl Fn(&mut Trial)) {
    for record in &mut run.records {
        if let RecordBody::Trial(trial) = &mut record.body
            && wanted(trial)
        {
            change(trial);
        }
    }
}

pub(crate) fn fail(trial: &mut Trial) {
    trial.seconds = None;
    trial.verdict = Verdict::Failed;
    trial.failure = Some(Failure::new(FailureKind::Crash, "gone"));
}

pub(crate) fn times(factor: f64) -> impl Fn(&mut Trial) {
    move |trial| trial.seconds = trial.seconds.map(|seconds| seconds * factor)
}

pub(crate) fn one(comparison: &RunComparison, name: &str) -> CellComparison {
    let found: Vec<_> = comparison.cells.iter().filter(|cell| cell.name() == name).collect();
    assert_eq!(found.len(), 1, "{name}");
    found[0].clone()
}

/// The result of the gate with 5 % allowed and nothing allowed to be missing.
pub(crate) fn gate(comparison: &RunComparison) -> RegressionGate {
    comparison.clone().with_gate(0.05, false).gate.unwrap()
}

pub(crate) fn kinds(gate: &RegressionGate) -> Vec<ReasonKind> {
    gate.reasons.iter().map(|reason| reason.kind).collect()
}

/// The run without the records whose keys match `unwanted`, neither recorded nor planned.
pub(crate) fn without(run: &Run, unwanted: impl Fn(&str) -> bool) -> Run {
    let mut run = run.clone();
    run.records.retain(|record| !unwanted(&record.key));
    run.manifest.plan.trials.retain(|key| !unwanted(key));
    run
}

/// A trial of the control, with the seconds of its memory-bound and compute-bound kernels.
pub(crate) fn control(round: u32, order: u32, [memory, compute]: [f64; 2]) -> JournalRecord {
    let cell = Cell {
        workload: "analytics".into(),
        id: ConfigurationId::new("control", "1", "kernels", ""),
        profile: None,
        step: Step::Control,
        phase: Phase::Steady,
        state: None,
        parameters: Default::default(),
    };
    let mut record = trial(cell, round, None);
    if let RecordBody::Trial(trial) = &mut record.body {
        trial.order = order;
        trial.metrics =
            [("control_memory_s".to_owned(), memory), ("control_compute_s".to_owned(), compute)].into();
        record.key = trial.cell.trial_key(round, order);
    }
    record
}
