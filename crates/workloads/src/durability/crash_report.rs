//! Turns the result of a crash into metrics and findings.

use jsonathlon_catalogue::{Durability, NO_LOSS};
use jsonathlon_loadgen::ack_log::RecoveryAudit;
use jsonathlon_results::{durability_evidence::BASIS, promise::PROMISE};
use jsonathlon_schema::{
    durability::CrashKind,
    finding_state::FindingState,
    metric::{
        ACKNOWLEDGED_WRITES, ALLOWED_LOSS_S, CRASHES, CRASHES_AS_PROMISED, CRASHES_WITHOUT_LOSS,
        DISK_STALL_S, IN_FLIGHT_WRITES, LOST_DOCUMENTS, LOST_WRITES, MACHINE_STALL_S, MEASURED_S, MetricDef,
        OLDEST_LOSS_S, TORN_DOCUMENTS, WRITES_ACKNOWLEDGED_AFTER_CRASH, WRITES_OUT_OF_ORDER,
    },
    record::{Failure, FailureKind, Finding, Metrics},
};
use jsonathlon_telemetry::stall::Stalls;

/// Maximum length of a stored error message in bytes.
const MAX_MESSAGE_BYTES: usize = 2_000;

/// Durability that a tier declares for one kind of crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DurabilityPromise<'a> {
    /// Declared loss in words, [`NO_LOSS`] if nothing may be lost.
    loss: &'a str,
    /// Maximum age in milliseconds of lost writes; `None` if the tier declares no window.
    window_ms: Option<u32>,
}

impl<'a> DurabilityPromise<'a> {
    pub(super) fn new(tier: &'a Durability, kind: CrashKind) -> Self {
        match kind {
            CrashKind::Process => Self { loss: &tier.process_crash, window_ms: tier.process_crash_ms },
            CrashKind::Power => Self { loss: &tier.power_loss, window_ms: tier.power_loss_ms },
        }
    }

    /// Returns `true` if the tier allows losses without a limit.
    fn is_unbounded(&self) -> bool {
        self.loss != NO_LOSS && self.window_ms.is_none()
    }

    /// State of a crash with this result, and whether the result is within what the tier declares.
    fn state(&self, audit: &RecoveryAudit) -> (FindingState, bool) {
        let is_intact = audit.torn == 0 && audit.lost_loaded_documents == 0;
        if audit.lost == 0 && is_intact {
            return (FindingState::NothingLost, true);
        }
        match (self.loss == NO_LOSS, self.window_ms) {
            (true, _) => (FindingState::PromiseBroken, false),
            (false, Some(window)) if is_intact => {
                let is_within = audit.oldest_loss_ms.is_none_or(|age| age <= f64::from(window));
                if is_within {
                    (FindingState::LostWithinWindow, true)
                } else {
                    (FindingState::LostBeyondWindow, false)
                }
            }
            // A window covers only the last moments, neither loaded nor torn documents.
            (false, Some(_)) => (FindingState::LostBeyondWindow, false),
            (false, None) => (FindingState::LostAsDeclared, true),
        }
    }
}

/// Builds metrics and findings of one crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CrashReport<'a> {
    /// Number of the crash within its cell, from 1.
    pub(super) crash_number: u32,
    pub(super) promise: DurabilityPromise<'a>,
    /// Digest of everything that determines the configuration's durability.
    pub(super) basis: &'a str,
}

impl CrashReport<'_> {
    /// Metrics and findings of a crash after which the documents could be read.
    pub(super) fn recovered(&self, audit: &RecoveryAudit) -> (Metrics, Vec<Finding>) {
        let (state, is_as_promised) = self.promise.state(audit);
        let counts = [
            (CRASHES, 1),
            (CRASHES_WITHOUT_LOSS, u64::from(state == FindingState::NothingLost)),
            (CRASHES_AS_PROMISED, u64::from(is_as_promised)),
            (ACKNOWLEDGED_WRITES, audit.acknowledged),
            (IN_FLIGHT_WRITES, audit.in_flight),
            (LOST_WRITES, audit.lost),
            (LOST_DOCUMENTS, audit.lost_loaded_documents),
            (TORN_DOCUMENTS, audit.torn),
            (WRITES_OUT_OF_ORDER, audit.out_of_order),
            (WRITES_ACKNOWLEDGED_AFTER_CRASH, audit.acknowledged_after_crash),
        ];
        let mut metrics = metrics(&counts.map(|(metric, count)| (metric, count as f64)));
        metrics.insert(MEASURED_S.name.to_owned(), audit.work_s);
        metrics.extend(self.allowed_loss());
        if let Some(age) = audit.oldest_loss_ms {
            metrics.insert(OLDEST_LOSS_S.name.to_owned(), age / 1e3);
        }
        let kinds = [
            ("loaded documents", audit.lost_loaded_documents),
            ("torn", audit.torn),
            ("out of order", audit.out_of_order),
            ("acknowledged after the cut", audit.acknowledged_after_crash),
        ];
        let kinds =
            kinds.iter().filter(|(_, count)| *count > 0).map(|(kind, _)| (*kind).to_owned()).collect();
        (metrics, self.findings(Finding { kinds, observed: Some(evidence(audit)), ..self.finding(state) }))
    }

    /// Metrics and findings of a crash after which the system is unusable; this is a finding, not a failure
    /// of the run.
    pub(super) fn unrecoverable(&self, stage: UnrecoverableAt, failure: &Failure) -> (Metrics, Vec<Finding>) {
        let state = match stage {
            UnrecoverableAt::Opening { in_time: true } => FindingState::DoesNotStart,
            UnrecoverableAt::Opening { in_time: false } => FindingState::HangsInRecovery,
            UnrecoverableAt::Reading => FindingState::UnreadableAfterCrash,
        };
        // A tier without a limit promises nothing.
        let is_as_promised = self.promise.is_unbounded();
        let mut metrics = metrics(&[
            (CRASHES, 1.0),
            (CRASHES_WITHOUT_LOSS, 0.0),
            (CRASHES_AS_PROMISED, f64::from(u8::from(is_as_promised))),
        ]);
        metrics.extend(self.allowed_loss());
        // In a long log, the end says more than the beginning.
        let text = &failure.error;
        let start = text.ceil_char_boundary(text.len().saturating_sub(MAX_MESSAGE_BYTES));
        let message = text.get(start..).unwrap_or_default().to_owned();
        let kinds = vec![failure.kind.word().to_owned()];
        (metrics, self.findings(Finding { kinds, message: Some(message), ..self.finding(state) }))
    }

    /// Metric of the maximum age of lost writes that the tier allows; `None` if the tier declares no window.
    fn allowed_loss(&self) -> Option<(String, f64)> {
        let window = self.promise.window_ms?;
        Some((ALLOWED_LOSS_S.name.to_owned(), f64::from(window) / 1e3))
    }

    fn finding(&self, state: FindingState) -> Finding {
        Finding::new(&format!("crash {}", self.crash_number), state)
    }

    /// Findings: the crash itself, the declared durability, and the digest of its basis.
    fn findings(&self, crash_finding: Finding) -> Vec<Finding> {
        vec![crash_finding, Finding::new(PROMISE, self.promise.loss), Finding::new(BASIS, self.basis)]
    }
}

/// Metrics of the longest stalls of machine and disk while clients were working.
pub(super) fn stall_metrics(stalls: Stalls) -> Metrics {
    let disk = stalls.disk.map(|disk| (DISK_STALL_S, disk));
    let stalls = disk.into_iter().chain([(MACHINE_STALL_S, stalls.machine)]);
    stalls.map(|(metric, duration)| (metric.name.to_owned(), duration.as_secs_f64())).collect()
}

fn metrics(values: &[(MetricDef, f64)]) -> Metrics {
    values.iter().map(|(metric, value)| (metric.name.to_owned(), *value)).collect()
}

/// Evidence of the result in a few sentences.
fn evidence(audit: &RecoveryAudit) -> String {
    let age = match audit.oldest_loss_ms {
        None => None,
        Some(0.0) => Some(", all acknowledged during the crash".to_owned()),
        Some(age) => Some(format!(", the oldest acknowledged {age:.1} ms before the crash")),
    };
    let counts = format!(
        "{} writes acknowledged in {:.2} s, {} lost{}; {} documents read",
        audit.acknowledged,
        audit.work_s,
        audit.lost,
        age.unwrap_or_default(),
        audit.records_read
    );
    std::iter::once(counts).chain(audit.examples.iter().cloned()).collect::<Vec<_>>().join("; ")
}

/// Stage at which a crashed system turned out to be unusable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnrecoverableAt {
    /// When the system was started again.
    Opening {
        /// Whether the start failed by itself, before the timeout.
        in_time: bool,
    },
    /// When the documents were read.
    Reading,
}

/// Returns `true` if the failure is caused by the crashed system, not by the machine or this program.
pub(super) fn is_system_failure(failure: &Failure) -> bool {
    matches!(
        failure.kind,
        FailureKind::Crash | FailureKind::Timeout | FailureKind::Refused | FailureKind::Environment
    )
}

#[cfg(test)]
mod tests {
    use jsonathlon_schema::durability::DurabilityTier;

    use super::*;

    fn tier(loss: &str, window_ms: Option<u32>) -> Durability {
        Durability {
            tier: DurabilityTier::Window,
            process_crash: loss.to_owned(),
            power_loss: NO_LOSS.to_owned(),
            process_crash_ms: window_ms,
            power_loss_ms: None,
            ranked: true,
        }
    }

    fn state(loss: &str, window_ms: Option<u32>, audit: &RecoveryAudit) -> (String, f64) {
        let tier = tier(loss, window_ms);
        let promise = DurabilityPromise::new(&tier, CrashKind::Process);
        let (metrics, findings) =
            CrashReport { crash_number: 7, promise, basis: "blake3:1" }.recovered(audit);
        let subjects: Vec<(&str, &str)> =
            findings.iter().map(|finding| (finding.subject.as_str(), finding.state.as_str())).collect();
        assert_eq!(subjects[0].0, "crash 7");
        assert_eq!(&subjects[1..], &[("promise", loss), ("basis", "blake3:1")][..]);
        (findings[0].describe(), metrics[CRASHES_AS_PROMISED.name])
    }

    fn lost(age: f64) -> RecoveryAudit {
        RecoveryAudit { acknowledged: 9, lost: 2, oldest_loss_ms: Some(age), ..RecoveryAudit::default() }
    }

    #[test]
    fn a_crash_is_held_against_what_the_tier_promises() {
        let intact = RecoveryAudit { acknowledged: 9, ..RecoveryAudit::default() };
        for (loss, window_ms) in [(NO_LOSS, None), ("up to 100 ms", Some(100)), ("anything", None)] {
            assert_eq!(state(loss, window_ms, &intact), ("nothing lost".to_owned(), 1.0));
        }
        assert_eq!(state(NO_LOSS, None, &lost(1.0)), ("promise broken".to_owned(), 0.0));
        assert_eq!(
            state("up to 100 ms", Some(100), &lost(100.0)),
            ("lost within its window".to_owned(), 1.0)
        );
        assert_eq!(
            state("up to 100 ms", Some(100), &lost(100.1)),
            ("lost beyond its window".to_owned(), 0.0)
        );
        assert_eq!(state("anything", None, &lost(1e6)), ("lost, as the tier declares".to_owned(), 1.0));
    }

    #[test]
    fn no_window_covers_what_is_torn_or_was_there_before() {
        let torn = RecoveryAudit { torn: 1, ..RecoveryAudit::default() };
        assert_eq!(state(NO_LOSS, None, &torn), ("promise broken: torn".to_owned(), 0.0));
        assert_eq!(state("up to 1 s", Some(1_000), &torn), ("lost beyond its window: torn".to_owned(), 0.0));
        let loaded = RecoveryAudit { lost_loaded_documents: 3, ..RecoveryAudit::default() };
        assert_eq!(
            state("up to 1 s", Some(1_000), &loaded),
            ("lost beyond its window: loaded documents".to_owned(), 0.0)
        );
    }

    #[test]
    fn what_was_acknowledged_after_the_cut_is_told_beside_what_was_kept() {
        let late = RecoveryAudit { acknowledged_after_crash: 4, ..RecoveryAudit::default() };
        assert_eq!(state(NO_LOSS, None, &late), ("nothing lost: acknowledged after the cut".to_owned(), 1.0));
    }

    #[test]
    fn the_last_words_of_a_system_are_kept() {
        let failure = Failure::new(FailureKind::Environment, format!("{}the end", "é".repeat(3_000)));
        let tier = tier(NO_LOSS, None);
        let promise = DurabilityPromise::new(&tier, CrashKind::Power);
        let report = CrashReport { crash_number: 2, promise, basis: "blake3:1" };
        let (metrics, findings) = report.unrecoverable(UnrecoverableAt::Opening { in_time: true }, &failure);
        assert_eq!(findings[0].describe(), "does not start: environment");
        assert!(
            findings[0]
                .message
                .as_ref()
                .is_some_and(|message| message.ends_with("the end") && message.len() <= MAX_MESSAGE_BYTES)
        );
        assert_eq!((metrics[CRASHES.name], metrics[CRASHES_WITHOUT_LOSS.name]), (1.0, 0.0));
        let (_, findings) = report.unrecoverable(UnrecoverableAt::Opening { in_time: false }, &failure);
        assert_eq!(findings[0].state, FindingState::HangsInRecovery);
    }
}
