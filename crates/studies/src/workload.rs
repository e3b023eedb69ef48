//! Workloads whose runs a study can make: their options, their points and their default metric.

use jsonathlon_results::mixed::rate_option;
use jsonathlon_schema::metric::{MetricDef, QUESTIONS_PER_H, THROUGHPUT_OPS_PER_S};
use jsonathlon_schema::record::{CLIENTS, Cell, Phase, STREAMS, Verdict, WRITERS};
use jsonathlon_schema::workload::WorkloadKind;
use serde::Deserialize;

/// Option of several workloads that pins a system: the CPUs of the server.
pub const SERVER_CPUS: &str = "server-cpus";

/// Options of `run serving` that a study may fix or vary, under their names on the command line.
const SERVING_OPTIONS: [&str; 35] = [
    "arrival",
    "batch-size",
    "clients",
    "data",
    "document-size",
    "documents",
    "durability",
    "duration",
    "find-limit",
    "key",
    "key-order",
    "key-type",
    "load-rounds",
    "members",
    "memory",
    "mixes",
    "no-prepare",
    "operation-count",
    "operation-timeout",
    "profile",
    "rates",
    "read-paths",
    "read-positions",
    "records",
    "rounds",
    "scan-length",
    "seed",
    "server-cpus",
    "soak",
    "storage",
    "stored-size",
    "transport",
    "update",
    "value-content",
    "warmup",
];

/// Options of `run mixed` that a study may fix or vary.
const MIXED_OPTIONS: [&str; 15] = [
    "batch",
    "data",
    "growth",
    "measure",
    "memory",
    "profile",
    "rate",
    "rounds",
    "scale",
    "seed",
    "server-cpus",
    "storage",
    "streams",
    "transport",
    "writers",
];

/// Workload whose runs a study makes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StudyWorkload {
    /// Operations on records by their key.
    #[default]
    Serving,
    /// Questions while documents come in.
    Mixed,
}

impl StudyWorkload {
    /// Workload that its runs have.
    #[must_use]
    pub fn kind(self) -> WorkloadKind {
        match self {
            Self::Serving => WorkloadKind::Serving,
            Self::Mixed => WorkloadKind::Mixed,
        }
    }

    /// Options of its runs that a study may fix or vary, under their names on the command line.
    #[must_use]
    pub fn options(self) -> &'static [&'static str] {
        match self {
            Self::Serving => &SERVING_OPTIONS,
            Self::Mixed => &MIXED_OPTIONS,
        }
    }

    /// Metric that is evaluated if a study names none.
    #[must_use]
    pub fn default_metric(self) -> &'static MetricDef {
        match self {
            Self::Serving => &THROUGHPUT_OPS_PER_S,
            Self::Mixed => &QUESTIONS_PER_H,
        }
    }

    /// Attributes by which a verdict may select points, beside what the study varies.
    pub(crate) fn attributes(self) -> &'static [&'static str] {
        match self {
            Self::Serving => &["variant", "version", "storage", "profile", "document"],
            Self::Mixed => &["variant", "version", "storage", "profile", "phase", "rate"],
        }
    }

    /// Returns `true` for cells that are points of a study.
    pub(crate) fn is_point(self, cell: &Cell) -> bool {
        match self {
            Self::Serving => {
                let is_measurement = cell.phase == Phase::Measured
                    || (cell.phase == Phase::Steady && cell.step.is_workload_step());
                is_measurement && !cell.is_single_operation() && !cell.is_open_loop()
            }
            Self::Mixed => cell.workload == WorkloadKind::Mixed && cell.parameters.contains_key(STREAMS),
        }
    }

    /// Attributes that only points of this workload have.
    pub(crate) fn attributes_of(self, cell: &Cell) -> Vec<(&'static str, String)> {
        match self {
            Self::Serving => Vec::new(),
            Self::Mixed => {
                let rate = rate_option(cell).map(|rate| ("rate", rate));
                std::iter::once(("phase", cell.phase.word().to_owned())).chain(rate).collect()
            }
        }
    }

    /// Number of connections that a cell is about: clients, streams of questions, or writers if there are no streams.
    /// 0 if the cell does not record it.
    pub(crate) fn clients_of(self, cell: &Cell) -> u64 {
        let name = match (self, cell.phase) {
            (Self::Serving, _) => CLIENTS,
            (Self::Mixed, Phase::Alone) => WRITERS,
            (Self::Mixed, _) => STREAMS,
        };
        cell.parameters.get(name).and_then(serde_json::Value::as_u64).unwrap_or(0)
    }

    /// Returns `true` if values with this verdict may be compared. Unverified answers of a mixed run are only known
    /// to lie within bounds; in serving some operations have no expected answer.
    pub(crate) fn is_right(self, verdict: Verdict) -> bool {
        match self {
            Self::Serving => matches!(verdict, Verdict::Exact | Verdict::Unverified),
            Self::Mixed => matches!(verdict, Verdict::Exact | Verdict::Approximate),
        }
    }
}
