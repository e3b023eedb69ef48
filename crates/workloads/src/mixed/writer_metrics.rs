//! Metrics of the writers of one phase.

use jsonathlon_loadgen::mixed::report::{BatchLog, MixedReport, WindowEnd, WriterLog};
use jsonathlon_schema::metric;
use jsonathlon_schema::record::{Finding, Metrics, TOO_SHORT, TrialSecond};
use jsonathlon_schema::settings::mixed::MixedSettings;
use jsonathlon_stats::batch_schedule::{BatchSchedule, kept_share};
use jsonathlon_stats::histogram::Histogram;
use jsonathlon_stats::window::Window;

use super::documents::larger_growth;
use super::question_metrics::{blank_seconds, second_of};

/// Seconds that writers alone must be measured for to be compared.
const MIN_ALONE_S: f64 = 1.0;
/// Batches of all writers together that must be sent in that time.
const MIN_ALONE_BATCHES: usize = 5;

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

    /// Documents that were acknowledged, in the window or not.
    fn inserted(&self) -> u64 {
        let acknowledged = self.batches().filter(|batch| batch.acknowledged_ns.is_some());
        acknowledged.map(|batch| u64::from(batch.count)).sum()
    }

    /// Documents per second. A batch at an edge of the window counts by the share of its time within it, which lasts
    /// until the next batch of all writers is due: otherwise one that is due at the very end would raise the rate.
    fn documents_per_s(&self) -> f64 {
        let turn_ns = self.schedule.map_or(0, |schedule| schedule.turn_ns());
        let timed = |batch: &BatchLog| {
            let turn_end_ns = batch.due_ns.map_or(0, |due_ns| due_ns + turn_ns);
            let end_ns = batch.acknowledged_ns?.max(turn_end_ns);
            Some((batch.sent_ns, end_ns, f64::from(batch.count)))
        };
        self.window.per_hour(self.batches().filter_map(timed)) / 3_600.0
    }

    /// Documents that were due from `from_ns` on, and how many of them were there in time. `None` at full speed.
    ///
    /// A batch that is due within its writer's last period before the end has less time than all others, so it does
    /// not count. The one in flight at the end counts by the share of its time that has passed. The end is that of
    /// the schedule if that is earlier: what was inserted later was too late.
    fn punctuality(&self, from_ns: u64) -> Option<(u64, f64)> {
        let schedule = self.schedule?;
        let last_due = |(writer, documents): (u64, &u64)| {
            let last = schedule.batches_of(*documents).checked_sub(1)?;
            Some(schedule.due_ns(writer, last))
        };
        let last_due_ns = (0..).zip(self.documents_of).filter_map(last_due).max()?;
        let end_ns = self.window.to_ns.min(last_due_ns + schedule.period_ns());
        let due_end_ns = (end_ns + 1).saturating_sub(schedule.period_ns());
        let due = |ns| schedule.due_documents(self.documents_of, ns);
        let is_meant =
            |batch: &&BatchLog| batch.due_ns.is_some_and(|due_ns| (from_ns..due_end_ns).contains(&due_ns));
        let in_time = |batch: &BatchLog| {
            let acknowledged_ns = batch.acknowledged_ns?;
            Some(f64::from(batch.count) * passed_share(batch.sent_ns, acknowledged_ns, end_ns))
        };
        let kept = self.batches().filter(is_meant).filter_map(in_time).sum();
        Some((due(due_end_ns).saturating_sub(due(from_ns)), kept))
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
            // Those with less than a period until the end have not shown how long they would have waited.
            .take_while(move |due_ns| due_ns + schedule.period_ns() <= window.to_ns)
            .filter(move |due_ns| window.contains(*due_ns))
    }

    /// Share of the documents due in the window that were there in time. `None` at full speed, or if none was due.
    pub(super) fn kept_share(&self) -> Option<f64> {
        let (due, kept) = self.punctuality(self.window.from_ns)?;
        kept_share(kept, due)
    }

    /// Finding that writers at full speed were measured for too short a time, with what to do. `None` if it was
    /// long enough.
    pub(super) fn shortness(&self, settings: &MixedSettings) -> Option<Finding> {
        let seconds = self.window.seconds();
        let batches = self.batches().filter(|batch| self.window.contains(batch.sent_ns)).count();
        if seconds >= MIN_ALONE_S && batches >= MIN_ALONE_BATCHES {
            return None;
        }
        // With a single batch a writer, nothing but the whole phase tells how fast they are.
        let known_s = if seconds > 0.0 { seconds } else { self.report.end_ns as f64 / 1e9 };
        let (missing_s, missing) =
            (MIN_ALONE_S / known_s.max(1e-3), MIN_ALONE_BATCHES as f64 / batches.max(1) as f64);
        // Half as much again, because the first batches are left out and rounds differ.
        let times = 1.5 * missing_s.max(missing);
        let remedy = match self.report.ended_by {
            // Writers alone have more documents than those that come in beside questions.
            WindowEnd::WritersEnded => larger_growth(settings, times * settings.alone_times()),
            _ => format!("--measure {}s", (settings.measure_s * times).ceil()),
        };
        let message = format!(
            "writers alone sent {batches} batches in {seconds:.2} s, too little to be compared: give {remedy}"
        );
        Some(Finding { message: Some(message), ..Finding::new(TOO_SHORT, format!("{seconds:.2} s")) })
    }

    /// Metrics of all writers together.
    pub(super) fn metrics(&self) -> Metrics {
        let retries: u64 = self.batches().map(|batch| u64::from(batch.retries)).sum();
        let recovered = self.batches().filter(|batch| batch.was_recovered).count();
        let inserted = self.inserted();
        let mut metrics = Metrics::from([
            metric::MEASURED_S.with_value(self.window.seconds()),
            metric::RETRIES.with_value(retries as f64),
            metric::UNKNOWN_WRITES.with_value(recovered as f64),
            metric::DOCUMENTS.with_value(inserted as f64),
            metric::GROWN_SHARE.with_value(inserted as f64 / self.base.max(1) as f64),
        ]);
        if self.window.seconds() > 0.0 {
            metrics.extend([metric::DOCUMENTS_PER_S.with_value(self.documents_per_s())]);
        }
        if let Some((due, kept)) = self.punctuality(0) {
            let backlog = (due as f64 - kept).max(0.0).round();
            metrics.insert(metric::BACKLOG_DOCUMENTS.name.to_owned(), backlog);
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

/// Time in which all writers without streams were at full speed: from when each has inserted its first batch, which
/// finds everything cold, until the first one has no documents left. If that was before, as on a system that lets one
/// writer wait for all batches of another, it begins with the phase.
pub(super) fn alone_window(report: &MixedReport, documents_of: &[u64]) -> Window {
    let warm_ns = report.writers.iter().filter_map(|log| log.batches.first()?.acknowledged_ns).max();
    let are_used_up = report.ended_by == WindowEnd::WritersEnded;
    let ran_out_ns = report.writers.iter().zip(documents_of).filter_map(|(log, documents)| {
        let last = log.batches.last().filter(|last| are_used_up || last.end() >= *documents)?;
        last.acknowledged_ns
    });
    let to_ns = ran_out_ns.min().unwrap_or(u64::MAX).min(report.end_ns);
    Window { from_ns: warm_ns.filter(|warm_ns| *warm_ns < to_ns).unwrap_or(0), to_ns }
}

/// Share of a batch's time that has passed at `ns`, from 0 to 1.
fn passed_share(sent_ns: u64, acknowledged_ns: u64, ns: u64) -> f64 {
    if acknowledged_ns <= ns {
        return 1.0;
    }
    Window { from_ns: 0, to_ns: ns }.share(sent_ns, acknowledged_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn batch(number: u64, acknowledged_ns: Option<u64>) -> BatchLog {
        BatchLog {
            first: number * 100,
            count: 100,
            sent_count: 100,
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
        // Due in the window and a second before its end: seconds 1 to 4; acknowledged: two batches.
        assert_eq!(phase.kept_share(), Some(2.0 / 4.0));
        let responses = phase.responses();
        assert_eq!(responses.count(), 4);
        assert!((responses.quantile_us(1.0) / 1e6 - 3.0).abs() < 0.01);
        let metrics = phase.metrics();
        assert_eq!(metrics[metric::BACKLOG_DOCUMENTS.name], 200.0);
        assert_eq!((metrics[metric::RETRIES.name], metrics[metric::GROWN_SHARE.name]), (3.0, 0.3));
        let operations: Vec<u64> = phase.per_second().iter().map(|second| second.operations).collect();
        assert_eq!(operations, [100, 100, 0, 0, 0, 100]);
    }

    /// Writers that send each batch when it is due, or when the previous one is acknowledged, and wait `service_ns`.
    fn at_rate(schedule: BatchSchedule, documents_of: &[u64], service_ns: u64, end_ns: u64) -> MixedReport {
        let writers = (0..).zip(documents_of).map(|(writer, documents)| {
            let (mut batches, mut free_ns, mut first) = (Vec::new(), 0, 0);
            for index in 0..schedule.batches_of(*documents) {
                let due_ns = schedule.due_ns(writer, index);
                let sent_ns = free_ns.max(due_ns);
                if sent_ns >= end_ns {
                    break;
                }
                free_ns = sent_ns + service_ns;
                let count = u32::try_from(schedule.batch_documents(*documents, index)).unwrap();
                let times = BatchLog {
                    due_ns: Some(due_ns),
                    sent_ns,
                    acknowledged_ns: Some(free_ns),
                    ..batch(0, None)
                };
                batches.push(BatchLog { first, count, ..times });
                first += u64::from(count);
            }
            WriterLog { batches, error: None }
        });
        MixedReport { writers: writers.collect(), end_ns, ..MixedReport::default() }
    }

    fn kept_at(rate: f64, documents: u64, measure_s: f64, service_periods: f64) -> (f64, f64) {
        for_writers(2, rate, documents, measure_s, service_periods)
    }

    /// Share that was kept, and documents per second ÷ rate, if a batch takes this many periods of its writer.
    fn for_writers(
        writers: u64,
        rate: f64,
        documents: u64,
        measure_s: f64,
        service_periods: f64,
    ) -> (f64, f64) {
        let schedule = BatchSchedule::new(writers, 1_000, rate).unwrap();
        let documents_of = vec![documents / writers; writers as usize];
        let service_ns = (service_periods * schedule.period_ns() as f64) as u64;
        // Looks are not exactly at the end of the time.
        let end_ns = (measure_s * 1e9) as u64 + 1_500_000;
        let report = at_rate(schedule, &documents_of, service_ns, end_ns);
        let last_ns =
            report.writers.iter().filter_map(|log| log.batches.last()?.acknowledged_ns).max().unwrap();
        let from_ns = (measure_s * 1e8).min(1e9) as u64;
        let phase = PhaseWriters {
            report: &report,
            window: Window { from_ns, to_ns: if documents <= 24_000 { last_ns.min(end_ns) } else { end_ns } },
            schedule: Some(schedule),
            documents_of: &documents_of,
            batch: 1_000,
            base: 5 * documents,
        };
        (phase.kept_share().unwrap(), phase.metrics()[metric::DOCUMENTS_PER_S.name] / rate)
    }

    #[test]
    fn a_system_that_answers_at_once_keeps_every_rate() {
        for (writers, rate) in [(2, 2_000.0), (4, 500.0), (1, 1_000.0), (3, 7_000.0)] {
            for (documents, measure_s) in [(24_000, 20.0), (240_000, 10.0), (240_000, 5.0), (240_000, 20.0)] {
                if measure_s < 1.5 * 1e3 * writers as f64 / rate {
                    continue;
                }
                let (kept, reached) = for_writers(writers, rate, documents, measure_s, 0.002);
                assert!(
                    (reached - 1.0).abs() < 0.001,
                    "{reached} of {rate} by {writers} writers in {measure_s} s"
                );
                assert_eq!(kept, 1.0, "{writers} writers at {rate}, {documents} documents in {measure_s} s");
            }
        }
    }

    #[test]
    fn a_system_that_takes_longer_than_a_period_does_not_keep_the_rate() {
        for service_periods in [1.1, 1.25, 2.0, 4.0] {
            let (kept, reached) = kept_at(2_000.0, 200_000, 20.0, service_periods);
            assert!((kept - 1.0 / service_periods).abs() < 0.06, "{kept} at {service_periods}");
            assert!((reached - 1.0 / service_periods).abs() < 0.02, "{reached} at {service_periods}");
        }
        assert_eq!(kept_at(2_000.0, 200_000, 20.0, 0.98).0, 1.0);
    }

    #[test]
    fn writers_alone_are_measured_while_all_are_at_work() {
        let tenth = SECOND / 10;
        // One writer sends a batch each tenth of a second, the other one has only four, after a slow first one.
        let log = |numbers: std::ops::Range<u64>, late_ns: u64| WriterLog {
            batches: numbers
                .map(|number| BatchLog {
                    due_ns: None,
                    sent_ns: number * tenth + if number == 0 { 0 } else { late_ns },
                    acknowledged_ns: Some((number + 1) * tenth + late_ns),
                    ..batch(number, None)
                })
                .collect(),
            error: None,
        };
        let writers = vec![log(0..30, 0), log(0..4, tenth)];
        let mut report = MixedReport { writers, end_ns: 3 * SECOND, ..MixedReport::default() };
        let window = alone_window(&report, &[10_000, 400]);
        assert_eq!(window, Window { from_ns: 2 * tenth, to_ns: 5 * tenth });
        assert_eq!(alone_window(&report, &[10_000, 10_000]).to_ns, 3 * SECOND);
        // One has no documents left before the other one has inserted any.
        let writers = vec![log(0..1, 0), log(0..4, 5 * tenth)];
        let in_turn = MixedReport { writers, end_ns: 3 * SECOND, ..MixedReport::default() };
        assert_eq!(alone_window(&in_turn, &[100, 400]), Window { from_ns: 0, to_ns: tenth });
        report.ended_by = WindowEnd::WritersEnded;
        assert_eq!(alone_window(&report, &[10_000, 10_000]).to_ns, 5 * tenth);
        let shortness = |window| {
            let documents_of: &[u64] = &[10_000, 400];
            let phase = PhaseWriters {
                report: &report,
                window,
                schedule: None,
                documents_of,
                batch: 100,
                base: 1_000,
            };
            (phase.documents_per_s().round(), phase.shortness(&MixedSettings::default()))
        };
        let (rate, finding) = shortness(window);
        let finding = finding.unwrap();
        assert_eq!(rate, 2_000.0, "while both are at work");
        assert_eq!(finding.subject, TOO_SHORT);
        assert!(finding.message.as_ref().unwrap().contains("6 batches in 0.30 s"), "{finding:?}");
        assert!(finding.message.as_ref().unwrap().contains("give --growth 100%"), "{finding:?}");
        assert_eq!(shortness(Window { from_ns: tenth, to_ns: 2 * SECOND }).1, None);
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
