//! Synthetic runs of the frontier of questions against documents.

use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric::{DOCUMENTS_PER_S, MetricDef, QUESTIONS_PER_H};
use jsonathlon_schema::record::{
    ALL_QUESTIONS, BATCH, Cell, FULL_SPEED, INGEST, JournalRecord, Phase, RATE, RATE_SHARE, STREAMS, Verdict,
    WRITERS,
};
use jsonathlon_schema::settings::mixed::{FrontierRate, InsertRate, MixedSettings};
use jsonathlon_schema::workload::WorkloadKind;

use super::{cell, configuration, record, run, trial};
use crate::run::Run;

/// Factors by which the rates of each round differ from those of the fixture.
const ROUNDS: [f64; 3] = [0.98, 1.0, 1.03];

/// Rates of one system, in documents per second and questions per hour.
#[derive(Debug, Clone)]
pub struct FrontierFixture {
    /// Name and title of the system.
    pub system: &'static str,
    /// Documents per second of writers alone.
    pub documents_peak: f64,
    /// Questions per hour without writers.
    pub questions_peak: f64,
    /// Both rates at each rate of the writers.
    pub points: Vec<(FrontierRate, f64, f64)>,
    /// Verdict on all answers of the points.
    pub verdict: Verdict,
}

impl FrontierFixture {
    /// PostgreSQL with generated columns, as tried by hand.
    #[must_use]
    pub fn tried() -> Self {
        let share = FrontierRate::ShareOfPeak;
        Self {
            system: "postgresql",
            documents_peak: 36_850.0,
            questions_peak: 12_168.0,
            points: vec![
                (share(0.1), 3_757.0, 12_024.0),
                (share(0.2), 7_459.0, 10_152.0),
                (share(0.5), 18_458.0, 8_712.0),
                (share(0.8), 28_208.0, 8_316.0),
                (FrontierRate::FullSpeed, 30_052.0, 9_180.0),
            ],
            verdict: Verdict::Exact,
        }
    }

    /// Records of all rounds of the system.
    fn records(&self, configuration: &Configuration) -> Vec<JournalRecord> {
        let mut records = Vec::new();
        let mut add = |cell: &Cell, metric: &MetricDef, value: f64, verdict: Verdict| {
            for (round, factor) in (1..).zip(ROUNDS) {
                let mut trial = trial(cell.clone(), round, None);
                trial.verdict = verdict;
                trial.metrics.insert(metric.name.to_owned(), value * factor);
                records.push(record(trial));
            }
        };
        let exact = Verdict::Exact;
        let mut alone = mixed_cell(configuration, INGEST, Phase::Alone);
        alone.parameters.insert(RATE.to_owned(), FULL_SPEED.into());
        add(&alone, &DOCUMENTS_PER_S, self.documents_peak, exact);
        let still = mixed_cell(configuration, ALL_QUESTIONS, Phase::Still);
        add(&still, &QUESTIONS_PER_H, self.questions_peak, exact);
        for (rate, documents, questions) in &self.points {
            for (step, metric, value) in
                [(INGEST, &DOCUMENTS_PER_S, documents), (ALL_QUESTIONS, &QUESTIONS_PER_H, questions)]
            {
                let mut cell = mixed_cell(configuration, step, Phase::Both);
                match rate {
                    FrontierRate::ShareOfPeak(share) => {
                        cell.parameters.insert(RATE_SHARE.to_owned(), (*share).into())
                    }
                    FrontierRate::FullSpeed => cell.parameters.insert(RATE.to_owned(), FULL_SPEED.into()),
                };
                let verdict = if step == INGEST { exact } else { self.verdict };
                add(&cell, metric, *value, verdict);
            }
        }
        records
    }
}

fn mixed_cell(configuration: &Configuration, step: &str, phase: Phase) -> Cell {
    let mut cell = Cell { workload: WorkloadKind::Mixed.into(), ..cell(configuration, step, phase) };
    for (name, value) in [(WRITERS, 2), (STREAMS, 2), (BATCH, 1000)] {
        cell.parameters.insert(name.to_owned(), value.into());
    }
    cell
}

/// Complete run of three rounds of these systems, which all have the rates of the first one.
#[must_use]
pub fn frontier_run(name: &str, systems: &[FrontierFixture]) -> Run {
    let configurations: Vec<Configuration> =
        systems.iter().map(|fixture| configuration(fixture.system, "1.0")).collect();
    let records = systems
        .iter()
        .zip(&configurations)
        .flat_map(|(fixture, configuration)| fixture.records(configuration))
        .collect();
    let mut run = run(name, configurations, records);
    let rates = systems.first().map(|fixture| fixture.points.iter().map(|(rate, _, _)| *rate).collect());
    run.manifest.workloads = vec![WorkloadKind::Mixed.into()];
    run.manifest.settings.workload.analytics = None;
    run.manifest.settings.workload.mixed = Some(MixedSettings {
        frontier: rates.unwrap_or_default(),
        rate: InsertRate::FullSpeed,
        ..MixedSettings::default()
    });
    run
}
