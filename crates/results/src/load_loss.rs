//! What a load loses to reports that are asked beside it: the same load of the same configuration with and without
//! them, paired by round.

use jsonathlon_schema::metric::{self, MetricDef};
use jsonathlon_schema::record::{Cell, Phase, STREAMS, Verdict};
use jsonathlon_stats::statistics::{Estimate, paired_ratio_at};
use serde::{Deserialize, Serialize};

use crate::cell_summary::CellSummary;
use crate::ratio_to_best::{Significance, TrialsByRound};
use crate::run::Run;

/// Metrics of a closed loop that are compared.
const CLOSED_LOOP: [MetricDef; 3] =
    [metric::THROUGHPUT_OPS_PER_S, metric::SERVICE_P50_US, metric::SERVICE_P99_US];
/// Metrics of an open loop that are compared.
const OPEN_LOOP: [MetricDef; 3] =
    [metric::THROUGHPUT_OPS_PER_S, metric::RESPONSE_P50_US, metric::RESPONSE_P99_US];

/// A metric of a load beside reports, compared with the same load without them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadLoss {
    /// Cell of the load beside reports. The cell without them is equal but for the parameter `streams`.
    #[serde(flatten)]
    pub cell: Cell,
    /// Name of the metric that is compared.
    pub metric: String,
    /// Median beside reports ÷ median without, both over the rounds that they share.
    pub ratio: f64,
    /// Lower limit of the ratio's 95 % interval. `None` with fewer than two shared rounds.
    pub low: Option<f64>,
    /// Upper limit of the ratio's 95 % interval. `None` with fewer than two shared rounds.
    pub high: Option<f64>,
    /// Difference that the interval shows; `slower` is a loss.
    pub difference: Significance,
}

impl LoadLoss {
    /// 95 % interval of the ratio for readers. `None` if it only shows that there were too few rounds.
    #[must_use]
    pub fn limits(&self) -> Option<[f64; 2]> {
        let estimate = Estimate { median: self.ratio, low: self.low, high: self.high }.if_meaningful_ratio();
        Some([estimate.low?, estimate.high?])
    }
}

/// Returns `true` if the cell is a load beside reports.
#[must_use]
pub fn is_beside_reports(cell: &Cell) -> bool {
    cell.phase == Phase::Measured && cell.parameters.contains_key(STREAMS)
}

/// Cell of the same load without reports.
#[must_use]
pub fn without_reports(cell: &Cell) -> Cell {
    let mut alone = cell.clone();
    alone.parameters.remove(STREAMS);
    alone
}

/// Compares every load beside reports with the same load without them. Loads that were not verified, were too short,
/// had fewer reports beside them than planned, or of which one is missing, are left out.
pub(crate) fn load_losses(run: &Run, entries: &[CellSummary], alpha: f64) -> Vec<LoadLoss> {
    let rounds = TrialsByRound::new(run);
    let is_whole = |entry: &&CellSummary| {
        matches!(entry.verdict, Verdict::Exact | Verdict::Approximate)
            && entry.unranked_findings().next().is_none()
    };
    let mut losses = Vec::new();
    for beside in entries.iter().filter(|entry| is_beside_reports(&entry.cell)).filter(is_whole) {
        let alone_cell = without_reports(&beside.cell);
        let Some(alone) = entries.iter().filter(is_whole).find(|entry| entry.cell == alone_cell) else {
            continue;
        };
        let metrics = if beside.cell.is_open_loop() { OPEN_LOOP } else { CLOSED_LOOP };
        losses.extend(metrics.iter().filter_map(|metric| loss(beside, alone, metric, &rounds, alpha)));
    }
    losses
}

fn loss(
    beside: &CellSummary,
    alone: &CellSummary,
    metric: &MetricDef,
    rounds: &TrialsByRound<'_>,
    alpha: f64,
) -> Option<LoadLoss> {
    let (values, others) = (rounds.values(beside, metric), rounds.values(alone, metric));
    let (a, b): (Vec<_>, Vec<_>) =
        values.iter().filter_map(|(round, a)| Some((a.clone(), others.get(round)?.clone()))).unzip();
    let ratio = paired_ratio_at(&a, &b, alpha)?;
    Some(LoadLoss {
        cell: beside.cell.clone(),
        metric: metric.name.to_owned(),
        ratio: ratio.median,
        low: ratio.low,
        high: ratio.high,
        difference: Significance::from_ratio(&ratio, metric.better),
    })
}

#[cfg(test)]
mod tests {
    use jsonathlon_schema::record::{CLIENTS, FEWER_REPORTS, Finding, TOO_SHORT};
    use jsonathlon_schema::workload::WorkloadKind;

    use super::*;
    use crate::test_fixtures::{cell, configuration, record, run, trial};

    /// Metrics that are compared of a load that has `finding` in one of its rounds beside reports.
    fn compared(finding: Option<&str>) -> Vec<String> {
        let configuration = configuration("sqlite", "1.0");
        let mut alone =
            Cell { workload: WorkloadKind::Serving.into(), ..cell(&configuration, "a", Phase::Measured) };
        alone.parameters.insert(CLIENTS.to_owned(), 8.into());
        let mut beside = alone.clone();
        beside.parameters.insert(STREAMS.to_owned(), 1.into());
        let trial_of = |cell: &Cell, round: u32, per_s: f64| {
            let mut trial = trial(cell.clone(), round, None);
            trial.metrics.extend([metric::THROUGHPUT_OPS_PER_S.with_value(per_s)]);
            trial
        };
        let mut last = trial_of(&beside, 2, 510.0);
        last.findings.extend(finding.map(|subject| Finding::new(subject, "1.00 s")));
        let trials =
            [trial_of(&alone, 1, 990.0), trial_of(&alone, 2, 1_010.0), trial_of(&beside, 1, 490.0), last];
        let records = trials.map(record).into();
        let losses = run("one", vec![configuration], records).summary().load_losses;
        assert!(losses.iter().all(|loss| (loss.ratio - 0.5).abs() < 0.01), "{losses:?}");
        losses.into_iter().map(|loss| loss.metric).collect()
    }

    #[test]
    fn a_load_that_was_too_short_or_had_fewer_reports_loses_nothing_comparable() {
        assert_eq!(compared(None), [metric::THROUGHPUT_OPS_PER_S.name]);
        assert!(compared(Some(FEWER_REPORTS)).is_empty());
        assert!(compared(Some(TOO_SHORT)).is_empty());
        assert_eq!(compared(Some("another")), [metric::THROUGHPUT_OPS_PER_S.name]);
    }
}
