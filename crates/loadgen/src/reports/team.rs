//! All streams of a job: opens their connections, begins and ends their work, and gathers what they did.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use jsonathlon_worker::JobTarget;
use jsonathlon_worker::protocol::{Failure, FailureKind, Progress};

use super::job::{ReportsAlone, ReportsJob};
use super::log::{ReportOutcome, ReportsEnd, ReportsLog};
use super::stream::{Reconnecting, SharedState, Stream, StreamState, connect, lock};
use crate::answer_store::AnswerStore;
use crate::reactor::monotonic_ns;

/// Time between starting the streams and their beginning, in nanoseconds.
const START_NOTICE_NS: u64 = 2_000_000;
/// Pause between two looks at what streams do.
const LOOK_INTERVAL: Duration = Duration::from_millis(2);
/// Interval between two progress messages, in nanoseconds.
const PROGRESS_NS: u64 = 250_000_000;

/// Streams of a job, each on a thread of its own that is connected and waits for the beginning.
pub(crate) struct ReportTeam {
    job: Arc<ReportsJob>,
    shared: Arc<SharedState>,
    states: Vec<Arc<Mutex<StreamState>>>,
    threads: Vec<JoinHandle<()>>,
    start_senders: Vec<Sender<u64>>,
}

impl ReportTeam {
    /// Opens the connections of all streams.
    ///
    /// # Errors
    /// [`FailureKind::InvalidRequest`] if the job makes no sense. The driver's failure if a connection cannot be
    /// opened; the message says how many could.
    pub(crate) fn open(job: &ReportsJob, target: &JobTarget<'_>) -> Result<Self, Failure> {
        if let Some(problem) = job.problem() {
            return Err(Failure { kind: FailureKind::InvalidRequest, message: problem });
        }
        let job = Arc::new(job.clone());
        let wanted = job.streams as usize;
        let mut team = Self {
            shared: Arc::new(SharedState::new(wanted)),
            states: Vec::new(),
            threads: Vec::new(),
            start_senders: Vec::new(),
            job,
        };
        let reconnecting =
            Reconnecting { options: target.open.with_single_attempt(), host: target.host.clone() };
        for number in 0..team.job.streams {
            let connection = connect(target.open, target.host, &team.job).map_err(|error| {
                let Failure { kind, message } = error.into();
                Failure { kind, message: format!("stream {} of {wanted}: {message}", number + 1) }
            })?;
            let state = Arc::<Mutex<StreamState>>::default();
            let stream = Stream {
                number,
                job: Arc::clone(&team.job),
                connection,
                state: Arc::clone(&state),
                shared: Arc::clone(&team.shared),
                reconnecting: reconnecting.clone(),
            };
            let (sender, start) = channel();
            let thread = Builder::new().name(format!("stream-{number}")).spawn(move || stream.run(&start));
            let thread = thread.map_err(|error| Failure {
                kind: FailureKind::MachineFailure,
                message: format!("failed to start a thread: {error}"),
            })?;
            team.states.push(state);
            team.threads.push(thread);
            team.start_senders.push(sender);
        }
        Ok(team)
    }

    /// Lets all streams begin at a time of the machine's monotonic clock, in nanoseconds.
    pub(crate) fn begin(&self, start_ns: u64) {
        self.shared.begin(start_ns);
        for sender in &self.start_senders {
            // A stream whose thread has ended is missed when its work is gathered.
            sender.send(start_ns).ok();
        }
    }

    /// Sets the beginning of the measurement window, in nanoseconds since the job began.
    pub(crate) fn set_window_start(&self, window_start_ns: u64) {
        self.shared.set_window_start(window_start_ns);
    }

    /// Longest time of the measurement window in nanoseconds.
    pub(crate) fn longest_window_ns(&self) -> u64 {
        (self.job.max_seconds * 1e9) as u64
    }

    /// Returns `true` if every stream has finished a set that began in the window, or has ended.
    pub(crate) fn has_whole_sets(&self) -> bool {
        self.shared.has_whole_sets()
    }

    /// Lets streams begin nothing new.
    pub(crate) fn end(&self) {
        self.shared.end();
    }

    /// Waits for the streams, which have been told to end, and gathers what they did. A stream that has no answer yet
    /// after the job's patience is left alone: its thread ends with the process.
    pub(crate) fn gather(mut self, window: (u64, u64)) -> ReportsLog {
        // Streams that have never begun end at once.
        self.start_senders.clear();
        let ended_by = if self.shared.end() { ReportsEnd::Planned } else { ReportsEnd::NoWholeSet };
        let deadline = Instant::now() + Duration::from_secs_f64(self.job.patience_s.min(1e6));
        while self.threads.iter().any(|thread| !thread.is_finished()) && Instant::now() < deadline {
            std::thread::sleep(LOOK_INTERVAL);
        }
        let (window_start_ns, window_end_ns) = window;
        let mut log = ReportsLog { window_start_ns, window_end_ns, ended_by, ..ReportsLog::default() };
        let mut answers = AnswerStore::default();
        for (state, thread) in self.states.iter().zip(self.threads) {
            let has_panicked = thread.is_finished() && thread.join().is_err();
            let mut state = lock(state);
            let mut stream = std::mem::take(&mut state.log);
            stream.unfinished = state.pending;
            if has_panicked {
                stream.error = Some("its thread panicked; see the log".to_owned());
            }
            let numbers = answers.absorb(std::mem::take(&mut state.answers));
            for asked in &mut stream.asked {
                if let ReportOutcome::Answer(number) = &mut asked.outcome {
                    *number = numbers.get(*number as usize).copied().unwrap_or(u32::MAX);
                }
            }
            log.streams.push(stream);
        }
        log.answers = answers.into_answers();
        log
    }
}

/// Runs streams without clients beside them.
///
/// # Errors
/// As [`ReportTeam::open`].
pub(crate) fn run_alone(
    job: &ReportsAlone,
    target: &JobTarget<'_>,
    report_progress: &mut dyn FnMut(Progress),
) -> Result<ReportsLog, Failure> {
    let team = ReportTeam::open(&job.reports, target)?;
    let window_start_ns = (job.ramp_s * 1e9) as u64;
    let planned_end_ns = window_start_ns + (job.seconds * 1e9) as u64;
    let last_end_ns = planned_end_ns.max(window_start_ns + team.longest_window_ns());
    team.set_window_start(window_start_ns);
    team.begin(monotonic_ns() + START_NOTICE_NS);
    let mut next_report = 0;
    loop {
        let now = team.shared.now();
        if now >= last_end_ns || (now >= planned_end_ns && team.has_whole_sets()) {
            team.end();
            return Ok(team.gather((window_start_ns, now)));
        }
        if now >= next_report {
            next_report = now + PROGRESS_NS;
            report_progress(Progress {
                done: team.shared.answered(),
                total: None,
                unit: "questions".to_owned(),
            });
        }
        std::thread::sleep(LOOK_INTERVAL);
    }
}
