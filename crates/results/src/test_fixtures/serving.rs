//! Synthetic serving runs: clients send operations to four systems, in closed and open loops.

use std::collections::BTreeMap;

use jsonathlon_schema::durability::{Durability, DurabilityTier};
use jsonathlon_schema::id::{DataState, Step};
use jsonathlon_schema::manifest::{Configuration, TrialPlan};
use jsonathlon_schema::metric::{self, MetricDef};
use jsonathlon_schema::record::{
    Cell, Failure, FailureKind, JournalRecord, Metrics, Parameters, Phase, Trial, TrialSecond, Verdict,
};
use jsonathlon_schema::settings::WorkloadSettings;
use jsonathlon_schema::transport::Transport;
use jsonathlon_schema::workload::WorkloadKind;
use jsonathlon_stats::histogram::Histogram;
use serde_json::json;

use super::{DOCUMENTS, record};
use crate::run::Run;

/// Parameters of a synthetic serving run.
#[derive(Debug, Clone)]
pub struct ServingFixture {
    /// Seed of the random generator, which determines all scatter.
    pub seed: u64,
    /// Number of rounds of the run.
    pub rounds: u32,
    /// Numbers of clients that each mix is measured with.
    pub clients: Vec<u32>,
    /// Mixes that each configuration runs.
    pub mixes: Vec<&'static str>,
    /// Number of operations in the histograms of a trial.
    pub samples: u32,
    /// Standard deviation of the logarithm of a round's throughput.
    pub scatter: f64,
    /// Rates of the first mix's open loop, as shares of each system's capacity. Empty for no open loop.
    pub rates: Vec<f64>,
    /// Factors by which the throughput of systems is multiplied, by system name. Defaults to 1.
    pub factors: BTreeMap<&'static str, f64>,
}

impl Default for ServingFixture {
    fn default() -> Self {
        Self {
            seed: 1,
            rounds: 4,
            clients: vec![1, 8, 32],
            mixes: vec!["a", "c"],
            samples: 2_400,
            scatter: 0.03,
            rates: Vec::new(),
            factors: BTreeMap::new(),
        }
    }
}

/// Systems: name, throughput of one client in mixes with and without writes, scaling with clients, and bytes
/// of WAL per update.
const SYSTEMS: [(&str, [f64; 2], f64, f64); 4] = [
    ("postgresql", [1_400.0, 11_000.0], 6.0, 1_900.0),
    ("mongodb", [1_100.0, 6_500.0], 8.0, 640.0),
    ("sqlite", [900.0, 42_000.0], 0.4, 4_600.0),
    ("duckdb", [60.0, 900.0], 1.0, 0.0),
];

/// Random generator (xorshift) of sufficient quality for synthetic runs.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Approximately normal value with mean 0 and standard deviation 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// Configurations of the run: three ranked ones, and one that is not designed for the workload.
#[must_use]
pub fn configurations() -> Vec<Configuration> {
    SYSTEMS
        .iter()
        .map(|(system, ..)| {
            let mut configuration = super::configuration(system, "1");
            configuration.id.variant = "key".into();
            configuration.variant_title = "unique key".into();
            configuration.embedded = matches!(*system, "sqlite" | "duckdb");
            configuration.transport = (!configuration.embedded).then_some(Transport::Tcp);
            configuration.memory_bytes = Some(1 << 30);
            configuration.ranks_with = String::new();
            configuration.ranked = *system != "duckdb";
            configuration.not_made_for =
                (*system == "duckdb").then(|| "analytical: a row store is what updates need".to_owned());
            configuration.durability = Some(Durability {
                tier: DurabilityTier::Synced,
                process_crash: "nothing".to_owned(),
                power_loss: "nothing".to_owned(),
                basis: String::new(),
                tested: Vec::new(),
            });
            configuration
        })
        .collect()
}

/// Cell of a mix in a closed loop with this number of clients.
#[must_use]
pub fn cell(configuration: &Configuration, mix: &str, clients: u32) -> Cell {
    let mut parameters = parameters(configuration);
    parameters.extend([("clients".to_owned(), clients.into()), ("arrival".to_owned(), "closed".into())]);
    Cell {
        workload: WorkloadKind::Serving.into(),
        id: configuration.id.clone(),
        profile: configuration.profile,
        step: Step::Workload(mix.to_owned()),
        phase: Phase::Measured,
        state: Some(DataState::Drained),
        parameters,
    }
}

fn parameters(configuration: &Configuration) -> Parameters {
    let object = json!({
        "scale": DOCUMENTS, "documents": "flat", "values": "text", "durability": "synced",
        "preparation": configuration.preparation.word(),
        "memory": configuration.memory_bytes,
    });
    object.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())).collect()
}

impl ServingFixture {
    /// Generates the run with loads, closed loops and open loops.
    #[must_use]
    pub fn run(&self, name: &str) -> Run {
        let configurations = configurations();
        let mut random = Random(self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut records = Vec::new();
        for configuration in &configurations {
            records.extend(loads(configuration, &mut random));
        }
        for round in 1..=self.rounds {
            for (index, configuration) in configurations.iter().enumerate() {
                for mix in &self.mixes {
                    for clients in &self.clients {
                        records.extend(self.closed(configuration, index, mix, *clients, round, &mut random));
                    }
                }
                for share in &self.rates {
                    records.push(self.open(configuration, index, *share, round, &mut random));
                }
            }
        }
        let trials = records.iter().map(|record| record.key.clone()).collect();
        let mut manifest = super::manifest(configurations, TrialPlan { trials });
        manifest.workloads = vec![WorkloadKind::Serving.into()];
        manifest.settings.run.rounds = self.rounds;
        let own_settings = json!({ "warmup_s": 0.75, "duration_s": 2.0 });
        manifest.settings.workload = WorkloadSettings {
            other_workloads: BTreeMap::from([(WorkloadKind::Serving.into(), own_settings)]),
            ..WorkloadSettings::default()
        };
        Run { path: name.into(), manifest, records }
    }

    /// Operations per second of a system with this number of clients.
    fn throughput(&self, index: usize, mix: &str, clients: u32) -> f64 {
        let (system, single_client, scaling, _) = SYSTEMS[index];
        let single_client = single_client[usize::from(mix == "c")];
        let clients = f64::from(clients);
        let factor = self.factors.get(system).copied().unwrap_or(1.0);
        factor * single_client * clients * (1.0 + scaling) / (clients + scaling)
    }

    /// Trial of a mix in a closed loop; for mix `a`, followed by one trial of each operation.
    fn closed(
        &self,
        configuration: &Configuration,
        index: usize,
        mix: &str,
        clients: u32,
        round: u32,
        random: &mut Random,
    ) -> Vec<JournalRecord> {
        let scatter = (self.scatter * random.normal()).exp();
        let per_s = self.throughput(index, mix, clients) * scatter;
        let typical_us = 1e6 * f64::from(clients) / per_s;
        let cell = cell(configuration, mix, clients);
        let mut mix_trial = self.trial(cell.clone(), index, round, per_s, random);
        let service = histogram(self.samples, typical_us, random);
        add_quantiles(&mut mix_trial, "service", &service);
        let mut records = vec![record(mix_trial)];
        if mix == "a" {
            for (operation, factor) in [("read", 0.6), ("update", 1.4)] {
                let mut cell = cell.clone();
                cell.parameters.insert("operation".into(), operation.into());
                let mut trial = super::trial(cell, round, None);
                trial.metrics =
                    metrics(&[(metric::THROUGHPUT_OPS_PER_S, per_s / 2.0), (metric::OPERATIONS, per_s)]);
                add_quantiles(
                    &mut trial,
                    "service",
                    &histogram(self.samples / 2, factor * typical_us, random),
                );
                records.push(record(trial));
            }
        }
        records
    }

    /// Trial of the first mix in an open loop at a share of the capacity.
    fn open(
        &self,
        configuration: &Configuration,
        index: usize,
        share: f64,
        round: u32,
        random: &mut Random,
    ) -> JournalRecord {
        let mix = self.mixes.first().copied().unwrap_or("a");
        let clients = self.clients.last().copied().unwrap_or(1);
        let capacity = self.throughput(index, mix, clients);
        let rate = (share * capacity).round();
        let mut cell = cell(configuration, mix, clients);
        cell.parameters.insert("arrival".into(), "poisson".into());
        cell.parameters.insert("rate_per_s".into(), rate.into());
        let mut trial = self.trial(cell, index, round, rate.min(capacity), random);
        let service_us = 1e6 * f64::from(clients) / capacity * (0.3 + 0.7 * share);
        let wait_factor = 1.0 + share / (1.05 - share).max(0.05);
        add_quantiles(&mut trial, "service", &histogram(self.samples, service_us, random));
        add_quantiles(&mut trial, "response", &histogram(self.samples, wait_factor * service_us, random));
        trial.metrics.extend(metrics(&[
            (metric::MISSED_ARRIVALS, if share > 0.9 { 12.0 } else { 0.0 }),
            (metric::UNFINISHED_ARRIVALS, 0.0),
            (metric::LATENESS_P99_US, 40.0),
            (metric::BACKLOG_MAX, (10.0 * wait_factor).round()),
        ]));
        record(trial)
    }

    /// Trial with all metrics and seconds, but without histograms.
    fn trial(&self, cell: Cell, index: usize, round: u32, per_s: f64, random: &mut Random) -> Trial {
        let (_, _, _, wal_bytes) = SYSTEMS[index];
        let writes = cell.step.word() != "c";
        let clients = cell.parameters.get("clients").and_then(serde_json::Value::as_f64).unwrap_or(1.0);
        let is_sqlite = cell.id.system == "sqlite";
        let (server, client) = if is_sqlite { (20.0, 20.0) } else { (60.0, if writes { 9.0 } else { 70.0 }) };
        let mut trial = super::trial(cell, round, None);
        trial.metrics = metrics(&[
            (metric::THROUGHPUT_OPS_PER_S, per_s),
            (metric::OPERATIONS, (2.0 * per_s).round()),
            (metric::ERRORS, 0.0),
            (metric::TIMEOUTS, 0.0),
            (metric::WRONG_ANSWERS, 0.0),
            (metric::STALE_ANSWERS, 0.0),
            (metric::RETRIES, 0.0),
            (metric::LOST_UPDATES, 0.0),
            (metric::RECONNECTS, 0.0),
            (metric::MEASURED_S, 2.0),
            (metric::CLIENTS, clients),
            (metric::SERVER_CPU_US_PER_OP, server),
            (metric::CLIENT_CPU_US_PER_OP, client),
            (metric::CLIENT_CPU_SHARE, client / (server + client)),
            (metric::CONTEXT_SWITCHES_PER_OP, 2.1),
            (metric::CPU_MIGRATIONS_PER_OP, 0.01),
            (metric::DISK_WRITTEN_BYTES_PER_OP, if writes { 3.0 * wal_bytes } else { 0.0 }),
            (metric::PEAK_COORDINATOR_BYTES, 160e6),
        ]);
        if wal_bytes > 0.0 {
            let written = if writes { wal_bytes / 2.0 } else { 0.0 };
            let jitter = (0.005 * random.normal()).exp();
            trial.metrics.extend(metrics(&[
                (metric::WAL_BYTES_PER_OP, written * jitter),
                (metric::IDLE_WAL_BYTES, 120.0),
            ]));
        }
        trial.per_second = (0..3)
            .map(|second| TrialSecond {
                operations: (per_s * if second == 0 { 0.6 } else { 1.0 } * (1.0 + 0.05 * random.normal()))
                    as u64,
                longest_us: 5e6 * clients / per_s,
                ramp: second == 0,
                // Servers report checkpoints, embedded engines do not.
                in_checkpoint: (index < 2).then_some(second == 2 && round == 2 && wal_bytes > 1_000.0),
                disk_queue: (wal_bytes > 0.0).then_some(if writes { 0.5 } else { 0.0 }),
                ..TrialSecond::default()
            })
            .collect();
        trial
    }
}

/// Load and size in each of three rounds.
fn loads(configuration: &Configuration, random: &mut Random) -> Vec<JournalRecord> {
    let cell = |step: Step, phase: Phase, state: Option<DataState>| Cell {
        workload: WorkloadKind::Serving.into(),
        id: configuration.id.clone(),
        profile: configuration.profile,
        step,
        phase,
        state,
        parameters: parameters(configuration),
    };
    let mut records = Vec::new();
    for round in 1..=3 {
        let seconds = 0.9 * (0.03 * random.normal()).exp();
        let mut load = super::trial(cell(Step::Load, Phase::Load, None), round, Some(seconds));
        load.metrics = metrics(&[
            (metric::DOCUMENTS_OFFERED, DOCUMENTS as f64),
            (metric::DOCUMENTS_LOADED, DOCUMENTS as f64),
            (metric::DOCUMENTS_PER_S, DOCUMENTS as f64 / seconds),
        ]);
        let mut size = super::trial(cell(Step::Size, Phase::Steady, Some(DataState::Drained)), round, None);
        size.metrics =
            metrics(&[(metric::TOTAL_BYTES, 1.4e6), (metric::DATA_BYTES, 1.3e6), (metric::INDEX_BYTES, 1e5)]);
        records.extend([record(load), record(size)]);
    }
    records
}

fn metrics(values: &[(MetricDef, f64)]) -> Metrics {
    values.iter().map(|(metric, value)| metric.with_value(*value)).collect()
}

/// Histogram of log-normally distributed durations around a typical one.
fn histogram(samples: u32, typical_us: f64, random: &mut Random) -> Histogram {
    let mut histogram = Histogram::new();
    for _ in 0..samples {
        histogram.record_ns((1e3 * typical_us * (0.4 * random.normal()).exp()) as u64);
    }
    histogram
}

fn add_quantiles(trial: &mut Trial, name: &str, histogram: &Histogram) {
    for (suffix, quantile) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999), ("max", 1.0)] {
        trial.metrics.insert(format!("{name}_{suffix}_us"), histogram.quantile_us(quantile));
    }
    trial.histograms.insert(name.to_owned(), histogram.to_text());
}

/// Run with cells that must not look fast. Mix `a` of one system has wrong answers in one trial, its mix `c`
/// was not verified, and the first trial of another system's mix `a` failed.
#[must_use]
pub fn run_with_bad_cells(name: &str) -> Run {
    let mut run = ServingFixture { rounds: 2, clients: vec![8], ..ServingFixture::default() }.run(name);
    for record in &mut run.records {
        let jsonathlon_schema::record::RecordBody::Trial(trial) = &mut record.body else { continue };
        if trial.cell.phase != Phase::Measured {
            continue;
        }
        match (trial.cell.id.system.as_str(), trial.cell.step.word(), trial.round) {
            ("mongodb", "a", 2) => {
                trial.verdict = Verdict::Wrong;
                trial.metrics.insert(metric::WRONG_ANSWERS.name.to_owned(), 3.0);
                trial.failure = Some(Failure::new(
                    FailureKind::Wrong,
                    "read of user0000000000000000007: another key's document",
                ));
            }
            ("mongodb", "c", _) => trial.verdict = Verdict::Unverified,
            ("sqlite", "a", 1) => {
                **trial = Trial {
                    verdict: Verdict::Failed,
                    failure: Some(Failure::new(FailureKind::Crash, "the worker is gone")),
                    ..Trial::blank(trial.cell.clone(), trial.round, trial.order)
                };
            }
            _ => {}
        }
    }
    run
}
