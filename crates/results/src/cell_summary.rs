//! Summary of a cell's trials, and of failed trials.

use std::collections::BTreeMap;

use jsonathlon_schema::metric::{self, MetricDef};
use jsonathlon_schema::record::{
    Bottleneck, Cell, FailureKind, Finding, JUDGED_AT_REST, Metrics, UNRANKED_FINDINGS, Verdict,
};
use jsonathlon_stats::statistics::{Estimate, Group};
use serde::{Deserialize, Serialize};

/// Summary of all trials of one cell: median with interval, worst verdict, metrics and findings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellSummary {
    /// Cell that the trials belong to.
    #[serde(flatten)]
    pub cell: Cell,
    /// Number of trials with a time; in a measurement window, with the headline metric.
    pub trials: u64,
    /// Median time in seconds. `None` unless every trial of the cell may have a time.
    pub median_s: Option<f64>,
    /// Lower limit of its 95 % interval over rounds. `None` with fewer than two rounds.
    pub low_s: Option<f64>,
    /// Upper limit of its 95 % interval. `None` with fewer than two rounds.
    pub high_s: Option<f64>,
    /// Mean time of all trials in seconds. `None` if there is no median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_s: Option<f64>,
    /// Standard deviation of the times in seconds. `None` for a single trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sd_s: Option<f64>,
    /// Worst verdict among the trials.
    pub verdict: Verdict,
    /// Most frequent bottleneck among the timed trials. `None` if none was classified.
    pub bound_by: Option<Bottleneck>,
    /// Metrics of the trials, reduced as registered in [`jsonathlon_schema::metric`]: mostly medians, but
    /// maxima of errors and peaks.
    pub metrics: Metrics,
    /// 95 % intervals over rounds, as lower and upper limit, of the metrics that have one. Empty with too few
    /// rounds.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub intervals: BTreeMap<String, [f64; 2]>,
    /// Metrics whose trials fall into two groups, so that their median describes neither, with both groups.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub groups: BTreeMap<String, [Group; 2]>,
    /// Observations that are not numbers. For each subject, the last trial's finding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

impl CellSummary {
    /// Makes an entry of `cell` without values, with the verdict [`Verdict::Exact`].
    #[must_use]
    pub fn blank(cell: Cell) -> Self {
        Self {
            cell,
            trials: 0,
            median_s: None,
            low_s: None,
            high_s: None,
            mean_s: None,
            sd_s: None,
            verdict: Verdict::Exact,
            bound_by: None,
            metrics: Metrics::new(),
            intervals: BTreeMap::new(),
            groups: BTreeMap::new(),
            findings: Vec::new(),
        }
    }

    /// Headline metric of the cell, see [`metric::headline`].
    #[must_use]
    pub fn headline(&self) -> &'static MetricDef {
        metric::headline(&self.cell, |metric| self.value(metric).is_some())
    }

    /// Value of a metric, including the median time. `None` if the cell does not have it.
    #[must_use]
    pub fn value(&self, metric: &MetricDef) -> Option<f64> {
        match *metric {
            metric::SECONDS => self.median_s,
            _ => self.metric(metric),
        }
    }

    /// 95 % interval over rounds of a metric, for readers. `None` if the cell has none, or if it is so wide
    /// that it only shows that there were too few rounds.
    #[must_use]
    pub fn limits(&self, metric: &MetricDef) -> Option<[f64; 2]> {
        self.limits_of(metric.name)
    }

    /// 95 % interval of a metric by its name, whether registered or not; see [`CellSummary::limits`].
    #[must_use]
    pub fn limits_of(&self, name: &str) -> Option<[f64; 2]> {
        let limits = match name == metric::SECONDS.name {
            true => self.low_s.zip(self.high_s),
            false => self.intervals.get(name).map(|[low, high]| (*low, *high)),
        };
        let (low, high) = limits?;
        // The check depends only on the limits, so any median will do.
        let estimate = Estimate { median: low, low: Some(low), high: Some(high) }.if_meaningful();
        Some([estimate.low?, estimate.high?])
    }

    /// Two groups into which the trials of a metric fall, the lower one first. `None` if they are one group.
    #[must_use]
    pub fn groups(&self, metric: &MetricDef) -> Option<[Group; 2]> {
        self.groups.get(metric.name).copied()
    }

    /// Finding about a subject. `None` if there is none.
    #[must_use]
    pub fn finding(&self, subject: &str) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.subject == subject)
    }

    /// Words for each finding that keeps the cell out of its ranking although it has results, such as `too short`.
    pub fn unranked_findings(&self) -> impl Iterator<Item = &'static str> {
        UNRANKED_FINDINGS.into_iter().filter(|subject| self.finding(subject).is_some())
    }

    /// Word of the verdict, with what it is of and why the cell has no rank although it has results:
    /// `exact at rest, too short`.
    #[must_use]
    pub fn verdict_with_remarks(&self) -> String {
        let of_rest = if self.finding(JUDGED_AT_REST).is_some() { " at rest" } else { "" };
        let remarks: String = self.unranked_findings().map(|words| format!(", {words}")).collect();
        format!("{}{of_rest}{remarks}", self.verdict.word())
    }

    /// Differences between the findings of two entries, each in a few words. Messages of systems are not
    /// compared, because they may contain the path of the run folder.
    #[must_use]
    pub fn differing_findings(&self, other: &Self) -> Vec<String> {
        let describe =
            |finding: Option<&Finding>| finding.map_or_else(|| "nothing".to_owned(), Finding::describe);
        let subjects_a = self.findings.iter().map(|finding| finding.subject.as_str());
        let subjects_b = other.findings.iter().map(|finding| finding.subject.as_str());
        let only_in_b = subjects_b.filter(|subject| self.finding(subject).is_none());
        subjects_a
            .chain(only_in_b)
            .map(|subject| (subject, describe(self.finding(subject)), describe(other.finding(subject))))
            .filter(|(_, a, b)| a != b)
            .map(|(subject, a, b)| format!("{subject}: {a} in A, {b} in B"))
            .collect()
    }

    /// Metric of the cell by its definition. `None` if the cell does not have it.
    #[must_use]
    pub fn metric(&self, metric: &MetricDef) -> Option<f64> {
        self.metrics.get(metric.name).copied()
    }
}

/// Failed trial, or a plan that breaks the configuration's promise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FailureSummary {
    /// Key of the failed trial's or plan's record.
    pub key: String,
    /// Cell that the failure belongs to.
    #[serde(flatten)]
    pub cell: Cell,
    /// Round of the trial. 0 for a plan, which is read once for all rounds.
    pub round: u32,
    /// Kind of failure, for filters and tables.
    pub kind: FailureKind,
    /// Message of the failure, including that of its cause.
    pub error: String,
    /// Key of the record of the failure that caused this one. `None` if it has its own cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause_key: Option<String>,
}

#[cfg(test)]
mod tests {
    use jsonathlon_schema::record::{FAULTY_LOAD, Phase, TOO_SHORT};

    use super::*;
    use crate::test_fixtures::{cell, configuration};

    #[test]
    fn a_verdict_says_what_it_is_of_and_why_its_cell_has_no_rank() {
        let mut entry = CellSummary::blank(cell(&configuration("sqlite", "1.0"), "revenue", Phase::Both));
        assert_eq!(entry.verdict_with_remarks(), "exact");
        entry.findings = vec![
            Finding::new(FAULTY_LOAD, "partial"),
            Finding::new("another", "accepted"),
            Finding::new(TOO_SHORT, "no whole set"),
        ];
        assert_eq!(entry.verdict_with_remarks(), "exact, too short, faulty load");
        entry.findings = vec![Finding::new(JUDGED_AT_REST, "exact")];
        assert_eq!(entry.verdict_with_remarks(), "exact at rest");
    }
}
