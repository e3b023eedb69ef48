//! Supervision of a job's threads: reports progress, decides when the measurement window begins, and reads
//! CPU, disk and scheduler counters over the window.

use std::time::Duration;

use jsonathlon_driver_api::driver::EngineLocation;
use jsonathlon_telemetry::activity::DiskWrites;
use jsonathlon_telemetry::scheduling::Scheduling as Threads;
use jsonathlon_worker::protocol::{OpUsage, Progress};
use jsonathlon_worker::{JobTarget, UsageMeter};

use crate::job_context::JobContext;
use crate::reactor::{NEVER, monotonic_ns};
use crate::recorder::SECOND_NS;
use crate::report::Scheduling;
use crate::reports::ReportTeam;
use crate::sampler::SystemSampler;
use crate::steady_state::{MAX_EXTENSION_S, SteadyStateDetector};

/// Interval between two progress messages, in nanoseconds.
const PROGRESS_NS: u64 = 250_000_000;
/// Time from deciding the start of the measurement window until that start, so that every thread knows it in
/// time.
const NOTICE_NS: u64 = 5_000_000;

/// CPU, disk and scheduler counters of the measurement window. Dropped if they cover less than 95 % of it.
#[derive(Debug, Default)]
pub(crate) struct SideMeasurements {
    pub(crate) usage: OpUsage,
    pub(crate) disk_written_bytes: Option<u64>,
    pub(crate) scheduling: Option<Scheduling>,
    pub(crate) steady: Option<bool>,
    pub(crate) sampler: SystemSampler,
    /// Nanoseconds from the start of the window until the counters were first read.
    pub(crate) late_ns: u64,
}

impl SideMeasurements {
    /// Largest share of the window that the counters may miss.
    const MISSED: f64 = 0.05;

    /// Drops the counters if they miss more than [`Self::MISSED`] of the window: each operation would seem to
    /// have cost less than it did.
    pub(crate) fn drop_if_incomplete(mut self, measured_ns: u64) -> Self {
        if self.late_ns as f64 > Self::MISSED * measured_ns as f64 {
            self.usage = OpUsage::default();
            self.disk_written_bytes = None;
            self.scheduling = None;
        }
        self
    }
}

/// Parameters that decide when the measurement window begins and how long it lasts.
#[derive(Debug)]
pub(crate) struct WarmUp {
    pub(crate) min_ns: u64,
    pub(crate) measured_ns: u64,
    /// Whether the warm-up ends by the test for steady throughput.
    pub(crate) awaits_steadiness: bool,
}

/// Counters at the beginning of the measurement window.
struct StartCounters {
    meter: UsageMeter,
    threads: Option<Threads>,
    writes: Option<DiskWrites>,
}

fn threads(location: EngineLocation) -> Option<Threads> {
    let process = match location {
        EngineLocation::InProcess => std::process::id(),
        EngineLocation::Process(process) => process,
        EngineLocation::Remote => return None,
    };
    Threads::of_tree(process).ok()
}

impl StartCounters {
    /// Reads the counters of the system under test; CPU usage is read last.
    fn read(shared: &JobContext<'_>, target: &JobTarget<'_>) -> Self {
        let threads = threads(target.location);
        let writes = shared.job.sampling_targets.folder.as_deref().and_then(DiskWrites::begin);
        let meter = UsageMeter::start(&*target.host.clock, target.location);
        Self { meter, threads, writes }
    }

    /// Reads the counters again and stores the differences in `side`.
    fn finish(self, target: &JobTarget<'_>, side: &mut SideMeasurements) {
        let Self { meter, threads: before, writes } = self;
        side.usage = meter.stop(&*target.host.clock).1;
        side.disk_written_bytes = writes.and_then(|writes| writes.bytes());
        let after = threads(target.location);
        side.scheduling = before.zip(after).map(|(before, after)| {
            let difference = after.since(&before);
            Scheduling {
                context_switches: difference.switches,
                migrations: difference.migrations.unwrap_or_default(),
            }
        });
    }
}

/// Second-by-second test for steady throughput during the warm-up.
struct WarmUpTest {
    detector: SteadyStateDetector,
    /// End of the current second, in nanoseconds since the job began.
    next_second: u64,
    /// Number of operations that had ended at the last test.
    counted: u64,
}

impl WarmUpTest {
    /// Tests the second that has just ended. Returns whether throughput is steady if the warm-up is over, and
    /// `None` while it has to go on.
    fn end_second(&mut self, shared: &JobContext<'_>, warm_up: &WarmUp, now: u64) -> Option<bool> {
        let total: u64 = shared.operation_counts.iter().map(|tally| tally.get()).sum();
        let is_steady = self.detector.add((total - self.counted) as f64);
        self.counted = total;
        self.next_second += SECOND_NS;
        let is_late = now >= warm_up.min_ns + (MAX_EXTENSION_S * 1e9) as u64;
        (now >= warm_up.min_ns && (is_steady || is_late)).then_some(is_steady)
    }
}

/// Ends the measurement window beside reports: once its planned time is over and each stream has finished a set of
/// questions in it, or at the end of its longest time. Does nothing for clients alone.
fn end_with_reports(shared: &JobContext<'_>, warm_up: &WarmUp, now: u64) {
    let Some(reports) = &shared.reports else { return };
    let (window_start, window_end) = (shared.window.start_ns(), shared.window.end_ns());
    if window_start == NEVER {
        return;
    }
    reports.set_window_start(window_start);
    let is_planned_over = now >= window_start.saturating_add(warm_up.measured_ns);
    // A window that ends very soon is left as it is, because threads may have read its end already.
    let is_open = now + NOTICE_NS < window_end;
    if is_planned_over && is_open && reports.has_whole_sets() {
        shared.window.set_bounds(window_start, now + NOTICE_NS);
    }
    if now >= shared.window.end_ns() || shared.window.has_ended() || shared.shutdown_barrier.all_finished() {
        reports.end();
    }
}

/// Supervises the threads of a job that began at `job_start` (monotonic nanoseconds) until all of them have
/// ended.
pub(crate) fn supervise(
    shared: &JobContext<'_>,
    target: &JobTarget<'_>,
    warm_up: &WarmUp,
    job_start: u64,
    are_finished: impl Fn() -> bool,
    report_progress: &mut dyn FnMut(Progress),
) -> SideMeasurements {
    let mut side = SideMeasurements::default();
    let mut start_counters: Option<StartCounters> = None;
    let mut has_counters = false;
    let mut next_report = PROGRESS_NS;
    let mut test =
        WarmUpTest { detector: SteadyStateDetector::default(), next_second: SECOND_NS, counted: 0 };
    while !are_finished() {
        let now = monotonic_ns().saturating_sub(job_start);
        if warm_up.awaits_steadiness
            && shared.window.start_ns() == NEVER
            && now >= test.next_second
            && let Some(is_steady) = test.end_second(shared, warm_up, now)
        {
            side.steady = Some(is_steady);
            let window_start = now + NOTICE_NS;
            let longest_ns = shared.reports.as_ref().map_or(0, ReportTeam::longest_window_ns);
            let window_end = window_start + warm_up.measured_ns.max(longest_ns);
            shared.window.set_bounds(window_start, window_end);
        }
        end_with_reports(shared, warm_up, now);
        let (window_start, window_end) = (shared.window.start_ns(), shared.window.end_ns());
        if now >= window_start && start_counters.is_none() && !has_counters {
            start_counters = Some(StartCounters::read(shared, target));
            side.late_ns = monotonic_ns().saturating_sub(job_start).saturating_sub(window_start);
            has_counters = true;
        }
        if now >= window_end || shared.shutdown_barrier.all_finished() {
            if let Some(counters) = start_counters.take() {
                counters.finish(target, &mut side);
            }
            shared.shutdown_barrier.release();
        }
        if now >= next_report {
            next_report = now + PROGRESS_NS;
            let done = shared.operation_counts.iter().map(|tally| tally.get()).sum();
            report_progress(Progress { done, total: None, unit: "operations".to_owned() });
        }
        let mut wake_time = next_report.min(now + 20_000_000);
        let planned_end = window_start.saturating_add(warm_up.measured_ns);
        for time in [window_start, planned_end, window_end, test.next_second] {
            if time > now {
                wake_time = wake_time.min(time);
            }
        }
        std::thread::sleep(Duration::from_nanos(wake_time.saturating_sub(now)));
    }
    if let Some(counters) = start_counters {
        counters.finish(target, &mut side);
    }
    side
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_for_a_part_only_is_not_told() {
        let counters_after = |late_ns| {
            let usage = OpUsage { cpu_s: Some(1.0), ..OpUsage::default() };
            let measurements = SideMeasurements {
                usage,
                disk_written_bytes: Some(7),
                late_ns,
                ..SideMeasurements::default()
            };
            let kept = measurements.drop_if_incomplete(1_000_000);
            (kept.usage.cpu_s, kept.disk_written_bytes)
        };
        assert_eq!(counters_after(0), (Some(1.0), Some(7)));
        assert_eq!(counters_after(50_000), (Some(1.0), Some(7)));
        assert_eq!(counters_after(50_001), (None, None));
    }
}
