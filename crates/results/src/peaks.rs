//! Highest throughput of each configuration over the numbers of clients, compared with the highest of its
//! ranking.

use std::collections::BTreeMap;

use jsonathlon_schema::metric;
use jsonathlon_schema::record::{CLIENTS, Phase};
use serde::{Deserialize, Serialize};

use crate::cell_summary::CellSummary;
use crate::leader::{Lead, lead};
use crate::ratio_to_best::{CellRatio, ComparisonTarget, RankedCell, TrialsByRound, dimensions, standings};
use crate::run::Run;

/// Throughput of a configuration at its best number of clients, compared with the highest of its ranking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PeakThroughput {
    /// Comparison of that cell with the best cell. The best cell is compared with itself.
    #[serde(flatten)]
    pub comparison: CellRatio,
    /// Number of clients of the best cell. `None` if the cell does not record it.
    pub other_clients: Option<u64>,
    /// Whether it is the best and shown to differ from all others of its ranking; see [`crate::leader`].
    pub leads: bool,
    /// Throughput in operations per second.
    pub throughput_ops_per_s: f64,
}

/// Finds the highest throughput of each ranked configuration over the numbers of clients, for each mix in
/// closed loops. The best number of clients is chosen from the same trials.
pub(crate) fn peaks(run: &Run, entries: &[CellSummary], alpha: f64) -> Vec<PeakThroughput> {
    let throughput = |standing: &RankedCell<'_>| standing.entry.value(&metric::THROUGHPUT_OPS_PER_S);
    let mut groups: BTreeMap<_, Vec<RankedCell<'_>>> = BTreeMap::new();
    for standing in standings(run, entries) {
        let cell = &standing.entry.cell;
        let is_closed = cell.phase == Phase::Measured && !cell.is_open_loop() && !cell.is_single_operation();
        if is_closed && standing.comparable && standing.can_be_best && throughput(&standing).is_some() {
            let mut without_clients = cell.clone();
            without_clients.parameters.remove(CLIENTS);
            let ranking = standing.configuration.ranking();
            let key = (cell.workload.as_str(), cell.step.word(), dimensions(&without_clients), ranking);
            groups.entry(key).or_default().push(standing);
        }
    }
    let rounds = TrialsByRound::new(run);
    let mut peaks = Vec::new();
    for standings in groups.values() {
        let highest = |is_included: &dyn Fn(&&RankedCell<'_>) -> bool| {
            let candidates = standings.iter().filter(|standing| is_included(standing));
            candidates.max_by(|a, b| throughput(a).unwrap_or(0.0).total_cmp(&throughput(b).unwrap_or(0.0)))
        };
        let Some(best) = highest(&|_| true) else { continue };
        let clients = best.entry.cell.parameters.get(CLIENTS).and_then(serde_json::Value::as_u64);
        let mut group_peaks: Vec<PeakThroughput> = Vec::new();
        for configuration in &run.manifest.configurations {
            let Some(peak) = highest(&|standing| standing.configuration == configuration) else {
                continue;
            };
            if let Some(comparison) = rounds.compare(peak, best, ComparisonTarget::Best, alpha)
                && let Some(throughput_ops_per_s) = throughput(peak)
            {
                group_peaks.push(PeakThroughput {
                    comparison,
                    other_clients: clients,
                    leads: false,
                    throughput_ops_per_s,
                });
            }
        }
        if let Some(Lead::Shown { first, .. }) = lead(group_peaks.iter().map(|peak| &peak.comparison)) {
            let leader = first.cell.key();
            group_peaks.iter_mut().for_each(|peak| peak.leads = peak.comparison.cell.key() == leader);
        }
        peaks.append(&mut group_peaks);
    }
    peaks
}
