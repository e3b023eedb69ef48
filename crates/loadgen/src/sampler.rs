//! Samples once per second, while clients are working, whether the system writes a checkpoint and how many
//! requests its disk queues. The samples have a thread and a connection of their own, so that no measured
//! operation waits for them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use jsonathlon_driver_api::{Cell, DriverError, NonblockingConnection, PreparedStatement, Result, RowSink};
use jsonathlon_telemetry::activity::{Counters, device_of};

use crate::job::SamplingTargets;
use crate::job_context::ConnectionFactory;
use crate::reactor::monotonic_ns;
use crate::recorder::SECOND_NS;
use crate::report::TrialSecond;

/// Interval between two checks whether an answer has arrived.
const PAUSE: Duration = Duration::from_millis(2);
/// Longest wait for an answer after the clients have ended, so that a stuck server does not delay the end.
const PATIENCE: Duration = Duration::from_millis(500);
/// Column with the number of checkpoints that have begun so far.
const STARTED_COLUMN: &str = "checkpoints";
/// Column that is 1 while a checkpoint is being written, otherwise 0.
const RUNNING_COLUMN: &str = "running";

/// One sample of checkpoints and disk counters.
#[derive(Debug, Clone, Copy)]
struct SystemSample {
    at_ns: u64,
    checkpoints: Option<Checkpoints>,
    counters: Counters,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Checkpoints {
    started: i64,
    is_running: bool,
}

/// Takes samples from the start of the job to its end, about one per second, and keeps them.
#[derive(Debug, Default)]
pub(crate) struct SystemSampler {
    samples: Vec<SystemSample>,
}

impl SystemSampler {
    /// Takes a sample at the start of each second, counted from `job_start`, until `is_over` is set, and one
    /// last sample then. The thread that sets `is_over` must unpark this one.
    pub(crate) fn sample_until_end(
        targets: &SamplingTargets,
        open: &ConnectionFactory<'_>,
        job_start: u64,
        is_over: &AtomicBool,
    ) -> Self {
        let mut probe =
            targets.checkpoints.as_deref().and_then(|text| CheckpointProbe::new(open, text, is_over).ok());
        let device = targets.folder.as_deref().and_then(device_of);
        let mut samples = Vec::new();
        for second in 0_u64.. {
            let due = job_start + second * SECOND_NS;
            while monotonic_ns() < due && !is_over.load(Ordering::SeqCst) {
                std::thread::park_timeout(Duration::from_nanos(due.saturating_sub(monotonic_ns())));
            }
            let is_last = is_over.load(Ordering::SeqCst);
            let checkpoints = match probe.as_mut().map(|probe| probe.query(is_over)) {
                Some(Ok(checkpoints)) => checkpoints,
                // After a failure the system is not queried again; its later checkpoints are unknown.
                Some(Err(_)) => {
                    probe = None;
                    None
                }
                None => None,
            };
            let counters = Counters::now(device);
            let at_ns = monotonic_ns().saturating_sub(job_start);
            samples.push(SystemSample { at_ns, checkpoints, counters });
            if is_last {
                break;
            }
        }
        if let Some(probe) = probe {
            probe.connection.close();
        }
        Self { samples }
    }

    /// Adds to each second the samples from its beginning and its end.
    pub(crate) fn add_to(&self, seconds: &mut [TrialSecond]) {
        for (second, pair) in seconds.iter_mut().zip(self.samples.windows(2)) {
            let [before, after] = pair else { continue };
            second.checkpoint = before.checkpoints.zip(after.checkpoints).map(|(before, after)| {
                before.is_running || after.is_running || before.started != after.started
            });
            let elapsed_s = after.at_ns.saturating_sub(before.at_ns) as f64 / 1e9;
            let activity = after.counters.since(&before.counters, elapsed_s).disk;
            second.disk_queue = activity.map(|activity| activity.queue).filter(|queue| queue.is_finite());
        }
    }
}

/// Connection with the prepared statement that queries the checkpoints.
struct CheckpointProbe {
    connection: Box<dyn NonblockingConnection>,
    prepared: PreparedStatement,
}

impl CheckpointProbe {
    fn new(open: &ConnectionFactory<'_>, text: &str, is_over: &AtomicBool) -> Result<Self> {
        let mut connection = open()?;
        let prepared = connection.prepare(text)?;
        let mut probe = Self { connection, prepared };
        // The first answer may take longer than the others, so it is requested before measuring begins.
        probe.query(is_over)?;
        Ok(probe)
    }

    /// Queries the checkpoints. `None` if the answer has no row with the number of checkpoints.
    fn query(&mut self, is_over: &AtomicBool) -> Result<Option<Checkpoints>> {
        let mut row = CheckpointRow::default();
        self.connection.send(&self.prepared, &[])?;
        let is_polled = self.connection.descriptor().is_some();
        let mut over_since: Option<Instant> = None;
        while self.connection.receive(!is_polled, &mut row)?.is_none() {
            if is_over.load(Ordering::SeqCst)
                && over_since.get_or_insert_with(Instant::now).elapsed() >= PATIENCE
            {
                return Err(DriverError::Exhausted("no answer when the clients had ended".to_owned()));
            }
            std::thread::sleep(PAUSE);
        }
        Ok(row.checkpoints())
    }
}

/// Keeps the two columns of the last row.
#[derive(Default)]
struct CheckpointRow {
    names: Vec<String>,
    started: Option<i64>,
    running: Option<i64>,
}

impl CheckpointRow {
    fn checkpoints(&self) -> Option<Checkpoints> {
        let is_running = self.running.is_some_and(|running| running > 0);
        self.started.map(|started| Checkpoints { started, is_running })
    }
}

impl RowSink for CheckpointRow {
    fn columns(&mut self, names: &[&str]) -> Result<()> {
        self.names = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        Ok(())
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        for (name, cell) in self.names.iter().zip(cells) {
            let number = match cell {
                Cell::Int(number) => Some(*number),
                Cell::Text(text) => text.trim().parse().ok(),
                _ => None,
            };
            match name.as_str() {
                STARTED_COLUMN => self.started = number,
                RUNNING_COLUMN => self.running = number,
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at_ms: u64, started: Option<i64>, is_running: bool) -> SystemSample {
        let checkpoints = started.map(|started| Checkpoints { started, is_running });
        SystemSample { at_ns: at_ms * 1_000_000, checkpoints, counters: Counters::default() }
    }

    #[test]
    fn a_second_has_a_checkpoint_from_its_beginning_to_its_end() {
        let samples = vec![
            sample(0, Some(3), false),
            sample(1000, Some(3), false),
            sample(2000, Some(4), true),
            sample(3000, Some(4), true),
            sample(4000, Some(4), false),
            sample(5000, Some(4), false),
            sample(5500, Some(5), false),
            // From here on the checkpoints are unknown.
            sample(6500, None, false),
        ];
        let mut seconds = vec![TrialSecond::default(); 9];
        SystemSampler { samples }.add_to(&mut seconds);
        let checkpoints: Vec<Option<bool>> = seconds.iter().map(|second| second.checkpoint).collect();
        assert_eq!(checkpoints[..6], [false, true, true, true, false, true].map(Some));
        assert_eq!(checkpoints[6..], [None; 3]);
        assert!(seconds.iter().all(|second| second.disk_queue.is_none()), "a disk that nobody counts");
    }
}
