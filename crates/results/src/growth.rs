//! How figures grow with the number of documents, over runs of different scales.

use std::collections::BTreeMap;

use jsonathlon_measure::statistics::exponent;

use crate::id::{Id, State};
use crate::record::{Phase, Verdict};
use crate::summary::Summary;

/// One figure over several scales.
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    /// The configuration; of what the program itself does, its name and version.
    pub configuration: Id,
    /// What the figure is: `load`, `q1 hot`, ….
    pub figure: String,
    /// (documents, value), by documents. Seconds, but for figures whose name ends in `bytes`.
    pub points: Vec<(f64, f64)>,
    /// Exponent of the power law through the points; 1 is linear, 0 is constant.
    pub exponent: Option<f64>,
}

/// Every figure that at least two of `runs` have for different numbers of documents.
#[must_use]
pub fn growth(runs: &[Summary]) -> Vec<Growth> {
    let mut figures: BTreeMap<(Id, String), BTreeMap<u64, f64>> = BTreeMap::new();
    for run in runs {
        let documents = run.data.documents;
        let mut add = |configuration: Id, figure: &str, value: Option<f64>| {
            if let Some(value) = value {
                figures.entry((configuration, figure.to_owned())).or_default().insert(documents, value);
            }
        };
        let program = Id::new("jsonathlon", &run.program, "", "");
        add(program, "making documents ready", run.data.staging_s);
        // A system that holds fewer documents than it was offered has no figures for that many.
        for entry in run.results.iter().filter(|entry| entry.verdict != Verdict::Partial) {
            let configuration = entry.cell.id.clone();
            let state = entry.cell.state.filter(|state| *state != State::Drained);
            let state = state.map(|state| format!(", {}", state.word())).unwrap_or_default();
            match entry.cell.phase {
                Phase::Load => {
                    add(configuration.clone(), "load", entry.median_s);
                    let harness = entry.metrics.get("peak_harness_bytes").copied();
                    add(configuration, "harness bytes", harness);
                }
                Phase::Steady => {
                    let total = entry.metrics.get("total_bytes").copied();
                    add(configuration, &format!("size{state}, bytes"), total);
                }
                phase => {
                    let figure = format!("{} {}{state}", entry.cell.step, phase.word());
                    add(configuration, &figure, entry.median_s);
                }
            }
        }
    }
    figures
        .into_iter()
        .filter(|(_, points)| points.len() > 1)
        .map(|((configuration, figure), points)| {
            let points: Vec<(f64, f64)> =
                points.into_iter().map(|(documents, value)| (documents as f64, value)).collect();
            let exponent = exponent(&points);
            Growth { configuration, figure, points, exponent }
        })
        .collect()
}
