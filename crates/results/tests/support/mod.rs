//! Runs made by hand, for what is set beside each other.

#![allow(dead_code, reason = "each test program uses its own part of this")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use jsonathlon_measure::clock::ClockResolution;
use jsonathlon_measure::machine::Machine;
use jsonathlon_results::compare::{CellComparison, Gate, ReasonKind, RunComparison};
use jsonathlon_results::manifest::{Configuration, Data, Manifest, Planned, SCHEMA};
use jsonathlon_results::record::{Body, Cell, Failure, FailureKind, Phase, Record, Trial, Verdict};
use jsonathlon_results::summary::Run;

pub(crate) fn configuration(system: &str, version: &str) -> Configuration {
    Configuration {
        system: system.into(),
        title: system.into(),
        version: version.into(),
        variant: "plain".into(),
        variant_title: "plain".into(),
        storage: "default".into(),
        embedded: true,
        transport: None,
        end_of_life: false,
        preparation: None,
        profile: None,
        memory_bytes: None,
        memory_settings: Vec::new(),
        parallel_unit: None,
        other_questions: Default::default(),
        ranked: true,
        ranks_with: "json-only".into(),
        reference: system == "yardstick",
        configuration_digest: "blake3:22".into(),
        artifact_digest: Some(format!("sha256:{version}")),
        machine_libraries: vec![],
        exceptions: vec![],
    }
}

pub(crate) fn cell(of: &Configuration, step: &str, phase: Phase) -> Cell {
    let mut parameters: std::collections::BTreeMap<String, serde_json::Value> =
        [("scale".into(), 1000.into()), ("storage".into(), of.storage.as_str().into())].into();
    if step != "load" {
        parameters.insert("state".into(), "drained".into());
    }
    Cell {
        workload: "analytics".into(),
        system: of.system.clone(),
        version: of.version.clone(),
        variant: of.variant.clone(),
        step: step.into(),
        phase,
        parameters,
    }
}

pub(crate) fn trial(cell: Cell, round: u32, seconds: Option<f64>) -> Record {
    let key = cell.trial_key(round, 0);
    let trial = Trial {
        cell,
        round,
        order: 0,
        at_ms: 0,
        verdict: Verdict::Exact,
        seconds,
        server_seconds: None,
        rows: None,
        answer_digest: None,
        metrics: [("peak_pss_bytes".to_owned(), 1e6)].into(),
        bound_by: None,
        failure: None,
    };
    Record::new(key, Body::Trial(Box::new(trial)))
}

/// A load, a size, and one question cold and hot in five rounds, each 1 % from the one before.
pub(crate) fn records(of: &Configuration) -> Vec<Record> {
    let mut records = vec![trial(cell(of, "load", Phase::Load), 1, Some(2.0))];
    let mut size = trial(cell(of, "size", Phase::Steady), 1, None);
    if let Body::Trial(size) = &mut size.body {
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
    let records: Vec<Record> = configurations.iter().flat_map(records).collect();
    Run {
        path: name.into(),
        manifest: Manifest {
            schema: SCHEMA,
            program: "0.1.0".into(),
            started: "2026-11-21T10:00:00Z".into(),
            command: vec![],
            machine: Machine {
                cores: 2,
                processor: "Some processor".into(),
                memory_bytes: 24_000_000_000,
                kernel: "6.1".into(),
                os: "Some system".into(),
                architecture: "x86_64".into(),
                file_system: Some("ext4".into()),
            },
            clock: ClockResolution { step_ns: 20, reading_ns: 25.0 },
            disk_bytes_per_s: None,
            data: Data {
                documents: 1000,
                bytes: 480_000,
                digest: "blake3:00".into(),
                source: "generated".into(),
                origin: serde_json::Value::Null,
                malformed: 0,
                staging_s: None,
                reference_sizes: [("raw".to_owned(), 480_000)].into(),
            },
            configurations: configurations.to_vec(),
            settings: serde_json::json!({"rounds": 5}),
            plan: Planned { trials: records.iter().map(|record| record.key.clone()).collect() },
        },
        records,
    }
}

/// Changes every trial that is wanted.
pub(crate) fn edit(run: &mut Run, wanted: impl Fn(&Trial) -> bool, change: impl Fn(&mut Trial)) {
    for record in &mut run.records {
        if let Body::Trial(trial) = &mut record.body
            && wanted(trial)
        {
            change(trial);
        }
    }
}

pub(crate) fn fail(trial: &mut Trial) {
    trial.seconds = None;
    trial.verdict = Verdict::Failed;
    trial.failure = Some(Failure { kind: FailureKind::Crash, error: "gone".into() });
}

pub(crate) fn times(factor: f64) -> impl Fn(&mut Trial) {
    move |trial| trial.seconds = trial.seconds.map(|seconds| seconds * factor)
}

pub(crate) fn one(comparison: &RunComparison, name: &str) -> CellComparison {
    let found: Vec<_> = comparison.cells.iter().filter(|cell| cell.name() == name).collect();
    assert_eq!(found.len(), 1, "{name}");
    found[0].clone()
}

/// The gate with a twentieth allowed and nothing missing.
pub(crate) fn gate(comparison: &RunComparison) -> Gate {
    comparison.clone().gated(0.05, false).gate.unwrap()
}

pub(crate) fn kinds(gate: &Gate) -> Vec<ReasonKind> {
    gate.reasons.iter().map(|reason| reason.kind).collect()
}

/// The run without the records that are not wanted, which were never planned.
pub(crate) fn without(run: &Run, unwanted: impl Fn(&str) -> bool) -> Run {
    let mut run = run.clone();
    run.records.retain(|record| !unwanted(&record.key));
    run.manifest.plan.trials.retain(|key| !unwanted(key));
    run
}

/// A trial of the control: seconds of its memory-bound and of its compute-bound kernel.
pub(crate) fn control(round: u32, order: u32, [memory, compute]: [f64; 2]) -> Record {
    let cell = Cell {
        workload: "analytics".into(),
        system: "control".into(),
        version: "1".into(),
        variant: "kernels".into(),
        step: "control".into(),
        phase: Phase::Steady,
        parameters: Default::default(),
    };
    let mut record = trial(cell, round, None);
    if let Body::Trial(trial) = &mut record.body {
        trial.order = order;
        trial.metrics =
            [("control_memory_s".to_owned(), memory), ("control_compute_s".to_owned(), compute)].into();
        record.key = trial.cell.trial_key(round, order);
    }
    record
}
