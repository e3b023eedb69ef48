//! Metrics of the writers of one phase.

use jsonathlon_loadgen::mixed::report::{BatchLog, MixedReport, WriterLog};
use jsonathlon_schema::metric;
use jsonathlon_schema::record::{Metrics, TrialSecond};
use jsonathlon_stats::batch_schedule::{BatchSchedule, backlog, kept_share};
use jsonathlon_stats::histogram::Histogram;
use jsonathlon_stats::window::Window;

use super::question_metrics::{blank_seconds, second_of};

/// Writers of one phase.
#[derive(Clone, Copy)]
pub(super) struct PhaseWriters<'r> {
    pub(super) report: &'r MixedReport,
    pub(super) window: Window,
    /// Due times of the batches. `None` at full speed.
    pub(super) schedule: Option<BatchSchedule>,
    /// Number of documents that each writer has.
    pub(super) documents_of: &'r [u64],
    pub(super) batch: u64,
    /// Number of documents that were loaded.
    pub(super) base: u64,
}

impl PhaseWriters<'_> {
    fn batches(&self) -> impl Iterator<Item = &BatchLog> {
        self.report.writers.iter().flat_map(|writer| &writer.batches)
    }

    /// Documents acknowledged from `from_ns` on, and before `to_ns`.
    fn acknowledged(&self, from_ns: u64, to_ns: u64) -> u64 {
        let is_within = |batch: &&BatchLog| {
            batch.acknowledged_ns.is_some_and(|acknowledged| (from_ns..to_ns).contains(&acknowledged))
        };
        self.batches().filter(is_within).map(|batch| u64::from(batch.count)).sum()
    }

    /// Time from which the response of a batch counts: when it was due, or sent at full speed.
    fn begin_ns(batch: &BatchLog) -> u64 {
        batch.due_ns.unwrap_or(batch.sent_ns)
    }

    /// Response times of the batches that were due in the window. Those that were not acknowledged, or not even
    /// sent, count with the time until the end of the window, which is less than they took.
    pub(super) fn responses(&self) -> Histogram {
        let mut responses = Histogram::new();
        for batch in self.batches().filter(|batch| self.window.contains(Self::begin_ns(batch))) {
            let end_ns = batch.acknowledged_ns.unwrap_or(self.window.to_ns);
            responses.record_ns(end_ns.saturating_sub(Self::begin_ns(batch)));
        }
        if let Some(schedule) = self.schedule {
            for ((number, log), documents) in (0..).zip(&self.report.writers).zip(self.documents_of) {
                for due_ns in self.unsent(schedule, number, log, *documents) {
                    responses.record_ns(self.window.to_ns - due_ns);
                }
            }
        }
        responses
    }

    /// Due times within the window of the batches that a writer did not send.
    fn unsent(
        &self,
        schedule: BatchSchedule,
        number: u64,
        log: &WriterLog,
        documents: u64,
    ) -> impl Iterator<Item = u64> {
        // Parts of a batch that was found torn count once.
        let sent = log.batches.last().map_or(0, |batch| batch.end().div_ceil(self.batch));
        let window = self.window;
        (sent..documents.div_ceil(self.batch))
            .map(move |index| schedule.due_ns(number, index))
            .take_while(move |due_ns| *due_ns < window.to_ns)
            .filter(move |due_ns| window.contains(*due_ns))
    }

    /// Share of the due documents that were acknowledged in the window. `None` at full speed, or if none was due.
    pub(super) fn kept_share(&self) -> Option<f64> {
        let Window { from_ns, to_ns } = self.window;
        let due = |ns| self.schedule.map(|schedule| schedule.due_documents(self.documents_of, ns));
        kept_share(self.acknowledged(from_ns, to_ns), due(to_ns)?.saturating_sub(due(from_ns)?))
    }

    /// Metrics of all writers together.
    pub(super) fn metrics(&self) -> Metrics {
        let Window { from_ns, to_ns } = self.window;
        let seconds = self.window.seconds();
        let rate = if seconds > 0.0 { self.acknowledged(from_ns, to_ns) as f64 / seconds } else { 0.0 };
        let retries: u64 = self.batches().map(|batch| u64::from(batch.retries)).sum();
        let recovered = self.batches().filter(|batch| batch.was_recovered).count();
        let inserted = self.acknowledged(0, u64::MAX);
        let mut metrics = Metrics::from([
            metric::DOCUMENTS_PER_S.with_value(rate),
            metric::MEASURED_S.with_value(seconds),
            metric::RETRIES.with_value(retries as f64),
            metric::UNKNOWN_WRITES.with_value(recovered as f64),
            metric::DOCUMENTS.with_value(inserted as f64),
            metric::GROWN_SHARE.with_value(inserted as f64 / self.base.max(1) as f64),
        ]);
        if let Some(schedule) = self.schedule {
            let due = schedule.due_documents(self.documents_of, to_ns);
            let backlog = backlog(due, self.acknowledged(0, to_ns));
            metrics.insert(metric::BACKLOG_DOCUMENTS.name.to_owned(), backlog as f64);
        }
        metrics.extend(self.kept_share().map(|share| metric::KEPT_SHARE.with_value(share)));
        let responses = self.responses();
        if responses.count() > 0 {
            metrics.extend([
                metric::INSERT_RESPONSE_P50_US.with_value(responses.quantile_us(0.5)),
                metric::INSERT_RESPONSE_P95_US.with_value(responses.quantile_us(0.95)),
                metric::INSERT_RESPONSE_MAX_US.with_value(responses.quantile_us(1.0)),
            ]);
        }
        metrics
    }

    /// Documents that were acknowledged in each second of the phase, with the longest response of a batch.
    pub(super) fn per_second(&self) -> Vec<TrialSecond> {
        let mut seconds = blank_seconds(self.window);
        for batch in self.batches() {
            let Some(acknowledged_ns) = batch.acknowledged_ns else { continue };
            if let Some(second) = second_of(&mut seconds, acknowledged_ns) {
                let response_us = acknowledged_ns.saturating_sub(Self::begin_ns(batch)) as f64 / 1e3;
                second.operations += u64::from(batch.count);
                second.longest_us = second.longest_us.max(response_us);
            }
        }
        seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn batch(number: u64, acknowledged_ns: Option<u64>) -> BatchLog {
        BatchLog {
            first: number * 100,
            count: 100,
            due_ns: Some(number * SECOND),
            sent_ns: number * SECOND,
            acknowledged_ns,
            retries: 1,
            was_recovered: false,
        }
    }

    #[test]
    fn a_writer_that_fell_behind_is_charged_for_what_it_did_not_send() {
        // One batch of 100 documents is due each second; the third takes three seconds, the others wait.
        let acknowledged = [SECOND / 2, 3 * SECOND / 2, 5 * SECOND];
        let batches = (0..).zip(acknowledged).map(|(number, ns)| batch(number, Some(ns))).collect();
        let writers = vec![WriterLog { batches, error: None }];
        let report = MixedReport { writers, ..MixedReport::default() };
        let phase = PhaseWriters {
            report: &report,
            window: Window { from_ns: SECOND, to_ns: 5 * SECOND + 1 },
            schedule: Some(BatchSchedule::new(1, 100, 100.0).unwrap()),
            documents_of: &[10_000],
            batch: 100,
            base: 1_000,
        };
        // Due in the window: seconds 1 to 5; acknowledged in it: two batches.
        assert_eq!(phase.kept_share(), Some(2.0 / 5.0));
        let responses = phase.responses();
        assert_eq!(responses.count(), 5);
        assert!((responses.quantile_us(1.0) / 1e6 - 3.0).abs() < 0.01);
        let metrics = phase.metrics();
        assert_eq!(metrics[metric::BACKLOG_DOCUMENTS.name], 300.0);
        assert_eq!((metrics[metric::RETRIES.name], metrics[metric::GROWN_SHARE.name]), (3.0, 0.3));
        let operations: Vec<u64> = phase.per_second().iter().map(|second| second.operations).collect();
        assert_eq!(operations, [100, 100, 0, 0, 0, 100]);
    }

    #[test]
    fn at_full_speed_nothing_is_due() {
        let batches = vec![BatchLog { due_ns: None, ..batch(0, Some(SECOND / 4)) }];
        let writers = vec![WriterLog { batches, error: None }];
        let report = MixedReport { writers, ..MixedReport::default() };
        let window = Window { from_ns: 0, to_ns: SECOND / 2 };
        let phase = PhaseWriters {
            report: &report,
            window,
            schedule: None,
            documents_of: &[100],
            batch: 100,
            base: 1,
        };
        let metrics = phase.metrics();
        assert_eq!(metrics[metric::DOCUMENTS_PER_S.name], 200.0);
        assert!(!metrics.contains_key(metric::KEPT_SHARE.name));
        assert!(!metrics.contains_key(metric::BACKLOG_DOCUMENTS.name));
        assert!((metrics[metric::INSERT_RESPONSE_P50_US.name] / 250_000.0 - 1.0).abs() < 0.01);
    }
}
