//! Growth of metrics with the number of documents, over runs of different scales.

use std::collections::BTreeMap;

use jsonathlon_schema::id::{ConfigurationId, DataState};
use jsonathlon_schema::metric::{self, MetricDef, Unit};
use jsonathlon_schema::record::{Phase, Verdict};
use jsonathlon_stats::statistics::exponent;

use crate::summary::Summary;

/// Values of one metric at several numbers of documents.
#[derive(Debug, Clone, PartialEq)]
pub struct ScalingFit {
    /// Configuration that was measured. For the program's own work, its name and version.
    pub configuration: ConfigurationId,
    /// Name of the cell or metric: `load`, `q1 hot`, ….
    pub name: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Pairs of number of documents and value, by number of documents.
    pub points: Vec<(f64, f64)>,
    /// Exponent of the power law through the points: 1 is linear, 0 is constant. `None` if it cannot be
    /// computed.
    pub exponent: Option<f64>,
}

/// Collects every metric that at least two of `runs` measured at different numbers of documents.
#[must_use]
pub fn growth(runs: &[Summary]) -> Vec<ScalingFit> {
    let mut series: BTreeMap<(ConfigurationId, String), (Unit, BTreeMap<u64, f64>)> = BTreeMap::new();
    for run in runs {
        let documents = run.data.documents;
        let mut add = |configuration: ConfigurationId, name: &str, metric: &MetricDef, value: Option<f64>| {
            if let Some(value) = value {
                let points = series.entry((configuration, name.to_owned()));
                points.or_insert((metric.unit, BTreeMap::new())).1.insert(documents, value);
            }
        };
        let program = ConfigurationId::new("jsonathlon", &run.program, "", "");
        add(program, "making documents ready", &metric::SECONDS, Some(run.data.staging_s));
        // A system with a partial load has no results for the number of documents offered.
        for entry in run.results.iter().filter(|entry| entry.verdict != Verdict::Partial) {
            let configuration = entry.cell.id.clone();
            let state = entry.cell.state.filter(|state| *state != DataState::Drained);
            let state = state.map(|state| format!(", {}", state.word())).unwrap_or_default();
            match entry.cell.phase {
                Phase::Load => {
                    add(configuration.clone(), "load", &metric::SECONDS, entry.median_s);
                    let metric = &metric::PEAK_COORDINATOR_BYTES;
                    add(configuration, "coordinator bytes", metric, entry.metric(metric));
                }
                Phase::Steady => {
                    let metric = &metric::TOTAL_BYTES;
                    let total = entry.metric(metric);
                    add(configuration, &format!("size{state}, bytes"), metric, total);
                }
                _ => {
                    let metric = entry.headline();
                    add(configuration, &entry.cell.name(), metric, entry.value(metric));
                }
            }
        }
    }
    series
        .into_iter()
        .filter(|(_, (_, points))| points.len() > 1)
        .map(|((configuration, name), (unit, points))| {
            let points: Vec<(f64, f64)> =
                points.into_iter().map(|(documents, value)| (documents as f64, value)).collect();
            let exponent = exponent(&points);
            ScalingFit { configuration, name, unit, points, exponent }
        })
        .collect()
}
