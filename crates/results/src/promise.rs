//! Broken durability promises: systems that lost more, or older writes, than their tier allows.

use jsonathlon_schema::durability::{CrashKind, DurabilityTier};
use jsonathlon_schema::id::ConfigurationId;
use jsonathlon_schema::metric::{
    ACKNOWLEDGED_WRITES, ALLOWED_LOSS_S, CRASHES, CRASHES_AS_PROMISED, DISK_STALL_S, LOST_DOCUMENTS,
    LOST_WRITES, MACHINE_STALL_S, MetricDef, OLDEST_LOSS_S, TORN_DOCUMENTS,
};
use jsonathlon_schema::record::DURABILITY;
use serde::{Deserialize, Serialize};

use crate::cell_summary::CellSummary;

/// Subject of the finding whose state says what the tier may lose.
pub const PROMISE: &str = "promise";

/// Share of the tier's loss window above which a stall is considered a possible cause.
const NOTABLE_SHARE: f64 = 0.5;

/// Stall in seconds that is considered a possible cause if the tier has no loss window.
const NOTABLE_S: f64 = 0.1;

/// Crash tests of one kind for a configuration and tier, of which some lost more than promised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BrokenPromise {
    /// Configuration that was tested.
    #[serde(flatten)]
    pub id: ConfigurationId,
    /// Durability tier in which it was tested.
    pub tier: DurabilityTier,
    /// Kind of crash that was tested.
    pub kind: CrashKind,
    /// What the tier may lose, in the words of the system's folder. `None` if no finding says it.
    pub may_lose: Option<String>,
    /// Loss window of the tier in seconds. `None` if it states none.
    pub allowed_loss_s: Option<f64>,
    /// Number of crashes that were made.
    pub crashes: u64,
    /// Crashes after which everything that the tier promises was present.
    pub crashes_as_promised: u64,
    /// Writes acknowledged before the crashes.
    pub acknowledged_writes: u64,
    /// Lost writes among these, and lost documents that were loaded before clients began.
    pub lost_writes: u64,
    /// Documents of which only a part was written.
    pub torn_documents: u64,
    /// Age in seconds, at the crash, of the oldest acknowledged write that was lost. `None` if no write was
    /// lost.
    pub oldest_loss_s: Option<f64>,
    /// Longest stall of the disk in seconds while clients worked. `None` if the kernel does not count that
    /// disk.
    pub disk_stall_s: Option<f64>,
    /// Longest stall of the machine in seconds. `None` if the kernel does not report it.
    pub machine_stall_s: Option<f64>,
}

/// State of disk and machine when a promise was broken. A loss window assumes that both do their work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conditions {
    /// Stalls were not recorded.
    NotRecorded,
    /// The disk or the machine stalled long enough to be a possible cause.
    Busy {
        /// Whether the disk stalled.
        disk: bool,
        /// Whether the machine stalled.
        machine: bool,
    },
    /// No relevant stall was recorded.
    Quiet,
}

impl BrokenPromise {
    /// Finds the broken promise of an entry. `None` if it has no crash tests, or all were as promised.
    #[must_use]
    pub fn from_entry(entry: &CellSummary) -> Option<Self> {
        let count = |metric: &MetricDef| entry.metric(metric).unwrap_or_default() as u64;
        let (crashes, crashes_as_promised) = (count(&CRASHES), count(&CRASHES_AS_PROMISED));
        let tier = DurabilityTier::from_word(entry.cell.parameters.get(DURABILITY)?.as_str()?)?;
        let kind = CrashKind::from_word(entry.cell.step.word())?;
        (crashes_as_promised < crashes).then(|| Self {
            id: entry.cell.id.clone(),
            tier,
            kind,
            may_lose: entry.finding(PROMISE).map(|finding| finding.state.to_string()),
            allowed_loss_s: entry.metric(&ALLOWED_LOSS_S),
            crashes,
            crashes_as_promised,
            acknowledged_writes: count(&ACKNOWLEDGED_WRITES),
            lost_writes: count(&LOST_WRITES) + count(&LOST_DOCUMENTS),
            torn_documents: count(&TORN_DOCUMENTS),
            oldest_loss_s: entry.metric(&OLDEST_LOSS_S),
            disk_stall_s: entry.metric(&DISK_STALL_S),
            machine_stall_s: entry.metric(&MACHINE_STALL_S),
        })
    }

    /// Decides from the recorded stalls whether the disk or the machine may have caused the loss.
    #[must_use]
    pub fn conditions(&self) -> Conditions {
        let threshold = self.allowed_loss_s.map_or(NOTABLE_S, |allowed| allowed * NOTABLE_SHARE);
        let is_long = |stall: Option<f64>| stall.is_some_and(|seconds| seconds >= threshold);
        match (is_long(self.disk_stall_s), is_long(self.machine_stall_s)) {
            (false, false) if self.disk_stall_s.is_none() && self.machine_stall_s.is_none() => {
                Conditions::NotRecorded
            }
            (false, false) => Conditions::Quiet,
            (disk, machine) => Conditions::Busy { disk, machine },
        }
    }
}

#[cfg(test)]
mod tests {
    use jsonathlon_schema::id::Step;
    use jsonathlon_schema::record::{Cell, Finding, Phase};

    use super::*;

    fn entry(metrics: &[(MetricDef, f64)]) -> CellSummary {
        let mut entry = CellSummary::blank(Cell {
            workload: "durability".into(),
            id: ConfigurationId::new("mongodb", "6.0.5", "id", "default"),
            profile: None,
            step: Step::from("power"),
            phase: Phase::Steady,
            state: None,
            parameters: [(DURABILITY.to_owned(), "window".into())].into(),
        });
        entry.metrics = metrics.iter().map(|(metric, value)| (metric.name.to_owned(), *value)).collect();
        entry.findings = vec![Finding::new(PROMISE, "up to 100 ms")];
        entry
    }

    fn lost(extra: &[(MetricDef, f64)]) -> BrokenPromise {
        let metrics = [
            (CRASHES, 3.0),
            (CRASHES_AS_PROMISED, 1.0),
            (ACKNOWLEDGED_WRITES, 14_718.0),
            (LOST_WRITES, 11_872.0),
            (OLDEST_LOSS_S, 1.15),
            (ALLOWED_LOSS_S, 0.1),
        ];
        BrokenPromise::from_entry(&entry(&[&metrics[..], extra].concat())).unwrap()
    }

    #[test]
    fn what_is_lost_within_the_promise_breaks_none() {
        let intact = entry(&[(CRASHES, 3.0), (CRASHES_AS_PROMISED, 3.0), (LOST_WRITES, 9.0)]);
        assert_eq!(BrokenPromise::from_entry(&intact), None);
        assert_eq!(BrokenPromise::from_entry(&entry(&[])), None);
    }

    #[test]
    fn what_is_lost_beyond_it_does_and_loaded_documents_count_among_it() {
        let broken =
            entry(&[(CRASHES, 3.0), (CRASHES_AS_PROMISED, 1.0), (LOST_WRITES, 9.0), (LOST_DOCUMENTS, 2.0)]);
        let promise = BrokenPromise::from_entry(&broken).unwrap();
        assert_eq!((promise.tier, promise.kind), (DurabilityTier::Window, CrashKind::Power));
        assert_eq!(promise.lost_writes, 11);
    }

    #[test]
    fn a_standstill_counts_by_the_time_that_may_be_lost() {
        assert_eq!(lost(&[]).conditions(), Conditions::NotRecorded);
        assert_eq!(lost(&[(DISK_STALL_S, 0.04), (MACHINE_STALL_S, 0.01)]).conditions(), Conditions::Quiet);
        assert_eq!(
            lost(&[(DISK_STALL_S, 0.9), (MACHINE_STALL_S, 0.01)]).conditions(),
            Conditions::Busy { disk: true, machine: false }
        );
        let unknown_disk = lost(&[(MACHINE_STALL_S, 0.3)]);
        assert_eq!(unknown_disk.conditions(), Conditions::Busy { disk: false, machine: true });
    }
}
