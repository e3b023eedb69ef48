//! All trials of a cell in one entry, and what failed.

use std::collections::BTreeMap;

use jsonathlon_measure::statistics::{Estimate, Group};
use serde::{Deserialize, Serialize};

use crate::figure::{self, Figure};
use crate::record::{Cell, Finding, Metrics, Verdict};

/// All trials of one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// What it is of.
    #[serde(flatten)]
    pub cell: Cell,
    /// Trials with a time, or with the figure that the cell is about.
    pub trials: u64,
    /// Median seconds; none unless every trial of the cell may have a time.
    pub median_s: Option<f64>,
    /// Lower limit of its 95 % interval over rounds.
    pub low_s: Option<f64>,
    /// Upper limit.
    pub high_s: Option<f64>,
    /// Mean seconds of all trials, where there is a median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_s: Option<f64>,
    /// Their standard deviation; none of a single trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sd_s: Option<f64>,
    /// The worst verdict among the trials.
    pub verdict: Verdict,
    /// What the median trial was bound by.
    pub bound_by: Option<String>,
    /// The trials' metrics, reduced as [`crate::figure`] says: medians, but maxima of errors and peaks.
    pub metrics: Metrics,
    /// 95 % intervals over rounds, lower and upper limit, of those metrics that have one; none with too few rounds.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub intervals: BTreeMap<String, [f64; 2]>,
    /// Figures whose trials fall into two groups, so that their median is of neither, with both.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub groups: BTreeMap<String, [Group; 2]>,
    /// What was found out that is no number: of each thing what the last trial said of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

impl Entry {
    /// One of `cell` with nothing in it, and an exact verdict.
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

    /// The figure that it is about: see [`figure::headline`].
    #[must_use]
    pub fn headline(&self) -> &'static Figure {
        figure::headline(&self.cell, |figure| self.value(figure).is_some())
    }

    /// What it has of a figure, times included.
    #[must_use]
    pub fn value(&self, figure: &Figure) -> Option<f64> {
        match *figure {
            figure::SECONDS => self.median_s,
            _ => self.metric(figure),
        }
    }

    /// The limits of that figure's 95 % interval over rounds, for people; none where they are so far apart that they say
    /// nothing but that there were too few rounds.
    #[must_use]
    pub fn limits(&self, figure: &Figure) -> Option<[f64; 2]> {
        self.limits_of(figure.name)
    }

    /// The same by the figure's name, whether it is registered or not.
    #[must_use]
    pub fn limits_of(&self, name: &str) -> Option<[f64; 2]> {
        let limits = match name == figure::SECONDS.name {
            true => self.low_s.zip(self.high_s),
            false => self.intervals.get(name).map(|[low, high]| (*low, *high)),
        };
        let (low, high) = limits?;
        // The median is of no matter here.
        let estimate = Estimate { median: low, low: Some(low), high: Some(high) }.if_meaningful();
        Some([estimate.low?, estimate.high?])
    }

    /// The two groups into which the trials of a figure fall, the lower one first; none where they are one.
    #[must_use]
    pub fn groups(&self, figure: &Figure) -> Option<[Group; 2]> {
        self.groups.get(figure.name).copied()
    }

    /// What was found out of something.
    #[must_use]
    pub fn finding(&self, of: &str) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.of == of)
    }

    /// What was found out otherwise in another entry, each in a few words. A system's own words do not count: they
    /// may name the run's folder.
    #[must_use]
    pub fn found_otherwise(&self, other: &Self) -> Vec<String> {
        let told = |found: Option<&Finding>| found.map_or_else(|| "nothing".to_owned(), Finding::told);
        let mine = self.findings.iter().map(|finding| finding.of.as_str());
        let theirs = other.findings.iter().map(|finding| finding.of.as_str());
        let further = theirs.filter(|of| self.finding(of).is_none());
        let each = mine.chain(further).map(|of| (of, told(self.finding(of)), told(other.finding(of))));
        each.filter(|(_, a, b)| a != b).map(|(of, a, b)| format!("{of}: {a} in A, {b} in B")).collect()
    }

    /// A metric of it.
    #[must_use]
    pub fn metric(&self, figure: &Figure) -> Option<f64> {
        self.metrics.get(figure.name).copied()
    }
}

/// A trial without a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FailureEntry {
    /// The key of its record.
    #[serde(default)]
    pub key: String,
    /// What it is of.
    #[serde(flatten)]
    pub cell: Cell,
    /// Round; 0 of a plan, which is read once for all of them.
    pub round: u32,
    /// Kind of failure.
    pub kind: String,
    /// The message, that of its cause included.
    pub error: String,
    /// The key of the record of another failure, which this one follows from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}
