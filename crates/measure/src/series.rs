//! The 1 Hz series of a run: what the machine and the system under test did, second by second, so that a
//! reader can see whether a figure was taken in a quiet moment.

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::activity::{Activity, Counters, device_of};
use crate::memory::Memory;
use crate::process::Usage;

/// Time between two samples.
pub const INTERVAL: Duration = Duration::from_secs(1);

/// One line of the series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// When, milliseconds since 1970; the interval is the time since the sample before.
    pub at_ms: i64,
    /// Length of the interval, seconds.
    pub seconds: f64,
    /// The machine.
    pub machine: Activity,
    /// The system under test, while one is up.
    pub subject: Option<SubjectSample>,
}

/// The process tree of the system under test over one interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubjectSample {
    /// What it was doing.
    pub what: String,
    /// Memory at the end of the interval.
    pub memory: Memory,
    /// Cores it kept busy on average; none in the first interval of a process.
    pub busy_cores: Option<f64>,
    /// Bytes it fetched from storage a second.
    pub read_bytes_per_s: Option<f64>,
    /// Bytes it sent to storage a second.
    pub written_bytes_per_s: Option<f64>,
}

/// The system under test as the sampler sees it; clones are handles of the same one.
#[derive(Debug, Clone, Default)]
pub struct Subject(Arc<Mutex<Now>>);

#[derive(Debug, Default)]
struct Now {
    root: Option<u32>,
    what: String,
    peak: Option<Memory>,
}

impl Subject {
    fn lock(&self) -> MutexGuard<'_, Now> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The root of the process tree that is measured from now on; none when nothing is up.
    pub fn is(&self, root: Option<u32>) {
        self.lock().root = root;
    }

    /// What is being done, in a few words.
    pub fn does(&self, what: &str) {
        what.clone_into(&mut self.lock().what);
    }

    /// Forgets the samples so far.
    pub fn reset_peak(&self) {
        self.lock().peak = None;
    }

    /// The largest sample since the last reset; none when there was no sample: what takes less than a
    /// second often has none.
    #[must_use]
    pub fn peak(&self) -> Option<Memory> {
        self.lock().peak
    }

    fn observe(&self, root: u32, memory: Memory) {
        let mut now = self.lock();
        if now.root == Some(root) && now.peak.is_none_or(|peak| peak.pss_bytes < memory.pss_bytes) {
            now.peak = Some(memory);
        }
    }
}

/// Writes the series until it is dropped.
#[derive(Debug)]
pub struct Series {
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Series {
    /// Samples every `interval` and writes one JSON line each to `output`; `folder` tells which disk
    /// counts. A line that cannot be written is lost: the series is beside the figures, not one of them.
    #[must_use]
    pub fn start(
        folder: &Path,
        subject: Subject,
        interval: Duration,
        mut output: impl Write + Send + 'static,
    ) -> Self {
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let shared = Arc::clone(&stop);
        let device = device_of(folder);
        let sampling = move || {
            let mut looks = Looks::begin(device);
            let (stopped, told) = &*shared;
            loop {
                let stopped = stopped.lock().unwrap_or_else(PoisonError::into_inner);
                let waited = told.wait_timeout_while(stopped, interval, |stopped| !*stopped);
                if *waited.unwrap_or_else(PoisonError::into_inner).0 {
                    break;
                }
                if let Ok(mut line) = serde_json::to_vec(&looks.sample(&subject)) {
                    line.push(b'\n');
                    output.write_all(&line).ok();
                }
            }
        };
        let thread = std::thread::Builder::new().name("series".into()).spawn(sampling).ok();
        Self { stop, thread }
    }
}

impl Drop for Series {
    fn drop(&mut self) {
        *self.stop.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.1.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panicking sampler has nothing to hand on.
            let _ = thread.join();
        }
    }
}

/// The counters at the last look.
struct Looks {
    device: Option<(u32, u32)>,
    at: Instant,
    machine: Counters,
    subject: Option<(u32, Usage)>,
}

impl Looks {
    fn begin(device: Option<(u32, u32)>) -> Self {
        Self { device, at: Instant::now(), machine: Counters::now(device), subject: None }
    }

    fn sample(&mut self, subject: &Subject) -> Sample {
        let at = Instant::now();
        let seconds = (at - self.at).as_secs_f64().max(1e-9);
        let counters = Counters::now(self.device);
        let machine = counters.since(&self.machine, seconds).with_states();
        (self.at, self.machine) = (at, counters);
        let (root, what) = {
            let now = subject.lock();
            (now.root, now.what.clone())
        };
        let before = self.subject.take();
        let sample = root.and_then(|root| {
            // A process that ended a moment ago is not up any more.
            let memory = Memory::of_tree(root).ok()?;
            let usage = Usage::of_tree(root).ok()?;
            subject.observe(root, memory);
            self.subject = Some((root, usage));
            let spent = before.filter(|(then, _)| *then == root).map(|(_, then)| usage.since(&then));
            Some(SubjectSample {
                what,
                memory,
                busy_cores: spent.map(|spent| spent.cpu_s() / seconds),
                read_bytes_per_s: spent.map(|spent| spent.read_bytes as f64 / seconds),
                written_bytes_per_s: spent.map(|spent| spent.written_bytes as f64 / seconds),
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
        let subject = Subject::default();
        let lines = Lines::default();
        let series = Series::start(Path::new("."), subject.clone(), Duration::from_millis(5), lines.clone());
        let wait_for = |wanted: fn(&Sample) -> bool| {
            for _ in 0..2_000 {
                let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
                let mut samples = text.lines().map(|line| serde_json::from_str::<Sample>(line).unwrap());
                if samples.next_back().is_some_and(|sample| wanted(&sample)) {
                    return;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            panic!("no such sample in ten seconds");
        };
        wait_for(|sample| sample.subject.is_none());
        assert_eq!(subject.peak(), None);
        subject.does("nothing much");
        subject.is(Some(std::process::id()));
        wait_for(|sample| {
            sample.subject.as_ref().is_some_and(|s| s.what == "nothing much" && s.busy_cores.is_some())
        });
        assert!(subject.peak().unwrap().pss_bytes > 0);
        subject.is(Some(u32::MAX - 1));
        wait_for(|sample| sample.subject.is_none());
        subject.reset_peak();
        assert_eq!(subject.peak(), None);
        drop(series);
        let written = lines.0.lock().unwrap().len();
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(lines.0.lock().unwrap().len(), written);
    }
}
