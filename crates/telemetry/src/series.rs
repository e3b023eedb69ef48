//! 1 Hz telemetry of a run: activity of the machine and of the system under test, second by second. It shows
//! whether a result was measured in a quiet moment.

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::activity::{Activity, Counters, device_of};
use crate::memory::Memory;
use crate::process::Usage;

/// Time between two telemetry samples.
pub const INTERVAL: Duration = Duration::from_secs(1);

/// Minimum age of a timed trial before its memory is sampled.
const UNDISTURBED: Duration = Duration::from_secs(1);

/// One telemetry sample, written as one JSON line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Time of the sample in milliseconds since the Unix epoch. It covers the time since the previous sample.
    pub at_ms: i64,
    /// Time since the previous sample, seconds.
    pub seconds: f64,
    /// Activity of the whole machine.
    pub machine: Activity,
    /// The process tree of the system under test; `None` while no engine process is running.
    pub subject: Option<SubjectSample>,
}

/// Resource usage of the process tree of the system under test over one interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubjectSample {
    /// Short description of the current activity, as set by [`SubjectHandle::set_activity`].
    pub activity: String,
    /// Memory at the end of the interval; `None` while a timed trial is younger than one second.
    pub memory: Option<Memory>,
    /// Mean number of cores that the process tree kept busy; `None` in its first interval.
    pub busy_cores: Option<f64>,
    /// Bytes per second that the process tree read from storage; `None` in its first interval.
    pub read_bytes_per_s: Option<f64>,
    /// Bytes per second that the process tree wrote, counted as dirtied pages; `None` in its first interval.
    pub written_bytes_per_s: Option<f64>,
}

/// Handle by which a run tells the sampler which process tree to observe; clones share their state.
#[derive(Debug, Clone, Default)]
pub struct SubjectHandle(Arc<Mutex<SubjectState>>);

#[derive(Debug, Default)]
struct SubjectState {
    root: Option<u32>,
    activity: String,
    /// Start of the trial that is being timed; `None` between trials.
    trial: Option<Instant>,
    peak: Option<Memory>,
}

impl SubjectHandle {
    fn lock(&self) -> MutexGuard<'_, SubjectState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the root of the process tree to observe; `None` while no engine process is running.
    pub fn set_root(&self, root: Option<u32>) {
        self.lock().root = root;
    }

    /// Sets the description of the current activity, in a few words.
    pub fn set_activity(&self, activity: &str) {
        activity.clone_into(&mut self.lock().activity);
    }

    /// Marks the start of a timed trial. Memory is not sampled in its first second, because reading the
    /// memory map of a large process takes milliseconds and blocks changes of the map.
    pub fn begin_trial(&self) {
        let mut state = self.lock();
        (state.trial, state.peak) = (Some(Instant::now()), None);
    }

    /// Marks the end of the timed trial. Returns the sample with the largest PSS in it; `None` if none was
    /// taken.
    #[must_use]
    pub fn end_trial(&self) -> Option<Memory> {
        let mut state = self.lock();
        state.trial = None;
        state.peak.take()
    }

    /// Keeps a memory sample if the trial that began at `trial` is still running.
    fn observe(&self, trial: Option<Instant>, memory: Memory) {
        let mut state = self.lock();
        if trial.is_some()
            && state.trial == trial
            && state.peak.is_none_or(|peak| peak.pss_bytes < memory.pss_bytes)
        {
            state.peak = Some(memory);
        }
    }
}

/// Background sampler that writes telemetry until it is dropped.
#[derive(Debug)]
pub struct TelemetryWriter {
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl TelemetryWriter {
    /// Writes one sample as a JSON line to `output` every `interval`; `folder` selects the disk to observe. A
    /// line that cannot be written is lost, because telemetry only accompanies the results.
    #[must_use]
    pub fn start(
        folder: &Path,
        subject: SubjectHandle,
        interval: Duration,
        mut output: impl Write + Send + 'static,
    ) -> Self {
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let shared = Arc::clone(&stop);
        let device = device_of(folder);
        let sampling = move || {
            let mut counters = PreviousCounters::begin(device);
            let (is_stopped, condvar) = &*shared;
            loop {
                let guard = is_stopped.lock().unwrap_or_else(PoisonError::into_inner);
                let waited = condvar.wait_timeout_while(guard, interval, |is_stopped| !*is_stopped);
                if *waited.unwrap_or_else(PoisonError::into_inner).0 {
                    break;
                }
                if let Ok(mut line) = serde_json::to_vec(&counters.sample(&subject)) {
                    line.push(b'\n');
                    output.write_all(&line).ok();
                }
            }
        };
        let thread = std::thread::Builder::new().name("series".into()).spawn(sampling).ok();
        Self { stop, thread }
    }
}

impl Drop for TelemetryWriter {
    fn drop(&mut self) {
        *self.stop.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.1.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the sampler needs no handling.
            let _ = thread.join();
        }
    }
}

/// Counters at the previous sample.
struct PreviousCounters {
    device: Option<(u32, u32)>,
    time: Instant,
    machine: Counters,
    subject: Option<(u32, Usage)>,
}

impl PreviousCounters {
    fn begin(device: Option<(u32, u32)>) -> Self {
        Self { device, time: Instant::now(), machine: Counters::now(device), subject: None }
    }

    fn sample(&mut self, subject: &SubjectHandle) -> Sample {
        let time = Instant::now();
        let seconds = (time - self.time).as_secs_f64().max(1e-9);
        let counters = Counters::now(self.device);
        let machine = counters.since(&self.machine, seconds).with_states();
        (self.time, self.machine) = (time, counters);
        let (root, activity, trial) = {
            let state = subject.lock();
            (state.root, state.activity.clone(), state.trial)
        };
        let may_read_memory = trial.is_none_or(|start| start.elapsed() >= UNDISTURBED);
        let previous = self.subject.take();
        let sample = root.and_then(|root| {
            // A process that has just ended is no longer running.
            let usage = Usage::of_tree(root).ok()?;
            let memory = if may_read_memory { Memory::of_tree(root).ok() } else { None };
            if let Some(memory) = memory {
                subject.observe(trial, memory);
            }
            self.subject = Some((root, usage));
            let same_tree = previous.filter(|(previous_root, _)| *previous_root == root);
            let delta = same_tree.map(|(_, previous)| usage.since(&previous));
            Some(SubjectSample {
                activity,
                memory,
                busy_cores: delta.map(|delta| delta.cpu_s() / seconds),
                read_bytes_per_s: delta.map(|delta| delta.read_bytes as f64 / seconds),
                written_bytes_per_s: delta.map(|delta| delta.written_bytes as f64 / seconds),
            })
        });
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at_ms = i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX);
        Sample { at_ms, seconds, machine, subject: sample }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn every_interval_has_a_line_and_the_subject_is_in_it_while_it_is_up() {
        let subject = SubjectHandle::default();
        let lines = Lines::default();
        let series =
            TelemetryWriter::start(Path::new("."), subject.clone(), Duration::from_millis(5), lines.clone());
        let wait_for = |is_expected: fn(&Sample) -> bool| {
            for _ in 0..2_000 {
                let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
                let mut samples = text.lines().map(|line| serde_json::from_str::<Sample>(line).unwrap());
                if samples.next_back().is_some_and(|sample| is_expected(&sample)) {
                    return;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            panic!("no such sample in ten seconds");
        };
        wait_for(|sample| sample.subject.is_none());
        subject.set_activity("nothing much");
        subject.set_root(Some(std::process::id()));
        wait_for(|sample| {
            sample
                .subject
                .as_ref()
                .is_some_and(|s| s.activity == "nothing much" && s.busy_cores.is_some() && s.memory.is_some())
        });
        assert_eq!(subject.end_trial(), None, "no trial was timed");
        // In its first second a trial is not sampled, afterwards it is.
        subject.begin_trial();
        wait_for(|sample| sample.subject.as_ref().is_some_and(|subject| subject.memory.is_none()));
        wait_for(|sample| sample.subject.as_ref().is_some_and(|subject| subject.memory.is_some()));
        assert!(subject.end_trial().unwrap().pss_bytes > 0);
        assert_eq!(subject.end_trial(), None);
        subject.set_root(Some(u32::MAX - 1));
        wait_for(|sample| sample.subject.is_none());
        drop(series);
        let written = lines.0.lock().unwrap().len();
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(lines.0.lock().unwrap().len(), written);
    }
}
